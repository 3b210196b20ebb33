package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.engine.AttemptOutcome;
import dev.carillon.engine.Micros;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Says of each operation that took effect whether it agrees with what was asked for, what was
 * answered and what the attempts did.
 */
final class Judge {
  private final World world;
  private final Ledger ledger;
  private final Set<List<Request>> touchedBatches = new LinkedHashSet<>();

  /** The life that runs now, 0 while none does. */
  long incarnation;

  Judge(World world, Ledger ledger) {
    this.world = world;
    this.ledger = ledger;
  }

  // ---- operations that took effect

  void added(ModelJob job) {
    Request request = ledger.request(job.request);
    mayAppear(request, job);
    matches(request, job.spec);
    if (request.wish.named()) {
      // Under a name, another request may take the name, and with it the memory of the key.
      if (request.wish.key() != null && request.wish.name() == null) {
        keyIsFree(job);
      }
      world.names.added(job);
    }
    if (!request.batch.isEmpty()) {
      touchedBatches.add(request.batch);
    }
  }

  private static void mayAppear(Request request, ModelJob job) {
    check(
        request.told != Request.Told.REFUSED && request.told != Request.Told.KEPT,
        Guarantee.UNKNOWN_IS_SAID,
        () -> request + " was answered " + request.told + " and appears as " + job);
  }

  private static void matches(Request request, JournalFormat.Spec spec) {
    Request.Wish wish = request.wish;
    check(
        spec.due() == wish.dueMicros()
            && spec.type().equals(wish.type())
            && spec.namespace().equals(wish.namespace())
            && spec.queue().equals(wish.queue())
            && spec.metadata().equals(wish.metadata())
            && spec.timeout() == wish.timeoutMicros()
            && spec.deadline() == wish.deadlineMicros()
            && same(spec.name(), wish.name())
            && same(spec.key(), wish.key()),
        Guarantee.HISTORY,
        () -> request + " is written otherwise than asked for");
  }

  private static boolean same(@Nullable String a, @Nullable String b) {
    return a == null ? b == null : a.equals(b);
  }

  private void keyIsFree(ModelJob job) {
    List<ModelJob> before = world.names.everyone(job.spec.recordKey());
    if (!before.isEmpty()) {
      ModelJob other = before.getLast();
      if (same(other.spec.key(), job.spec.key())) {
        long until = other.endAt + Micros.ceil(world.climate.options().keyRetention());
        check(
            !other.live() && world.clock.highestWallSince(other.endedNanos) >= until,
            Guarantee.UNKNOWN_IS_SAID,
            () -> job + " has the idempotency key of " + other + ", which is still remembered");
      }
    }
  }

  /** A group of appends is in: batches that are in must be in whole. */
  void groupDone() {
    for (List<Request> batch : touchedBatches) {
      long missing =
          batch.stream()
              .filter(r -> r.told != Request.Told.KEPT && world.model.ofRequest(r.id) == null)
              .count();
      check(
          missing == 0,
          Guarantee.ATOMIC_BATCH,
          () -> missing + " of " + batch.size() + " jobs of a batch are not written, others are");
    }
    touchedBatches.clear();
  }

  void marked(ModelJob job) {
    if (job.alone && job.markerIncarnation != incarnation) {
      job.crashedAlone = true; // its node died before it could know that this is written
    }
  }

  void saved(ModelJob job, JournalFormat.Save save) {
    check(
        execution(job, save.attempt()) != null,
        Guarantee.HISTORY,
        () -> job + " has saved a position but attempt " + save.attempt() + " never started");
  }

  /** The latest execution of that attempt by the shard's owner. */
  private static @Nullable Execution execution(ModelJob job, int attempt) {
    for (Execution execution : job.executions.reversed()) {
      if (execution.attempt.number() == attempt
          && execution.revision == job.revision
          && execution.incarnation == job.shard.owner) {
        return execution;
      }
    }
    return null;
  }

  void cancelRequested(ModelJob job) {
    check(job.cancelAsked, Guarantee.CANCEL, () -> "nobody asked to cancel " + job);
  }

  void noSuchJob(ModelShard shard, JournalFormat.Op operation, @Nullable ModelJob ended) {
    world.trace.note("no effect", shard.index, operation.getClass().getSimpleName());
    check(
        ended != null,
        Guarantee.HISTORY,
        () ->
            "an operation on a job that was never added: " + operation.getClass().getSimpleName());
  }

  void replaced(ModelJob job, JournalFormat.Spec next, long id) {
    Request request = ledger.request(id);
    mayAppear(request, job);
    matches(request, next);
    world.names.replaced(job, next);
    job.cancelAnswered = false;
    world.trace.note("replaced", job.request, id, "");
  }

  void retried(ModelJob job, JournalFormat.Retry retry) {
    Execution execution = execution(job, retry.attempt());
    boolean failed =
        execution != null
            && execution.accepted
            && execution.outcome instanceof AttemptOutcome.Failed failure
            && isRetryable(failure);
    check(
        failed || timedOut(execution),
        Guarantee.ONE_OUTCOME,
        () -> job + " is retried but its attempt " + retry.attempt() + " did not fail");
    job.startsAllowed++;
    world.trace.note("retried", job.request, retry.attempt(), "");
  }

  private static boolean isRetryable(AttemptOutcome.Failed failure) {
    return failure.verdict() instanceof AttemptOutcome.Verdict.ByPolicy;
  }

  private boolean timedOut(@Nullable Execution execution) {
    if (execution == null) {
      return false;
    }
    long timeout = execution.request.wish.timeoutMicros() * VirtualClock.MICRO;
    return timeout != 0
        && execution.interrupted
        && world.clock.nanos() - execution.startedNanos >= timeout;
  }

  void ended(ModelJob job, JournalFormat.End end) {
    Execution execution = end.attempt() == 0 ? null : execution(job, end.attempt());
    if (end.attempt() != 0) {
      check(
          execution != null,
          Guarantee.ONE_OUTCOME,
          () -> job + " was ended by attempt " + end.attempt() + ", which never started");
    }
    switch (end.state()) {
      case SUCCEEDED -> succeeded(job, end, execution);
      case CANCELLED ->
          check(
              job.cancelAsked,
              Guarantee.CANCEL,
              () -> job + " is cancelled, which nobody asked for");
      case EXPIRED -> expired(job, execution);
      case DEAD -> dead(job, end, execution);
      default -> throw new Violation(Guarantee.NOT_LOST, job + " ended as " + end.state());
    }
    world.trace.note("ended", job.request, end.attempt(), end.state().name());
  }

  private static void succeeded(
      ModelJob job, JournalFormat.End end, @Nullable Execution execution) {
    check(
        execution != null && execution.outcome instanceof AttemptOutcome.Succeeded,
        Guarantee.AT_LEAST_ONCE,
        () -> job + " succeeded but its handler did not");
    check(
        execution != null
            && execution.accepted
            && execution.outcome instanceof AttemptOutcome.Succeeded success
            && Arrays.equals(success.result(), end.result()),
        Guarantee.ONE_OUTCOME,
        () -> job + " ended with a result that its current attempt did not give");
  }

  private void expired(ModelJob job, @Nullable Execution execution) {
    long deadline = job.spec.deadline();
    boolean passed = world.clock.highestWallSince(job.shard.claimedNanos) >= deadline;
    boolean ranOut =
        execution != null
            && world.clock.nanos() - execution.startedNanos
                >= (deadline - execution.startedWallMicros) * VirtualClock.MICRO;
    check(
        deadline != 0 && (passed || ranOut),
        Guarantee.NOT_LOST,
        () -> job + " expired before its deadline");
  }

  private void dead(ModelJob job, JournalFormat.End end, @Nullable Execution execution) {
    if (end.attempt() == 0) {
      check(
          job.crashedAlone,
          Guarantee.POISON,
          () -> job + " is convicted, but no crash hit it alone");
      return;
    }
    boolean failed =
        execution != null
            && ((execution.accepted && execution.outcome instanceof AttemptOutcome.Failed)
                || timedOut(execution));
    boolean hopeless =
        execution != null
            && execution.outcome instanceof AttemptOutcome.Failed failure
            && !isRetryable(failure);
    boolean often = end.attempt() > world.climate.options().failurePolicy().maxRetries();
    check(
        failed && (hopeless || often),
        Guarantee.NOT_LOST,
        () -> job + " is dead after attempt " + end.attempt() + ", which is no reason");
  }

  void dropped(ModelShard shard) {
    for (ModelJob job : shard.jobs.values()) {
      check(!job.live(), Guarantee.NOT_LOST, () -> "the shard of live " + job + " is dropped");
      mayGo(job);
      world.names.forgotten(job);
    }
  }

  void droppedGenerations(ModelShard shard) {
    for (ModelJob job : shard.jobs.values()) {
      if (job.forgotten()) {
        mayGo(job);
      }
    }
  }

  private void mayGo(ModelJob job) {
    long retention = Micros.ceil(world.climate.options().successRetention());
    check(
        job.end != JobState.DEAD && job.end != JobState.FAILED,
        Guarantee.RETENTION,
        () -> "the journal of dead letter " + job + " is dropped");
    long now = world.clock.highestWallSince(job.shard.claimedNanos);
    check(
        now >= job.endAt + retention,
        Guarantee.RETENTION,
        () ->
            "the journal of "
                + job
                + " is dropped at "
                + now
                + ", it ended at "
                + job.endAt
                + " retention "
                + retention);
  }
}
