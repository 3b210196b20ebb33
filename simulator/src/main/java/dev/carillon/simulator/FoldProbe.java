package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.RecurringInfo;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.FlowSubject;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Compares what a quiet node holds in memory with what the checker folded from the journals. */
final class FoldProbe {
  private static final long NEWS_NANOS = 30 * VirtualClock.SECOND;

  private final World world;

  FoldProbe(World world) {
    this.world = world;
  }

  /** Compares, if nothing is under way. */
  boolean compare(Life life) {
    if (life.stale()
        || !life.node.quiet()
        || !life.channels.idle()
        || life.handlers.running() > 0) {
      return false;
    }
    int[] loaded = {0};
    life.probe(
        () -> {
          for (ModelShard shard : world.model.shards()) {
            if (shard.owner != life.incarnation && world.climate.nodes > 1) {
              continue; // it may not know yet that another node has it
            }
            for (ModelJob job : shard.jobs.values()) {
              life.node.get(
                  job.ref,
                  outcome -> {
                    loaded[0]++;
                    check(
                        job.live(),
                        Guarantee.FOLD,
                        () -> job + " has ended, but the node has it alive");
                    compare(job, outcome.orThrow().orElseThrow().info());
                  });
            }
            for (WorkflowRecord workflow : shard.workflows.values()) {
              life.node.get(
                  workflow.ref,
                  outcome -> {
                    loaded[0]++;
                    compare(workflow, outcome.orThrow().orElseThrow().info());
                  });
            }
            for (WorkerRecord job : shard.workerJobs.values()) {
              life.node.get(
                  job.ref,
                  outcome -> {
                    loaded[0]++;
                    compare(job, outcome.orThrow().orElseThrow().info());
                  });
            }
          }
        });
    if (world.climate.nodes > 1 && !world.healthy()) {
      return true;
    }
    int held = life.node.stats().loadedJobs();
    check(
        world.climate.keepsBodies() ? held == loaded[0] : held >= loaded[0],
        Guarantee.FOLD,
        () -> "the node holds " + held + " jobs, the journals know of " + loaded[0]);
    return true;
  }

  private static void compare(WorkflowRecord workflow, JobInfo info) {
    check(
        workflow.live
            && workflow.due == Micros.ceil(info.dueAt())
            && workflow.attempts == info.attempt()
            && (workflow.pauseReason == null || info.state() == JobState.PAUSED),
        Guarantee.FOLD,
        () -> workflow + " is otherwise in memory: " + info);
  }

  private static void compare(WorkerRecord job, JobInfo info) {
    check(
        job.live
            && job.due == Micros.ceil(info.dueAt())
            && (job.attempts == info.attempt() || job.attempts + 1 == info.attempt()),
        Guarantee.FOLD,
        () -> job + " is otherwise in memory: " + info);
  }

  private void compare(ModelJob job, JobInfo info) {
    same(job, "due time", job.due, Micros.ceil(info.dueAt()));
    same(job, "attempts", job.attempts, info.attempt());
    same(job, "cancel", job.cancelReason != null, info.cancelRequested());
    same(job, "queue", job.spec.queue(), info.queue());
    same(job, "priority", job.priority, info.priority());
    boolean shownPaused = info.state() == JobState.PAUSED;
    if (job.pauseReason != null || !mayBePaused(job)) {
      same(job, "pause", job.pauseReason != null, shownPaused);
    }
    RecurringInfo recurring = info.recurring();
    same(
        job,
        "schedule",
        job.spec.more().schedule(),
        recurring == null ? null : recurring.schedule());
    if (recurring != null && job.move != null) {
      same(job, "count", job.move.count(), recurring.count());
      same(job, "next time", job.move.time(), Micros.ceil(recurring.nextTime()));
    }
    same(job, "metadata", job.spec.metadata(), info.metadata());
    List<DependencyInfo> awaited = new ArrayList<>();
    job.awaited.forEach(
        (ref, one) -> awaited.add(new DependencyInfo(ref.id(), one.condition, one.met, one.state)));
    same(job, "dependencies", awaited, info.dependencies());
    same(job, "name", job.spec.name(), info.name());
    same(job, "key", job.spec.key(), info.key());
    String error = info.lastError() == null ? null : info.lastError().type();
    if (!Handlers.UNDECODABLE.equals(error)) {
      same(job, "error", job.lastErrorType, error);
    }
  }

  /**
   * Whether its queue or namespace may be paused, which it shows as well; of several nodes one that
   * was cut off need not have heard of the end of that.
   */
  private boolean mayBePaused(ModelJob job) {
    long now = world.clock.nanos() - (world.climate.nodes == 1 ? 0 : NEWS_NANOS);
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, job.spec.queue());
    FlowSubject namespace = new FlowSubject(FlowSubject.Scope.NAMESPACE, job.spec.namespace());
    return world.flow.perhapsPausedSince(queue, now)
        || world.flow.perhapsPausedSince(namespace, now);
  }

  private static void same(
      ModelJob job, String what, @Nullable Object expected, @Nullable Object actual) {
    check(
        Objects.equals(expected, actual),
        Guarantee.FOLD,
        () ->
            what
                + " of "
                + job
                + " is "
                + actual
                + " in memory and "
                + expected
                + " in the journal");
  }
}
