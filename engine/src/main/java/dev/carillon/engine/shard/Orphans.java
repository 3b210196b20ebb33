package dev.carillon.engine.shard;

import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Shards that are due and that nobody has, though another node is to look after them: which of them
 * have been so for too long. Such a node has them and cannot read them, say; whoever can may have
 * them then.
 */
public final class Orphans {

  /** A due shard is claimed at once by a node that can, or as soon as its look tells it to. */
  static final long AFTER_NANOS = 60_000_000_000L;

  private static final int MOST = 10_000;

  private final Map<ShardId, Seen> seen = new LinkedHashMap<>();
  private long listing;

  /** That it was so since then, up to that listing. */
  private record Seen(long epoch, long wakeMicros, long sinceNanos, long listing) {
    boolean isOf(Head head) {
      return epoch == head.epoch() && wakeMicros == head.wakeMicros();
    }
  }

  /**
   * Whether nobody has claimed the shard for so long, nor changed its wake time, and each listing
   * meanwhile showed it.
   *
   * @param waits whether it is due, and nobody's
   */
  public boolean isOne(Head head, boolean waits, long nowNanos) {
    if (!waits) {
      seen.remove(head.shard());
      return false;
    }
    Seen before = seen.get(head.shard());
    long since = before != null && before.isOf(head) ? before.sinceNanos() : nowNanos;
    if (before == null && seen.size() >= MOST) {
      seen.clear(); // some wait longer for it
    }
    seen.put(head.shard(), new Seen(head.epoch(), head.wakeMicros(), since, listing));
    return nowNanos - since >= AFTER_NANOS;
  }

  /** A listing is over: what it did not show sleeps, or is gone. */
  public void listed() {
    seen.values().removeIf(shard -> shard.listing() != listing);
    listing++;
  }

  void clear() {
    seen.clear();
  }
}
