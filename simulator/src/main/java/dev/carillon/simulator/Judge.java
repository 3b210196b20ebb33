package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.Concurrency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobState;
import dev.carillon.api.WhenFull;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Says of each operation that took effect whether it agrees with what was asked for, what was
 * answered and what the attempts did.
 */
final class Judge {
  private final World world;
  private final Ledger ledger;
  private final Set<List<Request>> touchedBatches = new LinkedHashSet<>();

  /** Jobs of which others were told that they are no longer there. */
  private final Set<JobRef> toldGone = new LinkedHashSet<>();

  Judge(World world, Ledger ledger) {
    this.world = world;
    this.ledger = ledger;
  }

  /** An older copy of the store was put back: what is gone may come, under the same number. */
  void wentBack() {
    toldGone.clear();
  }

  // ---- operations that took effect

  /** A shard is about to have another owner. */
  void claimed(ModelShard shard, long owner) {
    long before = shard.owner != 0 ? shard.owner : shard.releasedBy;
    Life life = world.life(before);
    if (before == owner || life == null || !life.alive()) {
      return; // what a life's end means was said then
    }
    if (shard.owner != 0) {
      world.members.claimed(shard, before);
      cutOff(shard, before, true);
    } else if (life.stopping) {
      cutOff(shard, before, false); // it does not wait for its attempts for ever
    }
  }

  private static void cutOff(ModelShard shard, long incarnation, boolean crash) {
    for (ModelJob job : shard.jobs.values()) {
      if (job.live()) {
        AttemptJudge.cutOff(job, incarnation, crash);
      }
    }
  }

  void added(ModelJob job) {
    if (world.climate.nodes > 1) {
      world.members.added(job, world.writer);
    }
    Request request = ledger.request(job.request);
    mayAppear(request, job);
    matches(request, job.spec);
    waitsAsAsked(request, job.spec);
    check(
        !toldGone.contains(job.ref),
        Guarantee.DEPENDENCIES,
        () -> job + " is there, though one that waits for it was told that it is not");
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

  private void waitsAsAsked(Request request, JournalFormat.Spec spec) {
    String name = request.wish.rules().waits().name();
    String recordKey = "n\0" + spec.namespace() + "\0" + name;
    check(
        request.waitsAs(
            spec,
            ref ->
                world.names.everyone(recordKey).stream().anyMatch(job -> job.ref.equals(ref))
                    || ledger.job(ref) == null),
        Guarantee.DEPENDENCIES,
        () -> request + " waits for others than it was to: " + spec.more().after());
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
            && Objects.equals(spec.more().schedule(), wish.rules().schedule())
            && spec.more().first() == wish.rules().firstMicros()
            && Objects.equals(spec.more().policy(), wish.rules().policy())
            && Objects.equals(spec.more().concurrency(), wish.rules().concurrency())
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
      batch.forEach(this::isTied);
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

  /** Those of its batch that it waits for know it, and are those it was to wait for. */
  private void isTied(Request request) {
    ModelJob job = world.model.ofRequest(request.id);
    for (Request.Tie tie : request.ties) {
      Request other = tie.other();
      ModelJob awaited = world.model.ofRequest(other.id);
      JobRef ref = awaited != null ? awaited.ref : other.ref;
      check(
          job == null
              || ref == null
              || job.spec.more().after().contains(new JournalFormat.After(ref, tie.condition())),
          Guarantee.DEPENDENCIES,
          () -> job + " does not wait for " + other + " of its batch");
      check(
          job == null
              || awaited == null
              || other.told == Request.Told.KEPT
              || awaited.waiters.contains(job.ref),
          Guarantee.DEPENDENCIES,
          () -> awaited + " does not know of " + job + ", which waits for it");
    }
  }

  void marked(ModelJob job) {
    if (job.alone && !world.lives(job.markerIncarnation)) {
      job.crashedAlone = true; // its node died before it could know that this is written
    }
  }

  /** Whether the node that was to run it alone died since, or who lent it may have thought so. */
  private boolean mayBeConvicted(ModelJob job) {
    return job.crashedAlone
        || (job.lentAlone
            && world.members.mayHaveSeemedDead(job.markerIncarnation, job.markedNanos));
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
          && execution.owner == job.shard.owner) {
        return execution;
      }
    }
    return null;
  }

  void cancelRequested(ModelJob job, String reason) {
    check(
        job.cancelAsked || world.keys.cancelledByNewer(job, reason),
        Guarantee.CANCEL,
        () -> "nobody asked to cancel " + job);
    job.cancelAsked = true;
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
    waitsAsAsked(request, next);
    world.names.replaced(job, next);
    job.cancelAnswered = false;
    world.trace.note("replaced", job.request, id, "");
  }

  /** A recurring job is declared again: its name and times stay, the rest is as asked for. */
  void updated(ModelJob job, JournalFormat.Update update, long id) {
    Request request = ledger.request(id);
    Request.Wish wish = request.wish;
    JournalFormat.Spec spec = update.spec();
    JournalFormat.Spec before = job.spec;
    mayAppear(request, job);
    check(
        wish.ifExists() == IfExists.UPDATE
            && spec.due() == before.due()
            && spec.accepted() == before.accepted()
            && spec.type().equals(before.type())
            && spec.namespace().equals(before.namespace())
            && spec.queue().equals(wish.queue())
            && spec.metadata().equals(wish.metadata())
            && spec.timeout() == wish.timeoutMicros()
            && spec.deadline() == wish.deadlineMicros()
            && Objects.equals(spec.more().schedule(), wish.rules().schedule())
            && spec.more().first() == before.more().first()
            && Objects.equals(spec.more().policy(), wish.rules().policy())
            && Objects.equals(spec.more().concurrency(), wish.rules().concurrency())
            && spec.more().after().equals(before.more().after())
            && spec.more().waiters().equals(before.more().waiters())
            && same(spec.key(), before.key()),
        Guarantee.HISTORY,
        () -> request + " declares " + job + " again, and " + spec + " is written");
    RecurrenceJudge.updates(job, update);
    world.names.replaced(job, spec);
    world.trace.note("updated", job.request, id, "");
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
    FailurePolicy policy = policyOf(job);
    AttemptOutcome.Verdict verdict =
        failed && execution != null && execution.outcome instanceof AttemptOutcome.Failed failure
            ? failure.verdict()
            : null;
    check(
        verdict instanceof AttemptOutcome.Verdict.RetryAt
            || (policy.kind() != FailurePolicy.Kind.DROP && retry.attempt() <= policy.maxRetries()),
        Guarantee.RETRIES,
        () -> job + " is retried after attempt " + retry.attempt() + " by " + policy);
    RetryRule.check(job, retry, policy, verdict);
    isOf(execution, retry.startedAt(), failed ? retry.at() : null);
    job.startsAllowed++;
    job.retriedNanos = world.clock.nanos();
    job.retriedBy = job.shard.owner;
    world.trace.note("retried", job.request, retry.attempt(), "");
  }

  private FailurePolicy policyOf(ModelJob job) {
    FailurePolicy own = job.spec.more().policy();
    return own != null ? own : world.climate.options().failurePolicy();
  }

  /** The times that an operation names are those at which its attempt was seen. */
  private static void isOf(@Nullable Execution execution, long startedAt, @Nullable Long endedAt) {
    check(
        execution != null
            && (execution.marked || startedAt == execution.startedWallMicros)
            && (endedAt == null || execution.isLent() || endedAt == execution.finishedWallMicros),
        Guarantee.HISTORY,
        () -> execution + " has other times in the journal");
  }

  private static boolean isRetryable(AttemptOutcome.Failed failure) {
    return failure.verdict() instanceof AttemptOutcome.Verdict.ByPolicy
        || failure.verdict() instanceof AttemptOutcome.Verdict.ByPolicyFrom
        || failure.verdict() instanceof AttemptOutcome.Verdict.RetryAt;
  }

  // ---- recurring jobs

  /** A recurring job moves on, or has more occurrences. */
  void next(ModelJob job, JournalFormat.Next next) {
    if (next.stays()) {
      RecurrenceJudge.adds(job, next);
      return;
    }
    if (next.attempt() == 0 && KeyJudge.isRefusal(next.reason())) {
      Concurrency concurrency = job.spec.more().concurrency();
      boolean reject = concurrency != null && concurrency.whenFull() == WhenFull.REJECT;
      world.keys.refused(job, reject ? WhenFull.REJECT : WhenFull.CANCEL_NEWEST);
    }
    RecurrenceJudge.moves(job, next);
    long deadline = job.spec.deadline();
    check(
        next.attempt() != 0 || next.children().isEmpty() || deadline == 0 || next.at() < deadline,
        Guarantee.DEADLINE,
        () -> job + " has an occurrence after its deadline");
    if (isPoison(next.reason())) {
      check(
          mayBeConvicted(job) && next.outcome() == JobState.DEAD,
          Guarantee.POISON,
          () -> "an occurrence of " + job + " is convicted, but no crash hit it alone");
      job.occurrenceConvicted = true;
    } else if (next.attempt() != 0) {
      occurred(job, next);
    }
    String detail = next.over() ? "over" : String.valueOf(next.reason());
    world.trace.note("next", job.request, next.attempt(), detail);
  }

  private void occurred(ModelJob job, JournalFormat.Next next) {
    Execution execution = execution(job, next.attempt());
    if (execution == null && wasStoppedOnItsWay(job, next.outcome(), next.reason())) {
      return;
    }
    check(
        execution != null,
        Guarantee.ONE_OUTCOME,
        () -> "an occurrence of " + job + " was ended by an attempt that never started");
    boolean accepted = execution != null && execution.accepted;
    if (!isUnheard(execution, next.reason())) {
      isOf(execution, next.startedAt(), accepted ? next.at() : null);
    }
    JobState outcome = next.outcome();
    if (outcome == JobState.SUCCEEDED) {
      check(
          accepted && execution != null && execution.outcome instanceof AttemptOutcome.Succeeded,
          Guarantee.AT_LEAST_ONCE,
          () -> "an occurrence of " + job + " succeeded but its handler did not");
    } else if (outcome == JobState.FAILED && KeyJudge.isForNewer(next.reason())) {
      check(
          world.keys.cancelledByNewer(job, next.reason()),
          Guarantee.CANCEL,
          () -> "an occurrence of " + job + " was stopped for a newer job that there is none of");
    } else {
      givenUp(job, outcome, next.attempt(), execution);
    }
  }

  /**
   * Whether an attempt that was lent may have been ended for a newer job when its owner took the
   * node that ran it for dead: it need not have heard that it ran, and knows when it lent it.
   */
  private boolean isUnheard(@Nullable Execution execution, @Nullable String reason) {
    return execution != null
        && execution.isLent()
        && KeyJudge.isForNewer(reason)
        && world.members.mayHaveSeemedDead(execution.incarnation, execution.startedNanos);
  }

  /** Its schedule has no time left. */
  void over(ModelJob job) {
    check(job.recurring(), Guarantee.RECURRENCES, () -> job + " is over and was never recurring");
    world.trace.note("ended", job.request, 0, "OVER");
  }

  /** An occurrence is a job of its own from now on. */
  void spawned(ModelJob occurrence) {
    if (occurrence.overlap() == Overlap.CANCEL_RUNNING) {
      occurrence.siblingsBefore().forEach(older -> older.cancelAsked = true);
    }
    world.trace.note("occurrence", occurrence.request, occurrence.number & 0xFFFF, "");
  }

  void postponed(ModelJob job, JournalFormat.Again again) {
    Execution execution = execution(job, again.attempt());
    long deadline = job.spec.deadline();
    check(
        execution != null
            && execution.accepted
            && execution.outcome instanceof AttemptOutcome.Again asked
            && again.due()
                == (deadline == 0 ? asked.dueMicros() : Math.min(asked.dueMicros(), deadline)),
        Guarantee.ONE_OUTCOME,
        () -> job + " is postponed, which its attempt did not ask for");
    job.startsAllowed++;
    world.trace.note("postponed", job.request, again.attempt(), "");
  }

  // ---- dependencies

  /** It becomes known in a job's shard who waits for it. */
  void waits(ModelJob job, JobRef waiter) {
    ModelJob waiting = ledger.job(waiter);
    check(
        waiting != null && waiting.everAwaited.contains(job.ref),
        Guarantee.DEPENDENCIES,
        () -> job + " has " + waiting + " waiting for it, which does not");
  }

  /** A job is told that one which it waits for has ended. */
  void met(ModelJob job, JournalFormat.Met met) {
    ModelJob other = ledger.job(met.ended());
    boolean forgotten = met.state() == null && (other == null || other.forgotten());
    check(
        forgotten || (other != null && met.state() != null && other.ends.contains(met.state())),
        Guarantee.DEPENDENCIES,
        () -> job + " is told that " + other + " ended as " + met.state());
    if (met.state() == null) {
      toldGone.add(met.ended());
    }
    world.trace.note("met", job.request, String.valueOf(met.state()));
  }

  // ---- dead letters

  /** A dead letter lives again, as it was but for its name, key and deadline. */
  void replayed(ModelJob job, JournalFormat.Replay replay) {
    takeControl(job, UserOperations.Kind.REPLAY, control -> true);
    JournalFormat.Spec spec = replay.spec();
    JournalFormat.More more = spec.more();
    JournalFormat.More before = job.spec.more();
    check(
        spec.due() == replay.at()
            && !spec.named()
            && spec.deadline() == 0
            && spec.type().equals(job.spec.type())
            && spec.queue().equals(job.spec.queue())
            && spec.namespace().equals(job.spec.namespace())
            && Arrays.equals(spec.payload(), job.spec.payload())
            && Objects.equals(more.policy(), before.policy())
            && Objects.equals(more.occurrence(), before.occurrence())
            && Objects.equals(more.concurrency(), before.concurrency())
            && more.after().isEmpty(),
        Guarantee.CONTROL,
        () -> job + " is replayed otherwise than it was: " + spec);
    world.names.replayed(job);
    if (job.parent != null) {
      job.cancelAsked = true; // by a newer occurrence, now or when its shard is read
    }
    world.trace.note("replayed", job.request);
  }

  void discarded(ModelJob job) {
    takeControl(job, UserOperations.Kind.DISCARD, control -> true);
    world.trace.note("discarded", job.request);
  }

  // ---- changes

  private static void takeControl(ModelJob job, UserOperations.Kind kind, Predicate<Control> fits) {
    check(
        job.asked.changed(control -> control.kind == kind && fits.test(control)),
        Guarantee.CONTROL,
        () -> "a change of " + job + " that nobody asks for: " + kind);
  }

  void paused(ModelJob job, JournalFormat.Pause pause) {
    if (isPoison(pause.reason())) {
      check(
          job.occurrenceConvicted,
          Guarantee.POISON,
          () -> job + " is paused, but no occurrence of it was convicted");
    } else {
      takeControl(
          job, UserOperations.Kind.CONTROL_PAUSE, control -> pause.reason().equals(control.value));
    }
    world.trace.note("paused", job.request);
  }

  private static boolean isPoison(@Nullable String reason) {
    return reason != null && reason.startsWith("poison: ");
  }

  void resumed(ModelJob job) {
    takeControl(job, UserOperations.Kind.RESUME, control -> true);
    world.trace.note("resumed", job.request);
  }

  void changed(ModelJob job, JournalFormat.Change change) {
    if (change.schedule() != null) {
      takeControl(
          job, UserOperations.Kind.NEW_SCHEDULE, c -> Objects.equals(change.schedule(), c.value));
      RecurrenceJudge.changes(job, change);
    } else if (change.due() != null) {
      takeControl(
          job,
          UserOperations.Kind.RESCHEDULE,
          c -> c.value instanceof Long due && movedTo(job, due, change.due()));
    } else {
      takeControl(
          job, UserOperations.Kind.PRIORITISE, c -> Objects.equals(change.priority(), c.value));
    }
    world.trace.note("changed", job.request);
  }

  /** A job is not moved beyond its deadline. */
  private static boolean movedTo(ModelJob job, long asked, @Nullable Long to) {
    long deadline = job.spec.deadline();
    long due = to != null ? to : Long.MIN_VALUE;
    return due == asked || (deadline != 0 && due == deadline && asked > deadline);
  }

  private boolean timedOut(@Nullable Execution execution) {
    if (execution == null) {
      return false;
    }
    long timeout = execution.request.wish.timeoutMicros() * VirtualClock.MICRO;
    return timeout != 0
        && execution.interrupted
        && world.clock.nanos() - execution.startedNanos
            >= execution.clock.leastVirtualNanos(timeout);
  }

  void ended(ModelJob job, JournalFormat.End end) {
    Execution execution = end.attempt() == 0 ? null : execution(job, end.attempt());
    if (end.attempt() != 0) {
      check(
          execution != null || wasStoppedOnItsWay(job, end.state(), end.reason()),
          Guarantee.ONE_OUTCOME,
          () -> job + " was ended by attempt " + end.attempt() + ", which never started");
    }
    check(
        !job.broken() || end.state() == JobState.CANCELLED || end.state() == JobState.EXPIRED,
        Guarantee.DEPENDENCIES,
        () -> job + " can never start and ended as " + end.state());
    switch (end.state()) {
      case SUCCEEDED -> succeeded(job, end, execution);
      case CANCELLED -> cancelled(job, end);
      case EXPIRED -> expired(job, end, execution);
      case DEAD -> {
        if (end.attempt() == 0) {
          check(
              mayBeConvicted(job),
              Guarantee.POISON,
              () -> job + " is convicted, but no crash hit it alone");
          check(
              !job.recurring(),
              Guarantee.POISON,
              () -> job + " is convicted, and not its occurrence");
          if (job.parent != null) {
            job.parent.occurrenceConvicted = true;
          }
        } else {
          givenUp(job, end.state(), end.attempt(), execution);
        }
      }
      case FAILED -> {
        if (end.attempt() == 0 && KeyJudge.isRefusal(end.reason())) {
          world.keys.refused(job, WhenFull.REJECT);
          job.refused = true;
        } else {
          givenUp(job, end.state(), end.attempt(), execution);
        }
      }
      default -> throw new Violation(Guarantee.NOT_LOST, job + " ended as " + end.state());
    }
    world.trace.note("ended", job.request, end.attempt(), end.state().name());
  }

  /** Whether the attempt may have been lent, and stopped before it started. */
  private boolean wasStoppedOnItsWay(
      ModelJob job, @Nullable JobState state, @Nullable String reason) {
    return world.climate.lends()
        && (state == JobState.CANCELLED || world.keys.cancelledByNewer(job, reason));
  }

  private void cancelled(ModelJob job, JournalFormat.End end) {
    if (end.attempt() == 0 && KeyJudge.isRefusal(end.reason())) {
      world.keys.refused(job, WhenFull.CANCEL_NEWEST);
      return;
    }
    check(
        job.cancelAsked || job.broken() || world.keys.cancelledByNewer(job, end.reason()),
        Guarantee.CANCEL,
        () -> job + " is cancelled, which nobody asked for: " + end.reason());
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

  private void expired(ModelJob job, JournalFormat.End end, @Nullable Execution execution) {
    long deadline = job.spec.deadline();
    boolean passed = world.clock.highestWallSince(job.shard.claimedNanos) >= deadline;
    boolean ranOut =
        execution != null
            && world.clock.nanos() - execution.startedNanos
                >= execution.clock.leastVirtualNanos(
                    (deadline - execution.startedWallMicros) * VirtualClock.MICRO);
    check(
        deadline != 0 && (passed || ranOut),
        Guarantee.NOT_LOST,
        () -> job + " expired before its deadline, " + deadline + ": " + end.reason());
  }

  /** Its policy has no attempt after this one: dead, or failed where that is the policy. */
  private void givenUp(
      ModelJob job, @Nullable JobState state, int attempt, @Nullable Execution execution) {
    FailurePolicy policy = policyOf(job);
    boolean drop = policy.kind() == FailurePolicy.Kind.DROP;
    boolean byRule =
        execution != null
            && execution.accepted
            && execution.outcome instanceof AttemptOutcome.Failed rule
            && rule.verdict() instanceof AttemptOutcome.Verdict.GiveUp;
    check(
        state == (drop && !byRule ? JobState.FAILED : JobState.DEAD),
        Guarantee.NOT_LOST,
        () -> job + " is given up as " + state + " by " + policy);
    boolean failed =
        execution != null
            && ((execution.accepted && execution.outcome instanceof AttemptOutcome.Failed)
                || timedOut(execution));
    boolean hopeless =
        execution != null
            && execution.outcome instanceof AttemptOutcome.Failed failure
            && !isRetryable(failure);
    boolean often = drop || attempt > policy.maxRetries();
    check(
        failed && (hopeless || often),
        Guarantee.NOT_LOST,
        () -> job + " is given up after attempt " + attempt + ", which is no reason");
  }

  void dropped(ModelShard shard) {
    for (ModelJob job : shard.jobs.values()) {
      check(!job.live(), Guarantee.NOT_LOST, () -> "the shard of live " + job + " is dropped");
      check(
          shard.debts.isEmpty(),
          Guarantee.DEPENDENCIES,
          () -> "shard " + shard.index + " is dropped and owes " + shard.debts);
      mayGo(job);
      world.names.forgotten(job);
    }
  }

  /**
   * Generations of a shard are gone.
   *
   * @param kept the jobs that were told of until now
   */
  void droppedGenerations(List<ModelJob> kept) {
    for (ModelJob job : kept) {
      if (job.forgotten()) {
        mayGo(job);
      }
    }
  }

  /** Jobs that failed since then must be kept by a compaction, whenever it began. */
  long keepFailedSince(ModelShard shard) {
    return highestWallOfOwner(shard) - Micros.ceil(world.climate.options().failureRetention());
  }

  /** A compaction left them out: what has had its retention then need not have it again. */
  void leftOut(List<ModelJob> jobs) {
    for (ModelJob job : jobs) {
      job.retentionSeenOver = retentionIsOver(job);
    }
  }

  private void mayGo(ModelJob job) {
    if (job.discarded) {
      return;
    }
    NodeOptions options = world.climate.options();
    check(
        job.end != JobState.DEAD,
        Guarantee.RETENTION,
        () -> "the journal of dead letter " + job + " is dropped");
    if (options.historyBytes() > 0 && job.end != JobState.FAILED) {
      return; // there may have been no room for it
    }
    check(
        job.retentionSeenOver || retentionIsOver(job),
        Guarantee.RETENTION,
        () ->
            "the journal of "
                + job
                + " is dropped at "
                + highestWallOfOwner(job.shard)
                + ", it ended at "
                + job.endAt
                + " retention "
                + retention(job));
  }

  /** Whether the shard's owner may have seen the retention of an ended job pass. */
  private boolean retentionIsOver(ModelJob job) {
    return highestWallOfOwner(job.shard) >= job.endAt + retention(job);
  }

  private long retention(ModelJob job) {
    NodeOptions options = world.climate.options();
    return Micros.ceil(
        job.end == JobState.FAILED ? options.failureRetention() : options.successRetention());
  }

  private long highestWallOfOwner(ModelShard shard) {
    return world.clock.highestWallSince(shard.claimedNanos);
  }
}
