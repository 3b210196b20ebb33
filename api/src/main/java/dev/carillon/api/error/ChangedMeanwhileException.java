package dev.carillon.api.error;

/**
 * The caller decides: what was to be changed is not any more as the caller saw it. Nothing was
 * written. Look again, and ask again with what is there now.
 */
public final class ChangedMeanwhileException extends CarillonException {

  /**
   * With a message.
   *
   * @param message what is there now, and what was expected
   */
  public ChangedMeanwhileException(String message) {
    super(message, null);
  }
}
