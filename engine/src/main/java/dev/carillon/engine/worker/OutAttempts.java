package dev.carillon.engine.worker;

import dev.carillon.api.AttemptToken;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.attempt.WorkerRun;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of this node's jobs that workers have: when each is leased, taken back or lost, and
 * how it goes to the next owner of its shard. Only the loop uses it.
 */
final class OutAttempts {
  /** An attempt that has lasted so long is leased. */
  private static final long LEASE_AFTER_NANOS = 1_000_000_000;

  /** What is not accepted for so long goes to another worker. */
  private static final long ACCEPT_NANOS = 5_000_000_000L;

  /** A worker that is silent for so long has stopped what is not leased. */
  private static final long UNLEASED_NANOS = 5_000_000_000L;

  /** How long limits are held that the next owner of a shard is about to take over. */
  private static final long HANDED_OVER_NANOS = 10_000_000_000L;

  /** So soon other nodes are asked again not to renew an attempt that leaves. */
  private static final long WITHDRAW_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final MemberStatus status;
  private final Shards shards;
  private final Attempts attempts;
  private final Consumer<OutAttempt> whenLeft;
  private final Map<Long, OutAttempt> out = new LinkedHashMap<>();
  private boolean stopping;

  OutAttempts(
      Basics basics,
      MemberStatus status,
      Shards shards,
      Attempts attempts,
      Consumer<OutAttempt> whenLeft) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.status = status;
    this.shards = shards;
    this.attempts = attempts;
    this.whenLeft = whenLeft;
  }

  int size() {
    return out.size();
  }

  boolean isEmpty() {
    return out.isEmpty();
  }

  List<OutAttempt> all() {
    return List.copyOf(out.values());
  }

  /** The attempt of that token, if the worker has it of this node. */
  @Nullable OutAttempt find(WorkerLink link, AttemptToken token) {
    OutAttempt each = out.get(token.nonce());
    boolean same =
        each != null
            && each.run.worker.equals(link.hello.worker())
            && each.attempt.token().equals(token);
    return same ? each : null;
  }

  OutAttempt keep(Attempt attempt, WorkerRun run) {
    OutAttempt each = new OutAttempt(attempt, run);
    out.put(attempt.nonce(), each);
    run.whenLeft(() -> left(each));
    return each;
  }

  /** Nothing of the attempt is left here. */
  private void left(OutAttempt each) {
    out.remove(each.attempt.nonce(), each);
    whenLeft.accept(each);
    WorkerLink link = each.link();
    if (each.saidOutcome && link != null) {
      answer(each, link);
    }
  }

  static void answer(OutAttempt each, WorkerLink link) {
    switch (each.run.fate()) {
      case DURABLE -> {
        if (each.decidedHere) {
          link.stream.told(each.attempt.token(), WorkerStream.Word.STALE);
        } else {
          link.stream.told(each.attempt.token(), WorkerStream.Word.SETTLED);
        }
      }
      case STALE -> link.stream.told(each.attempt.token(), WorkerStream.Word.STALE);
      case OPEN, UNKNOWN -> {} // whoever knows is asked again
    }
  }

  /** The worker has the attempt, and says so there. */
  void attach(OutAttempt each, WorkerLink link) {
    each.spokenOf(link);
    if (!isLeaving(each)) {
      each.renewedBy(link);
    }
    each.run.accepted = true;
    each.run.heardNanos = now();
  }

  /** Beats on that connection do not renew the attempt any more: its shard may go now. */
  void leaves(OutAttempt each, WorkerLink link, long heardNanos) {
    if (each.leaves(link, heardNanos)) {
      Shard shard = each.attempt.job().shard;
      if (shard != null) {
        shards.changed(shard.journal);
      }
    }
  }

  // ---- stopping

  /** The worker is asked to save and return, or to stop. */
  void recall(Attempt attempt) {
    OutAttempt each = out.get(attempt.nonce());
    WorkerLink link = each != null && each.attempt == attempt ? each.link() : null;
    if (link != null) {
      link.stream.stop(attempt.token(), stopCause(attempt));
    }
  }

  static Attempt.StopCause stopCause(Attempt attempt) {
    return attempt.stopCause != null ? attempt.stopCause : Attempt.StopCause.TIMEOUT;
  }

  /** The shard of the attempt is no longer this node's. */
  void disowned(Attempt attempt) {
    OutAttempt each = out.get(attempt.nonce());
    if (each == null || each.attempt != attempt) {
      return;
    }
    if (!attempt.isLeased()) {
      recall(attempt); // it is made again
      return;
    }
    out.remove(attempt.nonce(), each);
    for (WorkerLink link : each.renewing()) {
      link.stream.told(attempt.token(), WorkerStream.Word.MOVED);
    }
    if (attempt.hasReturned()) {
      return;
    }
    Runnable gone = () -> attempts.outcomes.gone(attempt);
    if (attempt.grant().isLimited()) {
      timers.at(now() + HANDED_OVER_NANOS, gone);
    } else {
      gone.run();
    }
  }

  /** The shard is about to go to another node. */
  void leaving(Shard shard) {
    for (OutAttempt each : List.copyOf(out.values())) {
      if (each.attempt.job().shard == shard) {
        leaseIfLeaving(each);
      }
    }
  }

  void beginStop() {
    stopping = true;
    all().forEach(this::leaseIfLeaving);
  }

  boolean isLeaving(OutAttempt each) {
    Shard shard = each.attempt.job().shard;
    return shard != null && shard.owned() && (stopping || !shard.stays());
  }

  /** What leaves is leased, and renewed by nobody before the next owner counts it. */
  void leaseIfLeaving(OutAttempt each) {
    if (!isLeaving(each) || each.attempt.hasReturned()) {
      return;
    }
    if (each.attempt.isLeased()) {
      moveOn(each); // also what no worker has accepted yet: it may be about to
    } else if (each.run.accepted) {
      lease(each);
    }
  }

  /** Beats do not renew it any more: here from now on, elsewhere once those nodes say so. */
  private void moveOn(OutAttempt each) {
    for (WorkerLink link : each.renewing()) {
      if (!link.isFar()) {
        link.stream.told(each.attempt.token(), WorkerStream.Word.MOVED);
        leaves(each, link, link.heardNanos(now()));
      }
    }
    withdraw(each);
  }

  /**
   * Other nodes are to cease, and are asked again for as long as they do not say that they have.
   */
  private void withdraw(OutAttempt each) {
    Long asked = each.withdrawnNanos;
    long now = now();
    if (each.run.renewedElsewhere && (asked == null || now - asked >= WITHDRAW_NANOS)) {
      each.withdrawnNanos = now;
      for (WorkerLink link : each.renewing()) {
        FarWorkers.withdraw(link, each.attempt.token());
      }
    }
  }

  private void lease(OutAttempt each) {
    attempts
        .outcomes
        .leases()
        .write(
            each.attempt,
            () -> {
              each.everLeased = true;
              for (WorkerLink link : each.renewing()) {
                link.stream.leased(each.attempt.token(), each.run.lengthMicros);
              }
              leaseIfLeaving(each); // it goes on without this node, and has to know both
            });
  }

  // ---- time

  /** Looks at each: what is to be leased, taken back or given up. */
  void sweep() {
    long now = now();
    for (OutAttempt each : all()) {
      look(each, now);
    }
  }

  private void look(OutAttempt each, long now) {
    Attempt attempt = each.attempt;
    if (attempt.hasReturned()) {
      return;
    }
    leaseIfLeaving(each);
    WorkerLink link = each.link();
    long heard = each.run.heardNanos;
    for (WorkerLink of : each.renewing()) {
      heard = later(heard, of.heardNanos(now));
    }
    boolean leased = each.everLeased || each.run.isLeasing();
    long patience = leased ? each.run.lengthMicros * 1000 : UNLEASED_NANOS;
    if (!each.run.accepted) {
      // By a lease that came first it may run, unless the worker has seen it and said nothing.
      boolean seen = link != null && each.number != 0 && link.hasSeen(each.number);
      boolean mayRun = leased && !seen;
      Long passed = each.passedNanos;
      long waits = now - (passed != null ? passed : attempt.startedNanos);
      if (waits < ACCEPT_NANOS) {
        return;
      }
      if (!mayRun || now - heard >= patience) {
        takeBack(each);
      } else {
        withdraw(each); // a gateway may never have heard of it
      }
      return;
    }
    if (now - heard >= patience) {
      lose(each);
    } else if (!leased && !attempt.over && hasLasted(attempt, now) && link != null) {
      leaseIfHeard(each, now - heard);
    }
  }

  private static boolean hasLasted(Attempt attempt, long now) {
    return now - attempt.startedNanos >= LEASE_AFTER_NANOS;
  }

  /** A worker that may be dead gets no lease that others would have to wait for. */
  private void leaseIfHeard(OutAttempt each, long silentNanos) {
    if (silentNanos < WorkerLinks.GAP_NANOS && status.isSure()) {
      lease(each);
    }
  }

  private void takeBack(OutAttempt each) {
    each.decidedHere = true;
    env.metrics().count("attempts.not.accepted", 1);
    WorkerLink link = each.link();
    if (link != null) {
      link.stream.stop(each.attempt.token(), Attempt.StopCause.FENCED);
    }
    attempts.finished(each.attempt, new AttemptOutcome.Interrupted());
  }

  private void lose(OutAttempt each) {
    each.decidedHere = true;
    env.metrics().count("workers.lost", 1);
    if (each.attempt.over) {
      attempts.outcomes.gone(each.attempt); // its outcome was decided before
    } else {
      attempts.finished(each.attempt, new AttemptOutcome.WorkerLost());
    }
  }

  private static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }

  private long now() {
    return env.monotonicNanos();
  }
}
