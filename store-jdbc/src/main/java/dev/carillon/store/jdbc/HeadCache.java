package dev.carillon.store.jdbc;

import dev.carillon.store.ShardId;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What an append must know of the shards used last, so that it reads nothing. A copy: the database
 * is the truth, and after any transaction that failed the cache is empty. Guarded by the writer's
 * lock.
 */
final class HeadCache {

  private static final int MAX_SHARDS = 4096;

  private final LinkedHashMap<ShardId, Position> positions =
      new LinkedHashMap<>(MAX_SHARDS, 0.75f, true);

  @Nullable Position get(ShardId shard) {
    return positions.get(shard);
  }

  void put(ShardId shard, Position position) {
    positions.put(shard, position);
  }

  void remove(ShardId shard) {
    positions.remove(shard);
  }

  /** Forgets those not used for longest; not while a group is at work on them. */
  void trim() {
    while (positions.size() > MAX_SHARDS) {
      positions.pollFirstEntry();
    }
  }

  void clear() {
    positions.clear();
  }

  /** Where a shard's journal is and who may extend it. */
  static final class Position {
    final long segment;
    final long epoch;
    final int generation;

    /** What the head's row knows of the tail. */
    long writtenTail;

    /** The last number, with those entries of the group at hand that fit. */
    long tail;

    Position(HeadRow row, long tail) {
      this.segment = row.segment();
      this.epoch = row.head().epoch();
      this.generation = row.head().generation();
      this.writtenTail = row.tail();
      this.tail = tail;
    }
  }
}
