package dev.carillon.engine.dispatch;

import dev.carillon.api.JobMeter;
import dev.carillon.engine.shard.JobPlace;
import dev.carillon.engine.shard.NodeJob;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The due jobs of one namespace and queue, by priority, then due time. Work that is overdue by more
 * than a few seconds stands in a part of its own that gets at most every other turn, so that a
 * backlog does not delay what has just become due.
 */
public final class Lane implements JobPlace {
  public final String namespace;
  public final String queue;
  public final Gate namespaceGate;
  public final Gate queueGate;

  /** Whether it stands in the dispatcher's ring. */
  boolean active;

  /** Attempts under way, also those whose outcome is not durable yet. */
  public int underWay;

  /** Attempts that were ever granted, and how many there were when its pace was looked at. */
  long starts;

  private long sampledStarts;
  private long sampledNanos = Long.MIN_VALUE;

  /** The meters of its jobs by type, and that of the job before. */
  final Map<String, JobMeter> meters = new LinkedHashMap<>(2);

  @Nullable JobMeter lastMeter;
  @Nullable String lastMeterType;

  private final ReadyLine fresh = new ReadyLine();
  private final LateLine late;
  private boolean lateHadTurn;

  Lane(String namespace, String queue, Dispatcher dispatcher) {
    this.namespace = namespace;
    this.queue = queue;
    this.namespaceGate = dispatcher.namespace(namespace);
    this.queueGate = dispatcher.queue(queue);
    this.late = new LateLine(dispatcher.payloads());
  }

  /** The lane of a job; null before the node has taken it in. */
  public static @Nullable Lane of(NodeJob job) {
    return (Lane) job.lane;
  }

  void add(NodeJob job, boolean overdue) {
    if (overdue) {
      late.add(job);
    } else {
      fresh.add(job);
    }
  }

  boolean remove(NodeJob job) {
    return fresh.remove(job) || late.remove(job);
  }

  /** The body of an overdue job that left its line for it is here. */
  void fetched(NodeJob job) {
    late.fetched(job);
  }

  /** An overdue job that left its line for its body has no place in it any more. */
  void gaveUp(NodeJob job) {
    late.gaveUp(job);
  }

  /** Lets overdue jobs come forward; how many left the line until their body is here. */
  int refill() {
    return late.refill(this);
  }

  /** Whether nothing can be taken from it now. */
  boolean isEmpty() {
    return fresh.isEmpty() && late.isEmpty();
  }

  /** Whether nothing stands in it or is under way. */
  public boolean isIdle() {
    return isEmpty() && !active && underWay == 0;
  }

  /** Why nothing of it starts; null where something may. */
  public @Nullable String paused() {
    return namespaceGate.paused != null ? namespaceGate.paused : queueGate.paused;
  }

  /** How many stand in it. */
  int standing() {
    return fresh.size() + late.size();
  }

  /** How many stand before the job, of the first {@code most} that are looked at. */
  int before(NodeJob job, int most) {
    return fresh.before(job, most) + late.before(job, Math.max(0, most - fresh.size()));
  }

  /**
   * How many start in a second, since somebody asked last; 0 where that was never, or just now.
   *
   * @param leastNanos for a shorter time there is no pace
   */
  double pace(long nowNanos, long leastNanos) {
    long took = sampledNanos == Long.MIN_VALUE ? 0 : nowNanos - sampledNanos;
    double pace = took >= leastNanos ? (starts - sampledStarts) * 1e9 / took : 0;
    if (sampledNanos == Long.MIN_VALUE || took >= 16 * leastNanos) {
      sampledNanos = nowNanos;
      sampledStarts = starts;
    }
    return pace;
  }

  void forEach(Consumer<NodeJob> action) {
    fresh.forEach(action);
    late.forEach(action);
  }

  /** Both are looked at in this order everywhere, so that nobody waits in a circle. */
  boolean hasRoom() {
    NodeJob first = fresh.peek();
    NodeJob overdue = late.peek();
    long since = Math.min(dueMicros(first), dueMicros(overdue));
    if (paused() != null) {
      return false;
    }
    if (goesOn(isLateTurn() ? overdue : first)) {
      return namespaceGate.hasPlace(since) && queueGate.hasPlace(since);
    }
    return namespaceGate.hasRoom(since) && queueGate.hasRoom(since);
  }

  /** Whether attempts of it start only so often. */
  boolean hasRate() {
    return namespaceGate.bucket() != null || queueGate.bucket() != null;
  }

  /** Whether it is a workflow whose wait is over: it has started before. */
  private static boolean goesOn(@Nullable NodeJob next) {
    return next != null && next.isWaiting();
  }

  /** Whether only so many of its namespace or queue run at once. */
  boolean isLimited() {
    return namespaceGate.isLimited() || queueGate.isLimited();
  }

  private static long dueMicros(@Nullable NodeJob job) {
    return job != null ? job.dueMicros : Long.MAX_VALUE;
  }

  /** Whether the job that it gave last was overdue. */
  boolean wasLateTurn() {
    return lateHadTurn;
  }

  /** The next job in turn. */
  @Nullable NodeJob poll() {
    boolean lateTurn = isLateTurn();
    lateHadTurn = lateTurn;
    return lateTurn ? late.poll() : fresh.poll();
  }

  private boolean isLateTurn() {
    return fresh.isEmpty() || (!late.isEmpty() && !lateHadTurn);
  }
}
