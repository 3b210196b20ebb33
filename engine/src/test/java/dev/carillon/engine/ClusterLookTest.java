package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.member.Holdings;
import dev.carillon.engine.member.Orders;
import dev.carillon.engine.member.TimeSlice;
import dev.carillon.store.Head;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Operators see members, shards by time, and who stands in for whom. */
class ClusterLookTest extends ClusterFixture {
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
}
