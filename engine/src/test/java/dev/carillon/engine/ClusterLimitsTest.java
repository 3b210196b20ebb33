package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Concurrency;
import dev.carillon.api.JobState;
import dev.carillon.api.WhenFull;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.limit.Shares;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Queues, keys and limits are those of all nodes together. */
class ClusterLimitsTest extends ClusterFixture {
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
}
