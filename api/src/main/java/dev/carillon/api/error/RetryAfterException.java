package dev.carillon.api.error;

import dev.carillon.api.Limits;
import dev.carillon.api.RetryRule;
import dev.carillon.api.internal.Check;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler whose attempt failed and that knows from when on another one makes sense,
 * such as from a {@code Retry-After} header. The failure counts like any other. The policy says
 * whether another attempt follows and when; that attempt is not before the time given here.
 *
 * <p>A handler's own {@link RetryRule} goes before it. May be extended.
 */
public class RetryAfterException extends CarillonException {
  private final Duration delay;

  /**
   * With a message.
   *
   * @param delay from when the handler returns; not negative
   * @param message what went wrong, for people
   * @throws InvalidJobException if the delay is out of range
   */
  public RetryAfterException(Duration delay, String message) {
    this(delay, message, null);
  }

  /**
   * With a message and a cause.
   *
   * @param delay from when the handler returns; not negative
   * @param message what went wrong, for people
   * @param cause what caused it, or null
   * @throws InvalidJobException if the delay is out of range
   */
  public RetryAfterException(Duration delay, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.delay = Check.range("delay", delay, Duration.ZERO, Limits.PERIOD_MAX);
  }

  /**
   * The earliest time of the next attempt, for a handler that returned at the given time.
   *
   * @param returned when the handler returned
   * @return the time
   */
  public Instant from(Instant returned) {
    return returned.plus(delay);
  }
}
