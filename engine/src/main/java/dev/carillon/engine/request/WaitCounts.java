package dev.carillon.engine.request;

import dev.carillon.api.JobId;
import dev.carillon.api.WaitReason;
import dev.carillon.engine.dispatch.DispatchLook;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.life.DueWalk;
import dev.carillon.engine.life.Occurrences;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Question;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Counts the due jobs of a node that do not run, by namespace, queue and the reason that keeps each
 * of them first. Looks at one shard a turn, so that the loop is never held for long; what is the
 * same for all jobs of a lane is found out once.
 */
public final class WaitCounts {
  /** So many rows; further queues are left out. */
  private static final int MOST_ROWS = 1_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final MemberStatus status;
  private final DispatchLook dispatch;
  private final Question.Waiting asked;
  private final Map<Key, long[]> found = new LinkedHashMap<>();
  private final Map<Key, JobId> examples = new LinkedHashMap<>();
  private final Map<Lane, WaitReason> lanes = new LinkedHashMap<>();
  private final Consumer<byte[]> answer;

  private record Key(String namespace, String queue, WaitReason reason) {}

  /**
   * Jobs that the same keeps.
   *
   * @param oldestDueMicros when the first of them was due
   * @param example that one
   */
  public record Row(
      String namespace,
      String queue,
      WaitReason reason,
      long jobs,
      long oldestDueMicros,
      JobId example) {}

  WaitCounts(
      NodeEnvironment env,
      Timers timers,
      MemberStatus status,
      DispatchLook dispatch,
      Question.Waiting asked,
      Consumer<byte[]> answer) {
    this.env = env;
    this.timers = timers;
    this.status = status;
    this.dispatch = dispatch;
    this.asked = asked;
    this.answer = answer;
  }

  void of(Iterable<Shard> all) {
    DueWalk.over(all, env, timers, this::look, () -> answer.accept(encode()));
  }

  private void look(NodeJob job) {
    boolean asksFor =
        (asked.namespace() == null || asked.namespace().equals(job.namespace))
            && (asked.queue() == null || asked.queue().equals(job.queue));
    if (!asksFor) {
      return;
    }
    Key key = new Key(job.namespace, job.queue, reason(job));
    long[] seen = found.get(key);
    if (seen == null) {
      if (found.size() == MOST_ROWS) {
        return;
      }
      seen = new long[] {0, Long.MAX_VALUE};
      found.put(key, seen);
    }
    seen[0]++;
    if (job.dueMicros < seen[1]) {
      seen[1] = job.dueMicros;
      examples.put(key, job.shard().ref(job.number).id());
    }
  }

  private WaitReason reason(NodeJob job) {
    return switch (job.phase()) {
      case PAUSED -> WaitReason.PAUSED;
      case NO_HANDLER -> WaitReason.NO_HANDLER;
      case UNDECODABLE, DIVERGED -> WaitReason.UNFIT;
      case DEPENDENCY -> WaitReason.DEPENDENCY;
      case LIMITED -> limited(job);
      case HISTORY_FULL -> WaitReason.LIMIT;
      case READY -> ready(job);
      case SCHEDULED, RUNNING, GONE -> status.mayStart() ? WaitReason.TURN : WaitReason.NODE;
    };
  }

  private static WaitReason limited(NodeJob job) {
    if (job.isOccurrence() && Occurrences.mustWait(job)) {
      return WaitReason.OVERLAP;
    }
    return job.concurrency() != null ? WaitReason.KEY : WaitReason.LIMIT;
  }

  private WaitReason ready(NodeJob job) {
    if (!job.shard().stays()) {
      return WaitReason.SHARD;
    }
    if (job.busy > 0 || job.isStripped()) {
      return WaitReason.STORE;
    }
    Lane lane = Lane.of(job);
    if (lane == null) {
      return WaitReason.TURN;
    }
    WaitReason known = lanes.get(lane);
    if (known == null) {
      known = status.mayStart() ? dispatch.of(lane) : WaitReason.NODE;
      lanes.put(lane, known);
    }
    return known;
  }

  private byte[] encode() {
    ByteWriter out = new ByteWriter(64 + 64 * found.size()).varint(found.size());
    found.forEach(
        (key, seen) -> {
          JobId example = examples.get(key);
          out.string(key.namespace()).string(key.queue()).u8(key.reason().code());
          out.varint(seen[0]).i64(seen[1]).string(example != null ? example.value() : "");
        });
    return out.toBytes();
  }

  static List<Row> decode(ByteReader in) {
    List<Row> rows = new ArrayList<>();
    for (int left = in.length(); left > 0; left--) {
      rows.add(
          new Row(
              in.string(),
              in.string(),
              WaitReason.ofCode(in.u8()),
              in.varint(),
              in.i64(),
              new JobId(in.string())));
    }
    return List.copyOf(rows);
  }
}
