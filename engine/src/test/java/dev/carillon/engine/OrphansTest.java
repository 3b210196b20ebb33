package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.shard.Orphans;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.ShardId;
import org.junit.jupiter.api.Test;

class OrphansTest {
  private static final ShardId SHARD = new ShardId(1, 9, 1);
  private static final long SECOND = 1_000_000_000;

  private final MemoryStore store = new MemoryStore();
  private final Orphans orphans = new Orphans();

  OrphansTest() {
    store.journals().create(SHARD, "home", 7, new byte[0]).orThrow();
  }

  private boolean isOne(int seconds) {
    Head head = store.journals().head(SHARD).orThrow();
    boolean is = orphans.isOne(head, true, seconds * SECOND);
    orphans.listed();
    return is;
  }

  @Test
  void shardThatEachListingShowsForAMinuteIsOne() {
    assertThat(isOne(0)).isFalse();
    assertThat(isOne(30)).isFalse();
    assertThat(isOne(59)).isFalse();
    assertThat(isOne(60)).isTrue();
  }

  @Test
  void shardThatSleptMeanwhileIsNone() {
    assertThat(isOne(0)).isFalse();
    orphans.listed(); // it is not due any more
    assertThat(isOne(70)).isFalse();
    assertThat(isOne(130)).isTrue();
  }

  @Test
  void shardThatWasClaimedOrPutToSleepMeanwhileIsNone() {
    assertThat(isOne(0)).isFalse();
    long epoch = store.journals().head(SHARD).orThrow().epoch();
    store.journals().lowerWake(SHARD, epoch, 3).orThrow();
    assertThat(isOne(60)).as("another wake time").isFalse();
    store.journals().claim(SHARD, epoch, 5).orThrow();
    assertThat(isOne(120)).as("another owner").isFalse();
    assertThat(isOne(180)).isTrue();
  }
}
