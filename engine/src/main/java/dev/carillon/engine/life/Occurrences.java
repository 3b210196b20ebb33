package dev.carillon.engine.life;

import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Recurrences;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Occurrences of recurring jobs that are jobs of their own: those that may overlap, wait for each
 * other or cancel each other.
 *
 * <p>Crash table: an occurrence and the schedule's next time are one operation. Before it, the next
 * owner finds the time due and does the same again; after it, the occurrence is there. Older ones
 * that a newer cancels are cancelled again by whoever loads the shard.
 */
public final class Occurrences {
  /** Occurrences of one job that may not have ended; beyond them a time is passed over. */
  public static final int MOST_LIVE = 1000;

  private final NodeEnvironment env;
  private final Committer committer;
  private final Recurrences recurrences;
  private final Shards shards;
  private final JobLife life;

  Occurrences(
      NodeEnvironment env,
      Committer committer,
      Recurrences recurrences,
      Shards shards,
      JobLife life) {
    this.env = env;
    this.committer = committer;
    this.recurrences = recurrences;
    this.shards = shards;
    this.life = life;
  }

  /** A recurring job's time has come; false where it runs its occurrences itself. */
  boolean due(NodeJob job) {
    Schedule schedule = recurrences.of(job);
    ScheduleState move = job.move();
    if (!Recurrences.spawns(schedule) || move == null) {
      return false;
    }
    if (job.busy > 0) {
      job.enter(NodeJob.Phase.READY); // a pause or change may be on its way: it comes back
      return true;
    }
    Shard shard = job.shard();
    long now = env.wallMicros();
    if (job.has(JobSpec.DEADLINE) && now >= job.head().deadlineMicros()) {
      job.enter(NodeJob.Phase.READY);
      life.expire(shard, job);
      return true;
    }
    boolean late = Recurrences.tooLate(schedule, job.dueMicros, now);
    boolean crowded = liveOf(shard, job.number).size() >= MOST_LIVE;
    Recurrences.Step step;
    if (late) {
      step = recurrences.skipLate(schedule, move, now);
    } else if (crowded) {
      step = recurrences.skipOne(schedule, move, now);
    } else {
      step =
          recurrences.afterSpawn(schedule, move, new Recurrences.Run(job.timeMicros(), now, now));
    }
    String reason = late ? "too late" : crowded ? MOST_LIVE + " have not ended" : null;
    moveOn(job, schedule, move, step, reason);
    return true;
  }

  /** Passes over the occurrence of a recurring job whose time has come. */
  void skip(NodeJob job, String reason) {
    ScheduleState move = job.move();
    if (move != null) {
      Schedule schedule = recurrences.of(job);
      Recurrences.Step step = recurrences.skipOne(schedule, move, env.wallMicros());
      moveOn(job, schedule, move, step, reason);
    }
  }

  /**
   * Moves the schedule on, with an occurrence as a job of its own or a reason why there is none.
   */
  private void moveOn(
      NodeJob job,
      Schedule schedule,
      ScheduleState move,
      Recurrences.Step step,
      @Nullable String reason) {
    env.metrics().count(reason != null ? "occurrences.skipped" : "occurrences", 1);
    Shard shard = job.shard();
    long now = env.wallMicros();
    int revision = job.revision;
    long due = job.dueMicros;
    job.enter(NodeJob.Phase.READY);
    job.busy++;
    shards.ensureAwakeBy(
        shard,
        Math.min(step.dueMicros(now), job.dueMicros),
        () -> {
          boolean same = move.equals(job.move()) && job.dueMicros == due;
          if (job.busy > 1 || !same || job.isPaused()) {
            job.busy--; // something came between: it is looked at anew
            if (job.busy == 0 && job.phase() == NodeJob.Phase.READY) {
              life.schedule(job);
            }
            return;
          }
          // Numbers are given when the operation goes, so that they follow the journal's order.
          List<OperationBody.Next.Child> children =
              reason != null ? List.of() : List.of(child(shard, job, schedule, move));
          append(
              shard,
              job,
              new OperationBody.Next(
                  0,
                  revision,
                  now,
                  Ran.NOT,
                  null,
                  null,
                  reason,
                  children,
                  step.move(),
                  step.over()));
        });
  }

  private static OperationBody.Next.Child child(
      Shard shard, NodeJob job, Schedule schedule, ScheduleState move) {
    OccurrenceSpec occurrence =
        new OccurrenceSpec(job.number, move.count() + 1, move.timeMicros(), schedule.overlap());
    return new OperationBody.Next.Child(shard.nextNumber(), job.dueMicros, occurrence);
  }

  private void append(Shard shard, NodeJob job, OperationBody.Next next) {
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.NEXT, job.number, next.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
                job.busy--;
                arrived(shard);
                if (job.phase() == NodeJob.Phase.READY) {
                  life.schedule(job);
                }
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                job.busy--;
              }
            }));
  }

  /** The last operation applied to the shard may have made occurrences jobs of their own. */
  public void arrived(Shard shard) {
    ShardFold<NodeJob> fold = shard.fold;
    if (fold != null && !fold.spawned().isEmpty()) {
      List<NodeJob> spawned = List.copyOf(fold.spawned());
      spawned.forEach(job -> life.added(shard, job));
      cancelOlder(shard, spawned.getLast()); // those between them too, and each of them once
    }
  }

  /** Occurrences were read: of each schedule the newest cancels the others, if that is the rule. */
  void loaded(Shard shard, List<NodeJob> occurrences) {
    Map<Long, NodeJob> newest = new LinkedHashMap<>();
    for (NodeJob job : occurrences) {
      if (overlapOf(job) == Overlap.CANCEL_RUNNING) {
        newest.merge(ShardFold.scheduleOf(job), job, (a, b) -> a.number > b.number ? a : b);
      }
    }
    newest.values().forEach(job -> cancelOlder(shard, job));
  }

  /** Cancels the occurrences before this one, if that is their rule. */
  private void cancelOlder(Shard shard, NodeJob newest) {
    if (overlapOf(newest) != Overlap.CANCEL_RUNNING) {
      return;
    }
    for (NodeJob job : List.copyOf(liveOf(shard, ShardFold.scheduleOf(newest)))) {
      if (job.number < newest.number && !job.cancelRequested()) {
        life.cancel(shard.ref(job.number), "a newer occurrence is due");
      }
    }
  }

  /** Whether the occurrence must wait because one before it has not ended. */
  public static boolean mustWait(NodeJob job) {
    return overlapOf(job) == Overlap.BUFFER_ALL
        && liveOf(job.shard(), ShardFold.scheduleOf(job)).getFirst() != job;
  }

  /** An occurrence has ended: the next in line may go. */
  void ended(Shard shard, NodeJob job) {
    List<NodeJob> waiting = liveOf(shard, ShardFold.scheduleOf(job));
    if (!waiting.isEmpty()
        && waiting.getFirst().isIdle(NodeJob.Phase.LIMITED)
        && overlapOf(waiting.getFirst()) == Overlap.BUFFER_ALL) {
      life.schedule(waiting.getFirst());
    }
  }

  private static List<NodeJob> liveOf(Shard shard, long schedule) {
    return shard.fold != null ? shard.fold.occurrences(schedule) : List.of();
  }

  private static @Nullable Overlap overlapOf(NodeJob job) {
    OccurrenceSpec occurrence = job.occurrence();
    return occurrence != null ? occurrence.overlap() : null;
  }
}
