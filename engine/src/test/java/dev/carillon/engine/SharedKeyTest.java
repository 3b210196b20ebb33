package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Concurrency;
import dev.carillon.api.JobState;
import dev.carillon.api.Rate;
import dev.carillon.api.WhenFull;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.limit.LimitClaim;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.member.Orders;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Records;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Concurrency keys whose jobs are on several nodes: what becomes of those that are not to wait. */
class SharedKeyTest {
  private static final Concurrency ONE = Concurrency.of("printer");
  private static final Concurrency NEWEST = ONE.whenFull(WhenFull.CANCEL_RUNNING);
  private static final String RECORD = Shares.RECORDS + "c\0" + JobSpec.DEFAULT + "\0printer";
  private static final long ANOTHER_NODE = 77;

  private final StillFleet fleet = new StillFleet(Duration.ofMillis(100));
  private final StillWorld a = fleet.node("a");
  private final StillWorld b = fleet.node("b");

  SharedKeyTest() {
    fleet.pass(Duration.ofSeconds(3));
  }

  /** One under the key that runs on the node. */
  private JobRef running(StillWorld world) {
    JobRef job = world.add(world.under(ONE));
    fleet.pass(Duration.ofSeconds(1));
    assertThat(world.running()).hasSize(1);
    return job;
  }

  @Test
  void keyThatAnotherNodeHasButDoesNotUseIsWaitedFor() {
    running(a);
    a.finishOne();
    JobRef job = b.add(b.under(ONE.whenFull(WhenFull.REJECT)));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SCHEDULED);
    fleet.pass(Duration.ofSeconds(3));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void jobThatIsNotDueAnyMoreIsNotGivenTheKey() {
    StillWorld narrow = fleet.nodeThatLendsNothing("narrow", store -> store);
    fleet.pass(Duration.ofSeconds(3));
    running(narrow);
    narrow.add(narrow.under(ONE)); // waits for the key
    narrow.add(narrow.spec(narrow.nowMicros() - 30_000_000, 0, 0, new byte[0])); // for the slot
    fleet.pass(Duration.ofSeconds(1));
    narrow.skew(Duration.ofSeconds(-20));
    b.skew(Duration.ofSeconds(-20));
    fleet.pass(Duration.ofSeconds(1));
    narrow.finishOne();
    fleet.pass(Duration.ofSeconds(1));
    assertThat(narrow.running()).as("what waited for the slot").hasSize(1);
    b.add(b.under(ONE, b.nowMicros()));
    fleet.pass(Duration.ofSeconds(5));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void keyOfADeadNodeIsWaitedFor() {
    running(a);
    fleet.kill(a);
    JobRef job = b.add(b.under(ONE.whenFull(WhenFull.CANCEL_NEWEST)));
    fleet.pass(Duration.ofSeconds(20));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SCHEDULED);
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void jobThatCameAfterTheAnswerIsJudgedByAnother() {
    Concurrency two = ONE.limit(2).whenFull(WhenFull.REJECT);
    a.add(a.under(two));
    a.add(a.under(two));
    fleet.pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(2);
    JobRef first = b.add(b.under(two));
    fleet.pass(Duration.ofSeconds(2));
    assertThat(fleet.stateOf(first)).isEqualTo(JobState.FAILED);
    a.finishOne();
    JobRef second = b.add(b.under(two));
    fleet.pass(Duration.ofSeconds(2));
    assertThat(b.running()).hasSize(1);
    assertThat(fleet.stateOf(second)).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void newerJobCancelsTheOldestThatRunsOnAnotherNode() {
    Concurrency two = ONE.limit(2).whenFull(WhenFull.CANCEL_RUNNING);
    JobRef oldest = a.add(a.under(two));
    fleet.pass(Duration.ofSeconds(1));
    JobRef middle = b.add(b.under(two));
    fleet.pass(Duration.ofSeconds(1));
    assertThat(List.of(a.running().size(), b.running().size())).containsExactly(1, 1);
    JobRef newest = b.add(b.under(two));
    fleet.pass(Duration.ofSeconds(3));
    assertThat(a.isInterrupted(a.running().getFirst())).isTrue();
    assertThat(b.running()).hasSize(1); // the limit holds until the handler has returned
    assertThat(fleet.stateOf(middle)).isEqualTo(JobState.SCHEDULED);
    a.finishOne(new AttemptOutcome.Interrupted());
    fleet.pass(Duration.ofSeconds(3));
    assertThat(fleet.stateOf(oldest)).isEqualTo(JobState.CANCELLED);
    assertThat(b.running()).hasSize(2);
    assertThat(fleet.stateOf(newest)).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void eachOfSeveralNewerJobsCancelsOne() {
    Concurrency two = ONE.limit(2).whenFull(WhenFull.CANCEL_RUNNING);
    JobRef first = a.add(a.under(two));
    JobRef second = a.add(a.under(two));
    fleet.pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(2);
    b.add(b.under(two));
    b.add(b.under(two));
    fleet.pass(Duration.ofSeconds(8));
    a.finishOne(new AttemptOutcome.Interrupted());
    a.finishOne(new AttemptOutcome.Interrupted());
    fleet.pass(Duration.ofSeconds(3));
    assertThat(fleet.stateOf(first)).isEqualTo(JobState.CANCELLED);
    assertThat(fleet.stateOf(second)).isEqualTo(JobState.CANCELLED);
    assertThat(b.running()).hasSize(2);
  }

  @Test
  void jobThatIsMarkedHoldsNothingInAShardThatGoes() {
    running(a);
    b.add(b.under(ONE, b.nowMicros() - Micros.ceil(Duration.ofSeconds(1))));
    fleet.kill(a); // its job is suspected of that
    fleet.pass(Duration.ofSeconds(30));
    assertThat(b.running()).as("that of b, which is older").hasSize(1);
    b.hold(NodeEnvironment.Channel.CONTROL);
    fleet.node("a");
    fleet.pass(Duration.ofSeconds(2)); // the shard is on its way back
    b.finishOne();
    fleet.pass(Duration.ofSeconds(1));
    assertThat(b.node().running()).isZero();
  }

  @Test
  void nodeThatWasFencedGivesBackNothingThatItUsesAgain() {
    running(a);
    fence(a);
    a.letGo(); // it is among the others again before it has looked at what it has of the limit
    a.add(a.under(ONE));
    b.add(b.under(ONE));
    for (int i = 0; i < 200; i++) {
      fleet.pass(Duration.ofMillis(100));
      assertThat(a.running().size() + b.running().size()).isLessThanOrEqualTo(1);
    }
    assertThat(a.running().size() + b.running().size()).isEqualTo(1);
  }

  @Test
  void answerFromBeforeAFenceIsNoProofThatANodeStillHasWhatHoldsAKey() {
    JobRef old = running(a);
    Concurrency reject = ONE.whenFull(WhenFull.REJECT);
    JobRef later = a.add(a.under(reject, a.nowMicros() + Micros.ceil(Duration.ofHours(5))));
    fence(a);
    a.letGo();
    a.hold(NodeEnvironment.Channel.RECORDS); // it proves its shards, and is not told what is set
    fleet.pass(Duration.ofSeconds(2));
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    fleet.pass(StillFleet.DEAD_WITHIN);
    b.cancel(old, "no", outcome -> {});
    b.settle();
    assertThat(fleet.stateOf(old))
        .as("ended by the one that took it")
        .isEqualTo(JobState.CANCELLED);
    a.reschedule(later, a.nowMicros() + 500_000, outcome -> {});
    a.settle();
    a.letGo();
    a.hold(NodeEnvironment.Channel.READ); // it does not see yet what became of its shards
    fleet.pass(Duration.ofSeconds(1));
    a.letGo();
    fleet.pass(Duration.ofSeconds(5));
    assertThat(fleet.stateOf(later)).isEqualTo(JobState.SCHEDULED);
    assertThat(a.running()).hasSize(1);
  }

  /** Holds its heartbeats until it is fenced, and what runs on it has returned. */
  private void fence(StillWorld world) {
    world.hold(NodeEnvironment.Channel.HEARTBEAT);
    while (!world.isInterrupted(world.running().getFirst())) {
      fleet.pass(Duration.ofMillis(100));
    }
    world.finishOne(new AttemptOutcome.Interrupted());
  }

  @Test
  void nodeThatComesBackAndOneThatThoughtItGoneKeepTheLimit() {
    Concurrency three = ONE.limit(3);
    b.add(b.under(three));
    b.add(b.under(three));
    fleet.pass(Duration.ofSeconds(1));
    a.add(a.under(three));
    fleet.pass(Duration.ofSeconds(20));
    b.finishOne();
    fleet.pass(Duration.ofSeconds(5));
    assertThat(List.of(a.running().size(), b.running().size())).containsExactly(1, 1);
    fleet.pause(a);
    fleet.pass(Duration.ofSeconds(24));
    assertThat(b.running()).hasSize(2); // what ran on a as well
    fleet.resume(a);
    fleet.pass(Duration.ofMillis(100));
    a.finishOne(new AttemptOutcome.Interrupted());
    a.ask(a.under(three));
    for (int i = 0; i < 100 && a.running().isEmpty(); i++) {
      fleet.pass(Duration.ofMillis(100));
    }
    assertThat(a.running()).hasSize(1);
    b.add(b.under(three));
    fleet.pass(Duration.ofMillis(100));
    assertThat(a.running().size() + b.running().size()).isEqualTo(3);
  }

  @Test
  void placeThatANodeDoesNotUseGoesToOneThatNeedsIt() {
    Concurrency three = ONE.limit(3);
    a.add(a.under(three));
    a.add(a.under(three));
    fleet.pass(Duration.ofSeconds(1));
    b.add(b.under(three));
    fleet.pass(Duration.ofSeconds(1));
    a.finishOne();
    b.add(b.under(three));
    fleet.pass(Duration.ofSeconds(10));
    assertThat(List.of(a.running().size(), b.running().size())).containsExactly(1, 2);
  }

  @Test
  void ofTwoNewerJobsTheNewestIsLeft() {
    JobRef running = running(a);
    a.cancel(running, "no", outcome -> {});
    a.settle(); // its handler takes its time
    List<JobRef> older = b.ask(b.under(NEWEST));
    b.pass(Duration.ofMillis(5));
    List<JobRef> newer = b.ask(b.under(NEWEST));
    b.settle();
    fleet.pass(Duration.ofSeconds(3));
    assertThat(List.of(fleet.stateOf(older.getFirst()), fleet.stateOf(newer.getFirst())))
        .containsExactly(JobState.CANCELLED, JobState.SCHEDULED);
  }

  @Test
  void orderIsGivenThoughTheRecordWasChangedBeforeIt() {
    AtomicInteger changes = new AtomicInteger();
    StillWorld c =
        fleet.node(
            "c",
            store ->
                new FaultyStore(
                    store,
                    operation -> {
                      if (operation == ForwardingStore.Operation.RECORDS_APPLY && isAnswered()) {
                        changeRecord(changes);
                      }
                      return FaultyStore.Fault.NONE;
                    }));
    fleet.pass(Duration.ofSeconds(3));
    running(a);
    c.add(c.under(NEWEST));
    fleet.pass(Duration.ofSeconds(10));
    assertThat(changes).hasPositiveValue();
    assertThat(a.isInterrupted(a.running().getFirst())).isTrue();
  }

  private List<LimitClaim> claims() {
    return fleet
        .store()
        .records()
        .get(RECORD)
        .orThrow()
        .map(found -> LimitClaim.decode(found.value()))
        .orElse(List.of());
  }

  /** Whether a question has been answered, and there is no order yet. */
  private boolean isAnswered() {
    List<LimitClaim> claims = claims();
    return claims.stream().anyMatch(claim -> claim.answer().number() > 0)
        && claims.stream().noneMatch(claim -> claim.question().order() != null);
  }

  /** As another node does that takes note of the limit: the claims stay as they are. */
  private void changeRecord(AtomicInteger changes) {
    Records records = fleet.store().records();
    Stored found = records.get(RECORD).orThrow().orElseThrow();
    if (changes.get() < 3) {
      Stamp stamp = new Stamp(ANOTHER_NODE, changes.incrementAndGet());
      records.apply(List.of(new Change(RECORD, found.version(), found.value(), stamp)));
    }
  }

  @Test
  void orderIsFollowedAfterTheRecordWasGone() {
    Concurrency newest = NEWEST.rate(Rate.perSecond(100));
    for (int round = 0; round < 2; round++) {
      a.add(a.under(newest));
      fleet.pass(Duration.ofSeconds(1));
      b.add(b.under(newest));
      fleet.pass(Duration.ofSeconds(3));
      assertThat(a.isInterrupted(a.running().getFirst())).as("round " + round).isTrue();
      a.finishOne(new AttemptOutcome.Interrupted());
      fleet.pass(Duration.ofSeconds(3));
      assertThat(b.running()).hasSize(1);
      b.finishOne();
      fleet.pass(Duration.ofSeconds(20));
      assertThat(claims()).isEmpty();
    }
  }

  @Test
  void orderIsFollowedByANodeThatHasFollowedOthers() {
    a.add(a.under(NEWEST));
    fleet.pass(Duration.ofSeconds(1));
    b.add(b.under(NEWEST));
    fleet.pass(Duration.ofMillis(100));
    a.add(a.under(ONE));
    fleet.pass(Duration.ofSeconds(3));
    a.finishOne(new AttemptOutcome.Interrupted());
    fleet.pass(Duration.ofSeconds(3));
    assertThat(b.running()).hasSize(1);
    b.finishOne();
    fleet.pass(Duration.ofSeconds(3));
    assertThat(a.running()).hasSize(1);
    b.add(b.under(NEWEST));
    fleet.pass(Duration.ofSeconds(10));
    assertThat(a.isInterrupted(a.running().getFirst())).isTrue();
  }

  @Test
  void nodeThatStopsKeepsNoKeyForWhatItDoesNotStart() {
    StillWorld c = fleet.node(1, "c", true);
    fleet.pass(Duration.ofSeconds(3));
    c.add(c.spec(c.nowMicros(), 0, 0, new byte[0])); // has the only slot
    c.ask(c.under(ONE));
    c.settle();
    c.node().beginStop();
    c.settle();
    JobRef job = b.add(b.under(ONE.whenFull(WhenFull.REJECT)));
    fleet.pass(Duration.ofSeconds(10));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SCHEDULED);
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void nodeThatGotAShardIsNotToldOfItsJobByTheOneThatGaveIt() {
    Queue<FaultyStore.Fault> releases = new ArrayDeque<>();
    StillWorld c =
        fleet.nodeThatLendsNothing(
            "c", store -> new FaultyStore(store, call -> fate(call, releases)));
    fleet.pass(Duration.ofSeconds(3));
    Concurrency reject = ONE.whenFull(WhenFull.REJECT);
    JobRef job = c.add(c.under(reject, c.nowMicros() + Micros.ceil(Duration.ofHours(5))));
    running(c);
    c.finishOne(); // and has the key for a while
    c.add(c.spec(c.nowMicros(), 0, 0, new byte[0])); // has the only slot
    c.reschedule(job, c.nowMicros(), outcome -> {});
    c.settle(); // it has the key and waits for a slot
    releases.add(FaultyStore.Fault.APPLY_THEN_TIMEOUT);
    releases.add(FaultyStore.Fault.FAIL_BEFORE);
    String order = Orders.move(job.shard());
    Orders.give(fleet.store(), order, "b", new Stamp(ANOTHER_NODE, 1)).orThrow();
    fleet.pass(Duration.ofSeconds(5));
    assertThat(claims()).as("b asked, and c answered").anyMatch(one -> one.answer().number() > 0);
    releases.clear();
    fleet.pass(Duration.ofSeconds(5));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SCHEDULED);
    assertThat(b.running()).hasSize(1);
  }

  /** The next release takes effect, and whoever asked for it does not hear of that for now. */
  private static FaultyStore.Fault fate(
      ForwardingStore.Operation call, Queue<FaultyStore.Fault> releases) {
    if (call != ForwardingStore.Operation.RELEASE || releases.isEmpty()) {
      return FaultyStore.Fault.NONE;
    }
    return releases.size() > 1 ? releases.remove() : releases.element();
  }

  @Test
  void whoWaitsSeldomLooksAndIsToldAtOnce() {
    for (int i = 0; i < 100; i++) {
      Concurrency customer = Concurrency.of("customer " + i);
      a.add(a.under(customer));
      fleet.pass(Duration.ofMillis(100));
      b.add(b.under(customer));
    }
    fleet.pass(Duration.ofSeconds(60));
    int before = b.recordCalls();
    fleet.pass(Duration.ofSeconds(60));
    assertThat(b.recordCalls() - before).isLessThan(4000); // 30 a key, and what is not of keys
    assertThat(b.running()).isEmpty();
    a.finishOne();
    fleet.pass(Duration.ofMillis(300));
    assertThat(b.running()).hasSize(1);
  }
}
