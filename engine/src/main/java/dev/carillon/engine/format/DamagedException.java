package dev.carillon.engine.format;

/** Bytes read from a journal are not what was written. The shard they belong to is refused. */
public final class DamagedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DamagedException(String message) {
    super(message);
  }
}
