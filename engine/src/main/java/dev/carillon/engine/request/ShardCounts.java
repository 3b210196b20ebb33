package dev.carillon.engine.request;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.shard.Shard;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts the shards of a node by the slice of time that their jobs are due in. From memory. */
public final class ShardCounts {
  /** So many slices; those farthest in the future are left out. */
  private static final int MOST_ROWS = 5_000;

  private ShardCounts() {}

  private record Slice(long startSeconds, int widthSeconds) {}

  private static final class Counts {
    int shards;
    int loaded;
    int coming;
    int going;
    long jobs;
  }

  /**
   * The shards of one slice of time.
   *
   * @param shards how many
   * @param loaded of those, how many have their jobs in memory
   * @param coming of those, how many are being made or claimed
   * @param going of those, how many are being handed to another node
   * @param jobs that have not ended; where a shard is not loaded, those that may not have
   */
  public record Row(
      long startSeconds,
      int widthSeconds,
      int shards,
      int loaded,
      int coming,
      int going,
      long jobs) {}

  static byte[] of(Iterable<Shard> shards) {
    Map<Slice, Counts> all =
        new TreeMap<>(
            Comparator.comparingLong(Slice::startSeconds).thenComparingInt(Slice::widthSeconds));
    for (Shard shard : shards) {
      Slice slice = new Slice(shard.id.startSeconds(), shard.widthSeconds());
      Counts counts = all.computeIfAbsent(slice, each -> new Counts());
      counts.shards++;
      counts.loaded += shard.loaded() ? 1 : 0;
      counts.coming += shard.journal.isAcquiring() ? 1 : 0;
      counts.going += shard.handingBack ? 1 : 0;
      counts.jobs += shard.atMostPending();
    }
    ByteWriter out = new ByteWriter(16 + 16 * all.size());
    out.varint(Math.min(MOST_ROWS, all.size()));
    all.entrySet().stream().limit(MOST_ROWS).forEach(each -> write(each, out));
    return out.toBytes();
  }

  private static void write(Map.Entry<Slice, Counts> each, ByteWriter out) {
    Counts counts = each.getValue();
    out.i64(each.getKey().startSeconds()).varint(each.getKey().widthSeconds());
    out.varint(counts.shards).varint(counts.loaded).varint(counts.coming).varint(counts.going);
    out.varint(counts.jobs);
  }

  static List<Row> decode(ByteReader in) {
    List<Row> rows = new ArrayList<>();
    for (int left = in.length(); left > 0; left--) {
      rows.add(
          new Row(
              in.i64(),
              (int) in.varint(),
              (int) in.varint(),
              (int) in.varint(),
              (int) in.varint(),
              (int) in.varint(),
              in.varint()));
    }
    return List.copyOf(rows);
  }
}
