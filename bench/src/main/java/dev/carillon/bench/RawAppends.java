package dev.carillon.bench;

import dev.carillon.store.Append;
import dev.carillon.store.Journals;
import dev.carillon.store.ShardId;
import dev.carillon.store.jdbc.SqliteStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What the file can take: entries of the observed size appended through the store's own statements
 * and settings in groups of the observed size, one after the other, and nothing else.
 */
final class RawAppends {
  private static final long INCARNATION = 1;

  private final Journals journals;
  private final SplittableRandom random = new SplittableRandom(1);
  private final List<ShardId> shards = new ArrayList<>();
  private final long[] tails;
  private final byte[] data;

  RawAppends(SqliteStore store, RawShape shape) {
    this.journals = store.journals();
    this.tails = new long[shape.entries()];
    this.data = new byte[shape.entryBytes()];
    random.nextBytes(data);
    for (int i = 1; i <= shape.entries(); i++) {
      ShardId shard = new ShardId(0, INCARNATION, i);
      journals.create(shard, "raw", 0, new byte[0]).orThrow();
      shards.add(shard);
    }
  }

  /** Appends for a while and returns bytes a second. */
  double bytesPerSecond(int warmupSeconds, int seconds) {
    during(warmupSeconds);
    return during(seconds);
  }

  private double during(int seconds) {
    long start = System.nanoTime();
    long until = start + seconds * 1_000_000_000L;
    long bytes = 0;
    while (System.nanoTime() < until) {
      appendGroup();
      bytes += (long) data.length * tails.length;
    }
    return bytes * 1e9 / Math.max(1, System.nanoTime() - start);
  }

  private void appendGroup() {
    List<Append> group = new ArrayList<>(tails.length);
    for (int i = 0; i < tails.length; i++) {
      byte[] own = Arrays.copyOf(data, data.length);
      group.add(new Append(shards.get(i), 1, 1, ++tails[i], random.nextLong() | 1, own));
    }
    journals.append(group, false).forEach(outcome -> outcome.orThrow());
  }
}
