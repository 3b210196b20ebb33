package dev.carillon.engine;

/** Bytes read from a journal are not what was written. The shard they belong to is refused. */
final class DamagedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  DamagedException(String message) {
    super(message);
  }
}
