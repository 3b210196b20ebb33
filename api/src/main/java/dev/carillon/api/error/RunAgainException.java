package dev.carillon.api.error;

import dev.carillon.api.JobContext;
import dev.carillon.api.Limits;
import dev.carillon.api.internal.Check;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler to be run again later, without that being a failure: no attempt is counted,
 * the failure policy is not asked, and what was {@linkplain JobContext#save saved} is kept. For
 * work that is not ready yet, or that goes on elsewhere and is only looked after here.
 *
 * <pre>{@code
 * if (!export.isDone()) {
 *   throw RunAgainException.in(Duration.ofSeconds(30), "export " + export.id() + " still runs");
 * }
 * }</pre>
 */
public final class RunAgainException extends CarillonException {
  private final @Nullable Duration delay;
  private final @Nullable Instant time;

  private RunAgainException(@Nullable Duration delay, @Nullable Instant time, String note) {
    super(note, null);
    this.delay = delay;
    this.time = time;
  }

  /**
   * To be run again after a while.
   *
   * @param delay from when the handler returns; not negative
   * @return what to throw
   * @throws InvalidJobException if the delay is out of range
   */
  public static RunAgainException in(Duration delay) {
    return in(delay, "");
  }

  /**
   * To be run again after a while, with a note.
   *
   * @param delay from when the handler returns; not negative
   * @param note why, for the history; cut to {@link Limits#REASON_MAX_BYTES} where it is longer, so
   *     that a note of whatever length is no failure
   * @return what to throw
   * @throws InvalidJobException if the delay is out of range
   */
  public static RunAgainException in(Duration delay, String note) {
    Check.range("delay", delay, Duration.ZERO, Limits.PERIOD_MAX);
    String cut = Check.cutToBytes(Check.present("note", note), Limits.REASON_MAX_BYTES);
    return new RunAgainException(delay, null, cut);
  }

  /**
   * To be run again at a time.
   *
   * @param time at once if it has passed
   * @return what to throw
   * @throws InvalidJobException if the time is out of range
   */
  public static RunAgainException at(Instant time) {
    return new RunAgainException(null, Limits.checkDue(time), "");
  }

  /**
   * When to run again, for a handler that returned at the given time.
   *
   * @param returned when the handler returned
   * @return the time
   */
  public Instant from(Instant returned) {
    if (time != null) {
      return time;
    }
    return returned.plus(delay != null ? delay : Duration.ZERO);
  }

  /** It is no failure, and nobody looks at where it came from. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
