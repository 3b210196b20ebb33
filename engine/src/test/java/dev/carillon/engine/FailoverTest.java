package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node dies, is paused or fenced, and others do its work: once. */
class FailoverTest extends ClusterFixture {
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
}
