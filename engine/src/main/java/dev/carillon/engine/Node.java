package dev.carillon.engine;

import dev.carillon.api.AttemptFailure;
import dev.carillon.api.BlockReason;
import dev.carillon.api.CancelResult;
import dev.carillon.api.Concurrency;
import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobState;
import dev.carillon.api.Schedule;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.ShardId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One node: all state of the engine, owned by one thread, the loop. Whoever runs it calls its
 * methods from that thread only, hands it what happened, and calls {@link #turn()} after each round
 * of events and at the time the last turn named. Nothing here blocks.
 */
public final class Node {
  private static final long LONGEST_SLEEP_NANOS = 1_000_000_000;
  private static final long JUMP_MICROS = 1_000_000;
  private static final int LOOKS_A_HORIZON = 4;
  private static final int DUE_A_TURN = 1024;
  private static final int ARRIVALS_A_TURN = 2048;
  private static final long RETRY_NANOS = 50_000_000;

  /** How soon a job of another node is looked at that is watched here, and how late at most. */
  private static final long WATCH_NANOS = 250_000_000;

  private static final long MOST_WATCH = 4_000_000_000L;
  private static final int WATCHED_AT_ONCE = 64;

  /** How often it is looked for what nodes that died left behind. */
  private static final Outcome<FlowSetting> WENT_BACK_MEANWHILE =
      new Outcome.Unknown<>("the store went back in time meanwhile");

  private static final long SWEEP_NANOS = 300_000_000_000L;

  /** How much earlier than by this clock a job may have been due by another node's. */
  private static final long CLOCKS_APART_MICROS = 60_000_000;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Timers timers = new Timers();
  private final DueQueue due = new DueQueue();
  private final ArrayDeque<ShardJob> arrivals = new ArrayDeque<>();
  private final Committer committer;
  private final Shards shards;
  private final RecordChanges records;
  private final Adds adds;
  private final SlowStart slowStart;
  private final Dispatcher dispatcher;
  private final Keys keys;
  private final Rates rates;
  private final Shares shares;
  private final Flow flow;
  private final Attempts attempts;
  private final Cancels cancels;
  private final Bodies bodies;
  private final Retries retries;
  private final Recurrences recurrences;
  private final Updates updates;
  private final Occurrences occurrences;
  private final Controls controls;
  private final Dependencies dependencies;
  private final BlockedTypes blockedTypes;
  private final JobMeters meters;

  private final MemberStatus status;
  private final ClusterFormat format;
  private final Mail mail;
  private final Wire wire;
  private final HandlerLists handlerLists;
  private final Permits permits;
  private final Lending lending;
  private final Borrowing borrowing;
  private final Errands errands;
  private final Intake intake;
  private final Completions completions;

  /** Those looked at longest ago come first. */
  private final Map<JobRef, List<Consumer<JobView>>> watchers = new LinkedHashMap<>();

  /** Jobs of other nodes that are watched here, as they were when they were last looked at. */
  private final Map<JobRef, JobInfo> seenAway = new LinkedHashMap<>();

  private Timers.@Nullable Timer watchedLook;
  private long addedTotal;
  private long endedTotal;
  private long clockOffsetMicros;
  private boolean stopping;

  private int joins;

  /** The store is another copy since what this node has of limits was last compared with it. */
  private boolean exchanged;

  /**
   * A node that has not started.
   *
   * @param runner runs its handlers
   * @param formats which this version of the code reads and writes
   */
  public Node(NodeEnvironment env, AttemptRunner runner, Formats formats, NodeOptions options) {
    this.env = env;
    this.options = options;
    this.committer = new Committer(env, timers, new CommitHost());
    this.records = new RecordChanges(env, options.incarnation(), timers);
    this.format = new ClusterFormat(env, timers, formats, this::outdated);
    Basics basics = new Basics(env, options, timers, records);
    Membership membership = options.membership();
    MemberHost memberHost = new MemberHost();
    this.status =
        new MemberStatus(
            env,
            options,
            membership == null
                ? null
                : new Members(basics, membership, format, memberHost, memberHost));
    this.shards =
        new Shards(
            env,
            options,
            status.directory(),
            new Shards.Parts(timers, committer, records),
            new ShardHost());
    Bells bells = new Bells(env);
    this.mail = new Mail(basics, bells, status, shards, new MailHost());
    this.adds = new Adds(env, options, shards, committer, records, mail, new AddHost());
    this.intake = new Intake(env, options, adds, this::goneIncarnations);
    this.completions = new Completions(env, timers);
    this.retries = new Retries(env, options.failurePolicy());
    this.recurrences = new Recurrences(env);
    this.updates = new Updates(recurrences);
    this.meters = new JobMeters(env);
    this.attempts =
        new Attempts(
            env,
            runner,
            options,
            committer,
            timers,
            new Attempts.Rules(retries, recurrences, completions, meters),
            new AttemptHost());
    this.rates = new Rates(env, records, timers);
    this.shares = new Shares(basics, status, this::sayLook);
    this.keys = new Keys(rates, shares, new KeyHost());
    this.bodies = new Bodies(env, options, timers, new BodyHost());
    this.dispatcher = new Dispatcher(options.slots(), attempts, keys, this::tellBlocked, bodies);
    this.slowStart = new SlowStart(env::monotonicNanos, timers, options, dispatcher.node());
    this.flow = new Flow(env, records, timers, rates, shares, dispatcher);
    this.wire = new Wire(basics, bells, status, new WireHost());
    this.handlerLists =
        new HandlerLists(env, records, options.incarnation(), new HandlerListHost());
    this.permits = new Permits(env, records, options.incarnation(), status::isForgotten);
    this.lending = new Lending(env, timers, wire, handlerLists, new LendingHost());
    this.borrowing =
        new Borrowing(env, runner, options, timers, wire, dispatcher, permits, status);
    dispatcher.lender(lending::borrowerFor);
    this.errands = new Errands(wire, new ErrandHost());
    this.cancels = new Cancels(env, shards, committer, attempts, mail, new CancelHost());
    this.occurrences = new Occurrences(env, committer, recurrences, new OccurrenceHost());
    this.dependencies = new Dependencies(env, shards, committer, timers, mail, this::met);
    this.blockedTypes = new BlockedTypes(env, timers);
    this.controls =
        new Controls(
            env,
            new Controls.Parts(shards, committer, recurrences, occurrences, mail),
            new ControlHost());
  }

  // ---- the loop's own

  /** Begins to look for its shards and to dispatch. */
  public void start() {
    slowStart.start();
    clockOffsetMicros = clockOffsetMicros();
    flow.load(dispatcher::open);
    rates.sweep();
    format.learn(this::begin);
    status.watch();
  }

  /** What others have written is such as this node reads. */
  private void begin() {
    if (!status.isShared()) {
      env.tell(new NodeEvent.Joined(List.of()));
      shards.joined();
    } else {
      status.join();
      mail.start();
      wire.start();
      sweep();
    }
    lookAgain();
  }

  /** It goes on with what is scheduled through it, in what it writes, and takes nothing else. */
  private void outdated(String why) {
    env.report(why, null);
    if (status.isShared()) {
      status.leaving();
      shards.beginStop();
    }
  }

  private void sweep() {
    timers.at(
        env.monotonicNanos() + SWEEP_NANOS,
        () -> {
          if (!stopping) {
            shares.sweep();
            wire.sweep();
            handlerLists.sweep();
            permits.sweep();
            sweepOrders();
            sweep();
          }
        });
  }

  /** Takes back orders to move shards that are gone. */
  private void sweepOrders() {
    for (ShardId shard : status.orders().moved().keySet()) {
      env.submit(
          NodeEnvironment.Channel.READ,
          store -> store.journals().head(shard),
          outcome -> {
            if (outcome instanceof Outcome.Fenced<Head>) {
              order(Orders.move(shard), null, () -> {});
            }
          });
    }
  }

  private void lookAgain() {
    if (stopping) {
      return;
    }
    shards.look();
    if (dispatcher.wantsSweep()) {
      dispatcher.sweep(liveJobs());
      due.forgetEmptyLanes();
    }
    timers.at(
        env.monotonicNanos() + options.loadHorizon().toNanos() / LOOKS_A_HORIZON, this::lookAgain);
  }

  private List<ShardJob> liveJobs() {
    List<ShardJob> live = new ArrayList<>();
    for (Shard shard : shards.all()) {
      if (shard.fold != null) {
        shard.fold.live().forEach(live::add);
      }
    }
    return live;
  }

  /**
   * Does what can be done now.
   *
   * @return how many nanoseconds may pass before the next turn; 0 where there is more to do
   */
  public long turn() {
    timers.run(env.monotonicNanos());
    noticeJump();
    shards.turn();
    boolean trusted = status.isClockTrusted();
    boolean moreArrivals = placeArrivals();
    if (trusted && !keys.isOpen() && !moreArrivals && shards.claims.caughtUp()) {
      keys.open();
    }
    boolean moreDue = trusted && takeDue();
    boolean moreToStart = dispatcher.turn();
    if (status.lends()) {
      borrowing.turn();
      lending.turn();
      handlerLists.turn();
    }
    wire.turn();
    records.turn();
    bodies.turn();
    committer.turn();
    return moreArrivals || moreDue || moreToStart ? 0 : nanosToNext();
  }

  private long clockOffsetMicros() {
    return env.wallMicros() - env.monotonicNanos() / 1000;
  }

  /**
   * When something is asked for that is asked for now: by the wall clock of this node, or by the
   * store's where that of this node is too far off. Any thread may ask.
   */
  public long nowMicros(long wallMicros, long monotonicNanos) {
    return status.nowMicros(wallMicros, monotonicNanos);
  }

  /** Why nothing starts on this node; null where what is due does. */
  public @Nullable String held() {
    String clock = status.clockProblem();
    boolean fenced = slowStart.fences() > 0 && !status.hasProven();
    return clock == null && fenced ? slowStart.problem() : clock;
  }

  /** How this node has fenced itself of late; null where it has not. */
  public @Nullable String fenced() {
    return slowStart.problem();
  }

  /** Journals that this node has tried to write in vain for some time; null without any. */
  public @Nullable String unwritten() {
    return committer.unwritten();
  }

  /** A wall clock that jumped changes which shards wake soon: they are looked for at once. */
  private void noticeJump() {
    status.checkClock();
    long offset = clockOffsetMicros();
    if (Math.abs(offset - clockOffsetMicros) > JUMP_MICROS) {
      boolean back = offset < clockOffsetMicros;
      clockOffsetMicros = offset;
      if (!stopping) {
        shards.look();
      }
      if (back) {
        wentBack(env.wallMicros());
      }
    }
  }

  /** What was due and is not any more must not keep its concurrency key from what is. */
  private void wentBack(long nowMicros) {
    for (ShardJob job : dispatcher.keyedAfter(nowMicros)) {
      dispatcher.withdraw(job);
      schedule(job);
    }
  }

  private boolean takeDue() {
    long now = env.wallMicros();
    long overdueBefore = overdueBefore(now);
    for (int i = 0; i < DUE_A_TURN; i++) {
      ShardJob job = due.poll(now);
      if (job == null) {
        return false;
      }
      boolean overdue = job.dueMicros < overdueBefore;
      if (job.isStripped() && !overdue) {
        job.phase = ShardJob.Phase.READY;
        bodies.await(job, null);
      } else {
        ready(job, overdue);
      }
    }
    return true;
  }

  private long overdueBefore(long nowMicros) {
    return nowMicros - Micros.ceil(options.overdueAfter());
  }

  private void ready(ShardJob job, boolean overdue) {
    if (!job.shard().stays()) {
      job.phase = ShardJob.Phase.READY; // whoever gets its shard starts it
      return;
    }
    if (job.isDependent() || endIfBroken(job)) {
      job.phase = ShardJob.Phase.DEPENDENCY;
      expireIfItHasADeadline(job);
      tellBlocked(job);
      return;
    }
    if (!job.isStripped() && !isReadable(job)) {
      return;
    }
    if (job.isRecurring() && occurrences.due(job)) {
      return;
    }
    if (job.isOccurrence() && Occurrences.mustWait(job)) {
      if (job.isStripped()) {
        job.phase = ShardJob.Phase.READY;
        bodies.await(job, null); // whoever is told that it waits is told what it is
        return;
      }
      job.phase = ShardJob.Phase.LIMITED;
      tellBlocked(job);
      return;
    }
    if (job.has(JobSpec.DEADLINE) && !job.isStripped()) {
      expireAt(job, job.revision, job.head().deadlineMicros()); // its line may let go of its body
    }
    dispatcher.ready(job, overdue);
  }

  private void expireIfItHasADeadline(ShardJob job) {
    if (job.has(JobSpec.DEADLINE)) {
      expireAt(job, job.revision, job.head().deadlineMicros());
    }
  }

  /**
   * Whether the job's schedule and policy are such as this JVM can read; blocks it where they are
   * not, in a time zone it does not know, say.
   */
  private boolean isReadable(ShardJob job) {
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
      ShardJob.Rare rare = job.rare();
      rare.lastErrorType = e.getClass().getName();
      rare.lastErrorMessage = e.getMessage();
      env.metrics().count("jobs.undecodable", 1);
      blockUndecodable(job);
      return false;
    }
  }

  private void blockUndecodable(ShardJob job) {
    dispatcher.handler(job.type).block(job, ShardJob.Phase.UNDECODABLE);
    tellBlocked(job);
    if (job.has(JobSpec.DEADLINE)) {
      expireAt(job, job.revision, job.head().deadlineMicros());
    }
  }

  /** One that the job waited for has ended: it may start, or never can. */
  private void met(ShardJob job) {
    if (endIfBroken(job)) {
      return;
    }
    if (job.phase == ShardJob.Phase.DEPENDENCY && !job.isDependent()) {
      schedule(job);
    } else {
      changed(job);
    }
  }

  private boolean endIfBroken(ShardJob job) {
    Awaited awaited = job.awaited();
    String why = awaited != null ? awaited.broken() : null;
    if (why == null || job.phase == ShardJob.Phase.GONE) {
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

  /** Ends the job at its deadline if it still waits then. */
  private void expireAt(ShardJob job, int revision, long deadlineMicros) {
    long micros = Math.max(0, deadlineMicros - env.wallMicros());
    long nanos = Math.min(micros, LONGEST_SLEEP_NANOS * 3600 / 1000) * 1000;
    timers.cancel(job.expiry);
    job.expiry =
        timers.at(
            env.monotonicNanos() + nanos,
            () -> {
              Shard shard = job.shard;
              boolean waits =
                  switch (job.phase) {
                    case READY, NO_HANDLER, UNDECODABLE, LIMITED, DEPENDENCY, PAUSED -> true;
                    case SCHEDULED, RUNNING, GONE -> false;
                  };
              if (!waits || job.revision != revision || shard == null || !shard.owned()) {
                return;
              }
              if (!status.isClockTrusted()) {
                job.expiry =
                    timers.at(
                        env.monotonicNanos() + LONGEST_SLEEP_NANOS,
                        () -> expireAt(job, revision, deadlineMicros));
              } else if (env.wallMicros() < deadlineMicros || job.busy > 0) {
                expireAt(job, revision, Math.max(deadlineMicros, env.wallMicros() + 1000));
              } else {
                cancels.end(shard, job, JobState.EXPIRED, "deadline passed while it waited");
              }
            });
  }

  private long nanosToNext() {
    long nanos = Math.min(LONGEST_SLEEP_NANOS, timers.nanosToNext(env.monotonicNanos()));
    long next = due.nextMicros();
    if (next != Long.MAX_VALUE && status.isClockTrusted()) {
      long micros = next - env.wallMicros();
      nanos = Math.min(nanos, micros <= 0 ? 0 : micros < 2_000_000 ? micros * 1000 : nanos);
    }
    return nanos;
  }

  // ---- what users ask

  /** Adds a job. */
  public void add(AddRequest request) {
    if (status.isClient()) {
      errands.add(List.of(request), false);
    } else {
      adds.add(request);
    }
  }

  /** Adds all of them or none. */
  public void addAll(List<AddRequest> requests) {
    if (status.isClient()) {
      errands.add(requests, true);
    } else {
      adds.addAll(requests);
    }
  }

  /** Users' transactions may have written jobs: takes what is there. */
  public void lookInInbox() {
    if (env.hasTransactions() && !status.isClient()) {
      intake.look();
    }
  }

  /**
   * Which incarnations are gone, as of now: what they took and did not add is taken again. One that
   * has only just come may be among them: what it adds then is refused, and added by this node.
   */
  private LongPredicate goneIncarnations() {
    Set<Long> there = status.incarnations();
    return there.isEmpty() ? incarnation -> false : incarnation -> !there.contains(incarnation);
  }

  /** Withdraws a request of which nothing is on its way to the store, which is away. */
  public void abandonUnsent(AddRequest request, String why) {
    if (!status.isClient()) {
      adds.abandonUnsent(request, why);
    }
  }

  /** The caller of {@code request} no longer waits: it is told what became of it. */
  public void abandon(AddRequest request, String waited) {
    if (status.isClient()) {
      request.refused(
          new dev.carillon.api.OutcomeUnknownException(
              "no answer from another node after " + waited + "; the job may be scheduled"));
    } else {
      adds.abandon(request, waited);
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
    dispatcher.handler(type).set(settings);
    handlerLists.add(type);
    List<ShardJob> waited = dispatcher.register(type);
    blockedTypes.registered(dispatcher.handler(type), waited.size());
    waited.forEach(this::schedule);
  }

  /**
   * The handler for {@code type} is gone. Its running attempts go on to their end; due jobs run on
   * a node that has a handler, or are blocked until one is registered, which costs them no attempt.
   */
  public void unregister(String type) {
    dispatcher.handler(type).set(new HandlerSettings(Gate.OPEN, 0, null));
    handlerLists.remove(type);
    dispatcher.unregister(type).forEach(this::schedule);
  }

  /** What counts for a queue or namespace where no operator has set otherwise. */
  public void standardFlow(FlowSubject subject, UnaryOperator<FlowSetting> change) {
    flow.standard(subject, change);
  }

  /**
   * Sets what counts for a queue or namespace, across restarts; answered when every node that is
   * there acts on it.
   */
  public void changeFlow(
      FlowSubject subject,
      UnaryOperator<FlowSetting> change,
      Consumer<Outcome<FlowSetting>> answer) {
    int known = status.copies();
    flow.change(
        subject,
        change,
        outcome -> {
          if (!outcome.isOk()) {
            answer.accept(outcome);
          } else {
            status.announceSetting(
                () -> answer.accept(known == status.copies() ? outcome : WENT_BACK_MEANWHILE));
          }
        });
  }

  /**
   * An operator orders that a node of that id has no shards, or takes that back; {@code done} runs
   * when it is durable. It acts on it with its next look at the members.
   */
  public void drain(String nodeId, boolean drained, Runnable done) {
    order(Orders.drain(nodeId), drained ? nodeId : null, done);
  }

  private void order(String key, @Nullable String nodeId, Runnable done) {
    byte[] value = nodeId == null ? null : nodeId.getBytes(StandardCharsets.UTF_8);
    records.get(
        key,
        found -> {
          if (Arrays.equals(found.map(Stored::value).orElse(null), value)) {
            done.run();
            return;
          }
          records.change(
              key,
              found.map(Stored::version).orElse(Stamp.ABSENT),
              value,
              inEffect -> {
                if (inEffect) {
                  done.run();
                } else {
                  order(key, nodeId, done); // somebody else gives orders too
                }
              });
        });
  }

  /** What counts for a queue or namespace. */
  public void flow(FlowSubject subject, Consumer<FlowSetting> answer) {
    flow.get(subject, answer);
  }

  /** What follows a failure in the namespace where neither job nor handler says. */
  public void failurePolicy(String namespace, FailurePolicy policy) {
    retries.namespace(namespace, policy);
  }

  /** The job as it is, or empty where there is none. */
  public void get(JobRef ref, Consumer<Outcome<Optional<JobView>>> answer) {
    ShardJob job = liveJob(ref);
    if (job != null && !job.isStripped()) {
      answer.accept(Outcome.ok(Optional.of(new JobView(info(job), null))));
    } else {
      find(ref, outcome -> answer.accept(outcome.map(found -> found.map(s -> asItIs(ref, s)))));
    }
  }

  /** As a journal tells it, and where it stands here. */
  private JobView asItIs(JobRef ref, JobReader.Story story) {
    ShardJob job = liveJob(ref);
    Standing standing = new Standing(env.wallMicros());
    if (job != null && job.phase != ShardJob.Phase.SCHEDULED) {
      standing.note(job);
    }
    return new JobView(standing.complete(ref, story.view().info()), story.view().result());
  }

  private @Nullable ShardJob liveJob(JobRef ref) {
    Shard shard = shards.known(ref.shard());
    return shard != null && shard.fold != null ? shard.fold.job(ref.number()) : null;
  }

  /** The job as a journal tells it, unless its retention is over. */
  private void find(JobRef ref, Consumer<Outcome<Optional<JobReader.Story>>> answer) {
    read(ref, outcome -> answer.accept(outcome.map(found -> found.filter(this::isKept))));
  }

  private void read(JobRef ref, Consumer<Outcome<Optional<JobReader.Story>>> answer) {
    env.submit(NodeEnvironment.Channel.READ, store -> new JobReader(store).find(ref), answer);
  }

  private boolean isKept(JobReader.Story story) {
    return !Retention.isOver(options, story.view().info(), env.wallMicros());
  }

  /** How the live jobs of a shard stand that do not simply wait for their time. */
  public Standing standing(ShardId id) {
    Standing standing = new Standing(env.wallMicros());
    Shard shard = shards.known(id);
    if (shard != null && shard.fold != null) {
      shard
          .fold
          .live()
          .forEach(
              job -> {
                if (job.phase != ShardJob.Phase.SCHEDULED) {
                  standing.note(job);
                }
              });
    }
    return standing;
  }

  /**
   * When the last job of each shard of this node ended: 0 where none has, {@link Long#MAX_VALUE}
   * where that is not known yet. Heads know it only of shards that nobody owns.
   */
  public Map<ShardId, Long> lastEnds() {
    Map<ShardId, Long> ends = new LinkedHashMap<>();
    for (Shard shard : shards.all()) {
      if (!shard.journal.isAcquiring()) {
        ends.put(shard.id, shard.lastEndMicros());
      }
    }
    return ends;
  }

  /** Tells {@code watcher} of every change of the job from now on, until it ends. */
  public void watch(JobRef ref, Consumer<JobView> watcher) {
    watchers.computeIfAbsent(ref, r -> new ArrayList<>(1)).add(watcher);
    if (status.isShared()) {
      lookSoonAtWatched(WATCH_NANOS);
    }
  }

  private void lookSoonAtWatched(long nanos) {
    if (watchedLook == null || watchedLook.isOver()) {
      watchedLook =
          timers.at(
              env.monotonicNanos() + nanos, () -> lookAtWatched(Math.min(2 * nanos, MOST_WATCH)));
    }
  }

  /** What other nodes do to a job is not heard of here: those that are watched are looked at. */
  private void lookAtWatched(long nextNanos) {
    List<JobRef> away = new ArrayList<>();
    for (JobRef ref : watchers.keySet()) {
      Shard shard = shards.known(ref.shard());
      if ((shard == null || !shard.owned()) && away.size() < WATCHED_AT_ONCE) {
        away.add(ref);
      }
    }
    seenAway.keySet().retainAll(watchers.keySet());
    for (JobRef ref : away) {
      List<Consumer<JobView>> moved = watchers.remove(ref);
      if (moved != null) {
        watchers.put(ref, moved); // behind the others
      }
    }
    int[] left = {away.size()};
    for (JobRef ref : away) {
      read(
          ref,
          outcome -> {
            if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)) {
              found.ifPresent(story -> tellWatchers(ref, story.view()));
            }
            if (--left[0] == 0) {
              lookSoonAtWatched(nextNanos);
            }
          });
    }
    if (away.isEmpty() && !watchers.isEmpty()) {
      lookSoonAtWatched(nextNanos); // one of their shards may go
    }
  }

  private void tellWatchers(JobRef ref, JobView view) {
    if (view.info().equals(seenAway.put(ref, view.info()))) {
      return;
    }
    boolean ended = view.info().state().ended();
    List<Consumer<JobView>> told = ended ? watchers.remove(ref) : watchers.get(ref);
    if (told != null) {
      List.copyOf(told).forEach(watcher -> watcher.accept(view));
    }
  }

  /** Takes a watcher back. */
  public void unwatch(JobRef ref, Consumer<JobView> watcher) {
    List<Consumer<JobView>> all = watchers.get(ref);
    if (all != null) {
      all.remove(watcher);
      if (all.isEmpty()) {
        watchers.remove(ref);
      }
    }
  }

  /** Who asks where nobody says: this node. */
  public Why why(String reason) {
    return new Why(options.nodeId(), reason);
  }

  /** Cancels a job, loaded or not, running or not. */
  public void cancel(JobRef ref, Why why, Consumer<Outcome<CancelResult>> answer) {
    cancels.cancel(ref, why, answer);
  }

  /** The job does not start until it is resumed; a running attempt is asked to save and return. */
  public void pause(JobRef ref, Why why, Consumer<Outcome<ControlResult>> answer) {
    controls.pause(ref, why, answer);
  }

  /** A paused job goes on. */
  public void resume(JobRef ref, String by, Consumer<Outcome<ControlResult>> answer) {
    controls.resume(ref, by, answer);
  }

  /** The job's next attempt is due at another time. */
  public void reschedule(
      JobRef ref, String by, long dueMicros, Consumer<Outcome<ControlResult>> answer) {
    controls.reschedule(ref, by, dueMicros, answer);
  }

  /** The recurring job goes on by another schedule and keeps its count. */
  public void reschedule(
      JobRef ref, String by, Schedule schedule, Consumer<Outcome<ControlResult>> answer) {
    controls.reschedule(ref, by, schedule, answer);
  }

  /** The job has another priority. */
  public void prioritise(
      JobRef ref, String by, int priority, Consumer<Outcome<ControlResult>> answer) {
    controls.prioritise(ref, by, priority, answer);
  }

  /** The same by request of this node. */
  public void cancel(JobRef ref, String reason, Consumer<Outcome<CancelResult>> answer) {
    cancel(ref, why(reason), answer);
  }

  /** The same by request of this node. */
  public void pause(JobRef ref, String reason, Consumer<Outcome<ControlResult>> answer) {
    pause(ref, why(reason), answer);
  }

  /** The same by request of this node. */
  public void resume(JobRef ref, Consumer<Outcome<ControlResult>> answer) {
    resume(ref, id(), answer);
  }

  /** The same by request of this node. */
  public void reschedule(JobRef ref, long dueMicros, Consumer<Outcome<ControlResult>> answer) {
    reschedule(ref, id(), dueMicros, answer);
  }

  /** The same by request of this node. */
  public void reschedule(JobRef ref, Schedule schedule, Consumer<Outcome<ControlResult>> answer) {
    reschedule(ref, id(), schedule, answer);
  }

  /** The same by request of this node. */
  public void prioritise(JobRef ref, int priority, Consumer<Outcome<ControlResult>> answer) {
    prioritise(ref, id(), priority, answer);
  }

  /** The recurring job has one more occurrence, now, as a job of its own. */
  public void trigger(JobRef ref, OccurrencesAdded answer) {
    controls.trigger(ref, answer);
  }

  /** The recurring job has the occurrences of a past range, both ends included, as jobs. */
  public void backfill(JobRef ref, Instant from, Instant to, OccurrencesAdded answer) {
    controls.backfill(ref, from, to, answer);
  }

  /** A dead letter is tried again, as it was or with another input. */
  public void replay(JobRef ref, @Nullable JobEdit edit, Consumer<Outcome<ControlResult>> answer) {
    controls.replay(ref, edit, answer);
  }

  /** A dead letter is no longer kept. */
  public void discard(JobRef ref, Consumer<Outcome<ControlResult>> answer) {
    controls.discard(ref, answer);
  }

  /**
   * Keeps a handler's resume position; {@code answer} hears true once it is durable, false where
   * the attempt was replaced or is over.
   */
  public void save(Attempt attempt, byte[] state, Consumer<Outcome<Boolean>> answer) {
    if (attempt.isBorrowed()) {
      borrowing.save(attempt, state, answer);
      return;
    }
    ShardJob job = attempt.job();
    Shard shard = job.shard();
    if (attempt.over || !shard.owned() || job.revision != attempt.revision()) {
      answer.accept(Outcome.ok(false));
      return;
    }
    Body.Save save = new Body.Save(attempt.number(), attempt.revision(), env.wallMicros(), state);
    job.busy++; // no other attempt starts before it is known what that one has to go on from
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.SAVE, job.number, save.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer applied, @Nullable ShardJob met) {
                saveSettled(job);
                answer.accept(Outcome.ok(applied == ShardFold.Answer.APPLIED));
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                saveSettled(job);
                answer.accept(loss.outcome(why));
              }
            }));
  }

  /** Where the attempt was over meanwhile its job was passed over, and comes back. */
  private void saveSettled(ShardJob job) {
    job.busy--;
    if (job.isIdle(ShardJob.Phase.READY)) {
      scheduleAgain(job);
    }
    Shard shard = job.shard;
    boolean waits = job.attempt == null && job.phase != ShardJob.Phase.GONE;
    if (waits && job.cancelRequested() && shard != null && shard.owned()) {
      cancels.endRequested(shard, job); // that was put off too
    }
  }

  /** The runner says how an attempt went; false where it no longer counts. */
  public boolean finished(Attempt attempt, AttemptOutcome outcome) {
    if (attempt.isBorrowed()) {
      return borrowing.finished(attempt, outcome);
    }
    return attempts.finished(attempt, outcome);
  }

  /** The doorbells of an incarnation, and what its node does when one rings. */
  public static Map<String, Consumer<Node>> bells(long incarnation) {
    Map<String, Consumer<Node>> bells = new LinkedHashMap<>();
    bells.put(Wire.bell(incarnation), Node::hearWire);
    bells.put(Mail.bell(incarnation), Node::lookForMail);
    return bells;
  }

  private void hearWire() {
    if (status.isShared()) {
      wire.rang();
    }
  }

  private void lookForMail() {
    if (status.isShared()) {
      mail.rang();
    }
  }

  // ---- stopping

  /** No attempt starts any more; running handlers are asked to save and return. */
  public void beginStop() {
    stopping = true;
    status.leaving();
    intake.stop();
    dispatcher.stop();
    keys.stop();
    attempts.stop();
    borrowing.beginStop();
    shards.beginStop();
  }

  /** Interrupts what still runs. */
  public void interruptRunning() {
    attempts.interruptAll();
    borrowing.interruptAll();
  }

  /** Whether nothing runs and everything that was asked for is written. */
  public boolean quiet() {
    return attempts.running() == 0
        && borrowing.size() == 0
        && errands.underWay() == 0
        && wire.idle()
        && committer.idle()
        && records.idle()
        && intake.idle()
        && !shards.isUnsettled();
  }

  /** How many attempts are under way or wait for their outcome to be durable. */
  public int running() {
    return attempts.running() + borrowing.size();
  }

  /** Attempts of this node's jobs that others run. */
  public int lent() {
    return lending.out();
  }

  /** Attempts of others' jobs that are here, with those that wait for a slot. */
  public int borrowed() {
    return borrowing.size();
  }

  /** How many attempts this node has lent since it started. */
  public long lentTotal() {
    return lending.lentTotal();
  }

  /** How many attempts of others it has run since. */
  public long borrowedTotal() {
    return borrowing.borrowedTotal();
  }

  /** Shards that could not be read and are left alone. */
  public int refusedShards() {
    return shards.refused().size();
  }

  /** Why that is, of the first few. */
  public List<String> refusals(int most) {
    return shards.refused().values().stream().limit(most).toList();
  }

  /** When the next job in memory is due; {@link Long#MAX_VALUE} where none is. */
  public long nextDueMicros() {
    return due.nextMicros();
  }

  /** How long until the next timer of the engine's own; {@link Long#MAX_VALUE} without any. */
  public long nanosToNextTimer() {
    return timers.nanosToNext(env.monotonicNanos());
  }

  /** Gives the shards back; {@code done} runs when those that can be are. */
  public void release(Runnable done) {
    if (!status.isShared()) {
      shards.stop(done);
    } else {
      shards.stop(
          () -> {
            mail.stop();
            wire.stop();
            permits.end();
            if (running() == 0) {
              status.leave(done);
            } else {
              status.fallSilent(); // what still runs holds its limits until the timeout
              done.run();
            }
          });
    }
  }

  // ---- what operators ask

  /** Bytes of jobs in memory, without what the jobs themselves take. */
  long residentBytes() {
    return bodies.resident();
  }

  /** A look at the node. */
  public NodeStats stats() {
    int loaded = 0;
    int live = 0;
    int standsIn = 0;
    for (Shard shard : shards.all()) {
      standsIn += shard.home.equals(options.nodeId()) ? 0 : 1;
      if (shard.fold != null) {
        loaded++;
        live += shard.fold.live().size();
      }
    }
    return new NodeStats(
        shards.size(),
        loaded,
        live,
        attempts.running(),
        dispatcher.ready(),
        dispatcher.blocked(),
        committer.queued(),
        committer.isStuck(),
        shards.refused().size(),
        standsIn,
        addedTotal,
        endedTotal);
  }

  /** Which due jobs in memory do not run, and why; takes a turn a shard. */
  public void waiting(Consumer<List<WaitingJobs>> answer) {
    new WaitingJobs.Survey(env, timers, meters, shards.all(), answer).goOn();
  }

  /** How many attempts it runs at once; fewer for a while after a slow start. */
  public int slots() {
    return dispatcher.node().limit();
  }

  /** Whether others may share the store. */
  public boolean isShared() {
    return status.isShared();
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

  /** Who shares the store, this node first; it alone where it has the store to itself. */
  public List<MemberState> members() {
    return status.states();
  }

  /** What this node knows of all: itself, the others, and how its shards stand. */
  public ClusterLook cluster() {
    Map<ShardId, TimeSlice.Own> own = new LinkedHashMap<>();
    for (Shard shard : shards.all()) {
      boolean inClaim = shard.journal.isAcquiring();
      own.put(shard.id, new TimeSlice.Own(inClaim, shard.atMostPending()));
    }
    return new ClusterLook(stats(), members(), status.living(), own);
  }

  // ---- jobs as they come and go

  private void schedule(ShardJob job) {
    enqueue(job);
    changed(job);
  }

  /** The job waits for its due time again, wherever it stands in line. */
  private void scheduleAgain(ShardJob job) {
    dispatcher.leaveLine(job);
    schedule(job);
  }

  private void enqueue(ShardJob job) {
    if (job.isPaused()) {
      job.phase = ShardJob.Phase.PAUSED;
      if (job.has(JobSpec.DEADLINE) && !job.isStripped()) {
        expireAt(job, job.revision, job.head().deadlineMicros());
      }
    } else {
      job.phase = ShardJob.Phase.SCHEDULED;
      due.add(job);
    }
  }

  private void tellAdded(Shard shard, ShardJob job) {
    job.shard = shard;
    JobListener listener = env.listener();
    if (listener != null) {
      listener.scheduled(info(job));
    }
    arrived(shard, job);
  }

  private void arrived(Shard shard, ShardJob job) {
    long now = env.wallMicros();
    takeIn(shard, job, now);
    place(job, now);
  }

  private void takeIn(Shard shard, ShardJob job, long now) {
    job.shard = shard;
    bodies.arrived(shard, job, now);
    job.lane = dispatcher.lane(job.namespace, job.queue);
    job.handler = dispatcher.handler(job.type);
    if (job.isDependent()) {
      dependencies.arrived(shard, job);
    }
  }

  private void place(ShardJob job, long now) {
    if (job.dueMicros <= now && !job.isStripped() && !job.isPaused() && status.isClockTrusted()) {
      ready(job, job.dueMicros < overdueBefore(now));
    } else {
      enqueue(job);
    }
  }

  /** Jobs of shards that were loaded find their places a part at a time; true with more to come. */
  private boolean placeArrivals() {
    long now = env.wallMicros();
    for (int i = 0; i < ARRIVALS_A_TURN; i++) {
      ShardJob job = arrivals.poll();
      if (job == null) {
        return false;
      }
      if (job.phase == ShardJob.Phase.SCHEDULED) {
        place(job, now); // else somebody did something about it meanwhile
      }
    }
    return !arrivals.isEmpty();
  }

  private void loaded(Shard shard, ShardLoad.Folded load) {
    load.fold().listener(new Ends(shard));
    long now = env.wallMicros();
    // Who released the shard had done so before.
    for (int i = 0; shard.suspect && i < load.endedWithName().size(); i++) {
      releaseName(shard, load.endedWithName().get(i), load.ends().get(i));
    }
    // What was due by the clock of whoever had the shard may have killed it.
    long dueElsewhere = now + (status.isShared() ? CLOCKS_APART_MICROS : 0);
    List<ShardJob> occurrencesHere = new ArrayList<>();
    load.fold()
        .live()
        .forEach(
            job -> {
              takeIn(shard, job, now);
              arrivals.add(job);
              mayBeCompleted(shard, job, now);
              ShardJob.Rare rare = job.rare;
              boolean liveMarker = rare != null && status.isThere(rare.markerIncarnation);
              if (Poison.convicted(job) && shard.abandoned && !liveMarker) {
                convict(shard, job);
              } else if (job.cancelRequested()) {
                cancels.endRequested(shard, job);
              } else if (!endIfBroken(job)) {
                boolean markedBefore = rare != null && rare.markers > 0;
                job.mark(markedBefore || (shard.suspect && job.dueMicros <= dueElsewhere));
                if (rare != null && rare.alone && !liveMarker) {
                  attempts.forgetStart(job, rare.markers - 1); // its node stopped in order
                }
                if (job.isOccurrence()) {
                  occurrencesHere.add(job);
                }
              }
            });
    occurrences.loaded(shard, occurrencesHere);
    dependencies.owes(shard, List.copyOf(load.fold().debts()));
  }

  /** What may have run under an owner that did not release the shard, by whatever clock. */
  private void mayBeCompleted(Shard shard, ShardJob job, long now) {
    if (env.hasTransactions() && shard.suspect && job.dueMicros <= now + CLOCKS_APART_MICROS) {
      job.settled(false);
    }
  }

  /** Jobs that wait for a transaction of a handler's to end. */
  public int waitingForTransactions() {
    return completions.waiting();
  }

  /**
   * The job goes to the dead letters. Of a recurring one that is the occurrence; the schedule is
   * paused, or it would kill the node again at its next time.
   */
  private void convict(Shard shard, ShardJob job) {
    if (job.isUnsettled()) {
      attempts.unlessCompleted(job, () -> convict(shard, job), () -> {});
      return;
    }
    env.metrics().count("jobs.poison", 1);
    meters.of(dispatcher.lane(job.namespace, job.queue), job.type).died();
    env.tell(new NodeEvent.Convicted(shard.subject(job), Poison.REASON));
    Occurrence occurrence = job.occurrence();
    if (!job.isRecurring()) {
      cancels.end(shard, job, JobState.DEAD, Poison.REASON);
    } else if (isReadable(job)) {
      attempts.convictOccurrence(job, Poison.REASON, () -> pauseForPoison(shard.ref(job.number)));
    }
    if (occurrence != null) {
      pauseForPoison(shard.ref(occurrence.schedule()));
    }
  }

  private void pauseForPoison(JobRef schedule) {
    controls.pause(schedule, why(Poison.REASON), outcome -> {});
  }

  /** What ends in a shard. */
  private final class Ends implements ShardFold.Listener {
    private final Shard shard;

    Ends(Shard shard) {
      this.shard = shard;
    }

    @Override
    public void ended(ShardJob job, Body.End end) {
      Node.this.ended(shard, job, end);
    }

    @Override
    public void occurred(ShardJob job, Body.Next next) {
      countEnd(Objects.requireNonNull(next.outcome(), "outcome"));
      JobListener listener = env.listener();
      if (listener != null) {
        listener.ended(JobReader.occurred(shard.ref(job.number), shard.home, job, next));
      }
    }
  }

  private void countEnd(JobState state) {
    env.metrics().count("jobs.ended", 1);
    env.metrics().count(endedAs(state), 1);
    endedTotal++;
  }

  private void ended(Shard shard, ShardJob job, Body.End end) {
    if (job.phase == ShardJob.Phase.SCHEDULED && job.shard != null) {
      due.noteStale();
    }
    if (job.shard != null) {
      bodies.left(shard, job);
    }
    timers.cancel(job.expiry);
    job.phase = ShardJob.Phase.GONE;
    leaveKey(job, job.concurrency());
    if (job.isOccurrence()) {
      occurrences.ended(shard, job);
    }
    countEnd(end.state());
    for (JobRef waiter : job.waiters()) {
      dependencies.owes(shard, List.of(new Debt(job.number, waiter, end.state())));
    }
    if (job.hasName()) {
      releaseName(shard, job, end);
    }
    tellEnded(shard, job, end);
  }

  private void leaveKey(ShardJob job, @Nullable Concurrency concurrency) {
    if (concurrency != null) {
      keys.leave(job, concurrency);
    }
  }

  private void tellEnded(Shard shard, ShardJob job, Body.End end) {
    JobRef ref = shard.ref(job.number);
    List<Consumer<JobView>> told = watchers.remove(ref);
    if (told == null && env.listener() == null) {
      return;
    }
    if (!job.isStripped()) {
      tellEnded(told, JobReader.ended(ref, shard.home, job, end));
      return;
    }
    read(
        ref,
        outcome -> {
          if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)
              && found.isPresent()) {
            tellEnded(told, found.get().view());
          }
        });
  }

  private void tellEnded(@Nullable List<Consumer<JobView>> told, JobView view) {
    if (told != null) {
      told.forEach(watcher -> watcher.accept(view));
    }
    JobListener listener = env.listener();
    if (listener != null) {
      listener.ended(view.info());
    }
  }

  /** Frees the name of a job that has ended, or stamps its key with the outcome. */
  private void releaseName(Shard shard, ShardJob job, Body.End end) {
    JobSpec spec = job.head();
    byte[] value = null;
    String key = spec.key();
    if (key != null && spec.name() == null && Ticket.is(key)) {
      return; // it points at the job for as long as that is kept
    }
    if (key != null) {
      long until = end.at() + Micros.ceil(options.keyRetention());
      value = new Names.Value(shard.ref(job.number), key, end.state(), until).encode();
    }
    shard.hold();
    changeName(shard, Names.recordKey(spec), spec.stamp(), value);
  }

  private void changeName(Shard shard, String recordKey, Stamp version, byte @Nullable [] value) {
    int known = status.copies();
    records.tidy(
        recordKey,
        version,
        value,
        inEffect -> {
          if (inEffect || known != status.copies()) { // in another copy the job may not have ended
            nameSettled(shard);
          } else {
            records.get(
                recordKey,
                found -> {
                  if (known == status.copies()
                      && found.isPresent()
                      && found.get().version().equals(version)) {
                    changeName(shard, recordKey, version, value);
                  } else {
                    nameSettled(shard);
                  }
                });
          }
        },
        () -> nameSettled(shard)); // another job's by now, or done by an owner before
  }

  private void nameSettled(Shard shard) {
    shard.unhold();
    shards.settle(shard);
  }

  private void replace(AddRequest request, Shard shard, ShardJob job) {
    JobSpec old = job.head();
    JobSpec spec = request.spec;
    if (!old.type().equals(spec.type())) {
      request.refused(
          new dev.carillon.api.InvalidJobException(
              "type: " + spec.type() + " (expected: " + old.type() + ", as the job it replaces)"));
      return;
    }
    if (request.ifExists == IfExists.UPDATE && Updates.fits(job, spec)) {
      update(request, shard, job);
      return;
    }
    JobSpec.setStamp(request.body, old.stamp());
    JobSpec.setAccepted(request.body, status.nowMicros());
    Body.Replace body = new Body.Replace(env.wallMicros(), request.body);
    long awakeBy = spec.more().after().isEmpty() ? spec.dueMicros() : Shards.ALWAYS_AWAKE;
    exchange(request, shard, job, Frame.of(Kind.REPLACE, job.number, body.encode()), awakeBy);
  }

  private void update(AddRequest request, Shard shard, ShardJob job) {
    Body.Update update;
    try {
      update = updates.of(job, request.spec, status.nowMicros());
    } catch (dev.carillon.api.InvalidJobException e) {
      request.refused(e);
      return;
    }
    if (update == null) {
      request.added(shard.ref(job.number), false);
      return;
    }
    Move move = update.move();
    long due = move != null ? move.timeMicros() + move.jitterMicros() : job.dueMicros;
    exchange(request, shard, job, Frame.of(Kind.UPDATE, job.number, update.encode()), due);
  }

  private void exchange(AddRequest request, Shard shard, ShardJob job, Frame frame, long awakeBy) {
    int oldBytes = job.bodyBytes;
    Concurrency oldConcurrency = job.concurrency();
    job.busy++;
    dispatcher.withdraw(job); // what orders it in line changes with the replace
    Operation operation =
        new Operation(
            frame,
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable ShardJob met) {
                job.busy--;
                if (answer != ShardFold.Answer.APPLIED) {
                  request.replaces(null, null);
                  adds.add(request);
                  return;
                }
                bodies.resized(job.bodyBytes - oldBytes);
                leaveKey(job, oldConcurrency);
                replaced(job);
                request.added(shard.ref(job.number), false);
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                job.busy--;
                if (job.phase == ShardJob.Phase.READY || job.phase == ShardJob.Phase.LIMITED) {
                  schedule(job); // its lane or its handler's line may have passed it over
                }
                request.refused(
                    loss == Operation.Loss.UNKNOWN
                        ? new dev.carillon.api.OutcomeUnknownException(why)
                        : new dev.carillon.api.StoreUnavailableException(why));
              }
            });
    request.replaces(shard, operation);
    shards.ensureAwakeBy(shard, awakeBy, () -> committer.add(shard.journal, operation));
  }

  private void replaced(ShardJob job) {
    job.lane = dispatcher.lane(job.namespace, job.queue);
    if (job.phase == ShardJob.Phase.SCHEDULED) {
      due.noteStale();
    }
    if (job.phase != ShardJob.Phase.RUNNING && job.phase != ShardJob.Phase.GONE) {
      schedule(job);
    }
  }

  private void changed(ShardJob job) {
    if (watchers.isEmpty() || job.isStripped()) {
      return;
    }
    List<Consumer<JobView>> told = watchers.get(job.shard().ref(job.number));
    if (told != null) {
      JobView view = new JobView(info(job), null);
      List.copyOf(told).forEach(watcher -> watcher.accept(view));
    }
  }

  private void tellBlocked(ShardJob job) {
    env.metrics().count("jobs.blocked", 1);
    blockedTypes.blocked(dispatcher.handler(job.type), job.shard(), job);
    changed(job);
    JobListener listener = env.listener();
    if (listener != null) {
      listener.blocked(info(job));
    }
  }

  private void tellFailed(JobListener listener, ShardJob job, NodeEvent.AttemptFailed failure) {
    if (job.isStripped()) {
      return;
    }
    JobRef ref = failure.job().ref();
    Instant next =
        failure.then() instanceof NodeEvent.Then.Retry(long micros)
            ? Micros.toInstant(micros)
            : null;
    JobInfo info =
        failure.then() instanceof NodeEvent.Then.End end && job.phase == ShardJob.Phase.GONE
            ? JobReader.ended(ref, job.shard().home, job, endOf(failure, end)).info()
            : JobReader.info(
                ref, job, new JobReader.Now(JobState.SCHEDULED, null, 0, failure.error(), null));
    listener.failed(new AttemptFailure(info, failure.attempt(), failure.error(), next));
  }

  private static Body.End endOf(NodeEvent.AttemptFailed failure, NodeEvent.Then.End end) {
    Ran ran = new Ran(end.startedMicros(), failure.error().node());
    return new Body.End(
        end.state(),
        failure.attempt(),
        0,
        end.endedMicros(),
        ran,
        failure.error(),
        end.reason(),
        new byte[0]);
  }

  private JobInfo info(ShardJob job) {
    ShardJob.Phase phase = Standing.shown(job);
    JobState state = Standing.state(phase);
    BlockReason blocked = Standing.reason(phase);
    JobRef ref = job.shard().ref(job.number);
    String reason = Standing.pauseReason(job);
    return JobReader.info(ref, job, new JobReader.Now(state, blocked, 0, null, reason));
  }

  /** The id of the node, for those who ask. */
  public String id() {
    return options.nodeId();
  }

  /** The job that {@code id} names, or null where it is no id of ours. */
  public static @Nullable JobRef ref(JobId id) {
    return JobRef.parse(id);
  }

  // ---- what its parts ask of it

  private final class CommitHost implements Committer.Host {
    @Override
    public void fenced(ShardJournal journal) {
      shards.fenced(journal);
    }

    @Override
    public void changed(ShardJournal journal) {
      shards.changed(journal);
    }

    @Override
    public long nowMicros() {
      return status.nowMicros();
    }
  }

  private final class MemberHost implements Members.Host, Beat.Host {
    @Override
    public void membersChanged() {
      mail.rang();
      if (!stopping) {
        shards.look();
      }
    }

    @Override
    public void controlsChanged(Runnable done) {
      flow.load(done);
    }

    @Override
    public void looked(List<Member> others) {
      wire.looked();
      if (status.isClient()) {
        errands.saw(others);
      }
      if (status.lends()) {
        handlerLists.saw(others);
        lending.saw(others);
        borrowing.saw(others);
      }
    }

    @Override
    public Member.Said says(Member.Said before) {
      return before.withFree(status.lends() ? borrowing.free() : 0);
    }

    @Override
    public void fenced() {
      joins++; // what was being proven may be another's by now
      status.proven(false);
      slowStart.fenced();
      env.tell(
          new NodeEvent.Fenced(
              status.silentNanos(), slowStart.fences(), slowStart.firstSlots()));
      shares.fenced();
      keys.fenced();
      attempts.fence();
      borrowing.fence();
    }

    @Override
    public void exchanged(String was, String is, Runnable then) {
      env.report(
          "the store went back in time or was exchanged: its incarnation was "
              + was
              + " and is "
              + is
              + ", acknowledged jobs may be lost",
          null);
      exchanged = true;
      forgetCopy();
      flow.reload(then);
    }

    /** Once more: what was asked of the copy before may have been answered meanwhile. */
    @Override
    public void adopted() {
      forgetCopy();
      format.learn(() -> {}); // the copy may be older than the record of it
      // What they wait for went with the copy; what they say now is in this one.
      errands.exchanged();
      borrowing.exchanged();
    }

    private void forgetCopy() {
      status.exchanged();
      joins++; // what was being proven is gone
      status.proven(false);
      shards.loseAll();
      wire.exchanged();
      records.exchanged();
      dependencies.exchanged();
    }

    @Override
    public void joined() {
      int join = ++joins;
      status.proven(false);
      if (status.lends()) {
        permits.renew();
      }
      handlerLists.writeAgain();
      shards.joined();
      if (join == 1 && status.isYoung()) {
        prove(join);
      } else {
        // Who has not heard yet that this node is back may still take what it has.
        keys.fenced();
        timers.at(env.monotonicNanos() + status.newsNanos(), () -> prove(join));
      }
    }

    private void prove(int join) {
      if (join == joins) {
        shares.fenced(); // others may have taken them until they heard of this node
        // What operators have set meanwhile was not waited to be acted on here.
        shards.prove(() -> flow.load(() -> proven(join)));
      }
    }

    private void proven(int join) {
      if (join == joins) { // else a later one proves it, or has
        status.proven(true);
        slowStart.goOn();
        keys.proven();
        shards.look();
        if (exchanged) {
          exchanged = false;
          shares.sweep(); // what this node has of limits by the copy is not what it knows to have
        }
      }
    }
  }

  private final class WireHost implements Wire.Host {
    @Override
    public boolean expectsMessages() {
      return lending.out() > 0 || borrowing.size() > 0 || errands.underWay() > 0;
    }

    @Override
    public void heard(long from, byte[] message) {
      switch (Message.decode(message)) {
        case Message.Errand(long number, byte[] asked) -> errands.run(from, number, asked);
        case Message.ErrandDone(long number, byte[] answer) -> errands.done(from, number, answer);
        case Message.Look(String record) -> shares.look(record);
        case Message said -> {
          if (!lending.heard(from, said)) {
            borrowing.heard(from, said);
          }
        }
      }
    }
  }

  private final class ErrandHost implements Errands.Host {
    private final MailHost served = new MailHost();

    @Override
    public void add(AddRequest request) {
      adds.add(request);
    }

    @Override
    public void addAll(List<AddRequest> requests) {
      adds.addAll(requests);
    }

    @Override
    public void ask(Letter letter, Consumer<Outcome<byte[]>> answer) {
      served.serve(letter, answer);
    }
  }

  private final class HandlerListHost implements HandlerLists.Host {
    @Override
    public void announce(long version) {
      status.say(said -> said.withHandlers(version));
    }

    @Override
    public void learnt(Set<String> types) {
      types.forEach(type -> dispatcher.offerUndecodable(type).forEach(Node.this::schedule));
      offerBlocked();
    }

    @Override
    public boolean isForgotten(long incarnation) {
      return status.isForgotten(incarnation);
    }
  }

  private void offerBlocked() {
    int room = lending.room();
    if (room > 0) {
      dispatcher.offerBlocked(room).forEach(this::schedule);
    }
  }

  private final class LendingHost implements Lending.Host {
    @Override
    public boolean isFull() {
      return dispatcher.isFull() && attempts.mayStart();
    }

    @Override
    public long starts() {
      return dispatcher.starts();
    }

    @Override
    public void lendWaiting(long reserve) {
      dispatcher.lendWaiting(lending.room(), Math.min(reserve, 2L * dispatcher.node().limit()));
    }

    @Override
    public boolean stoppedInOrder(long incarnation) {
      return status.stoppedInOrder(incarnation);
    }

    @Override
    public void offerBlocked() {
      Node.this.offerBlocked();
    }

    @Override
    public boolean hasHandler(Attempt attempt) {
      return dispatcher.handler(attempt.type()).registered;
    }

    @Override
    public void finished(Attempt attempt, AttemptOutcome outcome) {
      attempts.finished(attempt, outcome);
    }

    @Override
    public void ranOut(Attempt attempt, AttemptOutcome.@Nullable Verdict verdict) {
      attempts.ranOutElsewhere(attempt, verdict);
    }

    @Override
    public void save(Attempt attempt, byte[] state, Consumer<Outcome<Boolean>> answer) {
      Node.this.save(attempt, state, answer);
    }

    @Override
    public void mark(Attempt attempt, Runnable then, Runnable not) {
      attempts.markLent(attempt, then, not);
    }

    @Override
    public void lasted(Attempt attempt) {
      attempts.lasted(attempt);
    }

    @Override
    public void revoke(long borrower, Runnable then) {
      permits.revoke(borrower, then);
    }

    @Override
    public boolean isOver(long incarnation) {
      return status.isOver(incarnation);
    }

    @Override
    public long era() {
      return status.era();
    }
  }

  private void sayLook(long incarnation, String record) {
    wire.send(incarnation, Message.encode(new Message.Look(record)));
  }

  private final class MailHost implements Mail.Host {
    @Override
    public boolean forwards(Letter letter, Consumer<Outcome<byte[]>> answer) {
      if (status.isClient()) {
        errands.ask(letter, answer);
      }
      return status.isClient();
    }

    @Override
    public void serve(Letter letter, Consumer<Outcome<byte[]>> answer) {
      Consumer<Outcome<ControlResult>> control =
          outcome -> answer.accept(outcome.map(LetterFormat::encode));
      switch (letter) {
        case Letter.Cancel(JobRef job, Why why) ->
            cancels.cancel(job, why, outcome -> answer.accept(outcome.map(LetterFormat::encode)));
        case Letter.Pause(JobRef job, Why why) -> controls.pause(job, why, control);
        case Letter.Resume(JobRef job, String by) -> controls.resume(job, by, control);
        case Letter.Move(JobRef job, String by, long due) ->
            controls.reschedule(job, by, due, control);
        case Letter.Reschedule(JobRef job, String by, byte[] schedule) ->
            controls.reschedule(job, by, ScheduleFormat.decode(schedule), control);
        case Letter.Prioritise(JobRef job, String by, int priority) ->
            controls.prioritise(job, by, priority, control);
        case Letter.Trigger(JobRef job) -> controls.trigger(job, added(answer));
        case Letter.Backfill(JobRef job, long from, long to) ->
            controls.backfill(job, Micros.toInstant(from), Micros.toInstant(to), added(answer));
        case Letter.Replay(JobRef job, JobEdit edit) -> controls.replay(job, edit, control);
        case Letter.Discard(JobRef job) -> controls.discard(job, control);
        case Letter.Look(JobRef job) -> adds.look(job, answer);
        case Letter.Replace replace -> adds.replaceFor(replace, answer);
        case Letter.Await(JobRef job, JobRef waiter) -> dependencies.await(job, waiter, answer);
        case Letter.Tell tell -> dependencies.told(tell, answer);
      }
    }

    private static OccurrencesAdded added(Consumer<Outcome<byte[]>> answer) {
      return new OccurrencesAdded() {
        @Override
        public void added(List<JobRef> jobs) {
          answer.accept(Outcome.ok(LetterFormat.encodeAdded(jobs)));
        }

        @Override
        public void refused(Outcome<ControlResult> why) {
          answer.accept(why.map(LetterFormat::encodeNotAdded));
        }
      };
    }
  }

  private final class ShardHost implements Shards.Host {
    @Override
    public void claimed(Shard shard) {
      if (status.isShared()) {
        mail.claimed();
      }
    }

    @Override
    public void loaded(Shard shard, ShardLoad.Folded load) {
      Node.this.loaded(shard, load);
    }

    @Override
    public boolean hasOpenAttempts(Shard shard) {
      return attempts.isOpen(shard);
    }

    @Override
    public void staysHere(Shard shard) {
      if (shard.fold != null) {
        List<ShardJob> parked = new ArrayList<>();
        shard
            .fold
            .live()
            .forEach(
                job -> {
                  if (job.isIdle(ShardJob.Phase.READY)) {
                    parked.add(job);
                  }
                });
        parked.forEach(Node.this::scheduleAgain);
      }
    }

    @Override
    public void looked(Shard shard, long nowMicros) {
      bodies.fetchDueSoon(shard, nowMicros);
    }

    @Override
    public void unloaded(Shard shard, ShardFold fold) {
      fold.live()
          .forEach(
              job -> {
                bodies.left(shard, job);
                timers.cancel(job.expiry);
                if (job.phase == ShardJob.Phase.SCHEDULED) {
                  due.noteStale();
                }
                attempts.disown(job);
                job.phase = ShardJob.Phase.GONE;
                leaveKey(job, job.concurrency());
              });
    }
  }

  private final class BodyHost implements Bodies.Host {
    @Override
    public void doubt(Shard shard) {
      shards.prove(shard, () -> {});
    }

    @Override
    public void paused(ShardJob job) {
      schedule(job); // its deadline counts from here
    }

    @Override
    public void ready(ShardJob job) {
      long now = env.wallMicros();
      if (job.dueMicros <= now && !job.isPaused() && status.isClockTrusted()) {
        Node.this.ready(job, job.dueMicros < overdueBefore(now));
      } else {
        schedule(job);
      }
    }

    @Override
    public void refill(Lane lane) {
      dispatcher.refill(lane);
    }
  }

  private final class AddHost implements Adds.Host {
    @Override
    public void added() {
      addedTotal++;
    }

    @Override
    public void arrived(Shard shard, ShardJob job) {
      tellAdded(shard, job);
    }

    @Override
    public void replace(AddRequest request, Shard shard, ShardJob job) {
      Node.this.replace(request, shard, job);
    }

    @Override
    public void exists(JobRef job, Consumer<Boolean> done) {
      if (liveJob(job) != null) {
        done.accept(true);
      } else {
        find(job, found -> done.accept(found.isPresent()));
      }
    }

    @Override
    public void find(JobRef job, Consumer<Optional<JobInfo>> done) {
      Node.this.find(
          job,
          outcome -> {
            if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)) {
              done.accept(found.map(story -> story.view().info()));
            } else {
              timers.at(env.monotonicNanos() + RETRY_NANOS, () -> find(job, done));
            }
          });
    }
  }

  private final class KeyHost implements Keys.Host {
    @Override
    public void ready(ShardJob job) {
      dispatcher.ready(job, job.dueMicros < overdueBefore(env.wallMicros()));
    }

    @Override
    public void blocked(ShardJob job) {
      tellBlocked(job);
    }

    @Override
    public void refuse(ShardJob job, JobState state, String reason) {
      if (job.isRecurring()) {
        occurrences.skip(job, reason);
      } else {
        job.phase = ShardJob.Phase.READY;
        cancels.end(job.shard(), job, state, reason);
      }
    }

    @Override
    public void cancel(ShardJob job, String reason) {
      Attempt attempt = job.attempt;
      if (!job.isRecurring()) {
        cancels.cancel(job.shard().ref(job.number), why(reason), outcome -> {});
      } else if (attempt != null) {
        attempts.stopOccurrence(attempt, reason);
      } else if (job.busy == 0) {
        dispatcher.withdraw(job);
        occurrences.skip(job, reason);
      }
    }
  }

  private final class OccurrenceHost implements Occurrences.Host {
    @Override
    public void schedule(ShardJob job) {
      Node.this.schedule(job);
    }

    @Override
    public void added(Shard shard, ShardJob job) {
      tellAdded(shard, job);
    }

    @Override
    public void awakeBy(Shard shard, long dueMicros, Runnable then) {
      shards.ensureAwakeBy(shard, dueMicros, then);
    }

    @Override
    public void cancel(JobRef job, String reason) {
      cancels.cancel(job, why(reason), outcome -> {});
    }

    @Override
    public void expire(Shard shard, ShardJob job) {
      cancels.end(shard, job, JobState.EXPIRED, "deadline passed while it waited");
    }
  }

  private final class CancelHost implements Cancels.Host {
    @Override
    public void find(JobRef job, Consumer<Outcome<Optional<JobReader.Story>>> answer) {
      Node.this.find(job, answer);
    }

    @Override
    public void endedUnloaded(Shard shard, ShardJob job, Body.End end) {
      ended(shard, job, end);
    }

    @Override
    public void scheduleAgain(ShardJob job) {
      Node.this.scheduleAgain(job);
    }
  }

  private final class ControlHost implements Controls.Host {
    @Override
    public void find(JobRef job, Consumer<Outcome<Optional<JobReader.Story>>> answer) {
      Node.this.find(job, answer);
    }

    @Override
    public void schedule(ShardJob job) {
      if (job.phase == ShardJob.Phase.SCHEDULED) {
        due.noteStale();
      }
      Node.this.schedule(job);
    }

    @Override
    public void withdraw(ShardJob job) {
      dispatcher.withdraw(job);
    }

    @Override
    public void scheduleAgain(ShardJob job) {
      Node.this.scheduleAgain(job);
    }

    @Override
    public void paused(ShardJob job) {
      Attempt attempt = job.attempt;
      if (job.phase == ShardJob.Phase.RUNNING) {
        if (attempt != null) {
          attempts.pause(attempt, Attempt.StopCause.PAUSE);
        }
        changed(job);
      } else if (job.phase != ShardJob.Phase.GONE) {
        withdraw(job);
        schedule(job);
      }
    }

    @Override
    public void added(Shard shard, ShardJob job) {
      tellAdded(shard, job);
    }

    @Override
    public void resized(int moreBytes) {
      bodies.resized(moreBytes);
    }

    @Override
    public void whenBody(ShardJob job, Runnable then) {
      bodies.whenHere(job, then);
    }
  }

  private final class AttemptHost implements Attempts.Host {
    @Override
    public boolean mayStart() {
      return status.mayStart();
    }

    @Override
    public void lend(Attempt attempt) {
      lending.lend(attempt);
    }

    @Override
    public void recall(Attempt attempt, boolean now) {
      lending.recall(attempt, now);
    }

    @Override
    public void convict(ShardJob job) {
      if (job.phase != ShardJob.Phase.GONE && job.busy == 0) {
        dispatcher.withdraw(job);
        Node.this.convict(job.shard(), job);
      }
    }

    @Override
    public long waitUntilBorrowedLasted(long nanos) {
      return borrowing.waitUntilLasted(nanos);
    }

    @Override
    public @Nullable Long startBy() {
      return status.startBy();
    }

    @Override
    public void schedule(ShardJob job) {
      Node.this.schedule(job);
    }

    @Override
    public void moved(ShardJob job) {
      if (job.phase == ShardJob.Phase.SCHEDULED) {
        due.noteStale();
      }
      scheduleAgain(job);
    }

    @Override
    public void over(Attempt attempt) {
      Shard shard = attempt.job().shard;
      if (shard != null && shard.handingBack) {
        shards.settle(shard);
      }
    }

    @Override
    public String nodeId(long incarnation) {
      return status.nodeId(incarnation);
    }

    @Override
    public void started(ShardJob job) {
      timers.cancel(job.expiry);
      changed(job);
      JobListener listener = env.listener();
      if (listener != null) {
        listener.started(info(job));
      }
    }

    @Override
    public void undecodable(ShardJob job) {
      if (job.isPaused()) {
        Node.this.schedule(job); // it is tried again when it is resumed
        return;
      }
      blockUndecodable(job);
    }

    @Override
    public void awakeBy(Shard shard, long dueMicros, Runnable then) {
      shards.ensureAwakeBy(shard, dueMicros, then);
    }

    @Override
    public void endRequested(ShardJob job) {
      cancels.endRequested(job.shard(), job);
    }

    @Override
    public void retrying(ShardJob job) {
      JobListener listener = env.listener();
      if (listener != null) {
        listener.retrying(info(job));
      }
    }

    @Override
    public void failed(ShardJob job, NodeEvent.AttemptFailed failure) {
      env.tell(failure);
      JobListener listener = env.listener();
      if (listener != null) {
        tellFailed(listener, job, failure);
      }
    }
  }
}
