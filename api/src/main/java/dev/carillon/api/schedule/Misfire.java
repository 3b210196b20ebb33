package dev.carillon.api.schedule;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidScheduleException;

/**
 * What happens to the occurrences of a {@link Schedule} that were missed: due while nothing could
 * run them, because no node was up, the job was paused or had no handler, and noticed when one
 * starts more than a second late. Whichever it is, the occurrences after them keep their times, and
 * none takes place later than the schedule's {@linkplain Schedule#grace() grace} allows.
 */
public sealed interface Misfire {

  /**
   * One occurrence, the first that was missed, makes up for all of them. The default.
   *
   * @return the rule
   */
  static Misfire runOne() {
    return RunOne.INSTANCE;
  }

  /**
   * Missed occurrences take place one after another, oldest first, up to the cap.
   *
   * @param cap the most that are made up for, from 1 to {@link Limits#MISFIRE_MAX_RUNS}
   * @return the rule
   * @throws InvalidScheduleException if the cap is out of range
   */
  static Misfire runAll(int cap) {
    return new RunAll(cap);
  }

  /**
   * What was missed does not take place: nothing starts later than the grace, a minute by default.
   *
   * @return the rule
   */
  static Misfire skip() {
    return Skip.INSTANCE;
  }

  /** One occurrence makes up for all that were missed. */
  record RunOne() implements Misfire {
    private static final Misfire INSTANCE = new RunOne();
  }

  /**
   * Every missed occurrence takes place, up to a cap.
   *
   * @param cap the most that are made up for, from 1 to {@link Limits#MISFIRE_MAX_RUNS}
   */
  record RunAll(int cap) implements Misfire {
    /** Checks the range. */
    public RunAll {
      ScheduleCheck.range("misfire cap", cap, 1, Limits.MISFIRE_MAX_RUNS);
    }
  }

  /** What was missed does not take place. */
  record Skip() implements Misfire {
    private static final Misfire INSTANCE = new Skip();
  }
}
