package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.engine.AttemptOutcome;
import dev.carillon.engine.Micros;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Says at each step whether what the engine did agrees with what it promised: the operations that
 * took effect, the attempts that started, the outcomes that were kept.
 */
final class Judge {
  private static final int MOST_KILLS = 4;
  private static final long LATEST_START_NANOS = 2 * VirtualClock.SECOND;

  private final World world;
  private final Ledger ledger;
  private final Set<List<Request>> touchedBatches = new LinkedHashSet<>();

  /** How often the node was told to stop. */
  private int stops;

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
            && failure.retryable();
    check(
        failed || timedOut(execution),
        Guarantee.ONE_OUTCOME,
        () -> job + " is retried but its attempt " + retry.attempt() + " did not fail");
    job.startsAllowed++;
    world.trace.note("retried", job.request, retry.attempt(), "");
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
            && !failure.retryable();
    boolean often = end.attempt() >= world.climate.options().maxAttempts();
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

  // ---- attempts

  void started(Execution execution, List<Execution> running) {
    ModelJob job = execution.job;
    check(
        job.end != JobState.CANCELLED,
        Guarantee.CANCEL,
        () -> execution + " started after its cancel");
    check(job.live(), Guarantee.ONE_OUTCOME, () -> execution + " started after the job's end");
    check(
        execution.request.told != Request.Told.REFUSED,
        Guarantee.UNKNOWN_IS_SAID,
        () -> execution + " started, though it was refused");
    check(
        job.shard.owner == execution.incarnation,
        Guarantee.ONE_WRITER,
        () -> execution + " started in a shard of another owner");
    check(
        execution.request.id == job.request && execution.attempt.number() == job.attempts + 1,
        Guarantee.ONE_OUTCOME,
        () -> execution + " started, but the journal has gone on to another");
    check(
        world.clock.wallMicros() >= job.due
            && Micros.ceil(execution.attempt.scheduledTime()) == job.due,
        Guarantee.NEVER_EARLY,
        () -> execution + " started " + (job.due - world.clock.wallMicros()) + " µs early");
    check(
        !job.cancelAnswered,
        Guarantee.CANCEL,
        () -> execution + " started after it was told to stop");
    long deadline = job.spec.deadline();
    check(
        deadline == 0 || world.clock.wallMicros() < deadline,
        Guarantee.DEADLINE,
        () -> execution + " started after its deadline");
    check(
        Arrays.equals(execution.attempt.saved(), job.saved),
        Guarantee.ACKNOWLEDGED_IS_DURABLE,
        () -> execution + " does not see what was saved last");
    onTime(execution);
    repeats(execution, running);
    alone(execution, running);
    limits(execution, running);
  }

  /** Once everything is healthy a due job starts at once, or as soon as a slot is free. */
  private void onTime(Execution execution) {
    if (world.healthy()) {
      long due = world.clock.nanosAtWall(execution.job.due);
      long late = world.clock.nanos() - Math.max(due, world.healthyFromNanos());
      check(
          late <= LATEST_START_NANOS,
          Guarantee.NOT_STUCK,
          () -> execution + " started " + late / VirtualClock.MILLI + " ms late");
    }
  }

  private static void repeats(Execution execution, List<Execution> running) {
    ModelJob job = execution.job;
    check(
        ++job.starts <= job.startsAllowed,
        Guarantee.BOUNDED_REPEATS,
        () -> execution + " is start " + job.starts + ", accounted for are " + job.startsAllowed);
    for (Execution other : running) {
      check(
          other.job != job || other.interrupted,
          Guarantee.BOUNDED_REPEATS,
          () -> execution + " started while another of it runs");
    }
  }

  private void alone(Execution execution, List<Execution> running) {
    check(
        !isAlone(execution) || running.isEmpty(),
        Guarantee.POISON,
        () -> execution + " started alone beside " + running.size());
    long time = world.climate.options().aloneTime().toNanos();
    for (Execution other : running) {
      check(
          !isAlone(other) || world.clock.nanos() - other.startedNanos >= time,
          Guarantee.POISON,
          () -> execution + " started beside " + other + ", which runs alone");
    }
  }

  private static boolean isAlone(Execution execution) {
    ModelJob job = execution.job;
    return job.alone
        && job.live()
        && job.markerIncarnation == execution.incarnation
        && job.revision == execution.revision
        && job.attempts + 1 == execution.attempt.number();
  }

  private void limits(Execution execution, List<Execution> running) {
    Request.Wish wish = execution.request.wish;
    Climate climate = world.climate;
    check(
        running.size() < climate.options().slots(),
        Guarantee.LIMITS,
        () -> running.size() + 1 + " attempts at once");
    check(
        !wish.type().equals(Wishes.LIMITED_TYPE)
            || count(running, other -> other.type().equals(wish.type())) < climate.typeLimit,
        Guarantee.LIMITS,
        () -> execution + " is one too many of its type");
    check(
        !wish.queue().equals(Wishes.LIMITED_QUEUE)
            || count(running, other -> other.queue().equals(wish.queue())) < climate.queueLimit,
        Guarantee.LIMITS,
        () -> execution + " is one too many of its queue");
    check(
        !wish.namespace().equals(Wishes.LIMITED_NAMESPACE)
            || count(running, other -> other.namespace().equals(wish.namespace()))
                < climate.namespaceLimit,
        Guarantee.LIMITS,
        () -> execution + " is one too many of its namespace");
  }

  private static int count(List<Execution> running, Predicate<Request.Wish> alike) {
    int count = 0;
    for (Execution other : running) {
      count += alike.test(other.request.wish) ? 1 : 0;
    }
    return count;
  }

  void finished(Execution execution) {
    ModelJob job = execution.job;
    if (execution.accepted
        && execution.revision == job.revision
        && (execution.outcome instanceof AttemptOutcome.Interrupted
            || execution.outcome instanceof AttemptOutcome.Undecodable)) {
      job.startsAllowed++;
    }
    check(
        !execution.accepted || job.live() || !job.endTold,
        Guarantee.ONE_OUTCOME,
        () -> execution + " was accepted after the job's end");
  }

  void saveAcknowledged(Execution execution, byte[] state) {
    ModelJob job = execution.job;
    check(
        job.revision != execution.revision || !job.live() || Arrays.equals(job.saved, state),
        Guarantee.ACKNOWLEDGED_IS_DURABLE,
        () -> "what " + execution + " saved is not in the journal");
  }

  void killed(Execution execution) {
    int kills = ledger.killed(execution.request);
    check(
        kills <= MOST_KILLS + world.clock.jumpsBack() + stops,
        Guarantee.POISON,
        () -> execution + " has killed its node " + kills + " times");
  }

  /** The node begins to stop in order: shards it releases are not suspect. */
  void stopping() {
    stops++;
  }

  /** The node's life is over, in order or not: its attempts are cut off. */
  void lifeEnded(long incarnationOfLife, boolean crash) {
    for (ModelShard shard : world.model.shards()) {
      for (ModelJob job : shard.jobs.values()) {
        if (job.live()) {
          lifeEnded(job, incarnationOfLife, crash);
        }
      }
    }
  }

  private static void lifeEnded(ModelJob job, long incarnationOfLife, boolean crash) {
    for (Execution execution : job.executions.reversed()) {
      if (execution.incarnation != incarnationOfLife) {
        break;
      }
      if (execution.revision == job.revision && execution.attempt.number() > job.attempts) {
        job.startsAllowed++;
        break;
      }
    }
    if (crash && job.alone && job.markerIncarnation == incarnationOfLife) {
      job.crashedAlone = true;
    }
  }
}
