package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A node that returns gets its shards back; nothing of them is lost or runs twice. */
class HandBackTest extends ClusterFixture {
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
  void orphanGoesHomeOnceItsJobsHaveEnded() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofDays(60));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    a.reschedule(job, a.nowMicros() + 10_000_000, answers::add);
    a.settle();
    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    kill(a);
    StillWorld again = node("a");
    again.hold(NodeEnvironment.Channel.CONTROL); // it is there and claims nothing
    pass(Duration.ofSeconds(60));
    assertThat(b.running()).as("its home may still take it").isEmpty();
    pass(Duration.ofSeconds(20));
    assertThat(b.running()).as("an orphan").hasSize(1);
    b.finishOne();
    again.letGo();
    pass(Duration.ofMinutes(2));
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    assertThat(headOf(job).released()).isTrue();
    assertThat(headOf(job).status()).as("its days are to come").isEqualTo(Head.Status.OPEN);
  }
}
