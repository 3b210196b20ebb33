package dev.carillon.api;

/** A watch that can be ended. Thread-safe. */
public interface Subscription extends AutoCloseable {

  /** Ends the watch; a call already under way may still finish. Closing again does nothing. */
  @Override
  void close();
}
