package dev.carillon;

/**
 * A handler that is registered with {@link Carillon#handle}. It stays until this is closed or
 * Carillon is. Thread-safe.
 */
public interface HandlerRegistration extends AutoCloseable {

  /**
   * The type whose jobs the handler runs.
   *
   * @return the name of the type
   */
  String type();

  /**
   * Unregisters the handler on this node. No attempt starts with it afterwards; attempts that run
   * go on to their end, which counts. Due jobs run on another node that has a handler, or wait as
   * BLOCKED by {@link dev.carillon.api.BlockReason#NO_HANDLER}, which costs them no attempt, until
   * one is registered again. The type may get another handler as soon as this returns. Closing
   * again does nothing.
   */
  @Override
  void close();
}
