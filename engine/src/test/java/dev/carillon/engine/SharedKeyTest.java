package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Concurrency;
import dev.carillon.api.JobState;
import dev.carillon.api.WhenFull;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Concurrency keys whose jobs are on several nodes: what becomes of those that are not to wait. */
class SharedKeyTest {
  private static final Concurrency ONE = Concurrency.of("printer");

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
  void nodeThatWasFencedGivesBackNothingThatItUsesAgain() {
    running(a);
    a.hold(NodeEnvironment.Channel.BEAT);
    while (!a.isInterrupted(a.running().getFirst())) {
      fleet.pass(Duration.ofMillis(100));
    }
    a.finishOne(new AttemptOutcome.Interrupted());
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
}
