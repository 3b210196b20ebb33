package dev.carillon.engine.shard;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.history.Bucket;
import dev.carillon.engine.history.Summary;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the open shard that takes a new job, or creates one (partition assignment). Each bucket of
 * time has one open shard of this node. A node re-opens its own shards after a restart, and those
 * of a node that is gone for good.
 *
 * <p>Crash table: a shard that was created and got no job is used by the next job of its bucket, or
 * dropped when its slice of time is over.
 */
final class OpenShards {
  /** Open shards of one bucket that are looked at before another is made. */
  private static final int MOST_REOPENED = 256;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Directory directory;
  private final Shards shards;
  private final Map<Bucket, OpenBucket> open = new LinkedHashMap<>();
  private final Set<Bucket> filled = new LinkedHashSet<>();
  private int sequence;
  private @Nullable Shard lastForDue;
  private @Nullable String full;

  OpenShards(NodeEnvironment env, NodeOptions options, Directory directory, Shards shards) {
    this.env = env;
    this.options = options;
    this.directory = directory;
    this.shards = shards;
  }

  /** A bucket that takes new jobs, or will once its shard is there. */
  private static final class OpenBucket {
    final Bucket bucket;
    @Nullable Shard shard;
    final List<Runnable> waiting = new ArrayList<>();

    OpenBucket(Bucket bucket) {
      this.bucket = bucket;
    }
  }

  /**
   * The owned, open shard for a job due at {@code dueMicros}, or null: then {@code later} runs once
   * there may be one.
   */
  @Nullable Shard forDue(long dueMicros, Runnable later) {
    long now = env.wallMicros();
    long due = Math.max(dueMicros, now);
    Shard last = lastForDue;
    if (last != null && last.owned() && !last.sealed && last.bucket.holds(due) && !isFull(last)) {
      return last;
    }
    int level = Bucket.level(due - now);
    Bucket bucket = Bucket.at(due, level);
    while (true) {
      if (filled.contains(bucket) && level < Bucket.narrowestLevel()) {
        bucket = Bucket.at(due, ++level);
        continue;
      }
      OpenBucket place = open.computeIfAbsent(bucket, OpenBucket::new);
      Shard shard = place.shard;
      if (shard == null || !shard.owned()) {
        boolean first = place.waiting.isEmpty();
        place.waiting.add(later);
        if (first && shard == null) {
          shards.whenJoined(() -> find(place.bucket, place));
        }
        return null;
      }
      if (!isFull(shard)) {
        lastForDue = shard;
        return shard;
      }
      filled.add(bucket);
      open.remove(bucket);
      shards.settling.seal(shard);
    }
  }

  /**
   * The same, but another shard than that one, which takes no more new jobs: one workflow alone has
   * so many children in it.
   */
  @Nullable Shard forDueBeside(Shard full, long dueMicros, Runnable later) {
    Shard found = forDue(dueMicros, later);
    if (found != full) {
      return found;
    }
    filled.add(full.bucket);
    leave(full);
    shards.settling.seal(full);
    return forDue(dueMicros, later);
  }

  private boolean isFull(Shard shard) {
    return shard.added >= options.maxShardJobs() || shard.addedBytes >= options.maxShardBytes();
  }

  /**
   * Looks for an open shard that an earlier start of this node left for the bucket, or a node that
   * is gone for good.
   */
  private void find(Bucket bucket, OpenBucket place) {
    shards.calls.untilAnswered(
        NodeEnvironment.Channel.READ,
        store -> openOnes(store, bucket),
        found -> {
          Head head = found.stream().filter(this::mayReopen).findFirst().orElse(null);
          if (!shards.isJoined()) {
            shards.whenJoined(() -> find(bucket, place)); // the store is another copy
          } else if (head == null) {
            create(bucket, place);
          } else {
            Shard known = shards.known(head.shard());
            Shard shard = known != null ? known : shards.claims.claim(head);
            place.shard = shard;
            shard.whenOwned(() -> reopened(bucket, place, shard));
          }
        });
  }

  /**
   * What is due soon is in memory, as in a shard that is made for such a bucket: one that was
   * {@link #isSpare spare} may sleep beyond the next job.
   */
  private void reopened(Bucket bucket, OpenBucket place, Shard shard) {
    if (!shard.owned() || shard.sealed || !isNear(bucket)) {
      opened(bucket, place, shard);
      return;
    }
    shards.wakes.ensureAwakeBy(
        shard,
        bucket.startMicros(),
        () -> {
          shards.loads.load(shard);
          opened(bucket, place, shard);
        });
  }

  private boolean isNear(Bucket bucket) {
    return shards.isSoon(bucket.startMicros());
  }

  private static Outcome<List<Head>> openOnes(Store store, Bucket bucket) {
    ShardId after = new ShardId(Math.max(0, bucket.startSeconds() - 1), -1L, (1 << 25) - 1);
    List<Head> open = new ArrayList<>();
    while (true) {
      Outcome<List<Head>> page = store.journals().listById(after, Shards.LIST_PAGE);
      if (page instanceof Outcome.Damaged<List<Head>>) {
        return Outcome.ok(open); // hidden by a damaged head: a shard more does no harm
      }
      if (!(page instanceof Outcome.Ok<List<Head>>(List<Head> heads))) {
        return page;
      }
      for (Head head : heads) {
        if (head.shard().startSeconds() != bucket.startSeconds() || open.size() == MOST_REOPENED) {
          return Outcome.ok(open);
        }
        if (isOpenFor(head, bucket)) {
          open.add(head);
        }
      }
      if (heads.size() < Shards.LIST_PAGE) {
        return Outcome.ok(open);
      }
      after = heads.getLast().shard();
    }
  }

  private static boolean isOpenFor(Head head, Bucket bucket) {
    return head.status() == Head.Status.OPEN
        && Summary.read(head)
            .filter(summary -> summary.widthSeconds() == bucket.widthSeconds())
            .isPresent();
  }

  /** A stand-in adds nothing to the shards of a node that may come back. */
  private boolean mayReopen(Head head) {
    return (head.home().equals(options.nodeId()) || directory.isForgotten(head.home()))
        && !directory.isMovedAway(head.shard())
        && !shards.isRefused(head.shard())
        && (shards.claims.isOwn(head)
            ? takesMore(shards.known(head.shard()))
            : directory.isFree(head));
  }

  /** Whether a shard is this node's and has room: it has been adopted, say. */
  private boolean takesMore(@Nullable Shard shard) {
    return shard != null && shard.owned() && !shard.sealed && !shard.handingBack && !isFull(shard);
  }

  private void create(Bucket bucket, OpenBucket place) {
    Shard shard =
        new Shard(
            new ShardId(bucket.startSeconds(), options.incarnation(), ++sequence),
            bucket,
            options.nodeId());
    shards.add(shard);
    place.shard = shard;
    byte[] summary = Summary.fresh(bucket).encode();
    boolean near = isNear(bucket);
    long wake = near ? Shards.ALWAYS_AWAKE : bucket.startMicros();
    long era = directory.era();
    shards.calls.write(
        shard.journal,
        store -> store.journals().create(shard.id, options.nodeId(), wake, summary),
        head -> {
          if (era != directory.era()) {
            shard.whenOwned(() -> opened(bucket, place, shard));
            shards.claims.claim(
                shard, head, Summary.fresh(bucket)); // another may have taken it since
            return;
          }
          shard.acquired(head, 0, 0);
          if (near || isNear(bucket)) { // the clock may have jumped since
            shards.loads.loadEmpty(shard);
          }
          shard.fireOwned();
          opened(bucket, place, shard);
        },
        () -> shards.lost(shard), // a conflict: a later sequence came first, so this id is barred
        detail -> {
          full = detail;
          shards.lost(shard);
          full = null;
        });
  }

  /** Why no shard could be made, for those who are told just now that there may be one. */
  @Nullable String full() {
    return full;
  }

  private void opened(Bucket bucket, OpenBucket place, Shard shard) {
    if (!shard.owned() || shard.sealed) {
      open.remove(bucket, place);
    }
    goOn(place);
  }

  /** Puts no new jobs into the shard, which goes to another node or is sealed. */
  void leave(Shard shard) {
    remove(shard);
    if (lastForDue == shard) {
      lastForDue = null;
    }
  }

  private @Nullable OpenBucket remove(Shard shard) {
    OpenBucket place = open.get(shard.bucket);
    if (place == null || place.shard != shard) {
      return null;
    }
    open.remove(shard.bucket);
    return place;
  }

  /** The shard is lost: jobs that wait for it look for another. */
  void lost(Shard shard) {
    OpenBucket place = remove(shard);
    if (place != null) {
      goOn(place);
    }
  }

  /** The store is another copy: buckets that were full may have room there. */
  void forgetAll() {
    filled.clear();
    lastForDue = null;
  }

  /** Forgets full buckets whose time is over. */
  void forgetBefore(long nowMicros) {
    filled.removeIf(bucket -> bucket.endMicros() <= nowMicros);
  }

  private static void goOn(OpenBucket place) {
    List<Runnable> waiting = List.copyOf(place.waiting);
    place.waiting.clear();
    waiting.forEach(Runnable::run);
  }

  /** Seals a shard whose slice of time is over. */
  void closeBucket(Shard shard) {
    leave(shard);
    shards.settling.seal(shard);
  }

  /**
   * Whether this node has inherited the shard from one that is gone for good and puts new jobs of
   * its bucket into another. While nothing of it is due soon, a node that has none for the bucket
   * may have it; else every node that comes would make one more.
   */
  boolean isSpare(Shard shard) {
    OpenBucket place = open.get(shard.bucket);
    return !shard.sealed
        && !shard.orphan
        && (place == null || place.shard != shard)
        && !shard.home.equals(options.nodeId())
        && directory.isForgotten(shard.home);
  }
}
