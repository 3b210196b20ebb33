package dev.carillon.engine.format;

/**
 * An operation of a kind or version that this code does not know. Skipping one is never safe: its
 * shard is left to a newer node.
 */
public final class UnknownFormatException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnknownFormatException(String message) {
    super(message);
  }
}
