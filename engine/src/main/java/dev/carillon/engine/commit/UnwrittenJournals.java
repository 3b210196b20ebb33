package dev.carillon.engine.commit;

import dev.carillon.store.ShardId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The journals whose appends fail, each since when. The store may well write all others meanwhile:
 * a lock or a damaged page concerns one journal. Owned by the loop; empty while the store is well.
 */
final class UnwrittenJournals {
  private static final int MOST = 1_000;
  private static final long SOME_NANOS = 5_000_000_000L;

  private final LongSupplier nanos;
  private final Map<ShardId, Failing> failing = new LinkedHashMap<>();

  private record Failing(long sinceNanos, String detail) {}

  UnwrittenJournals(LongSupplier nanos) {
    this.nanos = nanos;
  }

  void failed(ShardId shard, String detail) {
    Failing known = failing.get(shard);
    if (known != null || failing.size() < MOST) {
      long since = known == null ? nanos.getAsLong() : known.sinceNanos();
      failing.put(shard, new Failing(since, detail));
    }
  }

  /** The journal was written, or is no concern of this node any more. */
  void written(ShardId shard) {
    if (!failing.isEmpty()) {
      failing.remove(shard);
    }
  }

  /** Names the journal that failed first, if that is some time ago; null without one. */
  @Nullable String problem() {
    if (failing.isEmpty()) {
      return null;
    }
    Map.Entry<ShardId, Failing> first = failing.entrySet().iterator().next();
    long failingNanos = nanos.getAsLong() - first.getValue().sinceNanos();
    return failingNanos < SOME_NANOS
        ? null
        : "%d, one of them shard %s for %d s: %s"
            .formatted(
                failing.size(),
                first.getKey(),
                failingNanos / 1_000_000_000,
                first.getValue().detail());
  }
}
