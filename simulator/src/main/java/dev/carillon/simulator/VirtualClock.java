package dev.carillon.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Virtual time, which the event queue moves, and the clocks of all nodes, which run beside it. What
 * is asked of it about wall clocks is true of some node: checks that need a certain one ask that
 * node's {@link NodeClock}.
 */
final class VirtualClock {
  static final long SECOND = 1_000_000_000L;
  static final long MILLI = 1_000_000L;
  static final long MICRO = 1_000L;

  private final List<NodeClock> nodes = new ArrayList<>();
  private final NodeClock store;
  private long nanos;
  private long jumpedNanos;

  /** The clocks of a seed of such a climate. */
  VirtualClock(Climate climate) {
    IntStream.range(0, climate.nodes)
        .forEach(i -> nodes.add(new NodeClock(this, climate.firstWall(i), climate.drift(i))));
    store = new NodeClock(this, climate.firstWall(), 0);
  }

  /** What has passed since the beginning. */
  long nanos() {
    return nanos;
  }

  /** The clocks of a node. */
  NodeClock of(int node) {
    return nodes.get(node);
  }

  /** The clock of the store, which jumps only with those of all nodes. */
  NodeClock store() {
    return store;
  }

  /** What users take for the time: what the first node does. */
  long wallMicros() {
    return nodes.getFirst().wallMicros();
  }

  /** The time of the node that is ahead of the others. */
  long latestWallMicros() {
    long latest = Long.MIN_VALUE;
    for (NodeClock node : nodes) { // asked for often
      latest = Math.max(latest, node.wallMicros());
    }
    return latest;
  }

  /** The highest time that any wall clock showed from {@code sinceNanos} until now. */
  long highestWallSince(long sinceNanos) {
    long highest = Long.MIN_VALUE;
    for (NodeClock node : nodes) {
      highest = Math.max(highest, node.highestWallSince(sinceNanos));
    }
    return highest;
  }

  /** How often wall clocks jumped back. */
  int jumpsBack() {
    return nodes.stream().mapToInt(NodeClock::jumpsBack).sum();
  }

  /** Whether a wall clock has jumped back since then. */
  boolean jumpedBackSince(long sinceNanos) {
    return nodes.stream().anyMatch(node -> node.jumpedBackSince(sinceNanos));
  }

  /** When all wall clocks will have shown {@code wallMicros}, if none jumps. */
  long nanosAtWall(long wallMicros) {
    long latest = Long.MIN_VALUE;
    for (NodeClock node : nodes) {
      latest = Math.max(latest, node.nanosAtWall(wallMicros));
    }
    return latest;
  }

  void moveTo(long newNanos) {
    if (newNanos < nanos) {
      throw new IllegalStateException("time: " + newNanos + " (expected: at least " + nanos + ")");
    }
    nanos = newNanos;
  }

  /** All wall clocks jump alike, either way. */
  void jump(long micros) {
    jumpedNanos = nanos;
    nodes.forEach(node -> node.jump(micros));
    store.jump(micros);
  }

  /** When all wall clocks last jumped. */
  long jumpedNanos() {
    return jumpedNanos;
  }
}
