package dev.carillon.server.json;

/** A body is not what was expected; the message names the path, the value and what was expected. */
public final class InvalidBody extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * With a message.
   *
   * @param message {@code path: value (expected: …)}
   */
  public InvalidBody(String message) {
    super(message, null, false, false);
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
