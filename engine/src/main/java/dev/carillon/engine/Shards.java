package dev.carillon.engine;

import dev.carillon.store.Head;
import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Journals.Release;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The shards of this node: which one takes a new job, which are loaded, and what becomes of them.
 *
 * <p><b>Invariant</b>: a job in a shard's journal is due no earlier than the shard's wake time, at
 * any crash. Shards are found by wake time, so none is forgotten. An unloaded shard costs its entry
 * here and nothing else.
 *
 * <p>Crash table: a create, claim, seal, release or drop whose answer is lost is found by the next
 * listing as it is; each is idempotent and repeated until answered while this node lives.
 */
final class Shards {
  private static final int LIST_PAGE = 256;

  /** Open shards of one bucket that are looked at before another is made. */
  private static final int MOST_REOPENED = 256;

  /** The wake time of a shard that may hold overdue jobs: any node that looks finds it. */
  static final long ALWAYS_AWAKE = 0;

  private static final long RETRY_NANOS = 50_000_000;

  /** Of the shards of others that are not due yet, so many are claimed at a look, at first. */
  private static final int FIRST_CLAIMS = 2;

  private static final int MOST_CLAIMS = 20;

  private static final int MOST_RELEASED_TOGETHER = 256;

  /** Owns what somebody could not read and left to others: it never beats, so anybody may claim. */
  static final long NOBODY = Long.MIN_VALUE;

  /** How soon after a look that left something for later there is another. */
  private static final long SOON_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Directory directory;
  private final Committer committer;
  private final Host host;
  private final Retention retention;
  private final Packs packs;

  private final Map<ShardId, Shard> known = new LinkedHashMap<>();
  private final Map<Bucket, OpenBucket> open = new LinkedHashMap<>();
  private final Set<Bucket> filled = new LinkedHashSet<>();
  private final Map<ShardId, String> refused = new LinkedHashMap<>();
  private final Orphans orphans = new Orphans();
  private final Map<Shard, List<Runnable>> whenFree = new LinkedHashMap<>();

  /** Shards that are to be read and that nobody waits for. */
  private final LinkedHashMap<Shard, Read> reads = new LinkedHashMap<>();

  /** Those that somebody waits for. */
  private final ArrayDeque<Read> awaitedReads = new ArrayDeque<>();

  private boolean reading;
  private boolean readAwaited;
  private int sequence;
  private @Nullable Shard lastForDue;
  private boolean listing;
  private boolean listAgain;

  /** What this node gave back since the listing began, in which it may still be its own. */
  private final Set<ShardId> givenBack = new LinkedHashSet<>();

  private boolean looked;
  private boolean headsLooked;
  private boolean stopping;
  private boolean joined;

  /** Every shard goes to others as soon as nothing of it runs. */
  private boolean leaving;

  private final List<Runnable> whenJoined = new ArrayList<>();
  private int claimsALook = FIRST_CLAIMS;
  private int claimsLeft;
  private boolean lookSoon;
  private boolean willLookSoon;
  private @Nullable String full;

  /** The node, as far as its shards need it. */
  interface Host {
    void at(long nanos, Runnable action);

    /** The shard, until now another's or nobody's, is this node's. */
    void claimed(Shard shard);

    /** The shard's jobs are here and may be dispatched. */
    void loaded(Shard shard, ShardLoad.Folded load);

    /** The shard's jobs leave this node's memory. */
    void unloaded(Shard shard, ShardFold fold);

    /** Whether the outcome of an attempt of one of its jobs is open. */
    boolean hasOpenAttempts(Shard shard);

    /** The shard, of which nothing was started any more, stays with this node. */
    void staysHere(Shard shard);

    /** A loaded shard's time to look after itself. */
    void looked(Shard shard, long nowMicros);
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

  Shards(
      NodeEnvironment env,
      NodeOptions options,
      Directory directory,
      Committer committer,
      RecordChanges records,
      Host host) {
    this.env = env;
    this.options = options;
    this.directory = directory;
    this.committer = committer;
    this.host = host;
    this.retention = new Retention(env, options, this, committer, records);
    this.packs = new Packs(env, options, this, committer, retention);
  }

  void at(long nanos, Runnable action) {
    host.at(nanos, action);
  }

  private long horizonMicros() {
    return Micros.ceil(options.loadHorizon());
  }

  @Nullable Shard known(ShardId id) {
    return known.get(id);
  }

  /** Lets go of a shard whose journal the store no longer lets this node write. */
  void fenced(ShardJournal journal) {
    Shard shard = known.get(journal.id());
    env.metrics().count("shards.fenced", 1);
    if (shard != null && shard.journal == journal) {
      lost(shard);
    }
    if (!directory.isAlone()) {
      lookSoon(); // it may be given back
    }
  }

  /** Settles the shard of a journal whose operations were applied. */
  void changed(ShardJournal journal) {
    Shard shard = known.get(journal.id());
    if (shard != null && shard.journal == journal) {
      settle(shard);
    }
  }

  Iterable<Shard> all() {
    return known.values();
  }

  int size() {
    return known.size();
  }

  /** Shards that could not be read, with the reason. */
  Map<ShardId, String> refused() {
    return refused;
  }

  // ---- where a new job goes

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
          whenJoined(() -> find(place.bucket, place));
        }
        return null;
      }
      if (!isFull(shard)) {
        lastForDue = shard;
        return shard;
      }
      filled.add(bucket);
      open.remove(bucket);
      seal(shard);
    }
  }

  private boolean isFull(Shard shard) {
    return shard.added >= options.maxShardJobs() || shard.addedBytes >= options.maxShardBytes();
  }

  /** This node counts among those who are there: it may have shards. */
  void joined() {
    joined = true;
    beginIfReady();
  }

  /**
   * Lets those go on who wait for this node to be there. Until it has seen who else is, it would
   * make a shard where one of a node that is gone for good is to be had.
   */
  private void beginIfReady() {
    if (joined && directory.hasLooked()) {
      List<Runnable> waiting = List.copyOf(whenJoined);
      whenJoined.clear();
      waiting.forEach(Runnable::run);
    }
  }

  private void whenJoined(Runnable action) {
    if (joined && directory.hasLooked()) {
      action.run();
    } else {
      whenJoined.add(action);
    }
  }

  /**
   * Looks for an open shard that an earlier start of this node left for the bucket, or a node that
   * is gone for good.
   */
  private void find(Bucket bucket, OpenBucket place) {
    control(
        NodeEnvironment.Channel.READ,
        store -> openOnes(store, bucket),
        found -> {
          Head head = found.stream().filter(this::mayReopen).findFirst().orElse(null);
          if (!joined) {
            whenJoined(() -> find(bucket, place)); // the store is another copy
          } else if (head == null) {
            create(bucket, place);
          } else {
            Shard known = this.known.get(head.shard());
            Shard shard = known != null ? known : claim(head);
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
    ensureAwakeBy(
        shard,
        bucket.startMicros(),
        () -> {
          load(shard);
          opened(bucket, place, shard);
        });
  }

  private boolean isNear(Bucket bucket) {
    return bucket.startMicros() <= env.wallMicros() + horizonMicros();
  }

  private static Outcome<List<Head>> openOnes(Store store, Bucket bucket) {
    ShardId after = new ShardId(Math.max(0, bucket.startSeconds() - 1), -1L, (1 << 25) - 1);
    List<Head> open = new ArrayList<>();
    while (true) {
      Outcome<List<Head>> page = store.journals().listById(after, LIST_PAGE);
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
      if (heads.size() < LIST_PAGE) {
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
        && !refused.containsKey(head.shard())
        && (isOwn(head) ? takesMore(known.get(head.shard())) : directory.isFree(head));
  }

  /** Whether a shard is this node's and has room: it has been adopted, say. */
  private boolean takesMore(@Nullable Shard shard) {
    return shard != null && shard.owned() && !shard.sealed && !shard.handingBack && !isFull(shard);
  }

  /**
   * Runs {@code then} once the shard's wake time is at or before {@code dueMicros}, or the shard is
   * lost: it looks.
   */
  void ensureAwakeBy(Shard shard, long dueMicros, Runnable then) {
    if (shard.owned() && shard.journal.isRaisingWake()) {
      // What lowers it now might take effect before what raises it.
      whenFree(shard, () -> ensureAwakeBy(shard, dueMicros, then));
      return;
    }
    shard.journal.keepWake();
    if (!shard.owned() || shard.journal.wakeMicros() <= dueMicros) {
      then.run();
      return;
    }
    if (shard.journal.isRewriting()) {
      whenFree(shard, () -> ensureAwakeBy(shard, dueMicros, then)); // it publishes a wake time too
      return;
    }
    shard.hold();
    control(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().lowerWake(shard.id, shard.journal.epoch(), ALWAYS_AWAKE),
        head -> {
          shard.unhold();
          shard.journal.wakeLowered(head.wakeMicros());
          then.run();
        },
        shard,
        then,
        null);
  }

  /**
   * Runs {@code action} as soon as nothing is under way that changes the shard's wake time or its
   * generation, or the shard is lost: it looks. The shard stays as it is until then.
   */
  void whenFree(Shard shard, Runnable action) {
    if (isFree(shard)) {
      action.run();
    } else {
      shard.hold();
      whenFree.computeIfAbsent(shard, s -> new ArrayList<>()).add(action);
    }
  }

  private static boolean isFree(Shard shard) {
    return !shard.owned() || (!shard.journal.isRaisingWake() && !shard.journal.isRewriting());
  }

  /** Lets those go on who wait for a shard. */
  void turn() {
    if (whenFree.isEmpty()) {
      return;
    }
    for (Shard shard : List.copyOf(whenFree.keySet())) {
      List<Runnable> waiting = isFree(shard) ? whenFree.remove(shard) : null;
      if (waiting != null) {
        waiting.forEach(action -> shard.unhold());
        waiting.forEach(Runnable::run);
      }
    }
  }

  private void create(Bucket bucket, OpenBucket place) {
    Shard shard =
        new Shard(
            new ShardId(bucket.startSeconds(), options.incarnation(), ++sequence),
            bucket,
            options.nodeId());
    known.put(shard.id, shard);
    place.shard = shard;
    byte[] summary = Summary.fresh(bucket).encode();
    boolean near = isNear(bucket);
    long wake = near ? ALWAYS_AWAKE : bucket.startMicros();
    long era = directory.era();
    control(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().create(shard.id, options.nodeId(), wake, summary),
        head -> {
          if (era != directory.era()) {
            shard.whenOwned(() -> opened(bucket, place, shard));
            claim(shard, head, Summary.fresh(bucket)); // another may have taken it since
            return;
          }
          shard.acquired(head, 0, 0);
          if (near) {
            shard.fold = new ShardFold((job, end) -> {});
            host.loaded(shard, new ShardLoad.Folded(shard.fold, 0, 0, List.of(), List.of()));
          }
          shard.fireOwned();
          opened(bucket, place, shard);
        },
        shard, // a conflict: a later sequence came first, this id can never be made
        () -> {},
        detail -> {
          full = detail;
          lost(shard);
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

  private static void goOn(OpenBucket place) {
    List<Runnable> waiting = List.copyOf(place.waiting);
    place.waiting.clear();
    waiting.forEach(Runnable::run);
  }

  // ---- claiming and loading

  /**
   * Claims a shard that nobody alive owns, and loads it unless it is clean and far. Only a node
   * that has joined does: else the head may be of another copy of the store, in which epochs
   * differ.
   */
  private Shard claim(Head head) {
    Optional<Summary> read = Summary.read(head);
    Summary summary = read.orElse(Summary.UNREADABLE);
    Shard shard =
        new Shard(
            head.shard(),
            new Bucket(head.shard().startSeconds(), summary.widthSeconds()),
            head.home());
    if (read.isEmpty()) {
      refuse(shard, "shard " + shard.id + ": its summary is of a later version");
      return shard;
    }
    shard.added = summary.added();
    shard.addedBytes = summary.addedBytes();
    known.put(shard.id, shard);
    claim(shard, head, summary);
    return shard;
  }

  private void claim(Shard shard, Head head, Summary summary) {
    if (shard.journal.isLost()) {
      return;
    }
    long era = directory.era();
    env.metrics().count("claims.asked", 1);
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().claim(shard.id, head.epoch(), options.incarnation()),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Claim>(Claim claim) && era != directory.era()) {
            claim(shard, claim.head(), summary); // another may have taken it since
          } else {
            claimed(shard, head, summary, outcome);
          }
        });
  }

  private void claimed(Shard shard, Head head, Summary summary, Outcome<Claim> outcome) {
    if (shard.journal.isLost()) {
      return;
    }
    switch (outcome) {
      case Outcome.Ok<Claim>(Claim claim) -> {
        shard.acquired(claim.head(), claim.tail(), JobRef.counterBefore(env.random()));
        env.metrics().count("claims", 1);
        tellIfTakenOver(shard, head);
        host.claimed(shard);
        shard.handingBack = leaving;
        boolean far = shard.journal.wakeMicros() > env.wallMicros() + horizonMicros();
        Summary now = Summary.read(claim.head()).orElse(summary); // the listing's may be older
        shard.suspect |= now.suspected();
        shard.added = now.added();
        shard.addedBytes = now.addedBytes();
        shard.lastEndMicros = now.lastEndMicros();
        shard.journal.measured(now.bytes());
        shard.packed = now.packed();
        shard.replaced = retention.stillKept(shard, now.replaced());
        if (now.drained() && !shard.suspect) {
          retire(shard, now);
        } else if (leaving && !shard.awaited() && !shard.suspect) {
          goAgain(shard);
        } else if (shard.suspect || !far || shard.awaited()) {
          load(shard);
        } else {
          shard.fireOwned();
        }
      }
      case Outcome.Fenced<Claim> fenced -> {
        lost(shard);
        if (fenced.epoch() != Head.DROPPED) {
          // Perhaps by a late claim of a start of this node that is over: it is looked for again.
          if (directory.isAlone()) {
            host.at(env.monotonicNanos() + RETRY_NANOS, this::look);
          } else {
            lookSoon();
          }
        }
      }
      case Outcome.Conflict<Claim> conflict -> lost(shard);
      default ->
          host.at(env.monotonicNanos() + RETRY_NANOS, () -> claimAgain(shard, head, summary));
    }
  }

  private void tellIfTakenOver(Shard shard, Head head) {
    boolean another = head.owner() != options.incarnation() && head.owner() != NOBODY;
    if (shard.abandoned && another) {
      String owner = directory.nodeOf(head.owner());
      env.tell(new NodeEvent.TookOver(head.shard(), owner != null ? owner : head.home()));
    }
  }

  /** The node stops: it was claimed too late, or for a question that is answered from it. */
  private void goAgain(Shard shard) {
    shard.fireOwned();
    handBackIfAnothers(shard);
  }

  /** Claims again, unless whoever had the shard was heard of meanwhile. */
  private void claimAgain(Shard shard, Head head, Summary summary) {
    if (directory.isFree(head)) {
      claim(shard, head, summary);
    } else {
      lost(shard);
      look(); // the lost claim may be in effect all the same
    }
  }

  /** Reads the shard unless it is loaded or on its way. */
  void load(Shard shard) {
    if (shard.loaded() || shard.loading() || !shard.owned()) {
      return;
    }
    if (shard.visited) {
      shard.loadWanted = true; // the job that is being cancelled must not start
      return;
    }
    shard.drainedAs(null);
    shard.arrivedWhileLoading = new ArrayList<>();
    read(shard, shard.journal.generation(), shard.journal.tail());
  }

  /** What is to be read of a shard; what is appended later arrives while it is loading. */
  private record Read(Shard shard, int generation, long upTo) {}

  private void read(Shard shard, int generation, long upTo) {
    Read read = new Read(shard, generation, upTo);
    if (shard.awaited() || shard.visitorsWait()) {
      awaitedReads.add(read);
    } else {
      reads.put(shard, read);
    }
    readNext();
  }

  /** One at a time, so that what is read beside them waits for one of them and not for all. */
  private void readNext() {
    while (!reading && !(awaitedReads.isEmpty() && reads.isEmpty())) {
      // Not two of the same kind while both wait: those that somebody waits for may never end.
      readAwaited = reads.isEmpty() || (!awaitedReads.isEmpty() && !readAwaited);
      Read read = readAwaited ? awaitedReads.removeFirst() : reads.pollFirstEntry().getValue();
      if (read.shard().loading()) { // it was not lost meanwhile
        reading = true;
        env.submit(
            NodeEnvironment.Channel.READ,
            store -> ShardLoad.read(store, read.shard().id, read.generation(), read.upTo()),
            load -> {
              reading = false;
              wasRead(read.shard(), read.generation(), read.upTo(), load);
              readNext();
            });
      }
    }
  }

  private void readAgain(Shard shard, int generation, long upTo) {
    if (shard.loading()) {
      read(shard, generation, upTo);
    }
  }

  /**
   * A node that stops does not read what nobody waits for. What is suspect it does: what killed the
   * last owner is convicted by the one that follows it.
   */
  private void leaveUnread() {
    for (Shard shard : List.copyOf(reads.keySet())) {
      if (!shard.suspect && shard.journal.isIdle()) {
        reads.remove(shard);
        shard.arrivedWhileLoading = null;
      }
    }
  }

  /** Runs {@code action} as soon as the shard is loaded, or lost, and has it read before others. */
  void hurry(Shard shard, Runnable action) {
    shard.whenLoaded(action);
    Read read = reads.remove(shard);
    if (read != null) {
      awaitedReads.add(read);
    }
  }

  private void wasRead(Shard shard, int generation, long upTo, ShardLoad load) {
    List<Shard.Arrived> arrived = shard.arrivedWhileLoading;
    if (shard.journal.isLost() || arrived == null) {
      return;
    }
    switch (load) {
      case ShardLoad.Folded folded -> {
        env.metrics().count("shards.loaded", 1);
        for (Shard.Arrived late : arrived) {
          folded.fold().at(late.number());
          folded.fold().apply(late.frame());
        }
        shard.journal.measured(folded.bytes());
        shard.compactedBytes = Math.max(shard.compactedBytes, folded.pastBytes());
        shard.arrivedWhileLoading = null;
        shard.fold = folded.fold();
        shard.added = Math.max(shard.added, folded.fold().added());
        shard.addedBytes = Math.max(shard.addedBytes, folded.fold().addedBytes());
        host.loaded(shard, folded);
        shard.fireOwned();
        shard.fireLoaded();
        settle(shard);
      }
      case ShardLoad.Failed failed ->
          host.at(env.monotonicNanos() + RETRY_NANOS, () -> readAgain(shard, generation, upTo));
      case ShardLoad.Replaced replaced when generation != shard.journal.generation() ->
          read(shard, shard.journal.generation(), shard.journal.tail());
      case ShardLoad.Replaced byAnother -> lost(shard);
      case ShardLoad.Gone gone -> lost(shard);
      case ShardLoad.Refused(String why) -> refuse(shard, why);
    }
  }

  void refuse(Shard shard, String why) {
    boolean owned = shard.owned();
    refuse(shard.id, why);
    lost(shard);
    if (owned && !directory.isAlone()) {
      leaveToOthers(shard);
    }
  }

  /**
   * Others may be able to read it. It is not released, since nobody knows what became of its last
   * attempts: whoever claims it next finds it suspect. This node does not claim it again.
   */
  private void leaveToOthers(Shard shard) {
    if (!refused.containsKey(shard.id)) {
      return; // the store is another copy, in which it may be whole and somebody else's
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().claim(shard.id, shard.journal.epoch(), NOBODY),
        outcome -> {
          switch (outcome) {
            case Outcome.Ok<Claim> left -> env.metrics().count("shards.left", 1);
            case Outcome.Fenced<Claim> others -> {}
            case Outcome.Conflict<Claim> others -> {}
            case Outcome.Damaged<Claim> head -> {}
            default -> host.at(env.monotonicNanos() + RETRY_NANOS, () -> leaveToOthers(shard));
          }
        });
  }

  private void refuse(ShardId id, String why) {
    if (refused.put(id, why) == null) {
      env.report("a shard is refused and left alone: " + why, null);
      env.metrics().count("shards.refused", 1);
    }
  }

  /** What somebody wants with a shard. */
  interface Use {
    /** It is this node's. */
    void use(Shard shard);

    /** There is none, or none that can be read. */
    void none();

    /** Another node has it, or may have it. */
    void elsewhere(Head head);
  }

  /**
   * Runs {@code action} once what this node has is its own for certain, so that what is not in a
   * fold is nowhere.
   */
  void whenProven(Runnable action) {
    if (directory.isProven()) {
      action.run();
    } else if (!stopping) {
      host.at(env.monotonicNanos() + RETRY_NANOS, () -> whenProven(action));
    }
  }

  /** What is answered about a shard that another node has. */
  static <T> Outcome<T> elsewhere(Head head) {
    return new Outcome.Unavailable<>("shard " + head.shard() + ": another node has it");
  }

  /** Loads the shard and then, or when it is lost, does {@code then}. */
  void loadFor(Shard shard, Runnable then) {
    load(shard);
    hurry(shard, then);
  }

  /** Gives {@code use} the shard, claimed and loaded. */
  void withLoaded(ShardId id, Use use) {
    withOwned(
        id,
        new Use() {
          @Override
          public void use(Shard shard) {
            load(shard);
            hurry(
                shard,
                () -> {
                  if (shard.loaded()) {
                    use.use(shard);
                  } else if (!stopping) {
                    host.at(env.monotonicNanos() + RETRY_NANOS, () -> withLoaded(id, use));
                  }
                });
          }

          @Override
          public void none() {
            use.none();
          }

          @Override
          public void elsewhere(Head head) {
            use.elsewhere(head);
          }
        });
  }

  /**
   * Gives {@code use} the shard, claimed. A shard that is changing hands is asked for again; a node
   * that stops has no answer.
   */
  void withOwned(ShardId id, Use use) {
    Shard shard = known.get(id);
    if (shard != null && shard.journal.isLeaving()) {
      shard.whenGone(() -> withOwnedAgain(id, use));
    } else if (shard != null) {
      shard.whenOwned(() -> useOwned(shard, use));
    } else {
      whenJoined(() -> findOwned(id, use));
    }
  }

  /**
   * Takes up a shard that this node has by a claim whose answer it never heard: it let go of it
   * while the claim was on its way. Nobody else takes it while this node is there.
   */
  void takeUpIfOwn(ShardId id) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> store.journals().head(id),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Head>(Head head)
              && isOwn(head)
              && joined
              && !leaving
              && !known.containsKey(id)
              && !refused.containsKey(id)) {
            claim(head);
          }
        });
  }

  private void findOwned(ShardId id, Use use) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> store.journals().head(id),
        outcome -> {
          switch (outcome) {
            case Outcome.Ok<Head>(Head head) -> {
              Shard found = known.get(id);
              if (found == null && !joined) {
                withOwned(id, use); // the store is another copy, and this head of the one before
                return;
              }
              if (found == null && isForOthers(head)) {
                use.elsewhere(head);
                return;
              }
              if (refused.containsKey(id)) {
                use.none();
                return;
              }
              Shard claimed = found != null ? found : claim(head);
              claimed.whenOwned(() -> useOwned(claimed, use));
            }
            case Outcome.Fenced<Head> gone -> use.none();
            case Outcome.Damaged<Head>(String where) -> {
              refuse(id, where);
              use.none();
            }
            default -> host.at(env.monotonicNanos() + RETRY_NANOS, () -> withOwned(id, use));
          }
        });
  }

  /** Whether others have it, or are to have it: nobody takes up at once what wakes later. */
  boolean isForOthers(Head head) {
    boolean goes = leaving && (stopping || (wakesSoon(head) && directory.hasTakers()));
    return goes || !directory.isFree(head);
  }

  /** Whether another node, which is to look after the shard, is about to claim it. */
  boolean isAboutToGo(Head head) {
    return wakesSoon(head) && !directory.isMine(head.home(), head.shard());
  }

  private boolean wakesSoon(Head head) {
    return head.wakeMicros() <= env.wallMicros() + horizonMicros();
  }

  private void withOwnedAgain(ShardId id, Use use) {
    if (!stopping) {
      withOwned(id, use);
    }
  }

  private void useOwned(Shard shard, Use use) {
    if (shard.owned()) {
      use.use(shard);
    } else if (!stopping) {
      host.at(env.monotonicNanos() + RETRY_NANOS, () -> withOwned(shard.id, use));
    }
  }

  // ---- once per load horizon

  /** Claims and loads what wakes within the horizon, and lets go of what does not. */
  void look() {
    if (stopping || leaving || !joined) {
      return;
    }
    beginIfReady();
    long now = env.wallMicros();
    filled.removeIf(bucket -> bucket.endMicros() <= now);
    for (Shard shard : List.copyOf(known.values())) {
      if (shard.owned()) {
        lookAt(shard, now);
      }
    }
    if (listing) {
      listAgain = true; // what it looks for may have changed since
    } else {
      listing = true;
      givenBack.clear();
      claimsLeft = claimsALook;
      lookSoon = false;
      listWaking(now + horizonMicros(), null);
    }
    retention.lookAtAll();
  }

  private void lookAt(Shard shard, long now) {
    if (!shard.sealed && shard.bucket.endMicros() <= now) {
      closeBucket(shard);
    }
    if (!shard.loaded() && shard.journal.wakeMicros() <= now + horizonMicros()) {
      load(shard);
    }
    settle(shard);
    wakeIfOwing(shard, now);
    if (handBackIfAnothers(shard)) {
      return;
    }
    sleepUntilNext(shard, now);
    retention.dropOldIfTime(shard);
    retention.compactIfWorthwhile(shard);
    packs.consider(shard, now);
    host.looked(shard, now);
  }

  /** After clocks went back nobody would come for it who pays what it owes. */
  private void wakeIfOwing(Shard shard, long now) {
    ShardFold fold = shard.fold;
    if (shard.owned() && fold != null && !fold.debts().isEmpty()) {
      ensureAwakeBy(shard, now, () -> {});
    }
  }

  private void closeBucket(Shard shard) {
    leaveBucket(shard);
    seal(shard);
  }

  private void leaveBucket(Shard shard) {
    OpenBucket place = open.get(shard.bucket);
    if (place != null && place.shard == shard) {
      open.remove(shard.bucket);
    }
  }

  /** True where the shard goes, or is about to go, to another node. */
  private boolean handBackIfAnothers(Shard shard) {
    if (!shard.owned()) {
      return shard.handingBack; // what is being released is not called back: it may be gone by now
    }
    boolean goes = leaving || (!shard.orphan && directory.isAnothers(shard.home, shard.id));
    if (goes && !shard.handingBack) {
      beginHandBack(shard);
    } else if (!goes && shard.handingBack) {
      shard.handingBack = false;
      host.staysHere(shard);
    }
    if (shard.handingBack && shard.quiet() && !host.hasOpenAttempts(shard)) {
      if (!leaving) {
        env.tell(new NodeEvent.HandedBack(shard.id, shard.home));
      }
      env.metrics().count("shards.handed.back", 1);
      release(shard, () -> {});
    }
    return shard.handingBack;
  }

  private void beginHandBack(Shard shard) {
    shard.handingBack = true;
    leaveBucket(shard);
    if (lastForDue == shard) {
      lastForDue = null;
    }
  }

  private void listWaking(long before, @Nullable Head after) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> store.journals().listByWake(before, after, LIST_PAGE),
        outcome -> {
          if (outcome instanceof Outcome.Damaged<List<Head>>) {
            listAroundDamage(before);
          } else if (!(outcome instanceof Outcome.Ok<List<Head>>(List<Head> heads))) {
            listAfterFailure();
          } else {
            heads.forEach(this::claimIfIdle);
            if (heads.size() == LIST_PAGE) {
              listWaking(before, heads.getLast());
            } else {
              listed();
            }
          }
        });
  }

  /** A damaged head hides the others of its page: all heads are read, by id, but for that one. */
  private void listAroundDamage(long before) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> DamagedHead.around(store, null, Integer.MAX_VALUE),
        outcome -> {
          if (!(outcome instanceof Outcome.Ok<DamagedHead.Heads>(DamagedHead.Heads found))) {
            listAfterFailure();
            return;
          }
          found.damaged().forEach(id -> refuse(id, "head of shard " + id + ": damaged"));
          found.intact().stream()
              .filter(head -> head.wakeMicros() < before)
              .forEach(this::claimIfIdle);
          listed();
        });
  }

  private void listAfterFailure() {
    listing = false;
    host.at(env.monotonicNanos() + RETRY_NANOS, this::look);
  }

  /** Whether everything that was due at the start is loaded. */
  boolean caughtUp() {
    if (!looked) {
      return false;
    }
    for (Shard shard : known.values()) {
      if (shard.journal.isAcquiring() || shard.loading()) {
        return false;
      }
    }
    return true;
  }

  private void listed() {
    listing = false;
    looked = true;
    orphans.listed();
    claimsALook = Math.min(MOST_CLAIMS, claimsALook + FIRST_CLAIMS);
    if (lookSoon) {
      lookSoon();
    }
    if (!headsLooked) {
      lookForDamagedHeads();
    }
    if (listAgain) {
      listAgain = false;
      look();
    }
  }

  /** Looks once more in a moment: something is about to be free. */
  void lookSoon() {
    if (!willLookSoon) {
      willLookSoon = true;
      host.at(
          env.monotonicNanos() + SOON_NANOS,
          () -> {
            willLookSoon = false;
            look();
          });
    }
  }

  /** Once after a start: one that wakes in a year is named now, not in a year. */
  private void lookForDamagedHeads() {
    headsLooked = true;
    env.submit(
        NodeEnvironment.Channel.READ,
        DamagedHead::all,
        outcome -> {
          if (outcome instanceof Outcome.Ok<List<ShardId>>(List<ShardId> damaged)) {
            damaged.forEach(id -> refuse(id, "head of shard " + id + ": damaged"));
          } else {
            headsLooked = false; // with the next listing
          }
        });
  }

  /** Whether this node has the shard, perhaps by a claim of which it never heard. */
  private boolean isOwn(Head head) {
    return head.owner() == options.incarnation();
  }

  private void claimIfIdle(Head head) {
    if (leaving) {
      return;
    }
    Shard own = known.get(head.shard());
    if (own != null && own.owned() && head.epoch() > own.journal.epoch()) {
      lost(own); // taken by one who had not heard yet that this node is back
    }
    if (known.containsKey(head.shard())
        || refused.containsKey(head.shard())
        || stopping
        || !joined) {
      return;
    }
    boolean listedAsOwn = isOwn(head) && !givenBack.contains(head.shard());
    if (!listedAsOwn && !directory.isMine(head.home(), head.shard())) {
      adoptIfOrphan(head);
      return;
    }
    if (!directory.isFree(head)) {
      // whoever has it is about to give it back
      lookSoon |= !directory.isForgotten(head.home()) && !directory.isNamesake(head.owner());
      return;
    }
    Optional<Summary> summary = Summary.read(head);
    boolean keptLonger =
        head.released()
            && summary.isPresent()
            && summary.get().drained()
            && retention.keepUntil(summary.get()) > env.wallMicros();
    if (!keptLonger) {
      claimIfPaceAllows(head);
    } else if (packs.wants(summary.get(), head.generation() - head.oldestGeneration())) {
      packs.offer(head);
    }
  }

  /** One that is to look after it cannot, or it would have claimed it long ago. */
  private void adoptIfOrphan(Head head) {
    boolean waits = head.wakeMicros() <= env.wallMicros() && directory.isFree(head);
    if (orphans.isOne(head, waits, env.monotonicNanos())) {
      env.metrics().count("shards.adopted", 1);
      claim(head).orphan = true;
    }
  }

  /** Own shards and due ones at once; those of others a few at a time. */
  private void claimIfPaceAllows(Head head) {
    boolean atOnce = head.home().equals(options.nodeId()) || head.wakeMicros() <= env.wallMicros();
    if (atOnce || claimsLeft > 0) {
      claimsLeft -= atOnce ? 0 : 1;
      claim(head);
    } else {
      lookSoon = true;
    }
  }

  // ---- what becomes of a shard

  /** Moves a shard on where it has nothing left to do. */
  void settle(Shard shard) {
    if (shard.handingBack && !stopping) {
      handBackIfAnothers(shard);
      return;
    }
    if (!shard.quiet() || shard.fold == null || !shard.fold.debts().isEmpty() || stopping) {
      return;
    }
    if (shard.fold.live().size() == 0 && shard.sealed) {
      if (shard.added == 0) {
        drop(shard);
      } else {
        drained(shard);
      }
    } else if (shard.running == 0
        && shard.arranging == 0
        && shard.journal.wakeMicros() > env.wallMicros() + horizonMicros()) {
      if (isSpare(shard) && !host.hasOpenAttempts(shard)) {
        env.metrics().count("shards.spared", 1);
        release(shard, () -> {});
      } else {
        unload(shard);
      }
    }
  }

  /**
   * Whether this node has inherited the shard from one that is gone for good and puts new jobs of
   * its bucket into another. While nothing of it is due soon, a node that has none for the bucket
   * may have it; else every node that comes would make one more.
   */
  private boolean isSpare(Shard shard) {
    OpenBucket place = open.get(shard.bucket);
    return !shard.sealed
        && !shard.orphan
        && (place == null || place.shard != shard)
        && !shard.home.equals(options.nodeId())
        && directory.isForgotten(shard.home);
  }

  /**
   * Lets a shard sleep until its next job, or an open one until its slice, if that is far; a spare
   * one whose slice has come until that is over at the most, for then it is sealed.
   */
  private void sleepUntilNext(Shard shard, long now) {
    ShardFold fold = shard.fold;
    long soon = now + 2 * horizonMicros();
    long slice = shard.sealed ? Long.MAX_VALUE : shard.bucket.startMicros();
    if (slice <= soon && isSpare(shard)) {
      slice = shard.bucket.endMicros();
    }
    boolean drained = shard.sealed && fold != null && fold.live().size() == 0;
    if (fold == null
        || drained
        || !fold.debts().isEmpty()
        || !shard.quiet()
        || shard.journal.wakeMicros() == slice
        || slice <= soon) {
      return;
    }
    long history = retention.dueMicros(shard, fold);
    if (history > soon && !fold.live().any(job -> sleepsUntil(job) <= soon)) {
      long[] next = {Math.min(slice, history)};
      fold.live().forEach(job -> next[0] = Math.min(next[0], sleepsUntil(job)));
      committer.raiseWake(shard.journal, next[0]);
    }
  }

  private static long sleepsUntil(ShardJob job) {
    Awaited awaited = job.awaited();
    if (awaited != null && (!awaited.isArranged() || awaited.broken() != null)) {
      return Long.MIN_VALUE; // one that can never start is about to be ended
    }
    if (job.isIdle(ShardJob.Phase.SCHEDULED)) {
      return job.dueMicros;
    }
    if (job.isIdle(ShardJob.Phase.PAUSED) && !job.isStripped()) {
      return job.has(JobSpec.DEADLINE) ? job.head().deadlineMicros() : Long.MAX_VALUE;
    }
    if (job.isIdle(ShardJob.Phase.DEPENDENCY) && !job.isStripped() && awaited != null) {
      return job.has(JobSpec.DEADLINE) ? job.head().deadlineMicros() : Long.MAX_VALUE;
    }
    return Long.MIN_VALUE;
  }

  Summary summary(Shard shard) {
    ShardFold fold = shard.fold;
    Packed packed = shard.packed != null ? shard.packed.at(shard.journal.tail()) : null;
    if (fold == null) {
      return shard.drainedAs() != null
          ? shard.drainedAs()
          : new Summary(
              shard.bucket.widthSeconds(),
              shard.added,
              shard.addedBytes,
              false,
              false,
              0,
              0,
              0,
              shard.lastEndMicros,
              shard.journal.bytes(),
              packed,
              shard.replaced,
              shard.suspect);
    }
    boolean drained = fold.live().size() == 0 && shard.sealed && fold.debts().isEmpty();
    return new Summary(
        shard.bucket.widthSeconds(),
        shard.added,
        shard.addedBytes,
        drained,
        drained && shard.evidence,
        fold.dead(),
        fold.failed(),
        shard.evidence ? 0 : fold.keyed(),
        Math.max(shard.lastEndMicros, fold.lastEndMicros()),
        shard.journal.bytes(),
        packed,
        shard.replaced,
        shard.suspect && fold.live().any(ShardJob::isSuspected));
  }

  private void drained(Shard shard) {
    Summary summary = summary(shard);
    long keepUntil = retention.keepUntil(summary);
    if (packs.wants(summary, shard.journal.olderGenerations())) {
      releaseAs(shard, summary, packs::offer); // awake, so that it is found if nobody packs it
    } else if (shard.journal.wakeMicros() < keepUntil) {
      committer.raiseWake(shard.journal, keepUntil);
    } else {
      release(shard, () -> {});
    }
  }

  /** A drained shard was claimed again: its time is over, or it was only looked at. */
  private void retire(Shard shard, Summary summary) {
    shard.sealed = true;
    shard.evidence = summary.evidence();
    if (shard.awaited()) {
      load(shard);
    } else if (shard.visitorsWait()) {
      shard.drainedAs(summary);
      shard.fireOwned(); // it retires at its wake time
    } else if (retention.isOver(summary) || (shard.spent && !retention.hasKeys(summary))) {
      retention.retire(shard, summary);
    } else {
      releaseAs(shard, summary, head -> {});
    }
  }

  /**
   * A drained shard goes, unless somebody has it.
   *
   * @param early also before its time
   */
  void retireIfIdle(Head head, boolean early) {
    if (!known.containsKey(head.shard())
        && !refused.containsKey(head.shard())
        && !stopping
        && joined
        && directory.isMine(head.home(), head.shard())
        && directory.isFree(head)) {
      claim(head).spent = early;
    }
  }

  /** A visit of an unloaded shard is over: whoever waited for that goes on. */
  void leave(Shard shard) {
    shard.visited = false;
    if (shard.loadWanted) {
      shard.loadWanted = false;
      load(shard);
    }
    List<Runnable> next = List.copyOf(shard.visitors);
    shard.visitors.clear();
    next.forEach(Runnable::run); // one of them visits, the others wait again or need not
    settle(shard);
  }

  private void seal(Shard shard) {
    if (shard.sealed) {
      return;
    }
    shard.sealed = true;
    shard.hold();
    byte[] summary = summary(shard).asOpen().encode();
    control(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().seal(shard.id, shard.journal.epoch(), summary),
        head -> {
          shard.unhold();
          settle(shard);
        },
        shard);
  }

  void drop(Shard shard) {
    shard.journal.leaving();
    control(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().drop(shard.id, shard.journal.epoch()),
        done -> {
          env.metrics().count("shards.dropped", 1);
          forget(shard);
        },
        shard);
  }

  private void release(Shard shard, Runnable done) {
    releaseAs(shard, summary(shard), head -> done.run());
  }

  void releaseAs(Shard shard, Summary summary, Consumer<Head> done) {
    leaving(shard, summary);
    release(
        shard,
        new Release(shard.id, shard.journal.epoch(), shard.journal.tail(), summary.encode()),
        done,
        () -> {});
  }

  private void leaving(Shard shard, Summary summary) {
    shard.journal.leaving();
    if (summary.drained() || !summary.replaced().isEmpty()) {
      retention.noteHistory();
    }
  }

  private void release(Shard shard, Release release, Consumer<Head> done, Runnable ifLost) {
    control(
        NodeEnvironment.Channel.CONTROL,
        store ->
            store
                .journals()
                .release(
                    release.shard(), release.epoch(), release.expectedTail(), release.summary()),
        head -> {
          forget(shard);
          if (listing) {
            givenBack.add(shard.id);
          }
          done.accept(head);
        },
        shard,
        ifLost,
        null);
  }

  private void unload(Shard shard) {
    ShardFold fold = shard.fold;
    if (fold != null) {
      shard.fold = null;
      shard.lastEndMicros = Math.max(shard.lastEndMicros, fold.lastEndMicros());
      host.unloaded(shard, fold);
    }
  }

  /** The shard is out of this node's hands, in order. */
  private void forget(Shard shard) {
    shard.journal.lost();
    known.remove(shard.id, shard);
    unload(shard);
    committer.lost(shard.journal);
    shard.fireOwned();
    shard.fireLoaded();
  }

  /** The shard is somebody else's, or cannot be used: everything of it is let go at once. */
  void lost(Shard shard) {
    if (shard.journal.isLost()) {
      return;
    }
    env.metrics().count("shards.lost", 1);
    shard.journal.lost();
    shard.arrivedWhileLoading = null;
    known.remove(shard.id, shard);
    OpenBucket place = open.get(shard.bucket);
    if (place != null && place.shard == shard) {
      open.remove(shard.bucket);
      goOn(place);
    }
    unload(shard);
    committer.lost(shard.journal);
    shard.fireOwned();
    shard.fireLoaded();
  }

  /**
   * The store is another copy, of which this node has nothing: everything it has is let go, until
   * it has {@link #joined} again.
   */
  void loseAll() {
    joined = false;
    List.copyOf(known.values()).forEach(this::lost);
    filled.clear();
    lastForDue = null;
    orphans.clear();
    refused.clear(); // what could not be read may be whole in this copy
    headsLooked = false;
  }

  /**
   * Makes sure that what this node has is still its own, by a write that an earlier epoch may not
   * make; {@code done} runs when each shard is proven, or lost.
   */
  void prove(Runnable done) {
    List<Shard> owned = known.values().stream().filter(Shard::owned).toList();
    int[] open = {owned.size() + 1};
    Runnable one =
        () -> {
          if (--open[0] == 0) {
            done.run();
          }
        };
    owned.forEach(shard -> prove(shard, one));
    one.run();
  }

  /** The same of one shard. */
  void prove(Shard shard, Runnable then) {
    if (!shard.owned()) {
      then.run();
      return;
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().lowerWake(shard.id, shard.journal.epoch(), Long.MAX_VALUE),
        outcome -> {
          switch (outcome) {
            case Outcome.Ok<Head> proven -> then.run();
            case Outcome.Fenced<Head> other -> {
              lost(shard);
              then.run();
            }
            case Outcome.Damaged<Head>(String where) -> {
              refuse(shard, where);
              then.run();
            }
            default -> host.at(env.monotonicNanos() + RETRY_NANOS, () -> prove(shard, then));
          }
        });
  }

  /** Begins nothing more that rewrites a shard. */
  void beginStop() {
    packs.stop();
    if (!directory.isAlone()) {
      leaving = true;
      leaveUnread();
      List<Shard> idle = new ArrayList<>();
      for (Shard shard : known.values()) {
        if (shard.owned()) {
          beginHandBack(shard);
        }
        if (shard.quiet() && !host.hasOpenAttempts(shard)) {
          idle.add(shard);
        }
      }
      releaseAllTogether(idle, () -> {});
    }
  }

  /** Whether a shard is changing hands or generations. */
  boolean isUnsettled() {
    return packs.isUnsettled() || known.values().stream().anyMatch(Shard::isUnsettled);
  }

  /** Gives everything back, as far as nothing of it is open; {@code done} runs at the end. */
  void stop(Runnable done) {
    stopping = true;
    List<Shard> quiet = new ArrayList<>();
    List<Shard> goingAlready = new ArrayList<>();
    for (Shard shard : known.values()) {
      if (shard.journal.isLeaving() && !directory.isAlone()) {
        goingAlready.add(shard);
      } else if (shard.quiet() && (directory.isAlone() || !host.hasOpenAttempts(shard))) {
        quiet.add(shard);
      }
    }
    int[] left = {quiet.size() + goingAlready.size() + 1};
    Runnable one =
        () -> {
          if (--left[0] == 0) {
            done.run();
          }
        };
    goingAlready.forEach(shard -> shard.whenGone(one));
    releaseAllTogether(quiet, one);
    one.run();
  }

  private void releaseAllTogether(List<Shard> shards, Runnable each) {
    for (int from = 0; from < shards.size(); from += MOST_RELEASED_TOGETHER) {
      releaseTogether(
          shards.subList(from, Math.min(shards.size(), from + MOST_RELEASED_TOGETHER)), each);
    }
  }

  /** Many at once, since a node that stops has many; what does not go well goes by itself. */
  private void releaseTogether(List<Shard> shards, Runnable each) {
    List<Release> releases = new ArrayList<>();
    for (Shard shard : shards) {
      Summary summary = summary(shard);
      leaving(shard, summary);
      releases.add(
          new Release(shard.id, shard.journal.epoch(), shard.journal.tail(), summary.encode()));
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().releaseAll(releases),
        outcomes -> {
          for (int i = 0; i < shards.size(); i++) {
            Shard shard = shards.get(i);
            if (outcomes.get(i).isOk() && !shard.journal.isLost()) {
              forget(shard);
              each.run();
            } else {
              release(shard, releases.get(i), head -> each.run(), each);
            }
          }
        });
  }

  // ---- calls that are repeated until they are answered

  private <T> void control(
      NodeEnvironment.Channel channel, Function<Store, Outcome<T>> call, Consumer<T> done) {
    control(channel, call, done, null, () -> {}, null);
  }

  private <T> void control(
      NodeEnvironment.Channel channel,
      Function<Store, Outcome<T>> call,
      Consumer<T> done,
      Shard shard) {
    control(channel, call, done, shard, () -> {}, null);
  }

  /**
   * Exactly one of {@code done}, {@code ifLost} and {@code ifFull} runs, unless the node ends
   * before. Without {@code ifFull} a full store is asked again.
   */
  private <T> void control(
      NodeEnvironment.Channel channel,
      Function<Store, Outcome<T>> call,
      Consumer<T> done,
      @Nullable Shard shard,
      Runnable ifLost,
      @Nullable Consumer<String> ifFull) {
    if (shard != null && shard.journal.isLost()) {
      ifLost.run(); // what is written for it now might meet another copy of the store
      return;
    }
    env.submit(
        channel,
        call,
        outcome -> {
          if (shard != null && shard.journal.isLost()) {
            ifLost.run();
            return;
          }
          switch (outcome) {
            case Outcome.Ok<T>(T value) -> done.accept(value);
            case Outcome.Fenced<T> fenced when shard != null -> {
              lost(shard);
              ifLost.run();
            }
            case Outcome.Conflict<T> conflict when shard != null -> {
              lost(shard);
              ifLost.run();
            }
            case Outcome.Full<T>(String detail) when ifFull != null -> ifFull.accept(detail);
            default -> {
              // What is unknown may still take effect: it is repeated until it has.
              var ifFullThen = outcome instanceof Outcome.Unknown ? null : ifFull;
              host.at(
                  env.monotonicNanos() + RETRY_NANOS,
                  () -> control(channel, call, done, shard, ifLost, ifFullThen));
            }
          }
        });
  }
}
