package dev.carillon.server.access;

/** A request is not let in. The message is for its sender and says nothing of what is behind. */
public final class Denied extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean unknown;

  private Denied(boolean unknown, String message) {
    super(message, null, false, false);
    this.unknown = unknown;
  }

  /**
   * Of a caller who is not known, and may come back with a proof.
   *
   * @param message what is missing
   * @return to be thrown
   */
  public static Denied unknown(String message) {
    return new Denied(true, message);
  }

  /**
   * Of a request that is not let in, whoever sends it.
   *
   * @param message what is wrong
   * @return to be thrown
   */
  public static Denied forbidden(String message) {
    return new Denied(false, message);
  }

  /**
   * Whether proof of who asks would help.
   *
   * @return true for 401, false for 403
   */
  public boolean isUnknown() {
    return unknown;
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
