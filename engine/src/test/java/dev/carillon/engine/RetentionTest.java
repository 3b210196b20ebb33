package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.history.Bucket;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.shard.Retention;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.ShardId;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetentionTest {
  private static final long DEAD_NODE = 5;
  private static final long THIS_NODE = 6;
  private static final long FAR = Long.MAX_VALUE - 1;

  private final MemoryStore store = new MemoryStore();
  private final Summary drained =
      new Summary(3600, 9, 9, true, false, 0, 0, 0, FAR / 2, 100, null, List.of(), false);

  /** A shard that its owner has packed, and has not given back. */
  private ShardId packed(long owner, int number) {
    ShardId shard = new ShardId(100, owner, number);
    byte[] fresh = Summary.fresh(new Bucket(100, 3600)).encode();
    store.journals().create(shard, "node", 0, fresh).orThrow();
    store.journals().seal(shard, 1, fresh).orThrow();
    store.journals().stage(shard, 1, 1, 77, 1, new byte[10]).orThrow();
    store
        .journals()
        .publish(new Publication(shard, 1, 1, 0, 77, 1, FAR, drained.encode()))
        .orThrow();
    return shard;
  }

  @Test
  void packedShardOfANodeThatDiedIsFoundBeforeItsWakeTime() {
    ShardId left = packed(DEAD_NODE, 1);
    packed(THIS_NODE, 2);
    ShardId released = packed(DEAD_NODE, 3);
    store.journals().release(released, 1, 1, drained.encode()).orThrow();

    NodeOptions options = NodeOptions.of("node", THIS_NODE);
    Retention.NotKept found = Retention.notKept(store, options, 1_000).orThrow();

    assertThat(found.over()).extracting(Head::shard).containsExactly(left);
    assertThat(found.history()).isTrue();
  }
}
