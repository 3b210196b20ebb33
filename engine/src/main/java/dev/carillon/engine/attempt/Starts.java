package dev.carillon.engine.attempt;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.Grant;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Starts attempts: from the dispatcher's grant, by way of a START marker where one is required, to
 * the loop's last look before the handler is called.
 *
 * <p>An attempt keeps its slot until its handler has returned. The number of attempts that have
 * returned without a durable outcome is limited too: handlers do not run ahead of a store that
 * stops.
 */
public final class Starts implements Dispatcher.Starter {
  /** How many attempts may be under way, for each slot, with those whose outcome is not durable. */
  private static final long UNDER_WAY_A_SLOT = 16;

  /** How many more, for lanes that have but a few: one tenant's crowd does not hold up others. */
  private static final long SPARE_A_SLOT = 2;

  private static final int FEW_UNDER_WAY = 16;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Timers timers;
  private final MemberStatus status;
  private final Committer committer;
  private final AttemptRunner runner;
  private final Attempts.Life life;
  private final Attempts.News news;
  private final Elsewhere elsewhere;
  private final Attempts.Rules rules;
  private final AttemptSet running;
  private final Outcomes outcomes;
  private final TransactionOutcomes transactions;
  private final Stops stops;
  private Timers.@Nullable Timer aloneLook;

  Starts(Attempts.Room room, Outcomes outcomes, TransactionOutcomes transactions, Stops stops) {
    this.env = room.basics().env();
    this.options = room.basics().options();
    this.timers = room.basics().timers();
    this.status = room.parts().status();
    this.committer = room.parts().committer();
    this.runner = room.parts().runner();
    this.life = room.parts().life();
    this.news = room.parts().news();
    this.elsewhere = room.parts().elsewhere();
    this.rules = room.rules();
    this.running = room.running();
    this.outcomes = outcomes;
    this.transactions = transactions;
    this.stops = stops;
  }

  @Override
  public boolean mayStart() {
    return here() < (UNDER_WAY_A_SLOT + SPARE_A_SLOT) * options.slots() && status.mayStart();
  }

  @Override
  public boolean mayStart(Lane lane) {
    return here() < UNDER_WAY_A_SLOT * options.slots() || lane.underWay < FEW_UNDER_WAY;
  }

  /** Attempts that this node runs, or whose outcome it has not made durable. */
  private int here() {
    return running.size() - running.lent;
  }

  /** What has run for the time of being alone has shown that it does not kill its node. */
  @Override
  public boolean mayStartAlone() {
    long now = env.monotonicNanos();
    long wait = elsewhere.waitUntilBorrowedLasted(options.aloneTime().toNanos());
    for (Attempt attempt : running.all()) {
      if (!attempt.returned && attempt.lentTo == 0) {
        long since = attempt.called ? attempt.startedNanos : now; // else its marker is on its way
        wait = Math.max(wait, since + options.aloneTime().toNanos() - now);
      }
    }
    if (wait > 0 && (aloneLook == null || aloneLook.isOver())) {
      aloneLook = timers.at(now + wait, () -> {});
    }
    return wait <= 0;
  }

  @Override
  public void start(Grant grant) {
    begin(attempt(grant));
  }

  private Attempt attempt(Grant grant) {
    NodeJob job = grant.job();
    Shard shard = job.shard();
    Attempt attempt =
        new Attempt(
            grant,
            rules.retries().of(job),
            new Attempt.Origin(
                shard.ref(job.number),
                shard.journal.epoch(),
                env.random(),
                env.wallMicros(),
                status.startBy()));
    grant.runs(attempt);
    running.add(attempt);
    shard.running++;
    job.attempt = attempt;
    return attempt;
  }

  @Override
  public void lend(Grant grant, long borrower) {
    Attempt attempt = attempt(grant);
    WorkerRun worker = elsewhere.workers().begin(borrower, grant.job());
    attempt.lentTo = borrower;
    attempt.worker = worker;
    attempt.borrower = worker != null ? worker.worker : status.nodeId(borrower);
    attempt.lentAlone = worker == null && grant.job().startsAlone();
    running.lent++;
    begin(attempt);
  }

  /**
   * A worker has the attempt by a lease of an earlier owner's: it goes on as this node's, holds its
   * limits here, and its time counts from its start.
   */
  public void adopt(Grant grant, Lease lease) {
    NodeJob job = grant.job();
    Shard shard = job.shard();
    Attempt attempt =
        new Attempt(
            grant,
            policyOf(job),
            new Attempt.Origin(
                shard.ref(job.number), lease.epoch(), lease.nonce(), lease.startedMicros(), null));
    WorkerRun worker = new WorkerRun(lease.worker(), lease.lengthMicros());
    worker.accepted = true;
    worker.heardNanos = env.monotonicNanos();
    attempt.worker = worker;
    attempt.lentTo = lease.nonce() != 0 ? lease.nonce() : 1;
    attempt.borrower = lease.worker();
    attempt.called = true;
    attempt.startedNanos = env.monotonicNanos();
    attempt.meter = rules.meters().of(attempt.lane(), job.type);
    grant.runs(attempt);
    running.add(attempt);
    running.lent++;
    shard.running++;
    job.attempt = attempt;
    job.mark(false);
    job.settled(true);
    env.metrics().count("attempts.adopted", 1);
    stops.watchAdopted(attempt, env.wallMicros());
    if (job.cancelRequested()) {
      attempt.requestStop(Attempt.StopCause.CANCEL);
    } else if (job.isPaused()) {
      attempt.requestStop(Attempt.StopCause.PAUSE);
    }
    elsewhere.workers().adopted(attempt, worker);
  }

  /** One that this JVM cannot read, in a time zone it does not know, is judged by the standard. */
  private FailurePolicy policyOf(NodeJob job) {
    try {
      return rules.retries().of(job);
    } catch (DamagedException | UnknownFormatException | IllegalArgumentException e) {
      return options.failurePolicy();
    }
  }

  /** The attempt is under way: whatever it holds, it has. */
  private void begin(Attempt attempt) {
    NodeJob job = attempt.job();
    if (!job.shard().stays()) {
      notRun(attempt); // a marker of it would wait for the release, and its key with it
      return;
    }
    if (job.isUnsettled()) {
      transactions.settle(
          attempt,
          () -> {
            job.settled(true);
            begin(attempt);
          });
      return;
    }
    if (attempt.lentTo != 0 || (!job.isMarked() && !attempt.grant().isAlone())) {
      run(attempt); // who borrows a marked one asks for its marker
    } else {
      mark(attempt, () -> run(attempt), () -> notRun(attempt));
    }
  }

  /** The handler of an attempt that is lent is about to be called, with a marker. */
  public void markLent(Attempt attempt, Runnable then, Runnable not) {
    NodeJob job = attempt.job();
    if (attempt.over || attempt.marked || job.busy > 0 || job.revision != attempt.revision()) {
      not.run();
    } else {
      mark(
          attempt,
          () -> {
            if (attempt.over) {
              not.run();
            } else {
              then.run();
            }
          },
          not);
    }
  }

  private void mark(Attempt attempt, Runnable then, Runnable not) {
    NodeJob job = attempt.job();
    Shard shard = job.shard();
    boolean alone = attempt.grant().isAlone() || attempt.lentAlone;
    job.busy++;
    attempt.marked = true;
    attempt.markersBefore = job.rare != null ? job.rare.markers : 0;
    OperationBody.Start start =
        new OperationBody.Start(
            attempt.number(),
            attempt.revision(),
            env.wallMicros(),
            attempt.lentTo != 0 ? attempt.lentTo : options.incarnation(),
            alone);
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.START, job.number, start.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
                job.busy--;
                then.run();
                comeBack(attempt);
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                job.busy--;
                not.run();
                comeBack(attempt);
              }
            }));
  }

  /** Its job has gone on while the marker was on its way, and was passed over for that. */
  private void comeBack(Attempt attempt) {
    NodeJob job = attempt.job();
    boolean passedOver = job.attempt != attempt && job.isIdle(NodeJob.Phase.READY);
    if (attempt.lentTo != 0 && attempt.over && passedOver) {
      life.moved(job);
    }
  }

  /** The loop's last look at everything; the handler's thread looks at the clock once more. */
  private void run(Attempt attempt) {
    NodeJob job = attempt.job();
    long now = env.wallMicros();
    boolean paused = job.isPaused() || attempt.lane().paused() != null;
    boolean changed = job.busy > 0 || job.revision != attempt.revision() || paused;
    boolean ended = attempt.over || job.isTerminated();
    boolean held = stops.isStopping() || !status.mayStart() || !job.shard().stays();
    if (ended || held || now < job.dueMicros || changed) {
      notRun(attempt);
      return;
    }
    boolean ending = WorkflowOutcomes.isEnding(job);
    if (job.rare != null && job.rare.cancelReason != null && !ending) {
      outcomes.returned(attempt);
      outcomes.end(
          attempt, OperationBody.End.without(JobState.CANCELLED, now, job.rare.cancelReason));
      return;
    }
    if (job.has(JobSpec.DEADLINE) && !ending && now >= job.head().deadlineMicros()) {
      outcomes.returned(attempt);
      if (!outcomes.workflows().expired(attempt, "deadline passed while it waited")) {
        outcomes.end(
            attempt,
            OperationBody.End.without(JobState.EXPIRED, now, "deadline passed before it started"));
      }
      return;
    }
    if (job.isRecurring() && attempt.number() == 1 && skipLate(attempt, now)) {
      return;
    }
    attempt.startedNanos = env.monotonicNanos();
    attempt.called = true;
    env.metrics().count("attempts.started", 1);
    attempt.meter = rules.meters().of(attempt.lane(), job.type);
    attempt.meter.started((now - job.dueMicros) * 1000);
    timers.cancel(job.expiry);
    news.started(job);
    if (attempt.worker != null) {
      stops.watchTime(attempt, now);
      elsewhere.lend(attempt);
    } else if (attempt.lentTo != 0) {
      elsewhere.lend(attempt); // its time is watched where it runs
    } else {
      if (attempt.marked) {
        attempt.timers.add(
            timers.at(env.monotonicNanos() + options.aloneTime().toNanos(), () -> lasted(attempt)));
      }
      stops.watchTime(attempt, now);
      runner.start(attempt);
    }
  }

  /** Passes over an occurrence that is later than its schedule allows; true where it is. */
  private boolean skipLate(Attempt attempt, long now) {
    NodeJob job = attempt.job();
    Schedule schedule = rules.recurrences().of(job);
    ScheduleState move = Outcomes.moveOf(job);
    if (!Recurrences.tooLate(schedule, job.dueMicros, now)) {
      return false;
    }
    env.metrics().count("occurrences.skipped", 1);
    outcomes.returned(attempt);
    Recurrences.Step step = rules.recurrences().skipLate(schedule, move, now);
    OperationBody.Next next =
        new OperationBody.Next(
            0,
            attempt.revision(),
            now,
            Ran.NOT,
            null,
            null,
            "too late",
            List.of(),
            step.move(),
            step.over());
    outcomes.moveOn(attempt, next, step);
    return true;
  }

  private void notRun(Attempt attempt) {
    outcomes.returned(attempt);
    outcomes.asIfNotMade(attempt);
  }

  /** What has run for the time of being alone does not kill its node: its markers are cleared. */
  public void lasted(Attempt attempt) {
    if (attempt.returned) {
      return;
    }
    if (attempt.over) {
      attempt.grant().endAlone(); // it timed out and goes on all the same
      return;
    }
    NodeJob job = attempt.job();
    job.mark(false);
    if (attempt.lentTo != 0) {
      attempt.marked = false; // whatever its borrower dies of, this is not it
      attempt.lentAlone = false;
    }
    OperationBody.Clear clear = new OperationBody.Clear(env.wallMicros(), 0);
    committer.add(
        job.shard().journal,
        new Operation(
            Frame.of(Kind.CLEAR, job.number, clear.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
                attempt.grant().endAlone();
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                attempt.grant().endAlone();
              }
            }));
  }
}
