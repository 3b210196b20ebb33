package dev.carillon.engine;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobId;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.AttemptRunner;
import dev.carillon.engine.dispatch.Gate;
import dev.carillon.engine.dispatch.HandlerSettings;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.history.PublishedValue;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobEdit;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.life.LivePhases;
import dev.carillon.engine.life.WaitingJobs;
import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.member.MemberState;
import dev.carillon.engine.member.NodeStats;
import dev.carillon.engine.member.Orders;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.message.Wire;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.engine.request.Questions;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One node: the face of the engine, and the order of a turn. All state of the engine is owned by
 * one thread, the loop. Whoever runs the node calls its methods from that thread only, passes on
 * events, and calls {@link #turn()} after each round of events and at the time the last turn named.
 * Nothing here blocks.
 *
 * <p>{@link Assembly} makes the parts of a node. {@link JobLife} decides what becomes of a job.
 */
public final class Node {
  private static final long LONGEST_SLEEP_NANOS = 1_000_000_000;
  private static final long JUMP_MICROS = 1_000_000;
  private static final int LOOKS_A_HORIZON = 4;

  /** How often this node looks for records that dead nodes left behind. */
  private static final long SWEEP_NANOS = 300_000_000_000L;

  private static final Outcome<FlowSetting> WENT_BACK_MEANWHILE =
      new Outcome.Unknown<>("the store went back in time meanwhile");

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Assembly parts;
  private long clockOffsetMicros;

  /**
   * A node that has not started.
   *
   * @param runner runs its handlers
   * @param formats which this version of the code reads and writes
   */
  public Node(NodeEnvironment env, AttemptRunner runner, Formats formats, NodeOptions options) {
    this.env = env;
    this.options = options;
    this.parts = new Assembly(env, runner, formats, options);
  }

  // ---- the loop's own

  /** Begins to look for its shards and to dispatch. */
  public void start() {
    parts.slowStart.start();
    clockOffsetMicros = clockOffsetMicros();
    parts.flow.load(parts.dispatcher::open);
    parts.rates.sweep();
    parts.format.learn(this::begin);
    parts.status.watch();
  }

  /** This node reads the format that the others write. */
  private void begin() {
    if (!parts.status.isShared()) {
      env.tell(new NodeEvent.Joined(List.of()));
      parts.shards.joined();
    } else {
      parts.status.join();
      parts.requests.start();
      parts.wire.start();
      sweep();
    }
    lookAgain();
  }

  /** Deletes the records of dead nodes from time to time. */
  private void sweep() {
    parts.timers.at(
        env.monotonicNanos() + SWEEP_NANOS,
        () -> {
          if (!parts.status.isStopping()) {
            parts.shares.sweep();
            parts.wire.sweep();
            parts.handlerLists.sweep();
            parts.permits.sweep();
            parts.status.orders().sweep(env, parts.records);
            sweep();
          }
        });
  }

  private void lookAgain() {
    if (parts.status.isStopping()) {
      return;
    }
    parts.shards.look();
    parts.life.sweep(parts.shards.all());
    parts.timers.at(
        env.monotonicNanos() + options.loadHorizon().toNanos() / LOOKS_A_HORIZON, this::lookAgain);
  }

  /**
   * Does what can be done now.
   *
   * @return how many nanoseconds may pass before the next turn; 0 where there is more to do
   */
  public long turn() {
    parts.timers.run(env.monotonicNanos());
    noticeJump();
    parts.shards.turn();
    boolean trusted = parts.status.isClockTrusted();
    boolean moreArrivals = parts.life.placeArrivals();
    if (trusted && !parts.keys.isOpen() && !moreArrivals && parts.shards.claims.caughtUp()) {
      parts.keys.open();
    }
    boolean moreDue = trusted && parts.life.takeDue();
    parts.workers.turn();
    boolean moreToStart = parts.dispatcher.turn();
    if (parts.status.lends()) {
      parts.borrowing.turn();
      parts.lending.turn();
      parts.handlerLists.turn();
    }
    parts.wire.turn();
    parts.records.turn();
    parts.payloads.turn();
    parts.committer.turn();
    return moreArrivals || moreDue || moreToStart ? 0 : nanosToNext();
  }

  private long clockOffsetMicros() {
    return env.wallMicros() - env.monotonicNanos() / 1000;
  }

  /** A wall clock that jumped changes which shards wake soon: they are looked for at once. */
  private void noticeJump() {
    parts.status.checkClock();
    long offset = clockOffsetMicros();
    if (Math.abs(offset - clockOffsetMicros) > JUMP_MICROS) {
      boolean back = offset < clockOffsetMicros;
      clockOffsetMicros = offset;
      if (!parts.status.isStopping()) {
        parts.shards.look();
      }
      if (back) {
        parts.life.wentBack(env.wallMicros());
      }
    }
  }

  private long nanosToNext() {
    long nanos = Math.min(LONGEST_SLEEP_NANOS, parts.timers.nanosToNext(env.monotonicNanos()));
    long next = parts.life.nextDueMicros();
    if (next != Long.MAX_VALUE && parts.status.isClockTrusted()) {
      long micros = next - env.wallMicros();
      nanos = Math.min(nanos, micros <= 0 ? 0 : micros < 2_000_000 ? micros * 1000 : nanos);
    }
    return nanos;
  }

  /**
   * When something is asked for that is asked for now: by the wall clock of this node, or by the
   * store's where that of this node is too far off. Any thread may ask.
   */
  public long nowMicros(long wallMicros, long monotonicNanos) {
    return parts.status.nowMicros(wallMicros, monotonicNanos);
  }

  /** Why nothing starts on this node; null where what is due does. */
  public @Nullable String held() {
    String clock = parts.status.clockProblem();
    boolean fenced = parts.slowStart.fences() > 0 && !parts.status.hasProven();
    return clock == null && fenced ? parts.slowStart.problem() : clock;
  }

  /** How this node has fenced itself of late; null where it has not. */
  public @Nullable String fenced() {
    return parts.slowStart.problem();
  }

  /** Journals that this node has tried to write in vain for some time; null without any. */
  public @Nullable String unwritten() {
    return parts.committer.unwritten();
  }

  // ---- what users ask

  /** Adds a job. */
  public void add(AddRequest request) {
    if (parts.status.isClient()) {
      parts.router.errands().add(List.of(request), false);
    } else {
      parts.adds.add(request);
    }
  }

  /** Adds all of them or none. */
  public void addAll(List<AddRequest> requests) {
    if (parts.status.isClient()) {
      parts.router.errands().add(requests, true);
    } else {
      parts.adds.addAll(requests);
    }
  }

  /** Users' transactions may have written jobs: takes what is there. */
  public void lookInInbox() {
    if (env.hasTransactions() && !parts.status.isClient()) {
      parts.intake.look();
    }
  }

  /** Withdraws a request of which nothing is on its way to the store, which is away. */
  public void abandonUnsent(AddRequest request, String why) {
    if (!parts.status.isClient()) {
      parts.adds.abandonUnsent(request, why);
    }
  }

  /** The caller of {@code request} no longer waits: it is told what became of it. */
  public void abandon(AddRequest request, String waited) {
    if (parts.status.isClient()) {
      request.refused(
          new OutcomeUnknownException(
              "no answer from another node after " + waited + "; the job may be scheduled"));
    } else {
      parts.adds.abandon(request, waited);
    }
  }

  /**
   * A handler for {@code type} is here.
   *
   * @param limit how many of its attempts run at once
   * @param policy what follows a failure of a job without a policy; null for the namespace's
   */
  public void register(String type, int limit, @Nullable FailurePolicy policy) {
    register(type, new HandlerSettings(limit, 0, policy));
  }

  /** A handler for {@code type} is here: jobs that waited for it go on. */
  public void register(String type, HandlerSettings settings) {
    parts.dispatcher.handler(type).set(settings);
    parts.handlerLists.add(type, settings.workflow());
    parts.life.register(type);
  }

  /**
   * The handler for {@code type} is gone. Its running attempts go on to their end; due jobs run on
   * a node that has a handler, or are blocked until one is registered, which costs them no attempt.
   */
  public void unregister(String type) {
    parts.dispatcher.handler(type).set(new HandlerSettings(Gate.OPEN, 0, null));
    parts.handlerLists.remove(type);
    parts.life.unregister(type);
  }

  /** What counts for a queue or namespace where no operator has set otherwise. */
  public void standardFlow(FlowSubject subject, UnaryOperator<FlowSetting> change) {
    parts.flow.standard(subject, change);
  }

  /**
   * Sets what counts for a queue or namespace, across restarts; answered when every node that is
   * there acts on it.
   */
  public void changeFlow(
      FlowSubject subject,
      UnaryOperator<FlowSetting> change,
      Consumer<Outcome<FlowSetting>> answer) {
    int known = parts.status.copies();
    parts.flow.change(
        subject,
        change,
        outcome -> {
          if (!outcome.isOk()) {
            answer.accept(outcome);
          } else {
            parts.status.announceSetting(
                () ->
                    answer.accept(known == parts.status.copies() ? outcome : WENT_BACK_MEANWHILE));
          }
        });
  }

  /**
   * An operator orders that a node of that id has no shards, or takes that back; {@code done} runs
   * when it is durable. It acts on it with its next look at the members.
   */
  public void drain(String nodeId, boolean drained, Runnable done) {
    Orders.give(parts.records, Orders.drain(nodeId), drained ? nodeId : null, done);
  }

  /**
   * An operator orders that a shard is with the node of that id, or, where that is null, takes the
   * order back; {@code done} runs when it is durable.
   */
  public void move(ShardId shard, @Nullable String nodeId, Runnable done) {
    Orders.give(parts.records, Orders.move(shard), nodeId, done);
  }

  /** What counts for a queue or namespace. */
  public void flow(FlowSubject subject, Consumer<FlowSetting> answer) {
    parts.flow.get(subject, answer);
  }

  /** What counts for each queue, or each namespace, of which anything is set. */
  public void flows(FlowSubject.Scope scope, Consumer<Map<String, FlowSetting>> answer) {
    parts.flow.all(scope, answer);
  }

  /** What follows a failure in the namespace where neither job nor handler says. */
  public void failurePolicy(String namespace, FailurePolicy policy) {
    parts.rules.retries().namespace(namespace, policy);
  }

  /** The job as it is, or empty where there is none. */
  public void get(JobRef ref, Consumer<Outcome<Optional<JobView>>> answer) {
    parts.lookup.get(ref, answer);
  }

  /** How the live jobs of a shard stand that do not simply wait for their time. */
  public LivePhases livePhases(ShardId id) {
    return parts.lookup.livePhases(id);
  }

  /** What lists ask of the jobs that are here. */
  public JobLookup lookup() {
    return parts.lookup;
  }

  /** Tells {@code watcher} of every change of the job from now on, until it ends. */
  public void watch(JobRef ref, Consumer<JobView> watcher) {
    parts.watchers.watch(ref, watcher);
  }

  /** Takes a watcher back. */
  public void unwatch(JobRef ref, Consumer<JobView> watcher) {
    parts.watchers.unwatch(ref, watcher);
  }

  /** Who asks where nobody says: this node. */
  public Why why(String reason) {
    return new Why(options.nodeId(), reason);
  }

  /** Cancels a job, loaded or not, running or not. */
  public void cancel(JobRef ref, Why why, Consumer<Outcome<CancelResult>> answer) {
    parts.life.cancels().cancel(ref, why, answer);
  }

  /** Ends a workflow and its children without compensations; any other job is cancelled. */
  public void terminate(JobRef ref, Why why, Consumer<Outcome<CancelResult>> answer) {
    parts.life.terminations().terminate(ref, why, answer);
  }

  /** The job does not start until it is resumed; a running attempt is asked to save and return. */
  public void pause(JobRef ref, Why why, Consumer<Outcome<ControlResult>> answer) {
    pause(ref, why, false, answer);
  }

  /** The same; where {@code now}, what runs of it is interrupted and as if not made. */
  public void pause(JobRef ref, Why why, boolean now, Consumer<Outcome<ControlResult>> answer) {
    parts.controls.pause(new RemoteRequest.Pause(ref, why, now, false), answer);
  }

  /** A paused job goes on. */
  public void resume(JobRef ref, String by, Consumer<Outcome<ControlResult>> answer) {
    parts.controls.resume(new RemoteRequest.Resume(ref, by, false), answer);
  }

  /** The job's next attempt is due at another time. */
  public void reschedule(
      JobRef ref, String by, long dueMicros, Consumer<Outcome<ControlResult>> answer) {
    parts.controls.reschedule(ref, by, dueMicros, answer);
  }

  /** The recurring job goes on by another schedule and keeps its count. */
  public void reschedule(
      JobRef ref, String by, Schedule schedule, Consumer<Outcome<ControlResult>> answer) {
    parts.controls.reschedule(ref, by, schedule, answer);
  }

  /** The job has another priority. */
  public void prioritise(
      JobRef ref, String by, int priority, Consumer<Outcome<ControlResult>> answer) {
    parts.controls.prioritise(ref, by, priority, answer);
  }

  /** The recurring job has one more occurrence, now, as a job of its own. */
  public void trigger(JobRef ref, OccurrencesAdded answer) {
    parts.controls.trigger(ref, answer);
  }

  /** The recurring job has the occurrences of a past range, both ends included, as jobs. */
  public void backfill(JobRef ref, Instant from, Instant to, OccurrencesAdded answer) {
    parts.controls.backfill(ref, from, to, answer);
  }

  /** A dead letter is tried again, as it was or with another input. */
  public void replay(
      JobRef ref, String by, @Nullable JobEdit edit, Consumer<Outcome<ControlResult>> answer) {
    parts.replays.replay(ref, by, edit, answer);
  }

  /** A dead letter is no longer kept. */
  public void discard(JobRef ref, String by, Consumer<Outcome<ControlResult>> answer) {
    parts.replays.discard(ref, by, answer);
  }

  /**
   * Keeps a handler's resume position; {@code answer} hears true once it is durable, false where
   * the attempt was replaced or is over.
   */
  public void save(Attempt attempt, byte[] state, Consumer<Outcome<Boolean>> answer) {
    if (attempt.isBorrowed()) {
      parts.borrowing.save(attempt, state, answer);
    } else {
      parts.checkpoints.save(attempt, state, answer);
    }
  }

  /**
   * A message for a workflow, kept until its code takes it.
   *
   * @param key under which it is taken once; empty for none
   */
  public void signal(
      JobRef ref,
      String type,
      String key,
      String by,
      byte[] payload,
      Consumer<Outcome<SignalResult>> answer) {
    parts.signals.signal(new RemoteRequest.Signal(ref, type, key, by, payload), answer);
  }

  /** Brings the history of the attempt's workflow, as many entries as it had when it began. */
  public void history(Attempt attempt, Consumer<Outcome<List<HistoryEntry>>> answer) {
    if (attempt.isBorrowed()) {
      parts.borrowing.history(attempt, answer);
    } else {
      parts.workflows.history(attempt, answer);
    }
  }

  /**
   * Makes what a workflow's code did durable. {@code answer} hears true once it is, after the
   * runner was told of every entry; false where the attempt was replaced or is over.
   */
  public void checkpoint(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer) {
    if (attempt.isBorrowed()) {
      parts.borrowing.checkpoint(attempt, turn, answer);
    } else {
      parts.namedChildren.checkpoint(attempt, turn, answer);
    }
  }

  /** An attempt reports of its job; {@code source} is asked when that is to be recorded. */
  public void report(Attempt attempt, Report.Source source) {
    if (attempt.isBorrowed()) {
      parts.borrowing.report(attempt, source);
    } else {
      parts.reports.report(attempt, source);
    }
  }

  /** What the job published last; empty where there is no such job. */
  public void published(JobRef ref, Consumer<Outcome<Optional<PublishedValue.Found>>> answer) {
    parts.lookup.published(ref, answer);
  }

  /** The runner says how an attempt went; false where it no longer counts. */
  public boolean finished(Attempt attempt, AttemptOutcome outcome) {
    if (attempt.isBorrowed()) {
      return parts.borrowing.finished(attempt, outcome);
    }
    return parts.attempts.finished(attempt, outcome);
  }

  /** The channels on which an incarnation is notified, and what its node does then. */
  public static Map<String, Consumer<Node>> notificationChannels(long incarnation) {
    Map<String, Consumer<Node>> channels = new LinkedHashMap<>();
    channels.put(Wire.channel(incarnation), Node::hearWire);
    channels.put(RemoteRequests.channel(incarnation), Node::lookForRequests);
    return channels;
  }

  private void hearWire() {
    if (parts.status.isShared()) {
      parts.wire.notified();
    }
  }

  private void lookForRequests() {
    if (parts.status.isShared()) {
      parts.requests.notified();
    }
  }

  // ---- stopping

  /** No attempt starts any more; running handlers are asked to save and return. */
  public void beginStop() {
    parts.status.stop();
    parts.intake.stop();
    parts.dispatcher.stop();
    parts.keys.stop();
    parts.attempts.stops.stop();
    parts.borrowing.beginStop();
    parts.shards.beginStop();
  }

  /** Interrupts what still runs. */
  public void interruptRunning() {
    parts.attempts.stops.interruptAll();
    parts.borrowing.interruptAll();
  }

  /** Whether nothing runs and everything that was asked for is written. */
  public boolean quiet() {
    return parts.attempts.running() == parts.attempts.safe()
        && parts.borrowing.size() == 0
        && parts.router.errands().underWay() == 0
        && parts.wire.idle()
        && parts.committer.idle()
        && parts.records.idle()
        && parts.intake.idle()
        && !parts.shards.isUnsettled();
  }

  /** How many attempts are under way or wait for their outcome to be durable. */
  public int running() {
    return parts.attempts.running() - parts.attempts.safe() + parts.borrowing.size();
  }

  /** The workers that are connected to this node, for a gateway. */
  public dev.carillon.engine.worker.Workers workers() {
    return parts.workers;
  }

  /** Attempts of this node's jobs that others run. */
  public int lent() {
    return parts.lending.out();
  }

  /** Attempts of others' jobs that are here, with those that wait for a slot. */
  public int borrowed() {
    return parts.borrowing.size();
  }

  /** How many attempts this node has lent since it started. */
  public long lentTotal() {
    return parts.lending.lentTotal();
  }

  /** How many attempts of others it has run since. */
  public long borrowedTotal() {
    return parts.borrowing.borrowedTotal();
  }

  /** Shards that could not be read and are left alone. */
  public int refusedShards() {
    return parts.shards.refused().size();
  }

  /** Why that is, of the first few. */
  public List<String> refusals(int most) {
    return parts.shards.refused().values().stream().limit(most).toList();
  }

  /** When the next job in memory is due; {@link Long#MAX_VALUE} where none is. */
  public long nextDueMicros() {
    return parts.life.nextDueMicros();
  }

  /** How long until the next timer of the engine's own; {@link Long#MAX_VALUE} without any. */
  public long nanosToNextTimer() {
    return parts.timers.nanosToNext(env.monotonicNanos());
  }

  /** Gives the shards back; {@code done} runs when those that can be are. */
  public void release(Runnable done) {
    if (!parts.status.isShared()) {
      parts.shards.stop(done);
    } else {
      parts.shards.stop(
          () -> {
            parts.requests.stop();
            parts.wire.stop();
            parts.permits.end();
            if (parts.attempts.running() + parts.borrowing.size() == 0) {
              parts.status.leave(done);
            } else {
              parts.status.fallSilent(); // what still runs holds its limits until the timeout
              done.run();
            }
          });
    }
  }

  // ---- what operators ask

  /** Bytes of jobs in memory, without what the jobs themselves take. */
  long residentBytes() {
    return parts.payloads.resident();
  }

  /** A look at the node. */
  public NodeStats stats() {
    return NodeLook.stats(parts);
  }

  /** Which due jobs in memory do not run, and why; takes a turn a shard. */
  public void waiting(Consumer<List<WaitingJobs>> answer) {
    WaitingJobs.of(parts.shards.all(), env, parts.timers, parts.rules.meters(), answer);
  }

  /** How many attempts it runs at once; fewer for a while after a slow start. */
  public int slots() {
    return parts.dispatcher.node().limit();
  }

  /** Whether others may share the store. */
  public boolean isShared() {
    return parts.status.isShared();
  }

  /** What nodes have in memory, this one and others. */
  public Questions questions() {
    return parts.router.questions();
  }

  /** Who shares the store, this node first; it alone where it has the store to itself. */
  public List<MemberState> members() {
    return parts.status.states();
  }

  /** What this node knows of all: itself, the others, and how its shards stand. */
  public ClusterLook cluster() {
    return NodeLook.cluster(parts);
  }

  /** Jobs that wait for a transaction of a handler's to end. */
  public int waitingForTransactions() {
    return parts.rules.completions().waiting();
  }

  /** The id of the node, for those who ask. */
  public String id() {
    return options.nodeId();
  }

  /** The job that {@code id} names, or null where it is no id of ours. */
  public static @Nullable JobRef ref(JobId id) {
    return JobRef.parse(id);
  }
}
