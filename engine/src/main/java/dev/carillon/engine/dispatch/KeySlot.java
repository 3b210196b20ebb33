package dev.carillon.engine.dispatch;

import dev.carillon.api.Concurrency;
import dev.carillon.engine.limit.Share;
import dev.carillon.engine.limit.TokenBucket;
import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A concurrency key: the jobs and attempts that hold it, and the jobs that wait for it. A job holds
 * it while it stands in its lane. The grant of an attempt holds it from the start until the handler
 * has returned and the outcome is durable.
 */
public final class KeySlot {
  final String namespace;
  final String key;

  /** In the order in which they got it. */
  private final Set<Holder> holders = new LinkedHashSet<>();

  private int attempts;

  /** Workflows that wait and had it on another node: they get it before others. */
  private final Set<NodeJob> claims = new LinkedHashSet<>(0);

  private final ReadyLine line = new ReadyLine();

  /**
   * Those that are not to wait, where it is not known yet whether other nodes use the key: for the
   * first the others have been asked, for the second they are to be.
   */
  private final Set<NodeJob> asked = new LinkedHashSet<>();

  private final Set<NodeJob> doubtful = new LinkedHashSet<>();

  /** How often attempts may start; null for as often as they come. */
  @Nullable TokenBucket bucket;

  /** What this node has of its limit; null where it has the store to itself. */
  @Nullable Share share;

  /** A job in its lane, or the grant of an attempt. */
  sealed interface Holder permits InLane, Grant {
    NodeJob job();

    /** Whether an attempt of the job was started. */
    default boolean isStarted() {
      return false;
    }

    /** Whether its handler goes on though the attempt is over: nobody can make it leave. */
    default boolean isHung() {
      return false;
    }

    /** When its attempt started; 0 where none has. */
    default long startedMicros() {
      return 0;
    }

    /** Whether its attempt is over or was told to stop. */
    default boolean isEnding() {
      return false;
    }
  }

  /** A job that has the key and waits for its start. */
  private record InLane(NodeJob job) implements Holder {}

  public KeySlot(String namespace, String key) {
    this.namespace = namespace;
    this.key = key;
  }

  /** Whether the job, which has not started, has it. */
  public boolean isHeldBy(NodeJob job) {
    return holders.contains(new InLane(job));
  }

  public void hold(NodeJob job) {
    holders.add(new InLane(job));
  }

  /** The job, which waits for something else, wants it again. */
  void claim(NodeJob job) {
    claims.add(job);
  }

  /** It has it, or wants it no more; false where it did not. */
  boolean unclaim(NodeJob job) {
    return claims.remove(job);
  }

  int claims() {
    return claims.size();
  }

  @Nullable NodeJob firstClaim() {
    return claims.isEmpty() ? null : claims.iterator().next();
  }

  /** The job gives it back; false where it did not have it. */
  boolean release(NodeJob job) {
    return holders.remove(new InLane(job));
  }

  /** All jobs that have not started give it back; whether there were any. */
  public boolean releaseJobs() {
    return holders.removeIf(holder -> !holder.isStarted());
  }

  /** The grant of an attempt takes the place of its job. */
  public void start(Grant grant) {
    release(grant.job());
    if (holders.add(grant)) {
      attempts++;
    }
  }

  public void end(Grant grant) {
    if (holders.remove(grant)) {
      attempts--;
    }
  }

  /** Whether a handler of the job has it that goes on after its timeout, or after a replay. */
  public boolean isHeldByAttemptOf(NodeJob job) {
    for (Holder holder : holders) {
      if (holder.isStarted() && isSame(holder.job(), job)) {
        return true;
      }
    }
    return false;
  }

  /** A dead letter that is replayed is another object than the one that its attempts know. */
  private static boolean isSame(NodeJob job, NodeJob other) {
    return job.number == other.number && job.shard == other.shard;
  }

  /** How many handlers go on though their attempts are over: nobody can make them leave. */
  int hung() {
    int hung = 0;
    for (Holder holder : holders) {
      hung += holder.isHung() ? 1 : 0;
    }
    return hung;
  }

  /** How many of those that hold it are attempts. */
  public int attempts() {
    return attempts;
  }

  /** Whether a job in its lane has it, other than this one. */
  boolean isHeldByJobBesides(NodeJob job) {
    return holders.size() - attempts > (isHeldBy(job) ? 1 : 0);
  }

  public int held() {
    return holders.size();
  }

  /** The same without jobs whose shard is on its way to another node, which may have it. */
  int heldFirmly() {
    int firmly = 0;
    for (Holder holder : holders) {
      firmly += !holder.isStarted() && isLeaving(holder.job()) ? 0 : 1;
    }
    return firmly;
  }

  private static boolean isLeaving(NodeJob job) {
    return job.shard != null && !job.shard.owned();
  }

  /** Who holds it, in the order in which they got it. */
  Iterable<Holder> holders() {
    return holders;
  }

  /** The first that waits, if it still does; lets go of none. */
  @Nullable NodeJob peek() {
    NodeJob first = line.peek();
    return first != null && isWaiting(first) ? first : null;
  }

  /** How many wait for it, at most. */
  int waiting() {
    return line.size();
  }

  /** The job waits for the key. */
  void await(NodeJob job) {
    job.enter(NodeJob.Phase.LIMITED);
    line.add(job);
  }

  void forget(NodeJob job) {
    line.remove(job);
    know(job);
  }

  // ---- whether others use it

  /** The job, which waits, is not to if others use the key. */
  void doubt(NodeJob job) {
    if (!asked.contains(job)) {
      doubtful.add(job);
    }
  }

  /** The job no longer depends on what others say. */
  private void know(NodeJob job) {
    asked.remove(job);
    doubtful.remove(job);
  }

  /** Whether some do not know yet whether others use the key. */
  boolean doubts() {
    asked.removeIf(job -> !isWaiting(job));
    doubtful.removeIf(job -> !isWaiting(job));
    return !asked.isEmpty() || !doubtful.isEmpty();
  }

  /** The others are asked now, for all who doubt. */
  void asking() {
    asked.addAll(doubtful);
    doubtful.clear();
  }

  /** Those for whom the others were asked. */
  List<NodeJob> asked() {
    doubts();
    return new ArrayList<>(asked);
  }

  /** Whether the others were asked for the job, and it still waits. */
  boolean isAsked(NodeJob job) {
    return asked.contains(job) && isWaiting(job);
  }

  /** What it is to know is known; where {@code again}, the others are to be asked once more. */
  void judged(NodeJob job, boolean again) {
    know(job);
    if (again) {
      doubtful.add(job);
    }
  }

  /** The first that waits; null where none does. Those that no longer do are let go. */
  @Nullable NodeJob first() {
    while (true) {
      NodeJob first = line.peek();
      if (first == null || isWaiting(first)) {
        return first;
      }
      line.poll();
    }
  }

  private boolean isWaiting(NodeJob job) {
    Concurrency concurrency = job.concurrency();
    return job.isIdle(NodeJob.Phase.LIMITED)
        && concurrency != null
        && concurrency.key().equals(key);
  }

  @Nullable NodeJob poll() {
    NodeJob first = first();
    if (first != null) {
      line.poll();
      know(first);
    }
    return first;
  }

  /** Adds those to {@code later} that have it or wait for it and are due after that time. */
  void dueAfter(long micros, List<NodeJob> later) {
    line.forEach(
        job -> {
          if (isWaiting(job) && job.dueMicros > micros) {
            later.add(job);
          }
        });
    for (Holder holder : holders) { // after those to whom it would be given else
      NodeJob job = holder.job();
      boolean waits = job.isWaiting() || job.isPaused(); // a workflow keeps its key
      if (!holder.isStarted() && !waits && job.busy == 0 && job.dueMicros > micros) {
        later.add(job);
      }
    }
  }

  /** Takes out all that wait, first come first. */
  List<NodeJob> pollAll() {
    List<NodeJob> all = new ArrayList<>();
    for (NodeJob job = poll(); job != null; job = poll()) {
      all.add(job);
    }
    return all;
  }

  /**
   * Those that run or may, without those that are over or asked to stop, then those that wait;
   * oldest first.
   */
  public List<NodeJob> contenders() {
    return contenders(job -> true);
  }

  /** The same without those that wait and are newer than the job, and without itself. */
  List<NodeJob> contendersBefore(NodeJob job) {
    return contenders(other -> isOlder(other, job));
  }

  private static boolean isOlder(NodeJob job, NodeJob than) {
    return job.dueMicros != than.dueMicros
        ? job.dueMicros < than.dueMicros
        : job.number < than.number;
  }

  private List<NodeJob> contenders(Predicate<NodeJob> counts) {
    List<NodeJob> all = new ArrayList<>();
    for (Holder holder : holders) {
      NodeJob job = holder.job();
      // A job that has left with its shard is the next owner's, and what is asked of it goes there.
      if (!holder.isEnding() && !job.cancelRequested() && !isLeaving(job)) {
        all.add(job);
      }
    }
    line.forEach(
        job -> {
          if (isWaiting(job) && !isLeaving(job) && counts.test(job)) {
            all.add(job);
          }
        });
    return all;
  }

  public boolean isIdle() {
    return holders.isEmpty() && line.isEmpty() && claims.isEmpty();
  }
}
