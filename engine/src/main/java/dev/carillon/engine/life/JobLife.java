package dev.carillon.engine.life;

import dev.carillon.api.Concurrency;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.attempt.Poison;
import dev.carillon.engine.attempt.Recurrences;
import dev.carillon.engine.attempt.Retries;
import dev.carillon.engine.attempt.WorkflowOutcomes;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.dispatch.BlockedTypes;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.DueQueue;
import dev.carillon.engine.dispatch.JobMeters;
import dev.carillon.engine.dispatch.Keys;
import dev.carillon.engine.dispatch.PayloadMemory;
import dev.carillon.engine.environment.HistoryLimit;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.Awaited;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.history.ShardLoad;
import dev.carillon.engine.job.Debt;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of a live job on its node: it enters memory, waits for its due time, becomes
 * ready, is blocked, expires, and ends or leaves with its shard.
 *
 * <pre>
 * added, loaded → SCHEDULED → READY → RUNNING → SCHEDULED (retry, next occurrence) or GONE
 *                     ↓          ↓
 *                   PAUSED    NO_HANDLER, UNDECODABLE, LIMITED, DEPENDENCY: back to SCHEDULED
 * </pre>
 *
 * <p>Owned by the loop of its node. Nothing of it is durable: whoever loads the shard next decides
 * the same from the journal.
 */
public final class JobLife implements Attempts.Life, Attempts.Children {
  private static final long RETRY_NANOS = 50_000_000;
  private static final long CLOCK_RETRY_NANOS = 1_000_000_000;
  private static final long LONGEST_EXPIRY_MICROS = 3_600_000_000L;
  private static final int DUE_A_TURN = 1024;
  private static final int ARRIVALS_A_TURN = 2048;

  /** How much earlier than by this clock a job may have been due by another node's. */
  private static final long CLOCKS_APART_MICROS = 60_000_000;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Timers timers;
  private final MemberStatus status;
  private final Dispatcher dispatcher;
  private final Keys keys;
  private final PayloadMemory payloads;
  private final Attempts attempts;
  private final Retries retries;
  private final Recurrences recurrences;
  private final JobMeters meters;
  private final Watchers watchers;
  private final ProgressReports reports;
  private final BlockedTypes blockedTypes;
  private final NameRelease names;
  private final Cancels cancels;
  private final Terminations terminations;
  private final Occurrences occurrences;
  private final Dependencies dependencies;
  private final Consumer<JobRef> pauseForPoison;
  private final DueQueue due = new DueQueue();
  private final ArrayDeque<NodeJob> arrivals = new ArrayDeque<>();
  private long endedTotal;

  /** The parts of a node that carry a job from one state to the next. */
  public record Parts(
      MemberStatus status,
      Shards shards,
      Committer committer,
      RemoteRequests requests,
      Dispatcher dispatcher,
      Keys keys,
      Attempts attempts,
      Attempts.Rules rules,
      JobLookup lookup,
      Watchers watchers,
      ProgressReports reports) {}

  /**
   * The life of a node's jobs.
   *
   * @param pauseForPoison pauses a recurring job whose occurrence killed its node
   */
  public JobLife(Basics basics, Parts parts, Consumer<JobRef> pauseForPoison) {
    this.env = basics.env();
    this.options = basics.options();
    this.timers = basics.timers();
    this.status = parts.status();
    this.dispatcher = parts.dispatcher();
    this.keys = parts.keys();
    this.payloads = dispatcher.payloads();
    this.attempts = parts.attempts();
    this.retries = parts.rules().retries();
    this.recurrences = parts.rules().recurrences();
    this.meters = parts.rules().meters();
    this.watchers = parts.watchers();
    this.reports = parts.reports();
    this.pauseForPoison = pauseForPoison;
    this.blockedTypes = new BlockedTypes(env, timers);
    Shards shards = parts.shards();
    Committer committer = parts.committer();
    this.names = new NameRelease(basics, status, shards);
    this.cancels =
        new Cancels(
            env,
            new Cancels.Parts(shards, committer, attempts, parts.requests(), parts.lookup()),
            this);
    this.terminations = new Terminations(basics, parts, cancels);
    this.occurrences = new Occurrences(env, committer, recurrences, shards, this);
    this.dependencies =
        new Dependencies(env, shards, committer, timers, parts.requests(), new Told());
  }

  public Cancels cancels() {
    return cancels;
  }

  public Terminations terminations() {
    return terminations;
  }

  public Occurrences occurrences() {
    return occurrences;
  }

  public Dependencies dependencies() {
    return dependencies;
  }

  /** How many jobs and occurrences have ended on this node since it started. */
  public long endedTotal() {
    return endedTotal;
  }

  /** When the next job in memory is due; {@link Long#MAX_VALUE} where none is. */
  public long nextDueMicros() {
    return due.nextMicros();
  }

  // ---- coming

  /** A job was added to a loaded shard, or a dead letter lives again. */
  @Override
  public void added(Shard shard, NodeJob job) {
    job.shard = shard;
    watchers.scheduled(job);
    long now = env.wallMicros();
    takeIn(shard, job, now);
    place(job, now);
  }

  private void takeIn(Shard shard, NodeJob job, long now) {
    job.shard = shard;
    payloads.arrived(shard, job, now);
    job.lane = dispatcher.lane(job.namespace, job.queue);
    job.handler = dispatcher.handler(job.type);
    if (job.isDependent() || job.workflow() != null) {
      dependencies.arrived(shard, job);
    }
    Concurrency concurrency = job.concurrency();
    if (concurrency != null) {
      keys.arrived(job, concurrency);
    }
  }

  @Override
  public void joined(Shard shard, NodeJob workflow) {
    dependencies.arrived(shard, workflow);
  }

  private void place(NodeJob job, long now) {
    if (job.dueMicros <= now && !job.isStripped() && !job.isPaused() && status.isClockTrusted()) {
      ready(job, job.dueMicros < overdueBefore(now));
    } else {
      enqueue(job);
    }
  }

  /** The jobs of a shard are in memory. They find their places a part at a time. */
  public void loaded(Shard shard, ShardLoad.Folded<NodeJob> load) {
    load.fold().listener(new Ends(shard));
    long now = env.wallMicros();
    // Who released the shard had done so before.
    for (int i = 0; shard.suspect && i < load.endedWithName().size(); i++) {
      names.ended(shard, load.endedWithName().get(i), load.ends().get(i));
    }
    // What was due by the clock of whoever had the shard may have killed it.
    long dueElsewhere = now + (status.isShared() ? CLOCKS_APART_MICROS : 0);
    List<NodeJob> occurrencesHere = new ArrayList<>();
    load.fold()
        .live()
        .forEach(
            job -> {
              takeIn(shard, job, now);
              arrivals.add(job);
              mayBeCompleted(shard, job, now);
              Lease lease = job.lease();
              if (lease != null) {
                adopt(job, lease);
                if (job.isOccurrence()) {
                  occurrencesHere.add(job);
                }
                return;
              }
              FoldedJob.UncommonState rare = job.rare;
              boolean liveMarker = rare != null && status.isThere(rare.markerIncarnation);
              if (Poison.convicted(job) && shard.abandoned && !liveMarker) {
                convict(shard, job);
              } else if (job.cancelRequested() && !job.endsByItsCode()) {
                cancels.endRequested(shard, job);
              } else if (!endIfBroken(job)) {
                boolean markedBefore = rare != null && rare.markers > 0;
                job.mark(markedBefore || (shard.suspect && job.dueMicros <= dueElsewhere));
                if (rare != null && rare.alone && !liveMarker) {
                  attempts.outcomes.forgetStart(job, rare.markers - 1); // its node stopped in order
                }
                if (job.isOccurrence()) {
                  occurrencesHere.add(job);
                }
              }
            });
    occurrences.loaded(shard, occurrencesHere);
    dependencies.owes(shard, List.copyOf(load.fold().debts()));
  }

  /** A worker has an attempt of the job, whatever became of the last owner. */
  private void adopt(NodeJob job, Lease lease) {
    attempts.starts.adopt(dispatcher.adopt(job), lease);
    watchers.changed(job);
  }

  /** What may have run under an owner that did not release the shard, by whatever clock. */
  private void mayBeCompleted(Shard shard, NodeJob job, long now) {
    if (env.hasTransactions() && shard.suspect && job.dueMicros <= now + CLOCKS_APART_MICROS) {
      job.settled(false);
    }
  }

  /** Jobs of shards that were loaded find their places a part at a time; true with more to come. */
  public boolean placeArrivals() {
    long now = env.wallMicros();
    for (int i = 0; i < ARRIVALS_A_TURN; i++) {
      NodeJob job = arrivals.poll();
      if (job == null) {
        return false;
      }
      if (job.phase() == NodeJob.Phase.SCHEDULED) {
        place(job, now); // else somebody did something about it meanwhile
      }
    }
    return !arrivals.isEmpty();
  }

  /** A shard, of whose jobs none was started any more, stays with this node. */
  public void staysHere(Shard shard) {
    if (shard.fold != null) {
      List<NodeJob> parked = new ArrayList<>();
      shard
          .fold
          .live()
          .forEach(
              job -> {
                if (job.isIdle(NodeJob.Phase.READY)) {
                  parked.add(job);
                }
              });
      parked.forEach(this::scheduleAgain);
    }
  }

  // ---- waiting for the due time

  /** The job waits for its due time, or for its resume while it is paused. */
  @Override
  public void schedule(NodeJob job) {
    enqueue(job);
    watchers.changed(job);
  }

  private void enqueue(NodeJob job) {
    if (job.isPaused()) {
      job.enter(NodeJob.Phase.PAUSED);
      if (!job.isStripped()) {
        expireIfItHasADeadline(job);
      }
    } else {
      job.enter(NodeJob.Phase.SCHEDULED);
      due.add(job);
    }
  }

  /** The job waits for its due time again, wherever it stands in line. */
  public void scheduleAgain(NodeJob job) {
    dispatcher.leaveLine(job);
    schedule(job);
  }

  /** The job, which stands in no line, has another due time. */
  public void rescheduled(NodeJob job) {
    noteStale(job);
    schedule(job);
  }

  @Override
  public void moved(NodeJob job) {
    noteStale(job);
    scheduleAgain(job);
  }

  /** Its lane or its handler's line may have passed it over while it was busy. */
  public void goOnIfPassedOver(NodeJob job) {
    if (job.busy == 0
        && (job.phase() == NodeJob.Phase.READY || job.phase() == NodeJob.Phase.LIMITED)) {
      scheduleAgain(job);
    }
  }

  private void noteStale(NodeJob job) {
    if (job.phase() == NodeJob.Phase.SCHEDULED) {
      due.noteStale();
    }
  }

  /**
   * The order of the job in its line is about to change: it stands in none until it waits again.
   */
  public void withdraw(NodeJob job) {
    dispatcher.withdraw(job);
  }

  /** Runs {@code then} once the job's body is in memory, or the job is not: it looks. */
  public void whenBody(NodeJob job, Runnable then) {
    payloads.whenHere(job, then);
  }

  /** The job's body has so many bytes more. */
  public void resized(int moreBytes) {
    payloads.resized(moreBytes);
  }

  /** The journal says that the job was replaced or updated. */
  public void replaced(NodeJob job, int bytesBefore, @Nullable Concurrency concurrencyBefore) {
    payloads.resized(job.bodyBytes - bytesBefore);
    leaveKey(job, concurrencyBefore);
    job.lane = dispatcher.lane(job.namespace, job.queue);
    noteStale(job);
    if (job.phase() != NodeJob.Phase.RUNNING && job.phase() != NodeJob.Phase.GONE) {
      schedule(job);
    }
  }

  /**
   * The journal says that the job is paused; where {@code now}, what runs is interrupted.
   *
   * @param then happens once the code of a workflow begins no call any more
   */
  public void paused(NodeJob job, boolean now, Runnable then) {
    Attempt attempt = Attempt.of(job);
    if (job.phase() == NodeJob.Phase.RUNNING) {
      watchers.changed(job);
      if (attempt != null) {
        attempts.stops.pause(attempt, now, then);
        return;
      }
    } else if (job.phase() != NodeJob.Phase.GONE) {
      withdraw(job);
      rescheduled(job);
    }
    then.run();
  }

  /** The wall clock went back: a job that is not due any more must not keep its key. */
  public void wentBack(long nowMicros) {
    for (NodeJob job : dispatcher.keyedAfter(nowMicros)) {
      dispatcher.withdraw(job);
      schedule(job);
    }
  }

  // ---- due

  /** Makes due jobs ready, so many a turn; true with more to come. */
  public boolean takeDue() {
    long now = env.wallMicros();
    long overdueBefore = overdueBefore(now);
    for (int i = 0; i < DUE_A_TURN; i++) {
      NodeJob job = due.poll(now);
      if (job == null) {
        return false;
      }
      boolean overdue = job.dueMicros < overdueBefore;
      if (job.isStripped() && !overdue) {
        job.enter(NodeJob.Phase.READY);
        payloads.await(job, null);
      } else {
        ready(job, overdue);
      }
    }
    return true;
  }

  private long overdueBefore(long nowMicros) {
    return nowMicros - Micros.ceil(options.overdueAfter());
  }

  private void ready(NodeJob job, boolean overdue) {
    if (!job.shard().stays()) {
      job.enter(NodeJob.Phase.READY); // whoever gets its shard starts it
      return;
    }
    if (job.isDependent() || endIfBroken(job)) {
      job.enter(NodeJob.Phase.DEPENDENCY);
      expireIfItHasADeadline(job);
      blocked(job);
      return;
    }
    if (!job.isStripped() && !isReadable(job)) {
      return;
    }
    if (!job.isStripped() && isHistoryFull(job)) {
      block(job, NodeJob.Phase.HISTORY_FULL);
      return;
    }
    if (job.isRecurring() && occurrences.due(job)) {
      return;
    }
    if (job.isOccurrence() && Occurrences.mustWait(job)) {
      if (job.isStripped()) {
        job.enter(NodeJob.Phase.READY);
        payloads.await(job, null); // whoever is told that it waits is told what it is
        return;
      }
      job.enter(NodeJob.Phase.LIMITED);
      blocked(job);
      return;
    }
    if (!job.isStripped()) {
      expireIfItHasADeadline(job); // its line may let go of its body
    }
    dispatcher.ready(job, overdue);
  }

  /** A job that is due has its body again. */
  public void restored(NodeJob job) {
    long now = env.wallMicros();
    if (job.dueMicros <= now && !job.isPaused() && status.isClockTrusted()) {
      ready(job, job.dueMicros < overdueBefore(now));
    } else {
      schedule(job);
    }
  }

  /** The job, which is due, may get its concurrency key. */
  public void mayGetKey(NodeJob job) {
    dispatcher.ready(job, job.dueMicros < overdueBefore(env.wallMicros()));
  }

  // ---- blocked

  /** The job is due and may not start. */
  public void blocked(NodeJob job) {
    env.metrics().count("jobs.blocked", 1);
    blockedTypes.blocked(dispatcher.handler(job.type), job.shard(), job);
    watchers.blocked(job);
  }

  /**
   * Whether the job's schedule and policy are such as this JVM can read; blocks it where they are
   * not, in a time zone it does not know, say.
   */
  private boolean isReadable(NodeJob job) {
    if (!job.isRecurring() && !job.hasPolicy()) {
      return true;
    }
    try {
      if (job.isRecurring()) {
        var unused = recurrences.of(job);
      }
      var unused = retries.of(job);
      return true;
    } catch (DamagedException | UnknownFormatException | IllegalArgumentException e) {
      FoldedJob.UncommonState rare = job.rare();
      rare.lastErrorType = e.getClass().getName();
      rare.lastErrorMessage = e.getMessage();
      env.metrics().count("jobs.undecodable", 1);
      block(job, NodeJob.Phase.UNDECODABLE);
      return false;
    }
  }

  /** Whether the history of a workflow has reached its limit, and there is more to do than undo. */
  private boolean isHistoryFull(NodeJob job) {
    WorkflowState workflow = job.workflow();
    HistoryLimit limit = options.historyLimit();
    if (workflow == null
        || !limit.isReached(workflow.entries(), workflow.bytes())
        || WorkflowOutcomes.isEnding(job)) {
      return false;
    }
    FoldedJob.UncommonState rare = job.rare();
    rare.lastErrorType = "history limit";
    rare.lastErrorMessage =
        "history: %d entries, %d bytes (expected: less than %d and %d; raise the option workflowHistory, or cancel the job)"
            .formatted(workflow.entries(), workflow.bytes(), limit.entries(), limit.bytes());
    env.metrics().count("jobs.history.full", 1);
    return true;
  }

  @Override
  public void unfit(NodeJob job, NodeJob.Phase why) {
    if (job.isPaused()) {
      schedule(job); // it is tried again when it is resumed
    } else {
      block(job, why);
    }
  }

  private void block(NodeJob job, NodeJob.Phase why) {
    dispatcher.handler(job.type).block(job, why);
    blocked(job);
    expireIfItHasADeadline(job);
  }

  /** A handler for {@code type} is here: jobs that waited for it go on. */
  public void register(String type) {
    List<NodeJob> waited = dispatcher.register(type);
    blockedTypes.registered(dispatcher.handler(type), waited.size());
    waited.forEach(this::schedule);
  }

  /** The handler for {@code type} is gone. */
  public void unregister(String type) {
    dispatcher.handler(type).wentMicros = env.wallMicros();
    dispatcher.unregister(type).forEach(this::schedule);
  }

  /** Workers take jobs of these types: what waited for a handler is looked at again. */
  public void workersCame(List<String> types) {
    for (String type : types) {
      List<NodeJob> waited = dispatcher.workersCame(type);
      blockedTypes.registered(dispatcher.handler(type), waited.size());
      waited.forEach(this::schedule);
    }
  }

  /** Workers that took jobs of these types are gone: what waited for them is looked at again. */
  public void workersWent(List<String> types) {
    for (String type : types) {
      dispatcher.handler(type).wentMicros = env.wallMicros();
      dispatcher.workersWent(type).forEach(this::schedule);
    }
  }

  /** Jobs without a handler here go on, as many as other nodes have room for. */
  public void offerBlocked(int most) {
    dispatcher.offerBlocked(most).forEach(this::schedule);
  }

  /** Another node has handlers of these types: jobs that could not be decoded are tried again. */
  public void offerUndecodable(Set<String> types) {
    types.forEach(type -> dispatcher.offerUndecodable(type).forEach(this::schedule));
  }

  /** The news that dependencies bring. */
  private final class Told implements Dependencies.Host {
    @Override
    public void met(NodeJob job) {
      JobLife.this.met(job);
    }

    @Override
    public void wake(NodeJob job) {
      JobLife.this.wake(job);
    }
  }

  /** The history of a workflow has an entry more, by which its wait may be over. */
  public void wake(NodeJob job) {
    boolean released = job.phase() == NodeJob.Phase.PAUSED && !job.isPaused();
    boolean full = job.phase() == NodeJob.Phase.HISTORY_FULL; // its compensations may run
    if (job.phase() == NodeJob.Phase.SCHEDULED || released || full) {
      moved(job);
    } else {
      watchers.changed(job);
    }
  }

  /** One that the job waited for has ended: it may start, or never can. */
  private void met(NodeJob job) {
    if (endIfBroken(job)) {
      return;
    }
    if (job.phase() == NodeJob.Phase.DEPENDENCY && !job.isDependent()) {
      schedule(job);
    } else {
      watchers.changed(job);
    }
  }

  // ---- ending without an attempt

  private boolean endIfBroken(NodeJob job) {
    Awaited awaited = job.awaited();
    String why = awaited != null ? awaited.broken() : null;
    if (why == null || job.phase() == NodeJob.Phase.GONE) {
      return false;
    }
    if (job.busy > 0) {
      // A replace may be on its way, after which it waits for nothing: it is looked at then.
      timers.at(env.monotonicNanos() + RETRY_NANOS, () -> endIfBroken(job));
      return true;
    }
    cancels.end(job.shard(), job, JobState.CANCELLED, why);
    return true;
  }

  private void expireIfItHasADeadline(NodeJob job) {
    if (job.has(JobSpec.DEADLINE)) {
      expireAt(job, job.revision, job.head().deadlineMicros());
    }
  }

  /** Ends the job at its deadline if it still waits then. */
  private void expireAt(NodeJob job, int revision, long deadlineMicros) {
    long micros = Math.max(0, deadlineMicros - env.wallMicros());
    long nanos = Math.min(micros, LONGEST_EXPIRY_MICROS) * 1000;
    timers.cancel(job.expiry);
    job.expiry =
        timers.at(
            env.monotonicNanos() + nanos,
            () -> {
              Shard shard = job.shard;
              boolean waits =
                  switch (job.phase()) {
                    case READY, NO_HANDLER, UNDECODABLE, DIVERGED, LIMITED -> true;
                    case HISTORY_FULL -> true;
                    case DEPENDENCY, PAUSED -> true;
                    case SCHEDULED, RUNNING, GONE -> false;
                  };
              if (!waits || job.revision != revision || shard == null || !shard.owned()) {
                return;
              }
              if (!status.isClockTrusted()) {
                job.expiry =
                    timers.at(
                        env.monotonicNanos() + CLOCK_RETRY_NANOS,
                        () -> expireAt(job, revision, deadlineMicros));
              } else if (env.wallMicros() < deadlineMicros || job.busy > 0) {
                expireAt(job, revision, Math.max(deadlineMicros, env.wallMicros() + 1000));
              } else {
                expire(shard, job);
              }
            });
  }

  /** The job's deadline has passed. */
  void expire(Shard shard, NodeJob job) {
    if (job.hasBegun()) {
      return; // its compensations run first, as soon as its code can
    }
    cancels.end(shard, job, JobState.EXPIRED, "deadline passed while it waited");
  }

  /** The job gets no key and ends; a recurring job passes over this time. */
  public void refuse(NodeJob job, JobState state, String reason) {
    if (job.isRecurring()) {
      occurrences.skip(job, reason);
    } else {
      job.enter(NodeJob.Phase.READY);
      cancels.end(job.shard(), job, state, reason);
    }
  }

  /** The job does not go on; of a recurring job that is the occurrence. */
  public void cancel(NodeJob job, String reason) {
    Attempt attempt = Attempt.of(job);
    if (!job.isRecurring()) {
      cancel(job.shard().ref(job.number), reason);
    } else if (attempt != null) {
      attempts.stops.stopOccurrence(attempt, reason);
    } else if (job.busy == 0) {
      dispatcher.withdraw(job);
      occurrences.skip(job, reason);
    }
  }

  @Override
  public void cancelChild(NodeJob parent, JobRef child, Runnable then) {
    terminations.cancelChild(parent, child, then);
  }

  /** This node cancels a job by a rule. */
  void cancel(JobRef job, String reason) {
    cancels.cancel(job, new Why(options.nodeId(), reason), outcome -> {});
  }

  @Override
  public void endRequested(NodeJob job) {
    cancels.endRequested(job.shard(), job);
  }

  @Override
  public void convict(NodeJob job) {
    if (job.phase() != NodeJob.Phase.GONE && job.busy == 0) {
      dispatcher.withdraw(job);
      convict(job.shard(), job);
    }
  }

  /**
   * The job goes to the dead letters. Of a recurring one that is the occurrence; the schedule is
   * paused, or it would kill the node again at its next time.
   */
  private void convict(Shard shard, NodeJob job) {
    if (job.isUnsettled()) {
      attempts.transactions.unlessCompleted(job, () -> convict(shard, job), () -> {});
      return;
    }
    env.metrics().count("jobs.poison", 1);
    meters.of(dispatcher.lane(job.namespace, job.queue), job.type).died();
    env.tell(new NodeEvent.Convicted(shard.subject(job), Poison.REASON));
    OccurrenceSpec occurrence = job.occurrence();
    if (!job.isRecurring()) {
      terminations.endAfterChildren(shard, job, JobState.DEAD, Poison.REASON);
    } else if (isReadable(job)) {
      Runnable paused = () -> pauseForPoison.accept(shard.ref(job.number));
      terminations.afterChildren(
          job, () -> attempts.outcomes.convictOccurrence(job, Poison.REASON, paused));
    }
    if (occurrence != null) {
      pauseForPoison.accept(shard.ref(occurrence.schedule()));
    }
  }

  // ---- going

  /** What ends in a shard. */
  private final class Ends implements ShardFold.Listener<NodeJob> {
    private final Shard shard;

    Ends(Shard shard) {
      this.shard = shard;
    }

    @Override
    public void ended(NodeJob job, OperationBody.End end) {
      JobLife.this.ended(shard, job, end);
    }

    @Override
    public void recorded(NodeJob job, int count, HistoryEntry entry) {
      attempts.told(job, shard.ref(job.number), count, entry);
    }

    @Override
    public void renewed(NodeJob job) {
      attempts.forget(shard.ref(job.number));
    }

    @Override
    public void occurred(NodeJob job, OperationBody.Next next) {
      countEnd(Objects.requireNonNull(next.outcome(), "outcome"));
      watchers.occurred(shard, job, next);
    }
  }

  private void countEnd(JobState state) {
    env.metrics().count("jobs.ended", 1);
    env.metrics().count(endedAs(state), 1);
    endedTotal++;
  }

  private static String endedAs(JobState state) {
    return switch (state) {
      case SUCCEEDED -> "jobs.succeeded";
      case FAILED -> "jobs.failed";
      case CANCELLED -> "jobs.cancelled";
      case EXPIRED -> "jobs.expired";
      case DEAD -> "jobs.dead";
      case SCHEDULED, READY, RUNNING, WAITING, PAUSED, BLOCKED ->
          throw new IllegalArgumentException(
              "state: " + state + " (expected: one of an ended job)");
    };
  }

  /** The end of the job is durable, whether its shard is loaded or not. */
  void ended(Shard shard, NodeJob job, OperationBody.End end) {
    if (job.phase() == NodeJob.Phase.SCHEDULED && job.shard != null) {
      due.noteStale();
    }
    if (job.shard != null) {
      payloads.left(shard, job);
    }
    timers.cancel(job.expiry);
    job.enter(NodeJob.Phase.GONE);
    forgetWorkflow(shard, job);
    leaveKey(job, job.concurrency());
    if (job.isOccurrence()) {
      occurrences.ended(shard, job);
    }
    countEnd(end.state());
    for (JobRef waiter : job.waiters()) {
      dependencies.owes(shard, new Debt(job.number, waiter, end.state(), null), end);
    }
    if (job.hasName()) {
      names.ended(shard, job, end);
    }
    reports.ended(shard, job);
    watchers.ended(shard, job, end);
  }

  private void forgetWorkflow(Shard shard, NodeJob job) {
    if (job.workflow() != null) {
      attempts.forget(shard.ref(job.number));
    }
  }

  private void leaveKey(NodeJob job, @Nullable Concurrency concurrency) {
    if (concurrency != null) {
      keys.leave(job, concurrency);
    }
  }

  /** The jobs of a shard leave this node's memory. */
  public void unloaded(Shard shard, ShardFold<NodeJob> fold) {
    fold.live()
        .forEach(
            job -> {
              payloads.left(shard, job);
              timers.cancel(job.expiry);
              noteStale(job);
              attempts.stops.disown(job);
              attempts.forget(shard.ref(job.number)); // also where nothing of it is durable
              job.enter(NodeJob.Phase.GONE);
              leaveKey(job, job.concurrency());
            });
  }

  /** Forgets lanes and handlers that no live job needs, if there are many. */
  public void sweep(Iterable<Shard> shards) {
    if (dispatcher.wantsSweep()) {
      List<NodeJob> live = new ArrayList<>();
      for (Shard shard : shards) {
        if (shard.fold != null) {
          shard.fold.live().forEach(live::add);
        }
      }
      dispatcher.sweep(live);
      due.forgetEmptyLanes();
    }
  }
}
