package dev.carillon.store.postgres;

import dev.carillon.store.ShardId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Where appends of a shard go, as far as was seen from here. Only hints, so that an append reads
 * nothing: the statement that writes compares them with the head it has locked.
 */
final class Positions {

  private static final int MAX = 100_000;

  private final Map<ShardId, Position> positions = new ConcurrentHashMap<>();

  /** Where the entries of an epoch and generation go. */
  record Position(long epoch, int generation, long segment, int period) {}

  @Nullable Position get(ShardId shard) {
    return positions.get(shard);
  }

  void put(HeadRow row) {
    if (positions.size() >= MAX) {
      positions.clear();
    }
    positions.put(
        row.head().shard(),
        new Position(row.head().epoch(), row.head().generation(), row.segment(), row.period()));
  }

  void remove(ShardId shard) {
    positions.remove(shard);
  }

  void clear() {
    positions.clear();
  }
}
