package dev.carillon.replay;

/** The code used the context where it must not: no try can succeed. */
final class MisusedContext extends IllegalStateException {
  MisusedContext(String message) {
    super(message);
  }
}
