package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.member.MemberState;
import dev.carillon.engine.member.Orders;
import dev.carillon.store.ShardId;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Operators drain nodes and move shards. */
class OperatorOrdersTest extends ClusterFixture {
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
}
