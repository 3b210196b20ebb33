package dev.carillon.store.jdbc;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What tests write and read: shards of one maker, whose entries follow from their numbers. */
final class Shards {

  static final byte[] NO_WORDS = new byte[0];

  private Shards() {}

  static ShardId id(int sequence) {
    return new ShardId(1_700_000_000L, 77, sequence);
  }

  static ShardId create(SqliteStore store, int sequence) {
    ShardId shard = id(sequence);
    store.journals().create(shard, "home", sequence, NO_WORDS).orThrow();
    return shard;
  }

  static byte[] data(long number, int bytes) {
    byte[] data = new byte[bytes];
    new Random(number).nextBytes(data);
    return data;
  }

  static Append entry(ShardId shard, long number, int bytes) {
    return new Append(shard, 1, 1, number, number * 31 + 1, data(number, bytes));
  }

  static Outcome<Long> append(SqliteStore store, Append append) {
    return store.journals().append(List.of(append), false).getFirst();
  }

  /** Appends entries {@code from} to {@code to}, each on its own. */
  static void fill(SqliteStore store, ShardId shard, long from, long to, int bytes) {
    for (long number = from; number <= to; number++) {
      append(store, entry(shard, number, bytes)).orThrow();
    }
  }

  static List<Entry> read(SqliteStore store, ShardId shard) {
    List<Entry> entries = new ArrayList<>();
    boolean complete = false;
    while (!complete) {
      var page = store.journals().read(shard, 1, entries.size() + 1L, 1 << 20).orThrow();
      entries.addAll(page.entries());
      complete = page.complete();
    }
    return entries;
  }

  static List<Long> numbers(SqliteStore store, ShardId shard) {
    return read(store, shard).stream().map(Entry::number).toList();
  }
}
