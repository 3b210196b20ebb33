package dev.carillon.engine.commit;

import dev.carillon.store.Append;
import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The write-ahead log of one shard, as its owner writes it: the fencing epoch, the place of the
 * next entry, the operations that are queued or in flight, and the wake time in the shard's head.
 *
 * <p>One entry is in flight at a time. Operations keep their order: {@link Committer} sends the
 * queue from its front and puts operations that were not written back to the front. Only the loop
 * uses a journal.
 *
 * <p>The store keeps everything that is here but the queue. A crash loses queued operations, of
 * which nobody was told.
 */
public final class ShardJournal {
  private static final long FIRST_BACK_OFF_NANOS = 10_000_000;
  private static final long LONGEST_BACK_OFF_NANOS = 1_000_000_000;

  private final ShardId id;
  private final StateMachine stateMachine;
  private Ownership ownership = Ownership.ACQUIRING;
  private long epoch;
  private int generation = 1;
  private int oldestGeneration = 1;
  private long tail;
  private long bytes;

  private final ArrayDeque<Operation> queue = new ArrayDeque<>();
  private long everQueued;
  private @Nullable List<Operation> inFlight;
  private boolean unresolved;
  private boolean inCommitQueue;
  private int failures;
  private long retryAtNanos = Long.MIN_VALUE;

  private long wakeMicros;
  private long raiseWakeTo = Append.KEEP_WAKE;
  private boolean raising;

  private boolean rewriting;
  private int holds;

  /** The state that the operations of a journal change. */
  public interface StateMachine {
    /** Applies an operation that is durable as part of entry {@code number}, in journal order. */
    void apply(Operation operation, long number);
  }

  /** The relation of this node to the shard. */
  private enum Ownership {
    ACQUIRING,
    OWNED,
    /** The node is giving the shard back, or dropping it. */
    LEAVING,
    /** Another node has the shard, or it is gone. */
    LOST
  }

  public ShardJournal(ShardId id, StateMachine stateMachine) {
    this.id = id;
    this.stateMachine = stateMachine;
  }

  public ShardId id() {
    return id;
  }

  // ---- ownership

  /** The fencing epoch: the store refuses an append under an older one. */
  public long epoch() {
    return epoch;
  }

  /** The store has made this node the owner. */
  public void acquired(Head head, long newTail) {
    ownership = Ownership.OWNED;
    epoch = head.epoch();
    generation = head.generation();
    oldestGeneration = head.oldestGeneration();
    tail = newTail;
    wakeMicros = head.wakeMicros();
    failures = 0;
  }

  /** The node begins to give the shard back, or to drop it. */
  public void leaving() {
    ownership = Ownership.LEAVING;
  }

  public void lost() {
    ownership = Ownership.LOST;
  }

  /** Whether the node is creating or claiming the shard. */
  public boolean isAcquiring() {
    return ownership == Ownership.ACQUIRING;
  }

  public boolean isOwned() {
    return ownership == Ownership.OWNED;
  }

  public boolean isLeaving() {
    return ownership == Ownership.LEAVING;
  }

  public boolean isLost() {
    return ownership == Ownership.LOST;
  }

  // ---- generations

  public int generation() {
    return generation;
  }

  /** The number of generations that the store keeps besides the current one. */
  public int olderGenerations() {
    return generation - oldestGeneration;
  }

  public int oldestGeneration() {
    return oldestGeneration;
  }

  /** The number of the last entry of the current generation. */
  public long tail() {
    return tail;
  }

  /** Bytes of the current generation, as far as this node knows. */
  public long bytes() {
    return bytes;
  }

  /** The node has learned how many bytes the current generation has. */
  public void measured(long generationBytes) {
    bytes = generationBytes;
  }

  /** A compaction or packing begins: appends wait for its end. */
  public void beginRewrite() {
    rewriting = true;
  }

  public void endRewrite() {
    rewriting = false;
  }

  public boolean isRewriting() {
    return rewriting;
  }

  /** A compaction or packing has published a new generation. */
  public void published(Head head, long newTail, long newBytes) {
    generation = head.generation();
    tail = newTail;
    wakeMicros = head.wakeMicros();
    bytes = newBytes;
  }

  /** The store has dropped the generations before {@code oldest}. */
  public void droppedBefore(int oldest) {
    oldestGeneration = Math.max(oldestGeneration, oldest);
  }

  // ---- wake time

  /** A lower bound of the next due time in the shard, as it stands in the head. */
  public long wakeMicros() {
    return wakeMicros;
  }

  /** The store has lowered the wake time. */
  public void wakeLowered(long micros) {
    wakeMicros = micros;
  }

  /** Has the next entry raise the wake time; {@link Committer#raiseWake} sends that entry. */
  void raiseWakeTo(long micros) {
    raiseWakeTo = micros;
  }

  /** Takes back a raise of the wake time that is not in flight yet. */
  public void keepWake() {
    raiseWakeTo = Append.KEEP_WAKE;
  }

  /** Whether the entry in flight raises the wake time. */
  public boolean isRaisingWake() {
    return raising;
  }

  // ---- holds

  /**
   * Keeps the shard with this node until {@link #unhold}: a number was given whose add is not
   * queued yet, or a record of one of its jobs is to be changed. These are counted rather than
   * objects, since each job with a name takes one.
   */
  public void hold() {
    holds++;
  }

  public void unhold() {
    if (holds == 0) {
      throw new IllegalStateException("holds of shard " + id + ": 0 (expected: at least 1)");
    }
    holds--;
  }

  // ---- what is written

  /** Whether the node owns the shard and has nothing to write to it, nor holds it. */
  public boolean isIdle() {
    return isOwned() && queue.isEmpty() && !isAppending() && !rewriting && holds == 0;
  }

  /** Whether an entry is in flight, or one that raises the wake time is to be sent. */
  public boolean isAppending() {
    return inFlight != null || raiseWakeTo != Append.KEEP_WAKE;
  }

  /** Whether the add of a job is in flight. */
  public boolean isAddInFlight(long number) {
    return inFlight != null
        && inFlight.stream().anyMatch(o -> o.isAdd() && o.frame.job() == number);
  }

  /** Operations that were ever queued: another number says that one came. */
  public long everQueued() {
    return everQueued;
  }

  // ---- for the committer

  void queue(Operation operation) {
    keepWake();
    everQueued++;
    queue.add(operation);
  }

  void queueFirst(Operation operation) {
    queue.addFirst(operation);
  }

  /** Takes an operation out of the queue; false where it is not there. */
  boolean withdraw(Operation operation) {
    return queue.remove(operation);
  }

  int queued() {
    return queue.size();
  }

  @Nullable Operation first() {
    return queue.peek();
  }

  void removeFirst() {
    queue.remove();
  }

  boolean isInFlight() {
    return inFlight != null;
  }

  /** The outcome of the entry in flight is unknown, and the store is asked for it. */
  void unresolved() {
    unresolved = true;
  }

  boolean isUnresolved() {
    return unresolved;
  }

  /** Whether the journal joins the commit queue now; false where it stands there already. */
  boolean enterCommitQueue() {
    boolean sends = !queue.isEmpty() || raiseWakeTo != Append.KEEP_WAKE;
    if (sends && !inCommitQueue && inFlight == null) {
      inCommitQueue = true;
      return true;
    }
    return false;
  }

  void leaveCommitQueue() {
    inCommitQueue = false;
  }

  /** Whether an entry may be sent now. */
  boolean mayAppend(long nowNanos) {
    return isOwned() && inFlight == null && !unresolved && !rewriting && retryAtNanos <= nowNanos;
  }

  /**
   * Sends {@code operations} as the next entry.
   *
   * @return the wake time that the entry sets, or {@link Append#KEEP_WAKE}
   */
  long send(List<Operation> operations) {
    inFlight = operations;
    long wake = queue.isEmpty() ? raiseWakeTo : Append.KEEP_WAKE;
    raising = wake != Append.KEEP_WAKE;
    return wake;
  }

  /** The entry in flight is durable: its operations are applied in order. */
  void committed(List<Operation> operations, long number, long wake, long entryBytes) {
    tail = number;
    inFlight = null;
    unresolved = false;
    raising = false;
    failures = 0;
    bytes += entryBytes;
    if (wake != Append.KEEP_WAKE) {
      wakeMicros = wake;
      if (raiseWakeTo == wake) {
        keepWake();
      }
    }
    hold(); // the effects of one operation must not give the shard away before the others
    for (Operation operation : operations) {
      operation.stage = Operation.Stage.SETTLED;
      stateMachine.apply(operation, number);
    }
    unhold();
  }

  /** The entry in flight was not written. */
  void notWritten(long retryNanos) {
    inFlight = null;
    unresolved = false;
    raising = false;
    retryAtNanos = retryNanos;
  }

  /** Entry {@code number} is never written: the store has put an empty one in its place. */
  void skip(long number) {
    tail = number;
  }

  /** When to try again after one more failure. */
  long backOff(long nowNanos) {
    long wait = FIRST_BACK_OFF_NANOS << Math.min(failures++, 10);
    return nowNanos + Math.min(wait, LONGEST_BACK_OFF_NANOS);
  }

  /** Empties the journal of operations in flight, of a shard that was lost. */
  List<Operation> takeInFlight() {
    List<Operation> sent = inFlight == null ? List.of() : inFlight;
    inFlight = null;
    unresolved = false;
    return sent;
  }

  /** Empties the queue of a shard that was lost. */
  List<Operation> takeQueued() {
    List<Operation> waiting = new ArrayList<>(queue);
    queue.clear();
    return waiting;
  }
}
