package dev.carillon.engine.dispatch;

import dev.carillon.api.FailurePolicy;
import dev.carillon.engine.shard.JobPlace;
import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the node knows of one job type: whether its handler is here, its limit, and who waits. */
public final class HandlerSlot implements JobPlace {
  /** The slot of a job's handler; null before the node has taken the job in. */
  public static @Nullable HandlerSlot of(NodeJob job) {
    return (HandlerSlot) job.handler;
  }

  private static final int FIRST_SWEEP = 1024;

  final String type;
  public final Gate gate = new Gate(Gate.OPEN);
  public boolean registered;

  /** What follows a failure of jobs without a policy of their own; null for the namespace's. */
  public @Nullable FailurePolicy policy;

  /** How long attempts of jobs without a timeout of their own may take here; 0 for any time. */
  public long timeoutMicros;

  /** When it was unregistered last; 0 for never. */
  public long wentMicros;

  /** That jobs wait for it was noticed, and told of, and that it cannot decode one was. */
  boolean missingTold;

  boolean missed;
  boolean undecodableTold;

  private int sweepAt = FIRST_SWEEP;

  /** Due jobs without a handler, or whose payload this handler could not decode. */
  private final ArrayDeque<NodeJob> blocked = new ArrayDeque<>();

  /** Due jobs that wait for the gate, by their lanes, and whose turn it is. */
  private final Map<Lane, ReadyLine> limited = new LinkedHashMap<>();

  private final ArrayDeque<Lane> turns = new ArrayDeque<>();

  HandlerSlot(String type) {
    this.type = type;
  }

  /** Whether there is no such handler, nobody waits for it and nothing is set. */
  boolean isIdle() {
    return !registered && policy == null && gate.isIdle() && blocked() == 0 && turns.isEmpty();
  }

  public void set(HandlerSettings settings) {
    gate.limit(settings.limit());
    timeoutMicros = settings.timeoutMicros();
    policy = settings.policy();
  }

  public void block(NodeJob job, NodeJob.Phase why) {
    job.enter(why);
    blocked.add(job);
    if (blocked.size() >= sweepAt) {
      blocked.removeIf(each -> !isBlocked(each));
      sweepAt = Math.max(FIRST_SWEEP, 2 * blocked.size());
    }
  }

  private static boolean isBlocked(NodeJob job) {
    return switch (job.phase()) {
      case NO_HANDLER, UNDECODABLE, DIVERGED, HISTORY_FULL -> true;
      default -> false;
    };
  }

  void limit(NodeJob job, Lane lane) {
    job.enter(NodeJob.Phase.LIMITED);
    ReadyLine line = limited.get(lane);
    if (line == null) {
      line = new ReadyLine();
      limited.put(lane, line);
      turns.add(lane);
    }
    line.add(job);
  }

  /** The job no longer waits for the gate; false where it did not. */
  boolean withdraw(NodeJob job) {
    ReadyLine line = job.lane != null ? limited.get(job.lane) : null;
    return line != null && line.remove(job);
  }

  boolean anyLimited() {
    return !turns.isEmpty();
  }

  /** In how many lanes jobs wait for the gate. */
  int limitedLanes() {
    return turns.size();
  }

  /** How many jobs wait for a handler, or for one that can decode them. */
  long blocked() {
    return blocked.stream().filter(HandlerSlot::isBlocked).count();
  }

  /** How many jobs wait for a handler. */
  long withoutHandler() {
    return blocked.stream().filter(job -> job.phase() == NodeJob.Phase.NO_HANDLER).count();
  }

  /** The jobs that wait for a handler, which wait no longer. */
  List<NodeJob> takeBlocked() {
    List<NodeJob> taken = new ArrayList<>();
    for (NodeJob job : blocked) {
      if (isBlocked(job)) {
        taken.add(job);
      }
    }
    blocked.clear();
    return taken;
  }

  /** Whether any job waits for a handler, perhaps. */
  boolean hasBlocked() {
    return !blocked.isEmpty();
  }

  /** Some of the jobs that wait for a handler, which wait no longer; the first to wait go first. */
  List<NodeJob> takeBlocked(int most) {
    List<NodeJob> taken = new ArrayList<>();
    ArrayDeque<NodeJob> passed = new ArrayDeque<>();
    while (taken.size() < most && !blocked.isEmpty()) {
      NodeJob job = blocked.remove();
      if (job.phase() == NodeJob.Phase.NO_HANDLER) {
        taken.add(job);
      } else if (isBlocked(job)) {
        passed.push(job);
      }
    }
    passed.forEach(blocked::push);
    return taken;
  }

  /** The jobs that could not be decoded, which are tried again. */
  List<NodeJob> takeUndecodable() {
    List<NodeJob> taken = new ArrayList<>();
    for (NodeJob job : blocked) {
      if (job.phase() == NodeJob.Phase.UNDECODABLE) {
        taken.add(job);
      }
    }
    blocked.removeAll(taken);
    return taken;
  }

  /** The next job that waits for the gate, in turn of the lanes; null where none does. */
  @Nullable NodeJob takeLimited() {
    while (true) {
      Lane lane = turns.poll();
      ReadyLine line = lane != null ? limited.get(lane) : null;
      if (lane == null || line == null) {
        return null;
      }
      NodeJob job = line.poll();
      if (line.isEmpty()) {
        limited.remove(lane);
      } else {
        turns.add(lane);
      }
      if (job != null && job.lane == lane && job.isIdle(NodeJob.Phase.LIMITED)) {
        return job; // what is busy ends, or comes back once it is not
      }
    }
  }
}
