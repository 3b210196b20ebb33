package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.api.CancelResult;
import dev.carillon.api.Concurrency;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.WhenFull;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Names;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.member.Holdings;
import dev.carillon.engine.member.MemberState;
import dev.carillon.engine.member.Orders;
import dev.carillon.engine.member.TimeSlice;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several nodes on one store, in worlds whose time is moved together. */
class ClusterTest {
  private static final Duration STEP = Duration.ofMillis(100);
  private static final Duration DEAD_WITHIN = Duration.ofMillis(3600);
  private static final Membership RETURNING = Membership.standard();
  private static final Membership PASSING =
      new Membership(RETURNING.heartbeatInterval(), RETURNING.timeout(), RETURNING.forget(), false);

  private final MemoryStore store = new MemoryStore(this::trueMicros);
  private final List<StillWorld> running = new ArrayList<>();
  private final Set<StillWorld> paused = new HashSet<>();
  private Duration passed = Duration.ZERO;
  private long incarnations;
  private long orders;

  private long trueMicros() {
    return StillWorld.FIRST_MICROS + Micros.ceil(passed);
  }

  private StillWorld node(String id) {
    return node(id, RETURNING);
  }

  private StillWorld node(String id, Membership membership) {
    return node(id, membership, store);
  }

  private StillWorld node(String id, Membership membership, Store seen) {
    NodeOptions options = NodeOptions.of(id, ++incarnations).among(membership);
    StillWorld world = new StillWorld(options, seen);
    world.pass(passed);
    world.settle();
    running.add(world);
    return world;
  }

  /** Its calls are never answered again and nothing of it moves. */
  private void kill(StillWorld world) {
    running.remove(world);
  }

  private void stop(StillWorld world) {
    world.node().beginStop();
    world.settle();
    world.node().release(() -> {});
    world.settle();
    running.remove(world);
  }

  private void pass(Duration time) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      passed = passed.plus(STEP);
      for (StillWorld world : running) {
        world.pass(STEP);
        if (!paused.contains(world)) {
          world.settle();
        }
      }
    }
  }

  private static JobRef addDueIn(StillWorld world, Duration delay) {
    long due = world.nowMicros() + Micros.ceil(delay);
    return world.add(world.spec(due, 0, 0, new byte[0]));
  }

  private Head headOf(JobRef job) {
    return store.journals().head(job.shard()).orThrow();
  }

  private @Nullable JobState stateOf(JobRef job) {
    return new JobReader(store)
        .find(job)
        .orThrow()
        .map(story -> story.view().info().state())
        .orElse(null);
  }

  @Test
  void jobRunsWhereItWasScheduledWhileItsNodeLives() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(5));
    pass(Duration.ofMinutes(2));
    assertThat(a.running()).hasSize(1);
    assertThat(b.running()).isEmpty();
  }

  /** One whose shards are full with one job. */
  private StillWorld nodeOfSmallShards(String id) {
    NodeOptions most = NodeOptions.of(id, ++incarnations);
    NodeOptions options =
        new NodeOptions(
            id,
            incarnations,
            most.slots(),
            most.slowStart(),
            most.loadHorizon(),
            most.overdueAfter(),
            most.aloneTime(),
            most.successRetention(),
            most.failureRetention(),
            most.deadRetention(),
            most.keyRetention(),
            most.maxQueued(),
            most.maxQueuedBytes(),
            1,
            most.maxShardBytes(),
            most.bodyBudgetBytes(),
            most.failurePolicy(),
            most.packFromJobs(),
            most.historyBytes(),
            most.indexedMetadata(),
            most.historyLimit(),
            RETURNING);
    StillWorld world = new StillWorld(options, store);
    world.pass(passed);
    world.settle();
    running.add(world);
    return world;
  }

  /**
   * Leaves many shards of a dead node "a" behind that wake in a moment; returns when, in
   * microseconds.
   */
  private long leaveSleepingShards(int jobs) {
    StillWorld a = nodeOfSmallShards("a");
    pass(Duration.ofSeconds(3));
    long due = a.nowMicros() + Micros.ceil(Duration.ofMinutes(10));
    for (int i = 0; i < jobs; i++) {
      a.add(a.spec(due, 0, 0, new byte[0]));
    }
    pass(Duration.ofMinutes(9));
    kill(a);
    return due;
  }

  /** How many shards a node has that sleep until about then. */
  private long sleepingOf(long incarnation, long dueMicros) {
    return store.journals().listById(null, 1000).orThrow().stream()
        .filter(head -> head.owner() == incarnation)
        .filter(head -> head.wakeMicros() > dueMicros - 2_000_000)
        .count();
  }

  /** How many of them it has after each second, until it has all. */
  private List<Long> claimed(long incarnation, long dueMicros, long all) {
    List<Long> claimed = new ArrayList<>();
    for (int i = 0; i < 45 && (claimed.isEmpty() || claimed.getLast() < all); i++) {
      pass(Duration.ofSeconds(1));
      claimed.add(sleepingOf(incarnation, dueMicros));
    }
    return claimed.stream().filter(count -> count > 0).toList();
  }

  @Test
  void claimsAfterAStartArePacedAndDueJobsExempt() {
    long due = leaveSleepingShards(60);
    long all = sleepingOf(incarnations, due);
    assertThat(all).isGreaterThan(40);
    StillWorld b = node("b");
    List<Long> claimed = claimed(incarnations, due, all);
    assertThat(claimed.getFirst()).isLessThanOrEqualTo(6);
    assertThat(claimed).hasSizeGreaterThan(4).endsWith(all);
    pass(Duration.ofMinutes(1));
    assertThat(b.running()).hasSize(60);
  }

  @Test
  void shardsThatAreDueAreClaimedAtOnceHoweverMany() {
    leaveSleepingShards(60);
    passed = passed.plus(Duration.ofMinutes(2)); // nobody is there when they become due
    StillWorld b = node("b");
    pass(DEAD_WITHIN);
    assertThat(b.running()).hasSize(60);
  }

  @Test
  void ownShardsAreClaimedAtOnceHoweverMany() {
    long due = leaveSleepingShards(60);
    long all = sleepingOf(incarnations, due);
    node("a");
    assertThat(claimed(incarnations, due, all)).containsExactly(all);
  }

  @Test
  void standInChangesWithTheMembers() {
    StillWorld b = node("b");
    long due = leaveSleepingShards(60);
    long all = sleepingOf(incarnations, due);
    pass(Duration.ofSeconds(10));
    assertThat(sleepingOf(1, due)).as("of the only one there").isEqualTo(all);
    StillWorld c = node("c");
    pass(Duration.ofSeconds(20));
    assertThat(sleepingOf(incarnations, due)).as("c's part").isBetween(all / 4, all * 3 / 4);
    assertThat(sleepingOf(1, due) + sleepingOf(incarnations, due)).isEqualTo(all);
    kill(c);
    pass(Duration.ofSeconds(10));
    assertThat(sleepingOf(1, due)).as("of the only one left").isEqualTo(all);
    pass(Duration.ofSeconds(30));
    assertThat(b.running()).hasSize(60);
  }

  @Test
  void jobOfADeadNodeRunsElsewhereOnce() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(1));
    kill(a);
    pass(DEAD_WITHIN);
    assertThat(b.running().size() + c.running().size()).isEqualTo(1);
    StillWorld heir = b.running().isEmpty() ? c : b;
    assertThat(heir.finishOne()).isNotNull();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    pass(Duration.ofMinutes(2));
    assertThat(b.running().size() + c.running().size()).isZero();
  }

  @Test
  void silenceIsJudgedOnceItHasLastedForTheTimeoutAndNotABeatLater() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(2));
    pass(Duration.ofMillis(400));
    b.hold(NodeEnvironment.Channel.HEARTBEAT);
    pass(STEP); // a heartbeats, b looks
    kill(a);
    pass(STEP);
    b.letGo();
    pass(STEP); // b is shown the last heartbeat, a fifth of a second after it asked
    pass(RETURNING.timeout().minus(STEP));
    assertThat(b.running()).isEmpty();
    pass(STEP);
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void nodeThatWasPausedStartsNothingBeforeItKnowsWhatItStillHas() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(1));
    paused.add(a);
    pass(DEAD_WITHIN.plusSeconds(1));
    assertThat(b.running()).hasSize(1);
    paused.clear();
    pass(Duration.ofMinutes(1));
    assertThat(a.running()).isEmpty();
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void outcomeOfAPausedExOwnerIsRefused() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    assertThat(a.running()).hasSize(1);
    paused.add(a);
    pass(DEAD_WITHIN);
    assertThat(b.running()).hasSize(1);
    assertThat(a.finishOne()).isNotNull();
    assertThat(stateOf(job)).isNotEqualTo(JobState.SUCCEEDED);
    assertThat(b.finishOne()).isNotNull();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void shardsOfANodeThatStopsInOrderAreTakenAtOnceAndAreNotSuspect() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(2));
    stop(a);
    pass(Duration.ofSeconds(2).plus(STEP));
    assertThat(b.running()).hasSize(1);
    assertThat(headOf(job).suspect()).isFalse();
  }

  @Test
  void nodeThatStopsIsNotHeldUpByAShardThatItHasLost() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    JobRef kept = addDueIn(a, Duration.ofHours(3));
    JobRef lost = addDueIn(a, Duration.ofHours(30));
    store.journals().claim(lost.shard(), headOf(lost).epoch(), 99).orThrow();
    a.node().beginStop();
    a.settle();
    List<String> done = new ArrayList<>();
    a.node().release(() -> done.add("released"));
    a.settle();
    assertThat(done).containsExactly("released");
    assertThat(headOf(kept).released()).isTrue();
    assertThat(headOf(lost).owner()).isEqualTo(99);
  }

  @Test
  void nodeThatReturnsGetsItsShardsBackWithNothingLost() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef near = addDueIn(a, Duration.ofSeconds(1));
    JobRef later = addDueIn(a, Duration.ofSeconds(50));
    kill(a);
    pass(DEAD_WITHIN);
    assertThat(b.running()).hasSize(1); // and it does not return until later
    StillWorld again = node("a");
    pass(Duration.ofSeconds(20));
    assertThat(again.running()).isEmpty();
    b.finishOne();
    assertThat(stateOf(near)).isEqualTo(JobState.SUCCEEDED);
    pass(Duration.ofSeconds(30));
    assertThat(again.running()).hasSize(1);
    again.finishOne();
    assertThat(stateOf(later)).isEqualTo(JobState.SUCCEEDED);
    assertThat(b.running()).isEmpty();
    assertThat(headOf(later).suspect()).isFalse();
  }

  @Test
  void shardThatWasGivenBackIsNotTakenByAListingFromBefore() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    kill(a);
    pass(DEAD_WITHIN);
    assertThat(headOf(job).owner()).as("stands in").isEqualTo(2);
    node("a");
    b.hold(NodeEnvironment.Channel.CONTROL);
    b.holdAnswers(NodeEnvironment.Channel.READ);
    pass(Duration.ofSeconds(1));
    assertThat(headOf(job).owner()).as("about to be given back").isEqualTo(2);
    b.letGo();
    pass(Duration.ofSeconds(2));
    assertThat(headOf(job).owner()).isEqualTo(3);
  }

  @Test
  void standInAddsNothingToShardsOfANodeThatMayReturn() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    kill(a);
    pass(DEAD_WITHIN);
    assertThat(addDueIn(b, Duration.ofHours(30)).shard()).isNotEqualTo(job.shard());
    pass(RETURNING.forget().plusSeconds(5));
    assertThat(addDueIn(c, Duration.ofHours(30).minusMinutes(11)).shard()).isEqualTo(job.shard());
  }

  @Test
  void shardsOfANodeThatNeverReturnsAreOpenToOthersAtOnce() {
    StillWorld a = node("a", PASSING);
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    stop(a);
    StillWorld b = node("b", PASSING);
    pass(Duration.ofSeconds(3));
    assertThat(addDueIn(b, Duration.ofHours(30)).shard()).isEqualTo(job.shard());
  }

  @Test
  void whoHasNotLookedYetMakesNoShardWhereOneIsToBeHad() {
    StillWorld a = node("a", PASSING);
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    stop(a);
    boolean[] blind = {true};
    Store seldomRead =
        new FaultyStore(
            store,
            call ->
                blind[0] && call == ForwardingStore.Operation.RECORDS_LIST
                    ? FaultyStore.Fault.FAIL_BEFORE
                    : FaultyStore.Fault.NONE);
    StillWorld b = node("b", PASSING, seldomRead);
    List<JobRef> added =
        b.ask(b.spec(b.nowMicros() + Micros.ceil(Duration.ofHours(30)), 0, 0, new byte[0]));
    pass(Duration.ofSeconds(1));
    assertThat(added).isEmpty();
    blind[0] = false;
    pass(Duration.ofSeconds(1));
    assertThat(added).extracting(JobRef::shard).containsExactly(job.shard());
  }

  @Test
  void heirPutsNewJobsIntoWhatItInherited() {
    StillWorld a = node("a", PASSING);
    StillWorld b = node("b", PASSING);
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(90));
    stop(a);
    pass(Duration.ofSeconds(3));
    assertThat(headOf(job).owner()).isEqualTo(2);
    assertThat(addDueIn(b, Duration.ofSeconds(2)).shard()).isEqualTo(job.shard());
    pass(Duration.ofSeconds(3));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void heirWithAShardOfItsOwnLeavesWhatItInheritedToOneThatComes() {
    StillWorld a = node("a", PASSING);
    StillWorld b = node("b", PASSING);
    pass(Duration.ofSeconds(3));
    JobRef own = addDueIn(b, Duration.ofMinutes(20));
    JobRef inherited = addDueIn(a, Duration.ofMinutes(20));
    stop(a);
    pass(Duration.ofSeconds(20));
    assertThat(headOf(inherited).epoch()).as("claims").isEqualTo(2);
    assertThat(headOf(inherited).released()).isTrue();
    assertThat(headOf(inherited).wakeMicros()).isGreaterThan(b.nowMicros());

    StillWorld c = node("c", PASSING);
    JobRef now = addDueIn(c, Duration.ofSeconds(1));
    JobRef next = addDueIn(c, Duration.ofSeconds(200));
    assertThat(now.shard()).isEqualTo(inherited.shard());
    assertThat(next.shard()).isEqualTo(inherited.shard());
    assertThat(own.shard()).isNotEqualTo(inherited.shard());
    pass(Duration.ofSeconds(2));
    assertThat(c.running()).hasSize(1);
    c.finishOne();
    pass(Duration.ofMinutes(20));
    assertThat(c.running()).hasSize(2);
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void whatAnHeirLeavesToOthersStartsInTimeWhereNobodyComes() {
    StillWorld a = node("a", PASSING);
    StillWorld b = node("b", PASSING);
    pass(Duration.ofSeconds(3));
    JobRef own = addDueIn(b, Duration.ofMinutes(50));
    JobRef inherited = addDueIn(a, Duration.ofMinutes(20));
    JobRef last = addDueIn(a, Duration.ofHours(3));
    stop(a);
    pass(Duration.ofMinutes(10));
    assertThat(headOf(inherited).released()).isTrue();
    assertThat(headOf(own).released()).isFalse();
    assertThat(headOf(last).released()).isTrue();
    pass(Duration.ofMinutes(10).minusSeconds(1));
    assertThat(b.running()).isEmpty();
    pass(Duration.ofSeconds(2));
    assertThat(b.running()).hasSize(1);
    b.finishOne();
    pass(Duration.ofHours(1));
    assertThat(stateOf(inherited)).isEqualTo(JobState.SUCCEEDED);
    assertThat(headOf(inherited).status()).isEqualTo(Head.Status.SEALED);
    assertThat(headOf(inherited).released()).isTrue();
  }

  @Test
  void jobOfADeadNodeCanBeCancelledFarFromItsTime() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    kill(a);
    pass(DEAD_WITHIN);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    b.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void storeThatDoesNotAnswerFencesAndNothingRunsTwice() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(2));
    for (NodeEnvironment.Channel channel : NodeEnvironment.Channel.values()) {
      a.hold(channel);
    }
    pass(Duration.ofSeconds(10));
    assertThat(a.running()).hasSize(1); // started before its deadline
    a.letGo();
    pass(Duration.ofSeconds(5));
    assertThat(a.finishOne()).isNotNull();
    pass(Duration.ofSeconds(5));
    assertThat(a.running()).isEmpty();
  }

  @Test
  void dueJobsOfADeadNodeAreSharedByTheOthers() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    for (int i = 0; i < 30; i++) {
      addDueIn(a, Duration.ofHours(2 + i)); // a shard each
    }
    kill(a);
    pass(Duration.ofHours(33));
    assertThat(b.running().size()).isBetween(8, 22);
    assertThat(b.running().size() + c.running().size()).isEqualTo(30);
  }

  // ---- what concerns a job that another node has

  @Test
  void jobOfAnotherNodeIsCancelled() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
    assertThat(headOf(job).owner()).as("its owner").isEqualTo(1);
    pass(Duration.ofSeconds(1));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestAndItsAnswerAreNotifiedOfAndNoTimePassesBetween() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    hearNotifications(a, 1);
    hearNotifications(b, 2);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    b.settle();
    assertThat(answers).as("before anybody hears").isEmpty();
    a.settle();
    b.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(requests()).isEmpty();
  }

  private void hearNotifications(StillWorld world, long incarnation) {
    Node.notificationChannels(incarnation)
        .forEach(
            (channel, heard) -> {
              var unused = store.doorbells().listen(channel, () -> heard.accept(world.node()));
            });
  }

  private List<String> requests() {
    return store.records().list("x\0", null, 100).orThrow().stream()
        .map(Records.Stored::key)
        .toList();
  }

  @Test
  void jobOfAnotherNodeIsPausedResumedAndMoved() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    b.pause(job, "wait", answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(job)).isEqualTo(JobState.PAUSED);
    b.resume(job, answers::add);
    b.reschedule(job, b.nowMicros() + 5_000_000, answers::add);
    b.prioritise(job, 3, answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).hasSize(4).containsOnly(Outcome.ok(ControlResult.DONE));
    pass(Duration.ofSeconds(5));
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void recurringJobOfAnotherNodeIsTriggeredOnce() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    long first = a.nowMicros() + Micros.ceil(Duration.ofHours(1));
    JobRef job = a.add(a.recurring(Schedule.every(Duration.ofHours(1)), first));
    List<JobRef> added = new ArrayList<>();
    b.node()
        .trigger(
            job,
            new OccurrencesAdded() {
              @Override
              public void added(List<JobRef> jobs) {
                added.addAll(jobs);
              }

              @Override
              public void refused(Outcome<ControlResult> why) {
                throw new AssertionError(why);
              }
            });
    pass(Duration.ofSeconds(1));
    assertThat(added).hasSize(1);
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void nameOfAJobOfAnotherNodeIsKnownAndItsJobReplaced() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    long due = a.nowMicros() + Micros.ceil(Duration.ofHours(1));
    JobRef job = a.add(a.named("report", due, new byte[] {1}));
    List<JobRef> again =
        b.ask(b.named("report", b.nowMicros() + Micros.ceil(STEP), new byte[] {2}));
    pass(Duration.ofSeconds(1));
    assertThat(again).containsExactly(job);
    assertThat(a.running()).hasSize(1);
    assertThat(a.running().getFirst().spec().payload()).containsExactly(2);
    a.finishOne();
    List<JobRef> next = b.ask(b.named("report", due, new byte[] {3}));
    pass(Duration.ofSeconds(1));
    assertThat(next).hasSize(1).doesNotContain(job);
  }

  @Test
  void endIsToldToAJobOfAnotherNode() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef first = addDueIn(a, Duration.ofSeconds(5));
    List<JobRef> second = b.ask(b.after(first));
    pass(Duration.ofSeconds(2));
    assertThat(second).hasSize(1);
    pass(Duration.ofSeconds(3).plus(STEP));
    assertThat(b.running()).isEmpty();
    a.finishOne();
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).hasSize(1);
    pass(Duration.ofSeconds(1));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestToANodeThatDiesIsServedByWhoeverTakesTheShard() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    kill(a);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).isEmpty();
    pass(DEAD_WITHIN.plusSeconds(1));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(c.running()).isEmpty();
  }

  /** One of the two is to have the shard. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void requestIsServedAsSoonAsSomebodyHasTheShard(int asker) {
    StillWorld a = node("a");
    List<StillWorld> others = List.of(node("b"), node("c"));
    hearNotifications(others.get(0), 2);
    hearNotifications(others.get(1), 3);
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    others.get(asker).cancel(job, "not wanted", answers::add);
    others.get(asker).settle();
    stop(a);
    others.forEach(world -> world.hold(NodeEnvironment.Channel.CONTROL)); // claims take a while
    others.get(asker).hold(NodeEnvironment.Channel.READ); // and looking whether somebody claims
    pass(Duration.ofMillis(700));
    assertThat(headOf(job).released()).isTrue();
    assertThat(requests()).hasSize(1);
    others.forEach(StillWorld::letGo);
    pass(STEP.multipliedBy(2));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
  }

  /** Its sender may be about to stop, and waits for the answer. */
  @Test
  void requestToAShardThatNobodyNeedsYetIsSoonTakenBack() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    b.settle();
    stop(a);
    assertThat(headOf(job).released()).isTrue();
    assertThat(requests()).hasSize(1);
    pass(STEP.multipliedBy(2));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestThatOneHadBegunAndCouldNotServeIsTakenBackByASenderThatHasTheShard() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    b.pause(job, "wait", answers::add);
    b.settle();
    Records.Stored request = store.records().list("x\0", null, 1).orThrow().getFirst();
    Records.Stamp again = new Records.Stamp(77, 1);
    store
        .records()
        .apply(
            List.of(new Records.Change(request.key(), request.version(), request.value(), again)));
    stop(a);
    pass(Duration.ofSeconds(2));
    assertThat(headOf(job).owner()).isEqualTo(2);
    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    assertThat(requests()).isEmpty();
  }

  @Test
  void nodeThatStopsTakesUpItselfWhatNobodyElseWouldSoon() {
    StillWorld a = node("a");
    node("b");
    pass(Duration.ofSeconds(3));
    cancelWhileItStops(a, addDueIn(a, Duration.ofHours(30)));
  }

  @Test
  void nodeThatStopsTakesUpItselfWhatNobodyElseIsThereFor() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    cancelWhileItStops(a, addDueIn(a, Duration.ofSeconds(30)));
  }

  /** It is free again as soon as that is done, though the node may still take a while to stop. */
  private void cancelWhileItStops(StillWorld world, JobRef job) {
    world.node().beginStop();
    world.settle();
    assertThat(headOf(job).released()).isTrue();
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    world.cancel(job, "not wanted", answers::add);
    world.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(headOf(job).released()).isTrue();
  }

  @Test
  void shardThatIsClaimedTooLateByANodeThatStopsIsGivenBackAtOnce() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    b.hold(NodeEnvironment.Channel.CONTROL);
    stop(a);
    pass(Duration.ofSeconds(1)); // b claims it
    b.node().beginStop();
    b.settle();
    assertThat(b.node().quiet()).as("while a claim is under way").isFalse();
    b.letGo();
    b.settle();
    assertThat(headOf(job).epoch()).as("it was claimed").isEqualTo(2);
    assertThat(headOf(job).released()).isTrue();
    assertThat(b.node().quiet()).isTrue();
  }

  @Test
  void requestIsServedByANodeThatNeverHeardThatTheShardIsItsOwn() {
    StillWorld a = node("a");
    node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(3));
    store.journals().claim(job.shard(), headOf(job).epoch(), 2).orThrow(); // b does not hear of it
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    c.cancel(job, "no longer wanted", answers::add);
    pass(Duration.ofSeconds(20));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void whatADeadNodeHadBegunIsSaidToBeUnknown() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    a.hold(NodeEnvironment.Channel.COMMIT);
    b.pause(job, "wait", answers::add);
    pass(Duration.ofSeconds(1));
    kill(a);
    pass(DEAD_WITHIN.plusSeconds(1));
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst()).isInstanceOf(Outcome.Unknown.class);
    pass(Duration.ofSeconds(1));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestOfANodeThatDiedIsDeleted() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    paused.add(a);
    b.pause(job, "wait", outcome -> {});
    b.settle();
    b.settle();
    kill(b);
    assertThat(requests()).hasSize(1);
    pass(STEP);
    paused.clear();
    pass(DEAD_WITHIN.plusSeconds(6));
    assertThat(requests()).isEmpty();
  }

  @Test
  void endOfAJobOfAnotherNodeIsSeenByWhoWatchesIt() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(2));
    List<JobState> seen = new ArrayList<>();
    b.node().watch(job, view -> seen.add(view.info().state()));
    pass(Duration.ofSeconds(3));
    a.finishOne();
    pass(Duration.ofSeconds(5));
    assertThat(seen).last().isEqualTo(JobState.SUCCEEDED);
  }

  // ---- what operators set

  @Test
  void pauseOfAQueueIsAnsweredWhenEveryNodeActsOnIt() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    paused.add(b);
    List<Outcome<FlowSetting>> answers = new ArrayList<>();
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
    a.node().changeFlow(queue, setting -> setting.paused("maintenance"), answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).as("while one that counts as alive has not answered").isEmpty();
    paused.clear();
    pass(Duration.ofSeconds(2));
    assertThat(answers).hasSize(1);
    addDueIn(b, Duration.ZERO);
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).isEmpty();
    StillWorld c = node("c");
    addDueIn(c, Duration.ofSeconds(3));
    pass(Duration.ofSeconds(5));
    assertThat(c.running()).as("of a node that came later").isEmpty();
    b.node().changeFlow(queue, setting -> setting.paused(null), answers::add);
    pass(Duration.ofSeconds(2));
    assertThat(answers).hasSize(2);
    assertThat(b.running()).hasSize(1);
    assertThat(c.running()).hasSize(1);
  }

  @Test
  void nodeThatIsDeadIsNotWaitedFor() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    kill(b);
    List<Outcome<FlowSetting>> answers = new ArrayList<>();
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
    a.node().changeFlow(queue, setting -> setting.paused("maintenance"), answers::add);
    pass(DEAD_WITHIN);
    assertThat(answers).hasSize(1);
  }

  // ---- limits of all nodes together

  private List<String> shares() {
    return store.records().list(Shares.RECORDS, null, 100).orThrow().stream()
        .map(Records.Stored::key)
        .toList();
  }

  @Test
  void keyIsHeldOnOneNodeAtATimeAndGoesAround() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    Concurrency one = Concurrency.of("printer");
    for (int i = 0; i < 3; i++) {
      a.add(a.under(one));
      b.add(b.under(one));
    }
    int finished = 0;
    List<StillWorld> turns = new ArrayList<>();
    for (int i = 0; i < 100 && finished < 6; i++) {
      pass(Duration.ofMillis(500));
      assertThat(a.running().size() + b.running().size()).isLessThanOrEqualTo(1);
      for (StillWorld world : List.of(a, b)) {
        if (world.finishOne() != null) {
          finished++;
          turns.add(world);
        }
      }
    }
    assertThat(finished).isEqualTo(6);
    assertThat(turns.subList(0, 5)).as("who had the key").contains(a, b);
    pass(Duration.ofSeconds(20));
    assertThat(shares()).isEmpty();
  }

  @Test
  void limitOfAKeyIsOfAllNodesTogether() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    Concurrency four = Concurrency.of("printer").limit(4);
    for (int i = 0; i < 6; i++) {
      a.add(a.under(four));
    }
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(4);
    b.add(b.under(four));
    b.add(b.under(four));
    pass(Duration.ofSeconds(10));
    assertThat(a.running().size() + b.running().size()).isEqualTo(4);
    for (int i = 0; i < 4; i++) {
      a.finishOne();
      pass(Duration.ofSeconds(2));
      assertThat(a.running().size() + b.running().size()).isLessThanOrEqualTo(4);
    }
    assertThat(b.running()).hasSize(2);
  }

  @Test
  void jobThatIsNotToWaitIsRejectedWhereAnotherNodeHasTheKey() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    Concurrency one = Concurrency.of("printer").whenFull(WhenFull.REJECT);
    a.add(a.under(one));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(1);
    JobRef rejected = b.add(b.under(one));
    pass(Duration.ofSeconds(2)); // a is asked, and answers
    assertThat(stateOf(rejected)).isEqualTo(JobState.FAILED);
    a.finishOne();
    pass(Duration.ofSeconds(10));
    b.add(b.under(one));
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void keyOfADeadNodeIsFreeWhenItsHandlersHadTimeToStop() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    Concurrency one = Concurrency.of("printer");
    a.add(a.under(one));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(1);
    kill(a);
    b.add(b.under(one));
    pass(Duration.ofSeconds(11));
    assertThat(b.running()).isEmpty();
    pass(Duration.ofSeconds(4));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void limitThatCannotBeSharedEvenlyIsUsedByNodesThatHaveNothingOfItYet() {
    StillWorld a = node("a");
    List<StillWorld> others = List.of(node("b"), node("c"), node("d"));
    pass(Duration.ofSeconds(3));
    Concurrency four = Concurrency.of("printer").limit(4);
    for (int i = 0; i < 4; i++) {
      a.add(a.under(four));
    }
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(4);
    for (StillWorld other : others) {
      for (int i = 0; i < 4; i++) {
        other.add(other.under(four));
      }
    }
    kill(a);
    pass(Duration.ofSeconds(20));
    assertThat(others).allSatisfy(other -> assertThat(other.running()).isNotEmpty());
    assertThat(others.stream().mapToInt(other -> other.running().size()).sum()).isEqualTo(4);
  }

  @Test
  void nodeThatWasPausedForLongDoesNotUseAKeyThatOthersTook() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    Concurrency one = Concurrency.of("printer");
    a.add(a.under(one));
    a.add(a.under(one));
    pass(Duration.ofSeconds(1));
    paused.add(a);
    b.add(b.under(one));
    pass(Duration.ofSeconds(20));
    assertThat(b.running()).hasSize(1);
    paused.clear();
    a.finishOne(); // refused, but its handler has returned
    pass(Duration.ofSeconds(20));
    assertThat(a.running()).isEmpty();
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void limitOfAQueueIsOfAllNodesTogether() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
    a.node().changeFlow(queue, setting -> setting.limit(5), outcome -> {});
    pass(Duration.ofSeconds(3));
    for (int i = 0; i < 10; i++) {
      addDueIn(a, Duration.ZERO);
      addDueIn(b, Duration.ZERO);
    }
    int finished = 0;
    for (int i = 0; i < 100 && finished < 20; i++) {
      pass(Duration.ofMillis(500));
      assertThat(a.running().size() + b.running().size()).isLessThanOrEqualTo(5);
      finished += a.finishOne() != null ? 1 : 0;
      finished += b.finishOne() != null ? 1 : 0;
    }
    assertThat(finished).isEqualTo(20);
    pass(Duration.ofSeconds(30));
    assertThat(shares()).isEmpty();
  }

  /** Whose incarnation the first entry of a limit's record is: those who wait follow. */
  private long holderOf(FlowSubject limit) {
    byte[] value =
        store.records().get(limit.recordKey(Shares.RECORDS)).orThrow().orElseThrow().value();
    return ByteBuffer.wrap(value).getLong(2);
  }

  @Test
  void nodeThatWasDueFirstKeepsALimitForAWhileThoughItWaitsForAnother() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
    FlowSubject namespace = new FlowSubject(FlowSubject.Scope.NAMESPACE, "x");
    a.node().changeFlow(queue, setting -> setting.limit(1), outcome -> {});
    a.node().changeFlow(namespace, setting -> setting.limit(1), outcome -> {});
    pass(Duration.ofSeconds(3));
    addDueIn(c, Duration.ZERO);
    pass(Duration.ofSeconds(1));
    a.add(a.spec("x", a.nowMicros(), 0, 0, new byte[0]));
    pass(Duration.ofMillis(200));
    b.add(b.spec("x", b.nowMicros(), 0, 0, new byte[0]));
    pass(Duration.ofMillis(2_500));
    c.finishOne();
    assertThat(holderOf(namespace)).isEqualTo(1);
    for (int i = 0; i < 50 && a.running().isEmpty(); i++) {
      assertThat(b.running()).isEmpty();
      pass(Duration.ofMillis(100));
    }
    assertThat(a.running()).hasSize(1);
    a.finishOne();
    pass(Duration.ofSeconds(10));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void handlerThatThrowsBecauseItsNodeIsFencedCostsNoAttempt() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    pass(Duration.ofSeconds(3));
    a.giveUpOne(); // it throws what no attempt could mend
    a.letGo();
    pass(Duration.ofSeconds(5));
    assertThat(stateOf(job)).isEqualTo(JobState.SCHEDULED);
    assertThat(a.running()).singleElement().satisfies(next -> assertThat(next.number()).isOne());
  }

  @Test
  void shardThatWasToGoStaysWhereItsHomeDiesAgain() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef first = addDueIn(a, Duration.ofSeconds(1));
    JobRef second = addDueIn(a, Duration.ofSeconds(12));
    kill(a);
    pass(DEAD_WITHIN);
    assertThat(b.running()).hasSize(1); // it keeps the shard from going
    StillWorld again = node("a");
    pass(Duration.ofSeconds(3));
    kill(again);
    pass(Duration.ofSeconds(20));
    assertThat(b.running()).hasSize(2);
    b.finishOne();
    b.finishOne();
    assertThat(stateOf(first)).isEqualTo(JobState.SUCCEEDED);
    assertThat(stateOf(second)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void nothingStartsOfAShardThatIsBeingGivenBackThoughItsHomeDiesAgain() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    long now = a.nowMicros();
    JobRef hung = a.add(a.spec(now + 1_000_000, 0, now + 6_000_000, new byte[0]));
    addDueIn(a, Duration.ofSeconds(25));
    kill(a);
    pass(Duration.ofSeconds(6));
    assertThat(b.running()).hasSize(1); // past its deadline
    assertThat(stateOf(hung)).isEqualTo(JobState.EXPIRED);
    b.hold(NodeEnvironment.Channel.CONTROL);
    StillWorld again = node("a");
    pass(Duration.ofSeconds(6)); // b has sent the release, which is not answered
    kill(again);
    pass(DEAD_WITHIN);
    b.finishOne();
    pass(Duration.ofSeconds(15));
    assertThat(b.running()).isEmpty();
    b.letGo();
    pass(Duration.ofSeconds(40));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void nodeThatStopsGivesItsShardsAwayWhileOneOfItsHandlersGoesOn() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ZERO); // and it does not end
    JobRef other = addDueIn(a, Duration.ofHours(2));
    assertThat(headOf(other).owner()).isEqualTo(1);
    a.node().beginStop();
    pass(Duration.ofSeconds(2));
    assertThat(a.running()).hasSize(1);
    assertThat(headOf(other).released()).isTrue();
    assertThat(b.running()).isEmpty();
  }

  @Test
  void shardThatGoesIsKeptUntilAllOfABatchIsApplied() {
    passed = Duration.ofMinutes(59);
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef first = addDueIn(a, Duration.ZERO);
    a.hold(NodeEnvironment.Channel.COMMIT);
    a.ask(a.spec(a.nowMicros() + Micros.ceil(Duration.ofHours(30)), 0, 0, new byte[0]));
    a.settle(); // what follows waits until that is written, and goes in one batch
    a.finishOne();
    List<JobRef> second = a.ask(a.spec(a.nowMicros(), 0, 0, new byte[0]));
    pass(Duration.ofMinutes(1)); // and their shard is sealed
    assertThat(second).isEmpty();
    a.letGo();
    stop(a);
    assertThat(second).extracting(JobRef::shard).containsExactly(first.shard());
    assertThat(stateOf(first)).isEqualTo(JobState.SUCCEEDED);
    pass(Duration.ofSeconds(20));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void limitThatIsLoweredIsSoonThatOfAllNodesTogether() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
    a.node().changeFlow(queue, setting -> setting.limit(10), outcome -> {});
    pass(Duration.ofSeconds(3));
    for (int i = 0; i < 10; i++) {
      addDueIn(a, Duration.ZERO);
    }
    pass(Duration.ofSeconds(3));
    assertThat(a.running()).hasSize(10);
    b.node().changeFlow(queue, setting -> setting.limit(2), outcome -> {});
    pass(Duration.ofSeconds(3));
    for (int i = 0; i < 9; i++) {
      a.finishOne();
    }
    addDueIn(b, Duration.ZERO);
    pass(Duration.ofSeconds(5));
    assertThat(b.running()).hasSize(1);
  }

  // ---- nodes that come and go

  /** Time passes, and what starts ends well; returns what ran, by job. */
  private Map<JobId, Integer> passAndRun(Duration time, Map<JobId, Integer> ran) {
    for (Duration left = time; left.isPositive(); left = left.minus(STEP)) {
      pass(STEP);
      running.forEach(world -> finishAll(world, ran));
    }
    return ran;
  }

  private static void finishAll(StillWorld world, Map<JobId, Integer> ran) {
    for (Attempt attempt = world.finishOne(); attempt != null; attempt = world.finishOne()) {
      ran.merge(attempt.id(), 1, Integer::sum);
    }
  }

  @Test
  void recurringJobsReachTheirCountsWhileNodesComeAndGo() {
    List<StillWorld> nodes = new ArrayList<>(List.of(node("a"), node("b"), node("c")));
    pass(Duration.ofSeconds(3));
    Schedule schedule = Schedule.every(Duration.ofSeconds(10)).times(12);
    for (int i = 0; i < 100; i++) {
      StillWorld world = nodes.get(i % 3);
      long first = world.nowMicros() + Micros.ceil(Duration.ofMillis(5000 + 37L * i));
      world.add(world.recurring(schedule, first));
    }
    Map<JobId, Integer> ran = new HashMap<>();
    passAndRun(Duration.ofSeconds(30), ran);
    nodes.add(node("d"));
    nodes.add(node("e"));
    passAndRun(Duration.ofSeconds(30), ran);
    for (StillWorld leaving : List.copyOf(nodes.subList(0, 2))) {
      finishAll(leaving, ran);
      stop(leaving);
      passAndRun(Duration.ofSeconds(20), ran);
    }
    passAndRun(Duration.ofSeconds(60), ran);
    assertThat(ran).hasSize(100);
    assertThat(ran.values()).as("occurrences of each").containsOnly(12);
  }

  @Test
  void everyJobOfACrashedAndReturnedNodeRuns() {
    StillWorld a = node("a");
    node("b");
    node("c");
    pass(Duration.ofSeconds(3));
    Map<JobId, Integer> ran = new HashMap<>();
    List<JobId> all = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 20; i++) {
        all.add(addDueIn(a, Duration.ofMillis(500L * i)).id());
      }
      passAndRun(Duration.ofSeconds(2), ran);
      kill(a);
      passAndRun(Duration.ofSeconds(1 + 2L * round), ran);
      a = node("a");
      passAndRun(Duration.ofSeconds(5), ran);
    }
    passAndRun(Duration.ofSeconds(30), ran);
    assertThat(ran.keySet()).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void wrongWallClocksLoseNothingAndStartNothingEarly() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    a.skew(Duration.ofSeconds(15));
    b.skew(Duration.ofSeconds(-15));
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(20));
    kill(a);
    long due = a.nowMicros() + Micros.ceil(Duration.ofSeconds(20));
    while (b.nowMicros() < due) {
      assertThat(b.running()).isEmpty();
      pass(STEP);
    }
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).hasSize(1);
    b.finishOne();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void jobThatMayHaveKilledItsNodeIsSuspectedAlsoAfterAHandBack() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    assertThat(a.running()).hasSize(1);
    kill(a);
    NodeOptions options = NodeOptions.of("b", ++incarnations).among(RETURNING);
    StillWorld b = new StillWorld(options, store, false);
    b.pass(passed);
    b.settle();
    running.add(b);
    pass(DEAD_WITHIN);
    assertThat(headOf(job).owner()).as("it cannot run it").isEqualTo(options.incarnation());
    StillWorld again = node("a");
    pass(Duration.ofSeconds(3));
    assertThat(headOf(job).owner()).isEqualTo(incarnations);
    assertThat(again.running()).hasSize(1);
    FoldedJob.UncommonState rare = again.running().getFirst().job().rare;
    assertThat(rare).isNotNull();
    assertThat(rare.markers).as("durable before it starts").isEqualTo(1);
  }

  // ---- what operators order

  private void order(String order, @Nullable String nodeId) {
    Records.Stamp stamp = new Records.Stamp(77, ++orders);
    assertThat(Orders.give(store, order, nodeId, stamp)).isEqualTo(Outcome.ok(true));
  }

  @Test
  void drainedNodeHandsItsShardsOverAndTakesThemBackAfterwards() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef running = addDueIn(a, Duration.ZERO);
    JobRef soon = addDueIn(a, Duration.ofSeconds(20));
    JobRef far = addDueIn(a, Duration.ofHours(30));
    order(Orders.drain("a"), "a");
    pass(Duration.ofSeconds(2));
    assertThat(b.node().members())
        .extracting(MemberState::kind)
        .containsExactly(MemberState.Kind.THERE, MemberState.Kind.DRAINING);
    assertThat(headOf(far).released()).as("nothing of it runs").isTrue();
    assertThat(headOf(running).owner()).as("what runs may end").isEqualTo(1);
    a.finishOne();
    assertThat(stateOf(running)).isEqualTo(JobState.SUCCEEDED);
    pass(Duration.ofSeconds(30));
    assertThat(a.running()).isEmpty();
    assertThat(b.running()).hasSize(1);
    b.finishOne();
    assertThat(stateOf(soon)).isEqualTo(JobState.SUCCEEDED);
    JobRef through = addDueIn(a, Duration.ofSeconds(40));
    pass(Duration.ofSeconds(45));
    assertThat(b.running()).as("scheduled through the drained node").hasSize(1);
    b.finishOne();
    assertThat(stateOf(through)).isEqualTo(JobState.SUCCEEDED);
    order(Orders.drain("a"), null);
    pass(Duration.ofSeconds(30));
    addDueIn(a, Duration.ofSeconds(40));
    pass(Duration.ofSeconds(45));
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void lastNodeKeepsItsShardsThoughItIsDrained() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(5));
    order(Orders.drain("a"), "a");
    pass(Duration.ofSeconds(10));
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void drainedNodeIsDrainedAfterARestartToo() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(30));
    order(Orders.drain("a"), "a");
    stop(a);
    StillWorld again = node("a");
    pass(Duration.ofSeconds(40));
    assertThat(again.running()).isEmpty();
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void shardGoesWhereAnOperatorWantsItAndComesBack() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(40));
    order(Orders.move(job.shard()), "c");
    pass(Duration.ofSeconds(5));
    assertThat(headOf(job).owner()).isEqualTo(3);
    order(Orders.move(job.shard()), "b");
    pass(Duration.ofSeconds(5));
    assertThat(headOf(job).owner()).isEqualTo(2);
    kill(b);
    pass(DEAD_WITHIN.plusSeconds(2));
    assertThat(headOf(job).owner()).as("home, while that node is not there").isEqualTo(1);
    order(Orders.move(job.shard()), null);
    pass(Duration.ofSeconds(45));
    assertThat(a.running()).hasSize(1);
    assertThat(c.running()).isEmpty();
  }

  private static JobSpec namedDueSoon(StillWorld world, String name) {
    return world.named(name, world.nowMicros() + Micros.ceil(Duration.ofSeconds(40)), new byte[0]);
  }

  @Test
  void nameOfAJobThatWasLostCostsAShardNothing() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    a.add(namedAsALostJobOf(a, job));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(2).noneMatch(a::isInterrupted);
  }

  @Test
  void nameOfAJobThatWasLostCostsAnotherNodesShardNothing() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ZERO);
    List<JobRef> added = b.ask(namedAsALostJobOf(b, job));
    pass(Duration.ofSeconds(2));
    assertThat(added).hasSize(1);
    assertThat(a.running()).hasSize(1).noneMatch(a::isInterrupted);
    assertThat(b.running()).hasSize(1);
  }

  /** A job due now whose name has a record that points at one of a later epoch of that shard. */
  private JobSpec namedAsALostJobOf(StillWorld world, JobRef job) {
    JobSpec named = world.named("report", world.nowMicros(), new byte[0]);
    JobRef lost = new JobRef(job.shard(), JobRef.number(headOf(job).epoch() + 1, 1));
    byte[] value = new Names.Value(lost, "", null, 0).encode();
    Records.Stamp stamp = new Records.Stamp(77, 1);
    store
        .records()
        .apply(
            List.of(
                new Records.Change(Names.recordKey(named), Records.Stamp.ABSENT, value, stamp)));
    return named;
  }

  @Test
  void nameIsFreedByTheNextOwnerWhereTheOneThatSawItsJobEndDied() {
    StillWorld a = node("a");
    node("b");
    pass(Duration.ofSeconds(3));
    JobSpec spec = namedDueSoon(a, "report");
    JobRef job = a.add(spec);
    a.hold(NodeEnvironment.Channel.RECORDS);
    a.cancel(job, "no longer wanted", outcome -> {});
    a.settle();
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
    kill(a);
    assertThat(store.records().get(Names.recordKey(spec)).orThrow()).isPresent();
    pass(DEAD_WITHIN.plusMinutes(1));
    assertThat(store.records().get(Names.recordKey(spec)).orThrow()).isEmpty();
  }

  @Test
  void deadLetterThatWasReplayedHasNoNameThoughARecordPointsAtIt() {
    boolean[] refuses = {false};
    Store seldomWritten =
        new FaultyStore(
            store,
            call ->
                refuses[0] && call == ForwardingStore.Operation.RECORDS_APPLY
                    ? FaultyStore.Fault.FAIL_BEFORE
                    : FaultyStore.Fault.NONE);
    StillWorld a = node("a", RETURNING, seldomWritten);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef replayed = a.add(a.named("report", a.nowMicros(), new byte[0]));
    refuses[0] = true; // its name is not freed
    a.giveUpOne();
    assertThat(stateOf(replayed)).isEqualTo(JobState.DEAD);
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    a.node().replay(replayed, "who", null, answers::add);
    a.settle();
    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    List<JobRef> named = b.ask(namedDueSoon(b, "report"));
    pass(Duration.ofSeconds(1)); // a has seen who asks for the job
    refuses[0] = false;
    pass(Duration.ofSeconds(5));
    assertThat(named).hasSize(1).doesNotContain(replayed);
    assertThat(stateOf(replayed)).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void namesOfAShardThatWasGivenBackInOrderAreNotLookedAtAgain() {
    int names = 500;
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef live = a.add(namedDueSoon(a, "live"));
    for (int i = 0; i < names; i++) {
      a.cancel(a.add(namedDueSoon(a, "n" + i)), "no longer wanted", outcome -> {});
    }
    a.settle();
    stop(a);
    int before = b.recordCalls();
    pass(Duration.ofSeconds(20));
    int taking = b.recordCalls() - before;
    assertThat(headOf(live).owner()).isEqualTo(2);
    pass(Duration.ofSeconds(20));
    int idle = b.recordCalls() - before - taking;
    assertThat(taking - idle).isLessThan(names / 2);
  }

  @Test
  void orderToMoveAShardGoesWithTheShard() {
    StillWorld a = node("a");
    node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(40));
    ShardId gone = new ShardId(job.shard().startSeconds(), job.shard().incarnation(), 77);
    order(Orders.move(job.shard()), "b");
    order(Orders.move(gone), "b");
    pass(Duration.ofMinutes(6));
    assertThat(store.records().get(Orders.move(gone)).orThrow()).isEmpty();
    assertThat(store.records().get(Orders.move(job.shard())).orThrow()).isPresent();
  }

  // ---- what operators see

  @Test
  void whoStandsInForWhomIsKnownBeforeAnyDeath() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    StillWorld d = node("d");
    pass(Duration.ofSeconds(3));
    order(Orders.drain("d"), "d");
    pass(Duration.ofSeconds(2));
    Map<Long, Map<String, Integer>> seen = a.node().cluster().assignments();
    assertThat(seen).as("d takes no shards").containsOnlyKeys(1L, 2L, 3L);
    assertThat(seen.get(1L)).containsEntry("b", 64).containsEntry("c", 64).containsKey("d");
    assertThat(seen.get(2L)).containsEntry("a", 64).containsEntry("c", 64).containsKey("d");
    assertThat(seen.values().stream().mapToInt(parts -> parts.get("d")).sum())
        .isEqualTo(ClusterLook.PARTS);
    for (StillWorld asked : List.of(b, c, d)) {
      assertThat(asked.node().cluster().assignments()).isEqualTo(seen);
    }
    kill(a);
    pass(DEAD_WITHIN);
    assertThat(b.node().cluster().assignments().get(2L)).as("as foretold").containsEntry("a", 64);
  }

  private List<TimeSlice> slicesSeenBy(StillWorld world) {
    ClusterLook.Heads heads = ClusterLook.heads(store).orThrow();
    assertThat(heads.complete()).isTrue();
    return world.node().cluster().slices(heads.all());
  }

  @Test
  void shardsAreShownByTimeWithTheirJobs() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(30));
    addDueIn(a, Duration.ofSeconds(30));
    addDueIn(a, Duration.ofDays(100));
    addDueIn(b, Duration.ofDays(100));
    assertThat(slicesSeenBy(a))
        .extracting(TimeSlice::shards, TimeSlice::owned, TimeSlice::pending, TimeSlice::uncounted)
        .containsExactly(tuple(1, 1, 2L, 0), tuple(2, 2, 1L, 1));
    assertThat(slicesSeenBy(b).getFirst().uncounted()).as("a's").isEqualTo(1);
    stop(b);
    TimeSlice far = slicesSeenBy(a).getLast();
    assertThat(far.pending()).as("b wrote down what it had").isEqualTo(2);
    assertThat(far.uncounted()).isZero();
    assertThat(far.free()).isEqualTo(1);
  }

  @Test
  void shardOfADeadNodeIsFreeUntilItIsClaimed() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueIn(b, Duration.ofDays(100));
    kill(b);
    pass(DEAD_WITHIN);
    TimeSlice slice = slicesSeenBy(a).getFirst();
    assertThat(slice.free()).as("far: nobody needs it yet").isEqualTo(1);
    assertThat(slice.shards()).isEqualTo(1);
    List<Head> heads = ClusterLook.heads(store).orThrow().all();
    assertThat(Holdings.of("b", 2, heads)).isEqualTo(new Holdings(1, 1, 0));
    assertThat(Holdings.of("a", 1, heads)).isEqualTo(new Holdings(0, 0, 0));
  }

  @Test
  void lookAtTooManyShardsSaysThatItIsCutOff() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(30));
    addDueIn(a, Duration.ofDays(100));
    ClusterLook.Heads heads = ClusterLook.heads(store, 1).orThrow();
    assertThat(heads.complete()).isFalse();
    assertThat(heads.all()).hasSize(1);
    assertThat(ClusterLook.heads(store, 2).orThrow().complete()).isTrue();
  }

  // ---- clocks

  private static long clockOf(String nodeId, StillWorld asked) {
    return asked.node().members().stream()
        .filter(member -> member.nodeId().equals(nodeId))
        .mapToLong(MemberState::clockMicros)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void clockOfEachMemberIsShownToAll() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    a.skew(Duration.ofSeconds(3));
    b.skew(Duration.ofMillis(-200));
    pass(Duration.ofSeconds(3));
    for (StillWorld asked : List.of(a, b)) {
      assertThat(clockOf("a", asked)).isEqualTo(3_000_000);
      assertThat(clockOf("b", asked)).isEqualTo(-200_000);
    }
    assertThat(b.reports()).isEmpty();
  }

  @Test
  void clockThatIsOffIsReportedOnceUntilItIsRightAgain() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    a.skew(Duration.ofSeconds(2));
    pass(Duration.ofSeconds(10));
    assertThat(a.reports()).singleElement().asString().contains("2.0 s ahead of the store's");
    a.skew(Duration.ofMillis(100));
    pass(Duration.ofSeconds(2));
    a.skew(Duration.ofSeconds(-2));
    pass(Duration.ofSeconds(10));
    assertThat(a.reports()).hasSize(2).last().asString().contains("2.0 s behind the store's");
    assertThat(a.node().held()).isNull();
  }

  @Test
  void nodeStartsNothingWhileItsClockIsFartherOffThanTheLimit() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    a.skew(Duration.ofSeconds(40));
    b.skew(Duration.ofSeconds(-40));
    addDueIn(a, Duration.ZERO);
    addDueIn(b, Duration.ZERO);
    long deadline = a.nowMicros() + Micros.ceil(Duration.ofSeconds(2));
    JobRef expiring = a.add(a.spec(a.nowMicros(), 0, deadline, new byte[0]));
    pass(Duration.ofSeconds(10));
    assertThat(a.running()).isEmpty();
    assertThat(a.node().held()).contains("40.0 s ahead of");
    assertThat(b.node().held()).contains("40.0 s behind");
    assertThat(stateOf(expiring))
        .as("by a clock that is not trusted")
        .isEqualTo(JobState.SCHEDULED);
    a.skew(Duration.ofSeconds(15));
    b.skew(Duration.ofSeconds(15));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).as("due by a clock that has gone back since").isEmpty();
    pass(Duration.ofSeconds(15));
    assertThat(a.running()).hasSize(2);
    assertThat(b.running()).hasSize(1);
    assertThat(a.node().held()).isNull();
  }

  @Test
  void jumpForwardWaitsUntilTheClockHasBeenCompared() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(11));
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    a.skew(Duration.ofSeconds(12));
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).isEmpty();
    assertThat(a.node().held()).contains("jumped");
    a.letGo();
    pass(STEP);
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void smallJumpForwardWaitsForNothing() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(8));
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    a.skew(Duration.ofSeconds(9));
    pass(STEP);
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void schedulingNeverFailsWhileANodeComesAndGoes() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    for (int i = 0; i < 50; i++) {
      StillWorld flapping = node("flapping");
      pass(Duration.ofMillis(300L * (i % 7)));
      for (int j = 0; j < 100; j++) {
        addDueIn(a, Duration.ofSeconds(20 + j)); // throws where it is refused
      }
      kill(flapping);
    }
    pass(Duration.ofSeconds(10));
    assertThat(a.node().stats().addedTotal()).isEqualTo(5000);
  }
}
