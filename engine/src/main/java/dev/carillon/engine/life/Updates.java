package dev.carillon.engine.life;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Recurrences;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.ScheduleFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.shard.NodeJob;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of a recurring job that is declared again under its name: it takes over what
 * differs and keeps its next time, count, pause, missed times and the occurrence under way.
 *
 * <p>Only another schedule moves the next time, and only where no occurrence is due or under way.
 * That time follows from the last occurrence where both schedules count from there, so that no
 * number of declarations puts it off for ever.
 *
 * <p>Crash table: the change is one operation; before it the job is as it was, after it as
 * declared.
 */
public final class Updates {
  private final Recurrences recurrences;

  /**
   * Who declares it again.
   *
   * @param version which version of the job is to be changed; null for whichever there is
   */
  public record Asker(String by, @Nullable Integer version) {}

  public Updates(Recurrences recurrences) {
    this.recurrences = recurrences;
  }

  /** Whether both recur; else one takes the place of the other. */
  public static boolean fits(NodeJob job, JobSpec asked) {
    return job.isRecurring() && asked.more().recurring() != null;
  }

  /**
   * What is to be written; null where nothing differs.
   *
   * @param who asks, and about which version of the job
   * @throws InvalidJobException if the schedule leaves no time to come
   */
  public OperationBody.@Nullable Update of(NodeJob job, JobSpec asked, Asker who, long nowMicros) {
    JobSpec old = job.spec();
    byte[] spec = old.updated(asked).encode();
    if (Arrays.equals(spec, job.body())) {
      return null;
    }
    return new OperationBody.Update(
        job.revision, nowMicros, who.by(), move(job, old, asked, nowMicros), who.version(), spec);
  }

  /** Where the schedule goes; null where it stays. */
  private @Nullable ScheduleState move(NodeJob job, JobSpec old, JobSpec asked, long nowMicros) {
    ScheduleState move = job.move();
    OptionalSpec.Recurring before = old.more().recurring();
    OptionalSpec.Recurring after = asked.more().recurring();
    boolean underWay = job.phase() == NodeJob.Phase.RUNNING || job.attempts > 0;
    if (move == null
        || before == null
        || after == null
        || Arrays.equals(before.schedule(), after.schedule())) {
      return null;
    }
    Schedule schedule = ScheduleFormat.decode(after.schedule());
    Recurrences.Step step = recurrences.goOn(known(job), schedule, move, nowMicros);
    if (step.over()) {
      throw new InvalidJobException(
          "schedule: "
              + schedule.describe()
              + " (expected: one with a time left after "
              + move.count()
              + " occurrences)");
    }
    return underWay || move.timeMicros() <= nowMicros ? null : step.move();
  }

  /** Its schedule; null where this JVM does not know its time zone. */
  private @Nullable Schedule known(NodeJob job) {
    try {
      return recurrences.of(job);
    } catch (DamagedException | UnknownFormatException e) {
      return null;
    }
  }
}
