package dev.carillon.api;

import java.time.Duration;
import java.time.Instant;

/**
 * When a job is due: {@link Now}, {@link At} a time, or {@link In} a while.
 *
 * <p>Now and delays are turned into a time once, when the job is accepted, by the clock of the node
 * that accepts it; afterwards only that time counts, also after a crash. No attempt starts before
 * it. A time in the past is due at once.
 */
public sealed interface Due {

  /**
   * The due time of a job accepted at the given time.
   *
   * @param accepted when the job is accepted
   * @return the due time
   * @throws InvalidJobException if it lies outside of {@link Limits#EARLIEST_DUE} to {@link
   *     Limits#LATEST_DUE}
   */
  Instant from(Instant accepted);

  /** Due as soon as the job is accepted. */
  record Now() implements Due {
    @Override
    public Instant from(Instant accepted) {
      return Limits.checkDue(accepted);
    }
  }

  /**
   * Due at a time.
   *
   * @param time from {@link Limits#EARLIEST_DUE} to {@link Limits#LATEST_DUE}
   */
  record At(Instant time) implements Due {
    /** Checks the range. */
    public At {
      Limits.checkDue(time);
    }

    @Override
    public Instant from(Instant accepted) {
      return time;
    }
  }

  /**
   * Due a while after the job is accepted.
   *
   * @param delay not negative
   */
  record In(Duration delay) implements Due {
    private static final Duration LONGEST =
        Duration.between(Limits.EARLIEST_DUE, Limits.LATEST_DUE);

    /** Checks the range. */
    public In {
      Check.range("delay", delay, Duration.ZERO, LONGEST);
    }

    @Override
    public Instant from(Instant accepted) {
      return Limits.checkDue(accepted.plus(delay));
    }
  }
}
