package dev.carillon.engine.shard;

import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.commit.ShardJournal;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.history.Bucket;
import dev.carillon.engine.history.Packed;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A shard that this node created or claimed: its journal, and while it is loaded the state machine
 * that the journal's operations change ({@link ShardFold}). Only the loop uses it.
 */
public final class Shard implements ShardJournal.StateMachine {
  public final ShardId id;
  public final ShardJournal journal;
  final Bucket bucket;

  /** The id of the node that made it, which gets it back. */
  public final String home;

  public boolean suspect;

  /** Whether its last owner did not release it: that owner died, perhaps of what it ran alone. */
  public boolean abandoned;

  boolean sealed;

  /** Null while not loaded. */
  public @Nullable ShardFold<NodeJob> fold;

  /** Operations committed while its journal is being read; null when no load is under way. */
  @Nullable List<Arrived> arrivedWhileLoading;

  /** Jobs ever added, and their bytes; what makes it full. */
  public long added;

  public long addedBytes;

  /** When the last job ended of those that may have stayed behind in an older generation. */
  public long lastEndMicros;

  /** Jobs of it that are being made known to those they wait for: it stays loaded. */
  public int arranging;

  /** Operations on their way that say who waits for jobs of it. */
  public int registering;

  /** A job of it is being cancelled while it is not loaded; the others wait their turn. */
  public boolean visited;

  /** It is to be loaded as soon as nobody visits it. */
  boolean loadWanted;

  public final ArrayDeque<Runnable> visitors = new ArrayDeque<>();

  /** Loaded jobs whose body is not in memory. */
  public int stripped;

  public boolean fetching;

  /** Up to which due time bodies were fetched. */
  public long bodiesUntilMicros;

  /**
   * Bytes that the next compaction would leave beside live jobs: what the last one on this node
   * left, or the past attempts that were there when it was loaded.
   */
  long compactedBytes;

  /** Whether only dead and failed jobs are left in it. */
  public boolean evidence;

  /** That its current generation is packed; null where it is not. */
  @Nullable Packed packed;

  private @Nullable Summary drainedAs;

  /** How many operations its journal had seen when all its jobs were known to have ended. */
  private long drainedAt;

  /** It is to go before its time: there is no room for it. */
  boolean spent;

  /** Its generations before this one are to go before their time: there is no room for them. */
  int spentBefore;

  /** Its older generations, as far as they are still kept, oldest first. */
  List<Summary.Replaced> replaced = List.of();

  /** Nothing more starts of it here: it goes to the node that is to have it. */
  public boolean handingBack;

  /** Nobody took it who was to: it stays with this node until all of its jobs have ended. */
  boolean orphan;

  /** Attempts of its jobs under way. */
  public int running;

  private long counter;
  private final List<Runnable> whenOwned = new ArrayList<>();
  private final List<Runnable> whenLoaded = new ArrayList<>();

  /** An operation committed as part of entry {@code number}. */
  record Arrived(Frame frame, long number) {}

  Shard(ShardId id, Bucket bucket, String home) {
    this.id = id;
    this.bucket = bucket;
    this.home = home;
    this.journal = new ShardJournal(id, this);
  }

  void acquired(Head head, long newTail, long counterBefore) {
    journal.acquired(head, newTail);
    abandoned = head.suspect();
    suspect = abandoned;
    sealed = head.status() == Head.Status.SEALED;
    counter = counterBefore;
  }

  @Override
  public void apply(Operation operation, long number) {
    Frame frame = operation.frame;
    ShardFold<NodeJob> loaded = fold;
    if (loaded == null) {
      if (arrivedWhileLoading != null) {
        arrivedWhileLoading.add(new Arrived(frame, number));
        operation.adds.forEach(add -> arrivedWhileLoading.add(new Arrived(add, number)));
      }
      operation.listener.applied(ShardFold.Answer.APPLIED, null);
      return;
    }
    JobSpec spec = operation.spec;
    OperationBody.End end = operation.end;
    loaded.at(number);
    ShardFold.Answer answer =
        spec != null
            ? loaded.add(frame.job(), spec, frame.body())
            : end != null ? loaded.end(frame.job(), end) : loaded.apply(frame);
    NodeJob met = loaded.met();
    for (Frame add : operation.adds) {
      var unused = loaded.apply(add);
    }
    operation.listener.applied(answer, met);
  }

  /** Keeps the shard with this node until {@link #unhold}. */
  public void hold() {
    journal.hold();
  }

  public void unhold() {
    journal.unhold();
  }

  /** How long the slice of time is that its jobs are due in. */
  public int widthSeconds() {
    return bucket.widthSeconds();
  }

  public boolean owned() {
    return journal.isOwned();
  }

  /** Whether its jobs may start here: it is this node's and does not go. */
  public boolean stays() {
    return owned() && !handingBack;
  }

  public boolean loaded() {
    return fold != null;
  }

  /**
   * Whether the number was given under a later epoch than this node's: the shard is another's, or
   * the job was lost with another copy of the store.
   */
  public boolean isBehind(long number) {
    return JobRef.epoch(number) > journal.epoch();
  }

  /** The live job of that number, if the shard is loaded and has it. */
  public @Nullable NodeJob job(long number) {
    ShardFold<NodeJob> loaded = fold;
    return loaded != null ? loaded.job(number) : null;
  }

  /** Its jobs that have not ended; those ever added where they are not in memory. */
  public long atMostPending() {
    ShardFold<NodeJob> loaded = fold;
    if (loaded != null) {
      return loaded.live().size();
    }
    return drainedAs() != null ? 0 : added;
  }

  /** The summary of a shard whose jobs have all ended, as long as nothing was done to it since. */
  @Nullable Summary drainedAs() {
    return drainedAt == journal.everQueued() ? drainedAs : null;
  }

  void drainedAs(@Nullable Summary summary) {
    drainedAs = summary;
    drainedAt = journal.everQueued();
  }

  public boolean loading() {
    return arrivedWhileLoading != null;
  }

  /** When its last job ended: 0 where none has, the end of time where that must still be read. */
  public long lastEndMicros() {
    ShardFold<NodeJob> loaded = fold;
    if (loaded != null) {
      return Math.max(lastEndMicros, loaded.lastEndMicros());
    }
    return suspect || loading() ? Long.MAX_VALUE : lastEndMicros;
  }

  /** A number for a new job, never given again. */
  public long nextNumber() {
    return JobRef.number(journal.epoch(), ++counter);
  }

  /** Whether the job's end is news that others wait for. */
  public boolean isAwaited(NodeJob job) {
    return registering > 0 || !job.waiters().isEmpty();
  }

  /** Whether nothing of it is read, queued, in flight or owed. */
  boolean quiet() {
    return !loading() && journal.isIdle();
  }

  /** Whether it is on its way here, or its generations are changing. */
  boolean isUnsettled() {
    return journal.isAcquiring() || loading() || journal.isRewriting();
  }

  /** Runs {@code action} as soon as the shard is owned, or lost: the action looks. */
  void whenOwned(Runnable action) {
    if (journal.isAcquiring()) {
      whenOwned.add(action);
    } else {
      action.run();
    }
  }

  /** Runs {@code action} as soon as the shard, which is being given back, is out of our hands. */
  void whenGone(Runnable action) {
    whenOwned.add(action);
  }

  /** Runs {@code action} as soon as the shard is loaded, or lost: the action looks. */
  void whenLoaded(Runnable action) {
    if (loaded() || journal.isLost()) {
      action.run();
    } else {
      whenLoaded.add(action);
    }
  }

  void fireOwned() {
    drain(whenOwned);
  }

  void fireLoaded() {
    drain(whenLoaded);
  }

  /** Whether somebody waits for its jobs. */
  boolean awaited() {
    return !whenLoaded.isEmpty();
  }

  /** Whether somebody waits to look at it. */
  boolean visitorsWait() {
    return !whenOwned.isEmpty();
  }

  private static void drain(List<Runnable> actions) {
    List<Runnable> now = List.copyOf(actions);
    actions.clear();
    now.forEach(Runnable::run);
  }

  /** The job, as an event names it. */
  public NodeEvent.Subject subject(NodeJob job) {
    String key = job.isStripped() || !job.has(JobSpec.KEYED) ? null : job.head().key();
    return new NodeEvent.Subject(ref(job.number), key, job.type, job.namespace, job.queue);
  }

  public JobRef ref(long number) {
    return new JobRef(id, number);
  }

  /** Its state in a few numbers, as its head tells it. */
  Summary summary() {
    ShardFold<NodeJob> loaded = fold;
    Packed packedNow = packed != null ? packed.at(journal.tail()) : null;
    if (loaded == null) {
      Summary asClaimed = drainedAs();
      return asClaimed != null
          ? asClaimed
          : new Summary(
              bucket.widthSeconds(),
              added,
              addedBytes,
              false,
              false,
              0,
              0,
              0,
              lastEndMicros,
              journal.bytes(),
              packedNow,
              replaced,
              suspect);
    }
    boolean drained = loaded.live().size() == 0 && sealed && loaded.debts().isEmpty();
    return new Summary(
        bucket.widthSeconds(),
        added,
        addedBytes,
        drained,
        drained && evidence,
        loaded.dead(),
        loaded.failed(),
        evidence ? 0 : loaded.keyed(),
        Math.max(lastEndMicros, loaded.lastEndMicros()),
        journal.bytes(),
        packedNow,
        replaced,
        suspect && loaded.live().any(NodeJob::isSuspected));
  }
}
