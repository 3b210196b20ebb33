package dev.carillon;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What nodes measured in one interval of time. Sums are added up; of what is there at a moment the
 * most is kept. Its owner guards it.
 *
 * <pre>
 * at, seconds, started, ended, failed, dead, ready, running, blocked, pending   varints
 * queues   varint, each: string, then varint: each byte bucket, varint count
 * </pre>
 */
final class PastSlot {
  /** Of lateness: one for each bound, and one for what is longer. */
  static final int BUCKETS = Spread.bounds().size() + 1;

  /** So many queues are told apart in an interval, those that started most; the rest is one. */
  static final int MOST_QUEUES = 8;

  static final String OTHERS = dev.carillon.api.Metrics.OTHERS;

  /** The second at which it begins. */
  final long at;

  /** For how long the sums were gathered. */
  int seconds;

  /** How many nodes told. */
  int nodes;

  long started;
  long ended;
  long failed;
  long dead;
  long ready;
  long running;
  long blocked;
  long pending;
  final Map<String, int[]> lateness = new HashMap<>();

  PastSlot(long at) {
    this.at = at;
  }

  /** Adds a shorter interval of the same node. */
  void lengthen(PastSlot next) {
    seconds += next.seconds;
    nodes = Math.max(nodes, next.nodes);
    ready = Math.max(ready, next.ready);
    running = Math.max(running, next.running);
    blocked = Math.max(blocked, next.blocked);
    pending = Math.max(pending, next.pending);
    addSums(next);
  }

  /** Adds the same interval of another node. */
  void widen(PastSlot other) {
    seconds = Math.max(seconds, other.seconds);
    nodes += other.nodes;
    ready += other.ready;
    running += other.running;
    blocked += other.blocked;
    pending += other.pending;
    addSums(other);
  }

  private void addSums(PastSlot other) {
    started += other.started;
    ended += other.ended;
    failed += other.failed;
    dead += other.dead;
    other.lateness.forEach(this::addLateness);
  }

  void addLateness(String queue, int[] counts) {
    int[] sums = lateness.computeIfAbsent(queue, name -> new int[BUCKETS]);
    for (int i = 0; i < BUCKETS; i++) {
      sums[i] += counts[i];
    }
  }

  /** Puts all but the queues that started most into one. */
  void keepFew() {
    if (lateness.size() <= MOST_QUEUES) {
      return;
    }
    List<String> rest =
        lateness.entrySet().stream()
            .filter(each -> !each.getKey().equals(OTHERS))
            .sorted(
                Comparator.<Map.Entry<String, int[]>>comparingLong(each -> -sum(each.getValue()))
                    .thenComparing(Map.Entry::getKey))
            .skip(MOST_QUEUES)
            .map(Map.Entry::getKey)
            .toList();
    for (String queue : rest) {
      int[] counts = lateness.remove(queue);
      if (counts != null) {
        addLateness(OTHERS, counts);
      }
    }
  }

  private static long sum(int[] counts) {
    long sum = 0;
    for (int count : counts) {
      sum += count;
    }
    return sum;
  }

  byte[] encode() {
    ByteWriter out = new ByteWriter(64).varint(at).varint(seconds);
    out.varint(started).varint(ended).varint(failed).varint(dead);
    out.varint(ready).varint(running).varint(blocked).varint(pending).varint(lateness.size());
    new TreeMap<>(lateness)
        .forEach(
            (queue, counts) -> {
              int buckets = 0;
              for (int count : counts) {
                buckets += count > 0 ? 1 : 0;
              }
              out.string(queue).varint(buckets);
              for (int i = 0; i < BUCKETS; i++) {
                if (counts[i] > 0) {
                  out.u8(i).varint(counts[i]);
                }
              }
            });
    return out.toBytes();
  }

  static PastSlot decode(ByteReader in) {
    PastSlot slot = new PastSlot(in.varint());
    slot.nodes = 1;
    slot.seconds = (int) in.varint();
    slot.started = in.varint();
    slot.ended = in.varint();
    slot.failed = in.varint();
    slot.dead = in.varint();
    slot.ready = in.varint();
    slot.running = in.varint();
    slot.blocked = in.varint();
    slot.pending = in.varint();
    for (long queues = in.varint(); queues > 0; queues--) {
      String queue = in.string();
      int[] counts = new int[BUCKETS];
      for (long buckets = in.varint(); buckets > 0; buckets--) {
        int bucket = in.u8();
        int count = (int) in.varint();
        counts[Math.min(bucket, BUCKETS - 1)] += count; // of a later version with more bounds
      }
      slot.addLateness(queue, counts);
    }
    return slot;
  }
}
