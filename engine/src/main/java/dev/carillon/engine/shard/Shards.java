package dev.carillon.engine.shard;

import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.ShardJournal;
import dev.carillon.engine.commit.StoreCalls;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.history.ShardLoad;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The shards that this node owns or is acquiring, and the way to them for everybody else. {@link
 * OpenShards} places new jobs, {@link Claims} takes ownership, {@link Loads} reads journals, {@link
 * WakeTimes} sets the durable timers, {@link Settling} gives shards back.
 *
 * <p>Shards are found by wake time, so none is forgotten. A shard that is not loaded costs its
 * entry here and nothing else.
 */
public final class Shards {
  /** The wake time of a shard that may hold overdue jobs: any node that looks finds it. */
  public static final long ALWAYS_AWAKE = 0;

  /** Heads in one page of a listing. */
  static final int LIST_PAGE = 256;

  /** The owner of a shard that its node could not read: no heartbeat, so any node may claim it. */
  static final long NOBODY = Long.MIN_VALUE;

  final StoreCalls calls;
  final OpenShards open;
  public final Claims claims;
  final Loads loads;
  final WakeTimes wakes;
  final Settling settling;
  final Retention retention;
  final Packs packs;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Directory directory;
  private final Timers timers;
  private final Committer committer;
  private final Host host;
  private final Map<ShardId, Shard> known = new LinkedHashMap<>();
  private final Map<ShardId, String> refused = new LinkedHashMap<>();
  private final List<Runnable> whenJoined = new ArrayList<>();
  private boolean joined;

  /** Every shard goes to others as soon as nothing of it runs. */
  private boolean leaving;

  private boolean stopping;

  /** The node, which has the jobs of its shards in memory. */
  public interface Host {
    /** The shard, until now another's or nobody's, is this node's. */
    void claimed(Shard shard);

    /** The shard's jobs are here and may be dispatched. */
    void loaded(Shard shard, ShardLoad.Folded<NodeJob> load);

    /** The shard's jobs leave this node's memory. */
    void unloaded(Shard shard, ShardFold<NodeJob> fold);

    /** Whether the outcome of an attempt of one of its jobs is open. */
    boolean hasOpenAttempts(Shard shard);

    /**
     * Nothing more starts of the shard, which goes to another node once nothing of it is open; or
     * it stays after all.
     */
    void handBackChanged(Shard shard);

    /** A loaded shard's time to look after itself. */
    void looked(Shard shard, long nowMicros);
  }

  /** The ways to the store that shards use. */
  public record Parts(Timers timers, Committer committer, RecordChanges records) {}

  public Shards(
      NodeEnvironment env, NodeOptions options, Directory directory, Parts parts, Host host) {
    this.env = env;
    this.options = options;
    this.directory = directory;
    this.timers = parts.timers();
    this.committer = parts.committer();
    this.host = host;
    this.calls = new StoreCalls(env, timers);
    this.open = new OpenShards(env, options, directory, this);
    this.claims = new Claims(env, options, directory, this, host);
    this.loads = new Loads(env, this, host);
    this.wakes = new WakeTimes(this, committer);
    this.settling = new Settling(env, directory, committer, this, host);
    this.retention = new Retention(env, options, this, committer, parts.records());
    this.packs = new Packs(env, options, this, committer, retention);
  }

  public void at(long nanos, Runnable action) {
    timers.at(nanos, action);
  }

  /** Runs {@code action} after the pause between two tries of a store call. */
  void later(Runnable action) {
    calls.later(action);
  }

  /**
   * Repeats a write until it is answered. Exactly one of {@code done} and {@code ifLost} runs,
   * unless the node ends before; a shard whose epoch the store refuses is lost.
   */
  <T> void write(Shard shard, Function<Store, Outcome<T>> call, Consumer<T> done, Runnable ifLost) {
    calls.write(
        shard.journal,
        call,
        done,
        () -> {
          lost(shard);
          ifLost.run();
        },
        null);
  }

  /** Whether what wakes then is to be in memory by now. */
  boolean isSoon(long micros) {
    return micros <= env.wallMicros() + horizonMicros();
  }

  long horizonMicros() {
    return Micros.ceil(options.loadHorizon());
  }

  void add(Shard shard) {
    known.put(shard.id, shard);
  }

  public @Nullable Shard known(ShardId id) {
    return known.get(id);
  }

  boolean isRefused(ShardId id) {
    return refused.containsKey(id);
  }

  boolean isJoined() {
    return joined;
  }

  boolean isLeaving() {
    return leaving;
  }

  boolean isStopping() {
    return stopping;
  }

  /** This node is a member: it may own shards. */
  public void joined() {
    joined = true;
    beginIfReady();
  }

  /**
   * Runs the actions that wait for this node to have joined. Until it has seen the other members it
   * would create a shard although it could have one of a node that is gone for good.
   */
  private void beginIfReady() {
    if (joined && directory.hasLooked()) {
      List<Runnable> waiting = List.copyOf(whenJoined);
      whenJoined.clear();
      waiting.forEach(Runnable::run);
    }
  }

  void whenJoined(Runnable action) {
    if (joined && directory.hasLooked()) {
      action.run();
    } else {
      whenJoined.add(action);
    }
  }

  /** {@link OpenShards#forDue}. */
  public @Nullable Shard forDue(long dueMicros, Runnable later) {
    return open.forDue(dueMicros, later);
  }

  /** {@link OpenShards#forDueBeside}. */
  public @Nullable Shard forDueBeside(Shard full, long dueMicros, Runnable later) {
    return open.forDueBeside(full, dueMicros, later);
  }

  /** {@link OpenShards#full}. */
  public @Nullable String full() {
    return open.full();
  }

  /** {@link WakeTimes#ensureAwakeBy}. */
  public void ensureAwakeBy(Shard shard, long dueMicros, Runnable then) {
    wakes.ensureAwakeBy(shard, dueMicros, then);
  }

  /** {@link WakeTimes#whenFree}. */
  public void whenFree(Shard shard, Runnable action) {
    wakes.whenFree(shard, action);
  }

  /** Lets actions go on that wait for a shard. */
  public void turn() {
    wakes.turn();
  }

  /** {@link Loads#loadFor}. */
  public void loadFor(Shard shard, Runnable then) {
    loads.loadFor(shard, then);
  }

  /** {@link Loads#hurry}. */
  public void hurry(Shard shard, Runnable action) {
    loads.hurry(shard, action);
  }

  /** {@link Settling#settle}. */
  public void settle(Shard shard) {
    settling.settle(shard);
  }

  /** {@link Settling#leave}. */
  public void leave(Shard shard) {
    settling.leave(shard);
  }

  /** Gives every shard to other nodes, and begins nothing more that rewrites one. */
  public void beginStop() {
    packs.stop();
    if (!directory.isAlone()) {
      leaving = true;
      loads.leaveUnread();
      settling.handBackAll();
    }
  }

  /** Releases every shard of which nothing is open; {@code done} runs at the end. */
  public void stop(Runnable done) {
    stopping = true;
    settling.releaseAll(done);
  }

  /** Lets go of a shard whose journal the store no longer lets this node write. */
  public void fenced(ShardJournal journal) {
    Shard shard = known.get(journal.id());
    env.metrics().count("shards.fenced", 1);
    if (shard != null && shard.journal == journal) {
      lost(shard);
    }
    if (!directory.isAlone()) {
      claims.lookSoon(); // it may be given back
    }
  }

  /** Settles the shard of a journal whose operations were applied. */
  public void changed(ShardJournal journal) {
    Shard shard = known.get(journal.id());
    if (shard != null && shard.journal == journal) {
      settle(shard);
    }
  }

  public Iterable<Shard> all() {
    return known.values();
  }

  public int size() {
    return known.size();
  }

  /** Shards that could not be read, with the reason. */
  public Map<ShardId, String> refused() {
    return refused;
  }

  /** Leaves a shard alone that this node cannot read. */
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
            default -> later(() -> leaveToOthers(shard));
          }
        });
  }

  void refuse(ShardId id, String why) {
    if (refused.put(id, why) == null) {
      env.report("a shard is refused and left alone: " + why, null);
      env.metrics().count("shards.refused", 1);
    }
  }

  /** What somebody wants with a shard. */
  public interface ShardAccess {
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
  public void whenProven(Runnable action) {
    if (directory.isProven()) {
      action.run();
    } else if (!stopping) {
      later(() -> whenProven(action));
    }
  }

  /** What is answered about a shard that another node has. */
  public static <T> Outcome<T> elsewhere(Head head) {
    return new Outcome.Unavailable<>("shard " + head.shard() + ": another node has it");
  }

  /** Gives {@code use} the shard, claimed and loaded. */
  public void withLoaded(ShardId id, ShardAccess use) {
    withOwned(
        id,
        new ShardAccess() {
          @Override
          public void use(Shard shard) {
            loads.load(shard);
            loads.hurry(
                shard,
                () -> {
                  if (shard.loaded()) {
                    use.use(shard);
                  } else if (!stopping) {
                    later(() -> withLoaded(id, use));
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
  public void withOwned(ShardId id, ShardAccess use) {
    Shard shard = known.get(id);
    if (shard != null && shard.journal.isLeaving()) {
      shard.whenGone(() -> withOwnedAgain(id, use));
    } else if (shard != null) {
      shard.whenOwned(() -> useOwned(shard, use));
    } else {
      whenJoined(() -> findOwned(id, use));
    }
  }

  private void findOwned(ShardId id, ShardAccess use) {
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
              if (found == null && claims.isForOthers(head)) {
                use.elsewhere(head);
                return;
              }
              if (refused.containsKey(id)) {
                use.none();
                return;
              }
              Shard claimed = found != null ? found : claims.claim(head);
              claimed.whenOwned(() -> useOwned(claimed, use));
            }
            case Outcome.Fenced<Head> gone -> use.none();
            case Outcome.Damaged<Head>(String where) -> {
              refuse(id, where);
              use.none();
            }
            default -> later(() -> withOwned(id, use));
          }
        });
  }

  private void withOwnedAgain(ShardId id, ShardAccess use) {
    if (!stopping) {
      withOwned(id, use);
    }
  }

  private void useOwned(Shard shard, ShardAccess use) {
    if (shard.owned()) {
      use.use(shard);
    } else if (!stopping) {
      later(() -> withOwned(shard.id, use));
    }
  }

  /** Claims and loads what wakes within the horizon, and lets go of what does not. */
  public void look() {
    if (stopping || leaving || !joined) {
      return;
    }
    beginIfReady();
    long now = env.wallMicros();
    open.forgetBefore(now);
    for (Shard shard : List.copyOf(known.values())) {
      if (shard.owned()) {
        lookAt(shard, now);
      }
    }
    claims.list(now + horizonMicros());
    retention.lookAtAll();
  }

  private void lookAt(Shard shard, long now) {
    if (!shard.sealed && shard.bucket.endMicros() <= now) {
      open.closeBucket(shard);
    }
    if (!shard.loaded() && isSoon(shard.journal.wakeMicros())) {
      loads.load(shard);
    }
    settle(shard);
    wakes.wakeIfOwing(shard, now);
    if (settling.handBackIfAnothers(shard)) {
      return;
    }
    retention.dropOldIfTime(shard);
    if (!retention.compactIfWorthwhile(shard)) { // nobody compacts one that sleeps
      wakes.sleepUntilNext(shard, now);
    }
    packs.consider(shard, now);
    host.looked(shard, now);
  }

  /** Takes the shard's jobs out of memory. */
  void unload(Shard shard) {
    ShardFold<NodeJob> fold = shard.fold;
    if (fold != null) {
      shard.fold = null;
      shard.lastEndMicros = Math.max(shard.lastEndMicros, fold.lastEndMicros());
      host.unloaded(shard, fold);
    }
  }

  /** The shard was released or dropped. */
  void forget(Shard shard) {
    shard.journal.lost();
    known.remove(shard.id, shard);
    unload(shard);
    committer.lost(shard.journal);
    shard.fireOwned();
    shard.fireLoaded();
  }

  /** Another node owns the shard, or it cannot be used: this node forgets all of it at once. */
  void lost(Shard shard) {
    if (shard.journal.isLost()) {
      return;
    }
    env.metrics().count("shards.lost", 1);
    shard.journal.lost();
    shard.arrivedWhileLoading = null;
    known.remove(shard.id, shard);
    open.lost(shard);
    unload(shard);
    committer.lost(shard.journal);
    shard.fireOwned();
    shard.fireLoaded();
  }

  /**
   * The store is another copy, of which this node has nothing: everything it has is let go, until
   * it has {@link #joined} again.
   */
  public void loseAll() {
    joined = false;
    List.copyOf(known.values()).forEach(this::lost);
    open.forgetAll();
    claims.forgetAll();
    refused.clear(); // what could not be read may be whole in this copy
  }

  /**
   * Makes sure that what this node has is still its own, by a write that an earlier epoch may not
   * make; {@code done} runs when each shard is proven, or lost.
   */
  public void prove(Runnable done) {
    List<Shard> owned = known.values().stream().filter(Shard::owned).toList();
    int[] unproven = {owned.size() + 1};
    Runnable one =
        () -> {
          if (--unproven[0] == 0) {
            done.run();
          }
        };
    owned.forEach(shard -> prove(shard, one));
    one.run();
  }

  /** The same of one shard. */
  public void prove(Shard shard, Runnable then) {
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
            default -> later(() -> prove(shard, then));
          }
        });
  }

  /** Whether a shard is changing hands or generations. */
  public boolean isUnsettled() {
    return packs.isUnsettled() || known.values().stream().anyMatch(Shard::isUnsettled);
  }
}
