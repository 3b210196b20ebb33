package dev.carillon.engine.attempt;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.Overlap;
import dev.carillon.api.Schedule;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.Grant;
import dev.carillon.engine.dispatch.HandlerSlot;
import dev.carillon.engine.dispatch.JobMeters;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.Body;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Move;
import dev.carillon.engine.job.Occurrence;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Transactions.Completion;
import dev.carillon.store.Transactions.Place;
import dev.carillon.store.Transactions.Rider;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of this node, from the dispatcher's word to the durable outcome.
 *
 * <p>An attempt keeps its slot until its handler has returned; how many may have returned without
 * their outcome being durable is limited too, so that a store that stops does not let handlers run
 * ahead of it. One outcome counts: the first that the loop takes; what comes after it is stale and
 * changes nothing.
 *
 * <p>Crash table: before the outcome is in the journal the next owner runs the attempt again, under
 * the same number; after it, never.
 *
 * <p><b>Attempts that a transaction completes</b> ({@code completeIn}). Once a handler has called
 * it, nothing becomes of the attempt before its transaction has ended: a commit counts, whatever
 * the handler did afterwards and however late it came. So no journal says anything of an attempt
 * that an open transaction may still complete; and an owner that claimed a shard from one that did
 * not release it asks before it starts or ends a job that may have run there.
 *
 * <table>
 * <caption>what if</caption>
 * <tr><td>the handler returns after the commit</td><td>the row's outcome is appended, the row goes
 * </td></tr>
 * <tr><td>it returns though the transaction was rolled back</td><td>the attempt has failed and says
 * why</td></tr>
 * <tr><td>it throws after the commit</td><td>the row's outcome counts</td></tr>
 * <tr><td>its time is over, and it commits later</td><td>the job waits for the end of the
 * transaction; a commit counts, else its timeout does</td></tr>
 * <tr><td>the process dies between commit and append</td><td>the next owner finds the row</td></tr>
 * <tr><td>it is paused and its shard claimed</td><td>it cannot complete any more; what it had
 * written before is waited for by the new owner</td></tr>
 * <tr><td>the job was replaced meanwhile</td><td>the row is of what it was before, and goes</td></tr>
 * </table>
 */
public final class Attempts implements Dispatcher.Starter {
  /** How many attempts may be under way, for each slot, with those whose outcome is not durable. */
  private static final long UNDER_WAY_A_SLOT = 16;

  /** How many more, for lanes that have but a few: one tenant's crowd does not hold up others. */
  private static final long SPARE_A_SLOT = 2;

  private static final int FEW_UNDER_WAY = 16;

  /** How long what follows a timeout may be thought about; then the policy says. */
  private static final long JUDGED_WITHIN_NANOS = 10_000_000_000L;

  private final NodeEnvironment env;
  private final AttemptRunner runner;
  private final NodeOptions options;
  private final Committer committer;
  private final Timers timers;
  private final Retries retries;
  private final Recurrences recurrences;
  private final Completions completions;
  private final JobMeters meters;
  private final MemberStatus status;
  private final Shards shards;
  private final Life life;
  private final News news;
  private final Elsewhere elsewhere;
  private final AttemptSet running = new AttemptSet();
  private Timers.@Nullable Timer aloneLook;
  private boolean stopping;

  /** Of those under way, how many other nodes run. */
  private int lent;

  /** The life of a job outside its attempts. */
  public interface Life {
    /** The job waits for its due time (again). */
    void schedule(NodeJob job);

    /** The job has another due time, wherever it stands in line. */
    void moved(NodeJob job);

    /** No handler could decode the job. */
    void undecodable(NodeJob job);

    /** Ends a job that was asked to stop and of which nothing runs. */
    void endRequested(NodeJob job);

    /** The node that the attempt was lent to died while the job ran alone there. */
    void convict(NodeJob job);
  }

  /** Hears how attempts go. */
  public interface News {
    /** An attempt's handler is about to be called. */
    void started(NodeJob job);

    /** The job waits for its next attempt after a failure. */
    void retrying(NodeJob job);

    /** An attempt failed, and that is durable. */
    void failed(NodeJob job, NodeEvent.AttemptFailed failure);
  }

  /** The parts of a node that attempts use and are heard by. */
  public record Parts(
      MemberStatus status,
      Shards shards,
      Committer committer,
      AttemptRunner runner,
      Life life,
      News news,
      Elsewhere elsewhere) {}

  /** What decides over the attempts that follow one. */
  public record Rules(
      Retries retries, Recurrences recurrences, Completions completions, JobMeters meters) {}

  public Attempts(Basics basics, Parts parts, Rules rules) {
    this.env = basics.env();
    this.options = basics.options();
    this.timers = basics.timers();
    this.status = parts.status();
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.runner = parts.runner();
    this.life = parts.life();
    this.news = parts.news();
    this.elsewhere = parts.elsewhere();
    this.retries = rules.retries();
    this.recurrences = rules.recurrences();
    this.completions = rules.completions();
    this.meters = rules.meters();
  }

  public int running() {
    return running.size();
  }

  private static Shard shardOf(NodeJob job) {
    return job.shard();
  }

  // ---- starting

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
    return running.size() - lent;
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
    Shard shard = shardOf(job);
    Attempt attempt =
        new Attempt(
            grant,
            retries.of(job),
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
    attempt.lentTo = borrower;
    attempt.borrower = status.nodeId(borrower);
    attempt.lentAlone = grant.job().startsAlone();
    lent++;
    begin(attempt);
  }

  /** The attempt is under way: whatever it holds, it has. */
  private void begin(Attempt attempt) {
    NodeJob job = attempt.job();
    if (!shardOf(job).stays()) {
      notRun(attempt); // a marker of it would wait for the release, and its key with it
      return;
    }
    if (job.isUnsettled()) {
      settleCompletion(
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
    Shard shard = shardOf(job);
    boolean alone = attempt.grant().isAlone() || attempt.lentAlone;
    job.busy++;
    attempt.marked = true;
    attempt.markersBefore = job.rare != null ? job.rare.markers : 0;
    Body.Start start =
        new Body.Start(
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
    boolean held = stopping || !status.mayStart() || !shardOf(job).stays();
    if (attempt.over || held || now < job.dueMicros || changed) {
      notRun(attempt);
      return;
    }
    if (job.rare != null && job.rare.cancelReason != null) {
      returned(attempt);
      end(attempt, Body.End.without(JobState.CANCELLED, now, job.rare.cancelReason));
      return;
    }
    if (job.has(JobSpec.DEADLINE) && now >= job.head().deadlineMicros()) {
      returned(attempt);
      end(attempt, Body.End.without(JobState.EXPIRED, now, "deadline passed before it started"));
      return;
    }
    if (job.isRecurring() && attempt.number() == 1 && skipLate(attempt, now)) {
      return;
    }
    attempt.startedNanos = env.monotonicNanos();
    attempt.called = true;
    env.metrics().count("attempts.started", 1);
    attempt.meter = meters.of(attempt.lane(), job.type);
    attempt.meter.started((now - job.dueMicros) * 1000);
    timers.cancel(job.expiry);
    news.started(job);
    if (attempt.lentTo != 0) {
      elsewhere.lend(attempt); // its time is watched where it runs
    } else {
      watchTime(attempt, now);
      runner.start(attempt);
    }
  }

  /** Passes over an occurrence that is later than its schedule allows; true where it is. */
  private boolean skipLate(Attempt attempt, long now) {
    NodeJob job = attempt.job();
    Schedule schedule = recurrences.of(job);
    Move move = moveOf(job);
    if (!Recurrences.tooLate(schedule, job.dueMicros, now)) {
      return false;
    }
    env.metrics().count("occurrences.skipped", 1);
    returned(attempt);
    Recurrences.Step step = recurrences.skipLate(schedule, move, now);
    Body.Next next =
        new Body.Next(
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
    moveOn(attempt, next, step);
    return true;
  }

  private static Move moveOf(NodeJob job) {
    Move move = job.move();
    if (move == null) {
      throw new IllegalStateException("job " + job.number + ": not recurring");
    }
    return move;
  }

  private void notRun(Attempt attempt) {
    returned(attempt);
    asIfNotMade(attempt);
  }

  private void returned(Attempt attempt) {
    attempt.returned = true;
    if (attempt.called) {
      long took = env.monotonicNanos() - attempt.startedNanos;
      env.metrics().time("attempts", took);
      attempt.meter.returned(took);
    }
    attempt.grant().leave(attempt.called);
  }

  private void watchTime(Attempt attempt, long nowMicros) {
    NodeJob job = attempt.job();
    if (attempt.marked) {
      attempt.timers.add(
          timers.at(env.monotonicNanos() + options.aloneTime().toNanos(), () -> lasted(attempt)));
    }
    long timeout = timeoutMicros(job);
    if (timeout != 0) {
      stopAfter(attempt, timeout, Attempt.StopCause.TIMEOUT);
    }
    if (job.has(JobSpec.DEADLINE)) {
      long left = job.head().deadlineMicros() - nowMicros;
      stopAfter(attempt, left, Attempt.StopCause.DEADLINE);
    }
  }

  /** The job's own timeout, else its handler's; 0 for none. */
  private static long timeoutMicros(NodeJob job) {
    if (job.has(JobSpec.TIMEOUT)) {
      return job.head().timeoutMicros();
    }
    HandlerSlot handler = HandlerSlot.of(job);
    return handler != null ? handler.timeoutMicros : 0;
  }

  private void stopAfter(Attempt attempt, long micros, Attempt.StopCause cause) {
    long nanos = Math.multiplyExact(Math.min(micros, Long.MAX_VALUE / 2000), 1000);
    attempt.timers.add(timers.at(env.monotonicNanos() + nanos, () -> ranOut(attempt, cause)));
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
    Body.Clear clear = new Body.Clear(env.wallMicros(), 0);
    committer.add(
        shardOf(job).journal,
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

  // ---- asking to stop

  private void interrupt(Attempt attempt) {
    if (attempt.lentTo != 0) {
      elsewhere.recall(attempt, true);
    } else {
      runner.interrupt(attempt);
    }
  }

  /** Asks an attempt to save and return. */
  public void pause(Attempt attempt, Attempt.StopCause cause) {
    if (attempt.stopCause == null) {
      attempt.requestStop(cause);
      if (attempt.lentTo != 0) {
        elsewhere.recall(attempt, false);
      }
    }
  }

  /**
   * The time of an attempt that was lent is over, and its handler has not returned.
   *
   * @param verdict what follows a timeout; null where it was the job's deadline
   */
  public void ranOutElsewhere(Attempt attempt, AttemptOutcome.@Nullable Verdict verdict) {
    if (attempt.over || attempt.settling) {
      return;
    }
    Runnable then =
        verdict == null
            ? () -> outOfTime(attempt, Attempt.StopCause.DEADLINE)
            : () -> timedOutElsewhere(attempt, verdict);
    if (attempt.closeCompletion()) {
      settleCompletion(attempt, then);
    } else {
      then.run();
    }
  }

  private void timedOutElsewhere(Attempt attempt, AttemptOutcome.Verdict verdict) {
    env.metrics().count("attempts.timeout", 1);
    failedOrStopped(attempt, timeout(), verdict);
  }

  private JobError timeout() {
    return new JobError("timeout", "attempt took longer than its timeout", "", options.nodeId());
  }

  /** Its timeout or deadline has come while it runs. */
  private void ranOut(Attempt attempt, Attempt.StopCause cause) {
    if (attempt.over || attempt.settling) {
      return;
    }
    attempt.requestStop(cause);
    if (attempt.closeCompletion()) {
      settleCompletion(attempt, () -> outOfTime(attempt, cause));
    } else {
      outOfTime(attempt, cause);
    }
    runner.interrupt(attempt);
  }

  private void outOfTime(Attempt attempt, Attempt.StopCause cause) {
    if (cause == Attempt.StopCause.DEADLINE) {
      end(attempt, ended(attempt, JobState.EXPIRED, null, "deadline passed while it ran"));
    } else {
      env.metrics().count("attempts.timeout", 1);
      timedOut(attempt);
    }
  }

  /** Whatever its handler still answers is refused; what follows is asked, for a while. */
  private void timedOut(Attempt attempt) {
    if (!settle(attempt)) {
      return;
    }
    boolean[] judged = new boolean[1];
    Consumer<AttemptOutcome.Verdict> judge =
        verdict -> {
          if (!judged[0]) {
            judged[0] = true;
            attempt.job().busy--;
            failedOrStopped(attempt, timeout(), verdict);
          }
        };
    runner.judgeTimeout(attempt, judge);
    if (!judged[0]) {
      attempt.timers.add(
          timers.at(
              env.monotonicNanos() + JUDGED_WITHIN_NANOS,
              () -> judge.accept(new AttemptOutcome.Verdict.ByPolicy())));
    }
  }

  /** A durable cancel request reached a running job. */
  public void cancel(Attempt attempt) {
    if (!attempt.over) {
      attempt.requestStop(Attempt.StopCause.CANCEL);
      interrupt(attempt);
    }
  }

  /** The occurrence under way is not to go on; its recurring job moves on when it has stopped. */
  public void stopOccurrence(Attempt attempt, String reason) {
    if (!attempt.over && attempt.stopReason == null) {
      attempt.stopReason = reason;
      attempt.requestStop(Attempt.StopCause.CANCEL);
      interrupt(attempt);
    }
  }

  /** Nothing starts any more. */
  public void stop() {
    stopping = true;
    running.all().forEach(attempt -> pause(attempt, Attempt.StopCause.SHUTDOWN));
  }

  /** Others may take this node's jobs: what runs is asked to stop, and what it says is tried. */
  public void fence() {
    for (Attempt attempt : running.all()) {
      if (!attempt.over) {
        attempt.fence();
        interrupt(attempt); // also what was asked to stop in its own time
      }
    }
  }

  /** Whether the outcome of an attempt of the shard's jobs is open: hung handlers do not count. */
  public boolean isOpen(Shard shard) {
    for (Attempt attempt : running.all()) {
      if (!attempt.settled && attempt.job().shard == shard) {
        return true;
      }
    }
    return false;
  }

  public void interruptAll() {
    for (Attempt attempt : running.all()) {
      interrupt(attempt);
    }
  }

  // ---- outcomes

  /** The runner says how it went; false where the attempt was over already and it counts not. */
  public boolean finished(Attempt attempt, AttemptOutcome outcome) {
    returned(attempt);
    if (attempt.settling) {
      env.metrics().count("attempts.stale", 1); // its time is over, it waits for its transaction
      return false;
    }
    if (!attempt.over && attempt.closeCompletion()) {
      settleCompletion(attempt, () -> decide(attempt, notCommitted(outcome)));
      return true;
    }
    return decide(attempt, outcome);
  }

  private boolean decide(Attempt attempt, AttemptOutcome outcome) {
    if (attempt.over || attempt.job().revision != attempt.revision()) {
      env.metrics().count("attempts.stale", 1);
      asIfNotMade(attempt);
      return false;
    }
    switch (outcome) {
      case AttemptOutcome.Succeeded(byte[] result) -> succeeded(attempt, result);
      case AttemptOutcome.Failed failed when attempt.isFenced() ->
          interrupted(attempt); // it was told to stop, which says nothing about its job
      case AttemptOutcome.Failed(JobError error, AttemptOutcome.Verdict verdict) ->
          failedOrStopped(
              attempt, attempt.lentTo != 0 ? error : error.on(options.nodeId()), verdict);
      case AttemptOutcome.Again(long due, String note) -> again(attempt, due, note);
      case AttemptOutcome.Undecodable(JobError error) -> undecodable(attempt, error);
      case AttemptOutcome.TooEarly early -> asIfNotMade(attempt);
      case AttemptOutcome.TooLate late -> {
        env.metrics().count("attempts.too.late", 1);
        asIfNotMade(attempt);
      }
      case AttemptOutcome.Interrupted interrupted -> interrupted(attempt);
    }
    return true;
  }

  private void interrupted(Attempt attempt) {
    if (attempt.job().cancelRequested()) {
      cancelled(attempt, null);
    } else if (attempt.stopReason != null) {
      occurred(attempt, JobState.FAILED, null, attempt.stopReason);
    } else {
      asIfNotMade(attempt);
    }
  }

  // ---- completed by a transaction

  /** A handler that returned has done its work only if its transaction was committed. */
  private static AttemptOutcome notCommitted(AttemptOutcome outcome) {
    return outcome instanceof AttemptOutcome.Succeeded
        ? new AttemptOutcome.Failed(
            new JobError(
                "transaction not committed",
                "completeIn was called in a transaction that was rolled back (expected: a commit"
                    + " before the handler returns)",
                ""),
            new AttemptOutcome.Verdict.ByPolicy())
        : outcome;
  }

  /**
   * Asks what a transaction has completed. Where one was committed its outcome counts, whatever
   * else became of the attempt; else {@code without} says how it goes on. An open transaction is
   * waited for: until it ends nobody can say what is to follow.
   */
  private void settleCompletion(Attempt attempt, Runnable without) {
    NodeJob job = attempt.job();
    attempt.settling = true;
    job.busy++;
    completions.settle(
        attempt.place(),
        () -> !attempt.isCompleting(),
        found -> {
          job.busy--;
          attempt.settling = false;
          if (attempt.over) {
            leaveIfDone(attempt); // its shard is another's, who asks as well
          } else {
            settled(attempt, found, without);
          }
        });
  }

  private void settled(Attempt attempt, @Nullable Completion found, Runnable without) {
    NodeJob job = attempt.job();
    Completed completed = found != null ? Completed.decode(found.outcome()) : null;
    if (completed != null && Completed.fits(completed, job)) {
      job.settled(true);
      if (!attempt.called) {
        returned(attempt);
      }
      attempt.rider = gone(attempt.place());
      env.metrics().count("attempts.completed", 1);
      succeeded(attempt, completed.result());
      return;
    }
    if (found != null) {
      discard(job, attempt.place());
    }
    without.run();
  }

  private static Rider gone(Place place) {
    return new Rider(List.of(), List.of(), List.of(place));
  }

  /** The outcome of what the job was before it was replaced: it counts for nothing. */
  private void discard(NodeJob job, Place place) {
    int markers = job.rare != null ? job.rare.markers : 0;
    Operation clear =
        new Operation(
            Frame.of(Kind.CLEAR, job.number, new Body.Clear(env.wallMicros(), markers).encode()),
            NOBODY);
    clear.rider = gone(place);
    committer.add(shardOf(job).journal, clear);
  }

  /**
   * Runs {@code then} once it is known that no transaction has completed the job under an earlier
   * owner; where one has, that ends the job instead and {@code completed} runs.
   */
  public void unlessCompleted(NodeJob job, Runnable then, Runnable completed) {
    if (!job.isUnsettled()) {
      then.run();
      return;
    }
    Shard shard = shardOf(job);
    Place place = new Place(shard.id, job.number);
    job.busy++;
    completions.settle(
        place,
        () -> true,
        found -> {
          job.busy--;
          if (!shard.owned() || job.phase() == NodeJob.Phase.GONE) {
            return;
          }
          job.settled(true);
          Completed outcome = found != null ? Completed.decode(found.outcome()) : null;
          if (outcome == null || !Completed.fits(outcome, job)) {
            if (found != null) {
              discard(job, place);
            }
            then.run();
          } else {
            endCompleted(job, outcome, place);
            completed.run();
          }
        });
  }

  private void endCompleted(NodeJob job, Completed completed, Place place) {
    Shard shard = shardOf(job);
    long now = env.wallMicros();
    env.metrics().count("attempts.completed", 1);
    job.busy++;
    if (job.isRecurring()) {
      Recurrences.Step step =
          recurrences.afterRun(
              recurrences.of(job),
              moveOf(job),
              new Recurrences.Run(job.timeMicros(), completed.startedMicros(), now));
      Body.Next next =
          new Body.Next(
              completed.attempt(),
              job.revision,
              now,
              ran(job, completed),
              JobState.SUCCEEDED,
              null,
              null,
              List.of(),
              step.move(),
              step.over());
      Operation operation =
          new Operation(Frame.of(Kind.NEXT, job.number, next.encode()), new Conviction(job));
      operation.rider = gone(place);
      shards.ensureAwakeBy(
          shard, step.dueMicros(now), () -> committer.add(shard.journal, operation));
      return;
    }
    Body.End end =
        new Body.End(
            JobState.SUCCEEDED,
            completed.attempt(),
            job.revision,
            now,
            ran(job, completed),
            null,
            null,
            completed.result());
    Operation operation =
        new Operation(Frame.of(Kind.END, job.number, end.encode()), end, new Conviction(job));
    operation.rider = gone(place);
    shards.ensureAwakeBy(shard, 0, () -> committer.add(shard.journal, operation));
  }

  private static final Operation.Listener NOBODY =
      new Operation.Listener() {
        @Override
        public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {}

        @Override
        public void lost(Operation.Loss loss, String why) {}
      };

  /** When the attempt ended: its handler returned then, or it is told to end now. */
  private long endOf(Attempt attempt) {
    long returned = attempt.endedMicros();
    return returned != 0 ? returned : env.wallMicros();
  }

  private Ran ran(Attempt attempt) {
    String node = attempt.lentTo != 0 ? attempt.borrower : options.nodeId();
    return Ran.at(attempt.startedMicros(), node, shardOf(attempt.job()).home);
  }

  private static Ran ran(NodeJob job, Completed completed) {
    return Ran.at(completed.startedMicros(), completed.node(), shardOf(job).home);
  }

  private void succeeded(Attempt attempt, byte[] result) {
    NodeJob job = attempt.job();
    if (!job.isRecurring()) {
      Body.End end =
          new Body.End(
              JobState.SUCCEEDED,
              attempt.number(),
              attempt.revision(),
              endOf(attempt),
              ran(attempt),
              null,
              null,
              result);
      end(attempt, end);
    } else if (job.cancelRequested()) {
      cancelled(attempt, null);
    } else {
      occurred(attempt, JobState.SUCCEEDED, null, null);
    }
  }

  private void failedOrStopped(Attempt attempt, JobError error, AttemptOutcome.Verdict verdict) {
    if (attempt.job().cancelRequested()) {
      cancelled(attempt, error);
    } else if (attempt.stopReason != null) {
      occurred(attempt, JobState.FAILED, error, attempt.stopReason);
    } else {
      failed(attempt, error, verdict);
    }
  }

  private void again(Attempt attempt, long dueMicros, String note) {
    if (attempt.job().cancelRequested()) {
      cancelled(attempt, null);
      return;
    }
    long due = notAfterDeadline(attempt.job(), dueMicros);
    Body.Again again =
        new Body.Again(
            attempt.number(), attempt.revision(), endOf(attempt), ran(attempt), due, note);
    goOnLater(attempt, Kind.AGAIN, again, due);
  }

  private void cancelled(Attempt attempt, @Nullable JobError error) {
    FoldedJob.Rare rare = attempt.job().rare;
    end(attempt, ended(attempt, JobState.CANCELLED, error, rare != null ? rare.cancelReason : ""));
  }

  private Body.End ended(
      Attempt attempt, JobState state, @Nullable JobError error, @Nullable String reason) {
    return new Body.End(
        state,
        attempt.number(),
        attempt.revision(),
        endOf(attempt),
        ran(attempt),
        error,
        reason,
        new byte[0]);
  }

  private void failed(Attempt attempt, JobError error, AttemptOutcome.Verdict verdict) {
    env.metrics().count("attempts.failed", 1);
    attempt.meter.failed();
    NodeJob job = attempt.job();
    FailurePolicy policy = attempt.policy();
    Retries.Failure failure =
        new Retries.Failure(
            attempt.number(), attempt.timeMicros(), attempt.startedMicros(), endOf(attempt));
    Retries.Next next =
        switch (verdict) {
          case AttemptOutcome.Verdict.ByPolicy byPolicy -> retries.after(policy, failure);
          case AttemptOutcome.Verdict.RetryAt(long micros) -> new Retries.Next(micros, 0);
          case AttemptOutcome.Verdict.NotRetryable never -> null;
          case AttemptOutcome.Verdict.GiveUp never -> null;
        };
    int most = policy.maxRetries() == FailurePolicy.UNLIMITED ? 0 : policy.maxRetries() + 1;
    boolean byRule =
        verdict instanceof AttemptOutcome.Verdict.RetryAt
            || verdict instanceof AttemptOutcome.Verdict.GiveUp;
    int of = byRule ? 0 : most;
    if (next == null) {
      giveUp(attempt, error, of, verdict);
      return;
    }
    long time = notAfterDeadline(job, next.timeMicros());
    long jitter = notAfterDeadline(job, time + next.jitterMicros()) - time;
    Body.Retry retry =
        new Body.Retry(
            attempt.number(),
            attempt.revision(),
            failure.endedMicros(),
            ran(attempt),
            time,
            jitter,
            error);
    attempt.failure = failure(attempt, error, of, new NodeEvent.Then.Retry(retry.nextDue()));
    goOnLater(attempt, Kind.RETRY, retry, retry.nextDue());
  }

  private static NodeEvent.AttemptFailed failure(
      Attempt attempt, JobError error, int most, NodeEvent.Then then) {
    NodeJob job = attempt.job();
    NodeEvent.Subject subject = shardOf(job).subject(job);
    return new NodeEvent.AttemptFailed(subject, attempt.number(), most, error, then);
  }

  /** The deadline ends the waiting. */
  public static long notAfterDeadline(NodeJob job, long micros) {
    return job.has(JobSpec.DEADLINE) ? Math.min(micros, job.head().deadlineMicros()) : micros;
  }

  private void giveUp(Attempt attempt, JobError error, int most, AttemptOutcome.Verdict verdict) {
    boolean drop = attempt.policy().kind() == FailurePolicy.Kind.DROP;
    boolean byRule = verdict instanceof AttemptOutcome.Verdict.GiveUp;
    JobState state = drop && !byRule ? JobState.FAILED : JobState.DEAD;
    if (state == JobState.DEAD) {
      attempt.meter.died();
    }
    String reason =
        switch (verdict) {
          case AttemptOutcome.Verdict.NotRetryable never -> "not retryable";
          case AttemptOutcome.Verdict.GiveUp never -> "given up by its handler's rule";
          case AttemptOutcome.Verdict.RetryAt at -> "";
          case AttemptOutcome.Verdict.ByPolicy byPolicy ->
              drop ? "dropped by its policy" : "failed " + attempt.number() + " times";
        };
    attempt.failure =
        failure(
            attempt,
            error,
            most,
            new NodeEvent.Then.End(state, reason, attempt.startedMicros(), endOf(attempt)));
    if (attempt.job().isRecurring()) {
      occurred(attempt, state, error, reason);
    } else {
      end(attempt, ended(attempt, state, error, reason));
    }
  }

  /** An occurrence has ended and its recurring job moves on, in one operation. */
  private void occurred(
      Attempt attempt, JobState outcome, @Nullable JobError error, @Nullable String reason) {
    NodeJob job = attempt.job();
    long end = endOf(attempt);
    Schedule schedule = recurrences.of(job);
    Move move = moveOf(job);
    Recurrences.Step step =
        recurrences.afterRun(
            schedule,
            move,
            new Recurrences.Run(attempt.timeMicros(), attempt.startedMicros(), end));
    Body.Next next =
        new Body.Next(
            attempt.number(),
            attempt.revision(),
            end,
            ran(attempt),
            outcome,
            error,
            reason,
            outcome == JobState.DEAD ? List.of(deadLetter(job, move)) : List.of(),
            step.move(),
            step.over());
    env.metrics().count("occurrences", 1);
    moveOn(attempt, next, step);
  }

  /**
   * The occurrence under way killed its node: it becomes a dead letter of its own, and its
   * recurring job moves on. {@code then} runs as soon as that is on its way to the journal.
   */
  public void convictOccurrence(NodeJob job, String reason, Runnable then) {
    Shard shard = shardOf(job);
    long now = env.wallMicros();
    Move move = moveOf(job);
    Recurrences.Step step =
        recurrences.afterRun(
            recurrences.of(job), move, new Recurrences.Run(job.timeMicros(), now, now));
    Body.Next next =
        new Body.Next(
            job.attempts + 1,
            job.revision,
            now,
            Ran.at(now, options.nodeId(), shard.home),
            JobState.DEAD,
            null,
            reason,
            List.of(deadLetter(job, move)),
            step.move(),
            step.over());
    Operation operation =
        new Operation(Frame.of(Kind.NEXT, job.number, next.encode()), new Conviction(job));
    job.busy++;
    shards.ensureAwakeBy(
        shard,
        step.dueMicros(now),
        () -> {
          committer.add(shard.journal, operation);
          then.run();
        });
  }

  /** What becomes of a job that ended, or moved on, without an attempt. */
  private final class Conviction implements Operation.Listener {
    private final NodeJob job;

    Conviction(NodeJob job) {
      this.job = job;
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
      job.busy--;
      if (job.phase() != NodeJob.Phase.GONE) {
        life.moved(job);
      }
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      job.busy--;
    }
  }

  private static Body.Next.Child deadLetter(NodeJob job, Move move) {
    Occurrence occurrence =
        new Occurrence(job.number, move.count() + 1, move.timeMicros(), Overlap.ALLOW);
    return new Body.Next.Child(shardOf(job).nextNumber(), job.dueMicros, occurrence);
  }

  private void moveOn(Attempt attempt, Body.Next next, Recurrences.Step step) {
    goOnLater(attempt, Kind.NEXT, next, step.dueMicros(next.at()));
  }

  private void undecodable(Attempt attempt, JobError error) {
    NodeJob job = attempt.job();
    if (job.cancelRequested()) {
      cancelled(attempt, error);
      return;
    }
    FoldedJob.Rare rare = job.rare();
    rare.lastErrorType = error.type();
    rare.lastErrorMessage = error.message();
    attempt.over = true;
    attempt.settled = true;
    forgetStart(attempt);
    env.metrics().count("jobs.undecodable", 1);
    leaveIfDone(attempt);
    job.attempt = null;
    life.undecodable(job);
  }

  private void end(Attempt attempt, Body.End end) {
    NodeJob job = attempt.job();
    if (settle(attempt)) {
      Frame frame = Frame.of(Kind.END, job.number, end.encode());
      Operation operation = new Operation(frame, end, new Settlement(attempt, Kind.END));
      operation.rider = attempt.rider;
      Shard shard = shardOf(job);
      if (!shard.isAwaited(job)) {
        committer.add(shard.journal, operation);
      } else {
        // A clock that jumped back may have left its shard asleep, which owes others the news.
        shards.ensureAwakeBy(
            shard, env.wallMicros(), () -> committer.add(shard.journal, operation));
      }
    }
  }

  /** The attempt is over and its job goes on, due then. */
  private void goOnLater(Attempt attempt, Kind kind, Body body, long dueMicros) {
    NodeJob job = attempt.job();
    if (settle(attempt)) {
      Operation operation =
          new Operation(Frame.of(kind, job.number, body.encode()), new Settlement(attempt, kind));
      operation.rider = attempt.rider;
      // A clock that jumped back may have left the next time below the shard's wake time.
      Shard shard = shardOf(job);
      shards.ensureAwakeBy(shard, dueMicros, () -> committer.add(shard.journal, operation));
    }
  }

  /** From here on no other outcome is taken; false where its shard is lost and none is sent. */
  private boolean settle(Attempt attempt) {
    attempt.over = true;
    NodeJob job = attempt.job();
    if (!shardOf(job).owned()) {
      attempt.settled = true;
      leaveIfDone(attempt);
      return false;
    }
    job.busy++;
    return true;
  }

  /** What becomes of an outcome. */
  private final class Settlement implements Operation.Listener {
    private final Attempt attempt;
    private final Kind kind;

    Settlement(Attempt attempt, Kind kind) {
      this.attempt = attempt;
      this.kind = kind;
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
      NodeJob job = attempt.job();
      job.busy--;
      job.mark(false);
      attempt.settled = true;
      if (job.attempt == attempt) {
        job.attempt = null;
      }
      if (attempt.failure != null && answer == ShardFold.Answer.APPLIED) {
        news.failed(job, attempt.failure);
      }
      leaveIfDone(attempt);
      if (job.phase() == NodeJob.Phase.RUNNING) {
        goOn(job);
        if (kind == Kind.RETRY) {
          news.retrying(job);
        }
      }
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      attempt.job().busy--;
      attempt.settled = true;
      leaveIfDone(attempt);
    }
  }

  /** The attempt does not count: its job goes on as if it had not been made. */
  private void asIfNotMade(Attempt attempt) {
    NodeJob job = attempt.job();
    if (attempt.over) {
      leaveIfDone(attempt);
      return;
    }
    attempt.over = true;
    attempt.settled = true;
    forgetStart(attempt);
    leaveIfDone(attempt);
    if (job.attempt == attempt) {
      job.attempt = null;
      if (job.phase() == NodeJob.Phase.RUNNING) {
        goOn(job);
      }
      if (attempt.lost && attempt.marked && attempt.lentAlone) {
        life.convict(job);
      }
    }
  }

  /** Nothing runs of the job: it waits for its time again, or ends if that was asked for. */
  private void goOn(NodeJob job) {
    life.schedule(job);
    if (job.cancelRequested()) {
      life.endRequested(job);
    }
  }

  /** The attempt is over in order and has no outcome: its start marker must not count. */
  private void forgetStart(Attempt attempt) {
    if (attempt.marked && !attempt.lost) {
      forgetStart(attempt.job(), attempt.markersBefore);
    }
  }

  /** The job's last start marker must not count, no crash cut it off; those before it do. */
  public void forgetStart(NodeJob job, int markersBefore) {
    Shard shard = job.shard;
    if (shard == null || !shard.owned()) {
      return;
    }
    Body.Clear clear = new Body.Clear(env.wallMicros(), markersBefore);
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.CLEAR, job.number, clear.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {}

              @Override
              public void lost(Operation.Loss loss, String why) {}
            }));
  }

  private void leaveIfDone(Attempt attempt) {
    if (attempt.returned && attempt.settled && running.remove(attempt)) {
      lent -= attempt.lentTo != 0 ? 1 : 0;
      shardOf(attempt.job()).running--;
      attempt.grant().release();
      Shard shard = attempt.job().shard;
      if (shard != null && shard.handingBack) {
        shards.settle(shard);
      }
      if (!attempt.timers.isEmpty()) {
        attempt.timers.forEach(timers::cancel);
      }
      attempt.grant().endAlone();
    }
  }

  /** Its shard is no longer this node's: whatever it answers is refused. */
  public void disown(NodeJob job) {
    Attempt attempt = Attempt.of(job);
    if (attempt != null && !attempt.over) {
      attempt.over = true;
      attempt.settled = true;
      attempt.requestStop(Attempt.StopCause.CANCEL);
      interrupt(attempt);
    }
  }
}
