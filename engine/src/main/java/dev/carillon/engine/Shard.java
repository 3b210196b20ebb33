package dev.carillon.engine;

import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A shard that this node made or claimed: what it needs to write to it, and its fold while it is
 * loaded. Owned by the loop.
 */
final class Shard {
  final ShardId id;
  final Bucket bucket;

  /** The id of the node that made it, which gets it back. */
  final String home;

  Ownership ownership;
  long epoch;
  int generation = 1;
  int oldestGeneration = 1;
  long tail;
  long wakeMicros;
  boolean suspect;

  /** Whether its last owner did not release it: that owner died, perhaps of what it ran alone. */
  boolean abandoned;

  boolean sealed;

  /** Null while not loaded. */
  @Nullable ShardFold fold;

  /** Operations committed while its journal is being read; null when no load is under way. */
  @Nullable List<Arrived> arrivedWhileLoading;

  /** Jobs ever added, and their bytes; what makes it full. */
  long added;

  long addedBytes;

  /** When the last job ended of those that may have stayed behind in an older generation. */
  long lastEndMicros;

  /** Numbers given out whose add is not queued yet, name changes owed: it stays as it is. */
  int holds;

  /** Jobs of it that are being made known to those they wait for: it stays loaded. */
  int arranging;

  /** Operations on their way that say who waits for jobs of it. */
  int registering;

  final ArrayDeque<Operation> pending = new ArrayDeque<>();
  boolean inCommitQueue;

  /** The batch whose fate is open; null when none. */
  @Nullable List<Operation> inFlight;

  /** Its fate is being resolved. */
  boolean unresolved;

  /** A job of it is being cancelled while it is not loaded; the others wait their turn. */
  boolean visited;

  /** It is to be loaded as soon as nobody visits it. */
  boolean loadWanted;

  final ArrayDeque<Runnable> visitors = new ArrayDeque<>();

  /** Loaded jobs whose body is not in memory. */
  int stripped;

  /** Due jobs that wait for their body, and the lanes that keep a place for them at the front. */
  final Map<ShardJob, @Nullable Lane> awaitBody = new LinkedHashMap<>();

  /** What waits for the body of a job, which need not be due. */
  final Map<ShardJob, List<Runnable>> whenBody = new LinkedHashMap<>();

  boolean fetching;

  /** Up to which due time bodies were fetched. */
  long bodiesUntilMicros;

  /** A compaction is under way: appends wait. */
  boolean rewriting;

  /** Bytes of its current generation, as far as this node knows. */
  long journalBytes;

  /**
   * Bytes that the next compaction would leave beside live jobs: what the last one on this node
   * left, or the past attempts that were there when it was loaded.
   */
  long compactedBytes;

  /** Whether only dead and failed jobs are left in it. */
  boolean evidence;

  /** That its current generation is packed; null where it is not. */
  @Nullable Packed packed;

  /** As what it was claimed, where all its jobs have ended and nothing was done to it since. */
  @Nullable Summary drainedAs;

  /** It is to go before its time: there is no room for it. */
  boolean spent;

  /** Its generations before this one are to go before their time: there is no room for them. */
  int spentBefore;

  /** Its older generations, as far as they are still kept, oldest first. */
  List<Summary.Replaced> replaced = List.of();

  /** When a refused append may be tried again. */
  long retryAtNanos = Long.MIN_VALUE;

  int failures;

  /** An append that raises the wake time goes with the next batch. */
  long raiseWakeTo = Long.MIN_VALUE;

  /** Nothing more starts of it here: it goes to the node that is to have it. */
  boolean handingBack;

  /** Nobody took it who was to: it stays with this node. */
  boolean orphan;

  /** Attempts of its jobs under way. */
  int running;

  /** The batch in flight raises the wake time. */
  boolean raising;

  private long counter;
  private final List<Runnable> whenOwned = new ArrayList<>();
  private final List<Runnable> whenLoaded = new ArrayList<>();

  /** An operation committed as part of entry {@code number}. */
  record Arrived(Frame frame, long number) {}

  /** How this node stands to the shard. */
  enum Ownership {
    /** Being made or claimed. */
    ACQUIRING,
    OWNED,
    /** Being given back or dropped. */
    LEAVING,
    /** Somebody else's, or gone. */
    LOST
  }

  Shard(ShardId id, Bucket bucket, String home) {
    this.id = id;
    this.bucket = bucket;
    this.home = home;
    this.ownership = Ownership.ACQUIRING;
  }

  void acquired(Head head, long newTail, long counterBefore) {
    ownership = Ownership.OWNED;
    epoch = head.epoch();
    generation = head.generation();
    oldestGeneration = head.oldestGeneration();
    tail = newTail;
    wakeMicros = head.wakeMicros();
    abandoned = head.suspect();
    suspect = abandoned;
    sealed = head.status() == Head.Status.SEALED;
    counter = counterBefore;
    failures = 0;
  }

  boolean owned() {
    return ownership == Ownership.OWNED;
  }

  /** Whether its jobs may start here: it is this node's and does not go. */
  boolean stays() {
    return owned() && !handingBack;
  }

  boolean loaded() {
    return fold != null;
  }

  /**
   * Whether the number was given under a later epoch than this node's: the shard is another's, or
   * the job was lost with another copy of the store.
   */
  boolean isBehind(long number) {
    return JobRef.epoch(number) > epoch;
  }

  /** The live job of that number, if the shard is loaded and has it. */
  @Nullable ShardJob job(long number) {
    ShardFold loaded = fold;
    return loaded != null ? loaded.job(number) : null;
  }

  /** Its jobs that have not ended; those ever added where they are not in memory. */
  long atMostPending() {
    ShardFold loaded = fold;
    if (loaded != null) {
      return loaded.live().size();
    }
    return drainedAs != null ? 0 : added;
  }

  boolean loading() {
    return arrivedWhileLoading != null;
  }

  /** When its last job ended: 0 where none has, the end of time where that must still be read. */
  long lastEndMicros() {
    ShardFold loaded = fold;
    if (loaded != null) {
      return Math.max(lastEndMicros, loaded.lastEndMicros());
    }
    return suspect || loading() ? Long.MAX_VALUE : lastEndMicros;
  }

  /** A number for a new job, never given again. */
  long nextNumber() {
    return JobRef.number(epoch, ++counter);
  }

  /** Whether the add of a job was sent to the store and nobody knows yet what became of it. */
  boolean isOnItsWay(long number) {
    List<Operation> sent = inFlight;
    if (sent != null) {
      for (Operation operation : sent) {
        if (operation.frame.kind() == Kind.ADD && operation.frame.job() == number) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether the job's end is news that others wait for. */
  boolean isAwaited(ShardJob job) {
    return registering > 0 || !job.waiters().isEmpty();
  }

  /** Whether nothing of it is queued, in flight, unresolved or owed. */
  boolean quiet() {
    return !loading() && isUntouched();
  }

  /** The same of one that may be loading. */
  boolean isUntouched() {
    return owned()
        && pending.isEmpty()
        && inFlight == null
        && !unresolved
        && !rewriting
        && holds == 0
        && raiseWakeTo == Long.MIN_VALUE;
  }

  /** Whether it is on its way here, or its generations are changing. */
  boolean isUnsettled() {
    return ownership == Ownership.ACQUIRING || loading() || rewriting;
  }

  /** Runs {@code action} as soon as the shard is owned, or lost: the action looks. */
  void whenOwned(Runnable action) {
    if (ownership == Ownership.ACQUIRING) {
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
    if (loaded() || ownership == Ownership.LOST) {
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
  NodeEvent.Subject subject(ShardJob job) {
    String key = job.isStripped() || !job.has(JobSpec.KEYED) ? null : job.head().key();
    return new NodeEvent.Subject(ref(job.number), key, job.type, job.namespace, job.queue);
  }

  JobRef ref(long number) {
    return new JobRef(id, number);
  }
}
