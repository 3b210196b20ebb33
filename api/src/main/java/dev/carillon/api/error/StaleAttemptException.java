package dev.carillon.api.error;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.internal.Check;
import java.util.Objects;

/**
 * The attempt is no longer the current one: it timed out, its job was taken over after a fault, or
 * has ended. What it wanted to write was refused, and nothing it writes will be accepted; it should
 * stop.
 */
public final class StaleAttemptException extends CarillonException {

  private final AttemptToken token;

  /**
   * For the token that is stale.
   *
   * @param token the token
   */
  public StaleAttemptException(AttemptToken token) {
    super(Check.problem("attempt", token, "the current attempt of the job"), null);
    this.token = Objects.requireNonNull(token, "token");
  }

  /**
   * The token that is stale.
   *
   * @return the token
   */
  public AttemptToken token() {
    return token;
  }
}
