package dev.carillon.api;

/**
 * What happens to the occurrences of a {@link Schedule} that were missed: due, by more than the
 * schedule's {@linkplain Schedule#grace() grace}, while nothing could run them, because no node was
 * up, the job was paused or had no handler. Whichever it is, the occurrences after them keep their
 * times.
 */
public sealed interface Misfire {

  /**
   * One occurrence makes up for all that were missed. The default.
   *
   * @return the rule
   */
  static Misfire runOne() {
    return RunOne.INSTANCE;
  }

  /**
   * Every missed occurrence takes place, oldest first; of more than the cap, the latest.
   *
   * @param cap the most that are made up for, from 1 to {@link Limits#MISFIRE_MAX_RUNS}
   * @return the rule
   * @throws InvalidScheduleException if the cap is out of range
   */
  static Misfire runAll(int cap) {
    return new RunAll(cap);
  }

  /**
   * What was missed does not take place.
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
