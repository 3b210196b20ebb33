package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.store.Records.Change;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Says of several nodes whether each keeps to what the others may think of it: from the heartbeats
 * that took effect, by virtual time and written from the documents.
 */
final class MemberJudge {
  private static final String PREFIX = "m\0";

  /** The trait of a member that stopped in order. */
  private static final long GONE = 4;

  /** What the clocks of two nodes may be apart after a timeout, and what a turn takes. */
  private static final long SLACK_NANOS = 2 * VirtualClock.MILLI;

  /** How long a node may not know what any read would show. */
  private static final long LATEST_NEWS_NANOS = 60 * VirtualClock.SECOND;

  /** How long the handlers of a node have to stop after it was dead. */
  private static final long STOP_NANOS = 10 * VirtualClock.SECOND;

  private final World world;
  private final Map<Long, Heartbeats> heartbeats = new LinkedHashMap<>();
  private final Map<String, Known> nodes = new LinkedHashMap<>();

  /** What has taken effect of one start of a node. */
  private static final class Heartbeats {
    long sentNanos = Long.MIN_VALUE;
    long effectNanos = Long.MIN_VALUE;

    /** When it was last heard of again after others may have taken it for dead. */
    long revivedNanos = Long.MIN_VALUE;

    /** When it was last heard of again after its handlers had had their time to stop. */
    long overUntilNanos = Long.MIN_VALUE;

    /** It has said goodbye, or its record was deleted: to others it is not there. */
    boolean gone;
  }

  /** Which starts of a node have a record. */
  private static final class Known {
    final Set<Long> recorded = new TreeSet<>();
    long forgottenUntilNanos = Long.MIN_VALUE;
  }

  MemberJudge(World world) {
    this.world = world;
  }

  private Together together() {
    Together together = world.climate.together;
    if (together == null) {
      throw new IllegalStateException("nodes: 1 (expected: more)");
    }
    return together;
  }

  /** A record was put or deleted. */
  void changed(Change change, long sentNanos) {
    if (!change.key().startsWith(PREFIX) || change.key().startsWith(PREFIX + "~")) {
      return;
    }
    long incarnation = Long.parseUnsignedLong(change.key().substring(PREFIX.length()), 16);
    Life life = world.life(incarnation);
    check(life != null, Guarantee.MEMBERS, "a node sends heartbeats that nobody started");
    if (life == null) {
      return;
    }
    long now = world.clock.nanos();
    Heartbeats of = heartbeats.computeIfAbsent(incarnation, i -> new Heartbeats());
    Known node = nodes.computeIfAbsent(world.climate.nodeId(life.nodeIndex), i -> new Known());
    if (change.value() == null) {
      of.gone = true;
      node.recorded.remove(incarnation);
      return;
    }
    if (node.recorded.isEmpty()) {
      node.forgottenUntilNanos = now;
    }
    node.recorded.add(incarnation);
    if (of.gone || now - of.effectNanos >= shortestTimeout()) {
      of.revivedNanos = now;
    }
    if (isOver(of)) {
      of.overUntilNanos = now;
    }
    of.gone = saysGoodbye(change.value(), life);
    of.sentNanos = Math.max(of.sentNanos, sentNanos);
    of.effectNanos = now;
  }

  /** An older copy of the store was put back: who has no record in it is not there to others. */
  void wentBack(Map<String, byte[]> records) {
    long now = world.clock.nanos();
    for (Known node : nodes.values()) {
      node.recorded.clear();
      node.forgottenUntilNanos = now;
    }
    for (Map.Entry<Long, Heartbeats> each : heartbeats.entrySet()) {
      Life life = world.life(each.getKey());
      byte[] value = records.get(PREFIX + Long.toHexString(each.getKey()));
      each.getValue().gone = life == null || value == null || saysGoodbye(value, life);
      Known node = life == null ? null : nodes.get(world.climate.nodeId(life.nodeIndex));
      if (value != null && node != null) {
        node.recorded.add(each.getKey());
      }
    }
  }

  /** Reads a member's record: version, node id, incarnation, heartbeat, traits. */
  private boolean saysGoodbye(byte[] value, Life life) {
    ByteBuffer in = ByteBuffer.wrap(value);
    check(in.get() == 1, Guarantee.HISTORY, "a member's record of another version");
    check(
        JournalFormat.string(in).equals(world.climate.nodeId(life.nodeIndex))
            && in.getLong() == life.incarnation,
        Guarantee.MEMBERS,
        "a heartbeat tells of another node than its key does");
    JournalFormat.varint(in);
    return (JournalFormat.varint(in) & GONE) != 0;
  }

  /** The timeout, as the fastest clock counts it. */
  private long shortestTimeout() {
    return together().timeoutNanos - SLACK_NANOS;
  }

  /** A handler is called: its node must not be one that others may have given up. */
  void called(Execution execution) {
    Heartbeats of = heartbeats.get(execution.incarnation);
    long sent = of == null ? Long.MIN_VALUE : of.sentNanos;
    long deadline = sent + together().timeoutNanos * 9 / 10 + SLACK_NANOS;
    check(
        of != null && world.clock.nanos() <= deadline,
        Guarantee.MEMBERS,
        () ->
            execution
                + " is called "
                + (world.clock.nanos() - sent) / VirtualClock.MILLI
                + " ms after the last heartbeat of its node was sent");
  }

  /**
   * A shard goes from a start of a node that lives to another: when the claim was made the claimer
   * must have been entitled to take it for dead. It need not have heard of a heartbeat that took
   * effect less than half a timeout before.
   */
  void claimed(ModelShard shard, long from) {
    Heartbeats of = heartbeats.get(from);
    if (of == null || of.gone || world.clock.nanos() - of.effectNanos >= shortestTimeout()) {
      return;
    }
    long made = world.writer != null ? world.writtenNanos : of.revivedNanos;
    check(
        made - of.revivedNanos <= together().timeoutNanos / 2 + SLACK_NANOS,
        Guarantee.MEMBERS,
        () ->
            "shard "
                + shard.index
                + " is taken from "
                + name(from)
                + ", which is there and sent a heartbeat "
                + (world.clock.nanos() - of.effectNanos) / VirtualClock.MILLI
                + " ms ago; that was decided "
                + (world.clock.nanos() - made) / VirtualClock.MILLI
                + " ms ago");
    shard.snatchedFrom = from;
    shard.snatchedNanos = world.clock.nanos();
    world.trace.note("snatched", shard.index);
  }

  private String name(long incarnation) {
    Life life = world.life(incarnation);
    return life == null ? "nobody" : world.climate.nodeId(life.nodeIndex);
  }

  /**
   * Whether another node took the shard from the life of that incarnation at the moment when it
   * came back, so recently that it need not have seen that.
   */
  boolean mayNotKnow(ModelShard shard, long incarnation) {
    // One that is far is in no listing until its time comes, with a jump of the clocks at once.
    return shard.owner != incarnation
        && shard.snatchedFrom == incarnation
        && (movedOfLate(shard) || isOfLate(world.clock.jumpedNanos()));
  }

  /** Whether the shard was claimed so recently that who had it before need not know. */
  boolean movedOfLate(ModelShard shard) {
    return isOfLate(shard.claimedNanos);
  }

  private boolean isOfLate(long nanos) {
    return world.clock.nanos() - nanos <= world.climate.horizonNanos() / 4 + LATEST_NEWS_NANOS;
  }

  /** A job is added to a shard: by its home, or by whoever has inherited it. */
  void added(ModelJob job, @Nullable Life writer) {
    String home = job.shard.home;
    if (writer == null || home.equals(world.climate.nodeId(writer.nodeIndex))) {
      return;
    }
    Known node = nodes.get(home);
    check(
        node == null
            || node.recorded.isEmpty()
            || world.clock.nanos() - node.forgottenUntilNanos <= LATEST_NEWS_NANOS,
        Guarantee.MEMBERS,
        () -> job + " is added by node " + writer.nodeIndex + " to a shard of " + home);
  }

  /** Whether its node has interrupted it, or will as soon as it goes on or knows of the other. */
  boolean isToldToStop(Execution execution) {
    Life life = world.life(execution.incarnation);
    return execution.interrupted
        || execution.job.bygone()
        || life == null
        || life.stoodStillSince(world.clock.nanos() - 1)
        || mayNotKnow(execution.job.shard, execution.owner)
        || (execution.isLent() && execution.job.shard.owner != execution.owner);
  }

  /**
   * Whether others may have taken that start of a node for dead since then, for so long that they
   * have what it had of limits.
   */
  boolean mayHaveBeenOver(long incarnation, long sinceNanos) {
    Heartbeats of = heartbeats.get(incarnation);
    return of != null && (of.overUntilNanos >= sinceNanos || isOver(of));
  }

  private boolean isOver(Heartbeats of) {
    long silent = world.clock.nanos() - of.effectNanos;
    return silent >= shortestTimeout() + STOP_NANOS - SLACK_NANOS;
  }

  /**
   * Whether others may have taken that start of a node for dead since shortly before then: what it
   * starts may have lain there for it.
   */
  boolean mayHaveSeemedDead(long incarnation, long thenNanos) {
    long sinceNanos = thenNanos - LATEST_NEWS_NANOS;
    Heartbeats of = heartbeats.get(incarnation);
    return of == null
        || of.gone
        || of.revivedNanos >= sinceNanos
        || world.clock.nanos() - of.effectNanos >= shortestTimeout();
  }
}
