package dev.carillon.engine.attempt;

import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.shard.NodeJob;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides where a recurring job goes from one occurrence. Times are virtual: the next one follows
 * from the last one's time, whenever that was run, so nothing drifts.
 *
 * <p>An occurrence that starts more than {@link #MISSED_AFTER_MICROS} late shows that those since
 * were missed. <em>Run one</em> lets it stand for all of them, <em>run all</em> makes up for them
 * one by one up to its cap. One that is later than the schedule's grace does not take place.
 */
public final class Recurrences {
  static final long MISSED_AFTER_MICROS = Micros.PER_SECOND;

  /** What is too late under {@link Misfire#skip} where the schedule does not say. */
  private static final Duration GRACE_OF_SKIP = Duration.ofMinutes(1);

  private static final int MOST_REMEMBERED = 4096;

  private final NodeEnvironment env;

  /** Schedules by their bytes: many jobs have the same, and parsing one takes a while. */
  private final Map<ByteBuffer, Schedule> remembered =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Schedule> eldest) {
          return size() > MOST_REMEMBERED;
        }
      };

  public Recurrences(NodeEnvironment env) {
    this.env = env;
  }

  /**
   * What comes next.
   *
   * @param move where the schedule goes, null where it is over
   */
  public record Step(@Nullable ScheduleState move) {
    static final Step OVER = new Step(null);

    public boolean over() {
      return move == null;
    }

    /** When the next occurrence is due; now where there is none. */
    public long dueMicros(long nowMicros) {
      return move != null ? move.timeMicros() + move.jitterMicros() : nowMicros;
    }
  }

  public Schedule of(NodeJob job) {
    OptionalSpec.Recurring recurring = job.head().more().recurring();
    if (recurring == null) {
      throw new IllegalStateException("job " + job.number + ": not recurring");
    }
    byte[] encoded = recurring.schedule();
    return remembered.computeIfAbsent(
        ByteBuffer.wrap(encoded), unused -> ScheduleFormat.decode(encoded));
  }

  /** Whether its occurrences are jobs of their own; the others are run by the job itself. */
  public static boolean spawns(Schedule schedule) {
    return schedule.kind() != Schedule.Kind.AFTER_EACH
        && switch (schedule.overlap()) {
          case SKIP, BUFFER_ONE -> false;
          case ALLOW, BUFFER_ALL, CANCEL_RUNNING -> true;
        };
  }

  /** Whether an occurrence that was due then does not take place, for being too late. */
  public static boolean tooLate(Schedule schedule, long dueMicros, long nowMicros) {
    return nowMicros - dueMicros > graceMicros(schedule);
  }

  /**
   * When an attempt at an occurrence, or the occurrence as a job of its own, was to be and when it
   * was.
   */
  public record Run(long timeMicros, long startedMicros, long endedMicros) {
    public boolean late() {
      return startedMicros - timeMicros > MISSED_AFTER_MICROS;
    }
  }

  private static long graceMicros(Schedule schedule) {
    Duration grace = schedule.grace();
    if (grace == null && schedule.misfire() instanceof Misfire.Skip) {
      grace = GRACE_OF_SKIP;
    }
    return grace != null ? Micros.ceil(grace) : Long.MAX_VALUE;
  }

  /** The job goes on by this schedule, which it did not have before. */
  public Step begin(Schedule schedule, long count, long nowMicros) {
    return isLast(schedule, count)
        ? Step.OVER
        : step(schedule, schedule.first(instant(nowMicros)), count, Long.MIN_VALUE, 0);
  }

  /**
   * The job, of which no occurrence is due or under way, goes on by another schedule that counts
   * on. Where both schedules have a period the next time is one new period after the last
   * occurrence, also if that has passed; else it is the first of the new schedule.
   *
   * @param old null where it is not known
   */
  public Step goOn(@Nullable Schedule old, Schedule schedule, ScheduleState move, long nowMicros) {
    Duration before = old != null && old.start() == null ? old.period() : null;
    if (before == null || schedule.period() == null || schedule.start() != null) {
      return begin(schedule, move.count(), nowMicros);
    }
    Instant last = instant(move.timeMicros() - Micros.ceil(before));
    return isLast(schedule, move.count())
        ? Step.OVER
        : step(schedule, schedule.next(last), move.count(), Long.MIN_VALUE, 0);
  }

  /** At most {@code most} times that the job's schedule has from one time to another. */
  public List<Instant> between(NodeJob job, Instant from, Instant to, int most) {
    Schedule schedule = of(job);
    ScheduleState move = job.move();
    List<Instant> times = new ArrayList<>();
    if (move == null || schedule.kind() == Schedule.Kind.AFTER_EACH) {
      return times;
    }
    Instant time = firstAtOrAfter(schedule, move.timeMicros(), Micros.ceil(from));
    while (time != null && !time.isAfter(to) && times.size() < most) {
      times.add(time);
      time = schedule.next(time);
    }
    return times;
  }

  /** The first time of the schedule not before another; a fixed rate goes through {@code one}. */
  private static @Nullable Instant firstAtOrAfter(Schedule schedule, long one, long fromMicros) {
    Duration period = schedule.period();
    if (period == null) {
      return schedule.nextAfter(instant(fromMicros - 1), instant(fromMicros - 1));
    }
    Instant start = schedule.start();
    Instant until = schedule.until();
    long from = start != null ? Math.max(fromMicros, Micros.ceil(start)) : fromMicros;
    long micros = Micros.ceil(period);
    long anchor = start != null ? Micros.ceil(start) : one;
    Instant time = instant(anchor - Math.floorDiv(anchor - from, micros) * micros);
    return until != null && time.isAfter(until) ? null : time;
  }

  /** The occurrence is passed over, with all that are too late as well. */
  public Step skipLate(Schedule schedule, ScheduleState move, long nowMicros) {
    long oldest = nowMicros - graceMicros(schedule);
    Instant time = schedule.nextAfter(instant(move.timeMicros()), instant(oldest - 1));
    return step(schedule, time, move.count(), move.missedUntilMicros(), move.madeUp());
  }

  /** The occurrence is passed over because too many others have not ended. */
  public Step skipOne(Schedule schedule, ScheduleState move, long nowMicros) {
    Instant time = schedule.nextAfter(instant(move.timeMicros()), instant(nowMicros));
    return step(schedule, time, move.count(), Long.MIN_VALUE, 0);
  }

  /** The job itself has run the occurrence. */
  public Step afterRun(Schedule schedule, ScheduleState move, Run run) {
    long count = move.count() + 1;
    if (isLast(schedule, count)) {
      return Step.OVER;
    }
    if (schedule.kind() == Schedule.Kind.AFTER_EACH) {
      return step(schedule, schedule.next(instant(run.endedMicros())), count, Long.MIN_VALUE, 0);
    }
    Step madeUp = makeUp(schedule, move, run);
    if (madeUp != null) {
      return madeUp;
    }
    long after = run.endedMicros();
    if (schedule.overlap() == Overlap.BUFFER_ONE) {
      after = run.late() ? run.startedMicros() : move.timeMicros();
    }
    Instant time = schedule.nextAfter(instant(move.timeMicros()), instant(after));
    return step(schedule, time, count, Long.MIN_VALUE, 0);
  }

  /** The occurrence has become a job of its own. */
  public Step afterSpawn(Schedule schedule, ScheduleState move, Run run) {
    long count = move.count() + 1;
    if (isLast(schedule, count)) {
      return Step.OVER;
    }
    Step madeUp = makeUp(schedule, move, run);
    if (madeUp != null) {
      return madeUp;
    }
    boolean passOver = run.late() && !(schedule.misfire() instanceof Misfire.Skip);
    long after = passOver ? run.startedMicros() : move.timeMicros();
    Instant time = schedule.nextAfter(instant(move.timeMicros()), instant(after));
    return step(schedule, time, count, Long.MIN_VALUE, 0);
  }

  /** The next of the missed ones, where they are made up for and one is left. */
  private @Nullable Step makeUp(Schedule schedule, ScheduleState move, Run run) {
    if (!(schedule.misfire() instanceof Misfire.RunAll(int cap))) {
      return null;
    }
    long missedUntil =
        run.late()
            ? Math.max(move.missedUntilMicros(), run.startedMicros())
            : move.missedUntilMicros();
    Instant time = schedule.next(instant(move.timeMicros()));
    boolean makesUp = time != null && Micros.ceil(time) <= missedUntil && move.madeUp() + 1 < cap;
    return makesUp ? step(schedule, time, move.count() + 1, missedUntil, move.madeUp() + 1) : null;
  }

  private static boolean isLast(Schedule schedule, long count) {
    Long times = schedule.times();
    return times != null && count >= times;
  }

  private Step step(
      Schedule schedule, @Nullable Instant time, long count, long missedUntil, int madeUp) {
    if (time == null) {
      return Step.OVER;
    }
    return new Step(
        new ScheduleState(Micros.ceil(time), jitter(schedule), count, missedUntil, madeUp));
  }

  private long jitter(Schedule schedule) {
    long most = Micros.ceil(schedule.jitter());
    return most == 0 ? 0 : Math.floorMod(env.random(), most + 1);
  }

  private static Instant instant(long micros) {
    return Micros.toInstant(micros);
  }
}
