package dev.carillon.engine.shard;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.history.Bucket;
import dev.carillon.engine.history.DamagedHead;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Claim;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Claims shards: takes over a shard whose owner is dead or gone (failover), and those that come
 * back to their home. A claim raises the fencing epoch, so the store refuses late writes of the
 * owner before.
 *
 * <ol>
 *   <li>Due shards and those of its own id a node claims at once, others a few at a look.
 *   <li>A shard that another node is to have is left to it, unless it stays due and unclaimed for a
 *       minute ({@link Orphans}).
 *   <li>Only a node that has joined claims: else the head may be of another copy of the store, in
 *       which epochs differ.
 * </ol>
 *
 * <p>Crash table: a claim whose answer is lost is in effect or not; the next listing shows which.
 */
public final class Claims {
  /** Of the shards of others that are not due yet, so many are claimed at a look, at first. */
  private static final int FIRST_CLAIMS = 2;

  private static final int MOST_CLAIMS = 20;

  /** How soon after a look that left something for later there is another. */
  private static final long SOON_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Directory directory;
  private final Shards shards;
  private final Shards.Host host;
  private final Orphans orphans = new Orphans();
  private boolean listing;
  private boolean listAgain;

  /** Shards that this node gave back since the listing began, which may still show them as its. */
  private final Set<ShardId> givenBack = new LinkedHashSet<>();

  private boolean looked;
  private boolean headsLooked;
  private int claimsALook = FIRST_CLAIMS;
  private int claimsLeft;
  private boolean lookSoon;
  private boolean willLookSoon;

  Claims(
      NodeEnvironment env,
      NodeOptions options,
      Directory directory,
      Shards shards,
      Shards.Host host) {
    this.env = env;
    this.options = options;
    this.directory = directory;
    this.shards = shards;
    this.host = host;
  }

  /**
   * Claims a shard that nobody alive owns, and loads it unless it is clean and far. Only a node
   * that has shards.isJoined() does: else the head may be of another copy of the store, in which
   * epochs differ.
   */
  Shard claim(Head head) {
    Optional<Summary> read = Summary.read(head);
    Summary summary = read.orElse(Summary.UNREADABLE);
    Shard shard =
        new Shard(
            head.shard(),
            new Bucket(head.shard().startSeconds(), summary.widthSeconds()),
            head.home());
    if (read.isEmpty()) {
      shards.refuse(shard, "shard " + shard.id + ": its summary is of a later version");
      return shard;
    }
    shard.added = summary.added();
    shard.addedBytes = summary.addedBytes();
    shards.add(shard);
    claim(shard, head, summary);
    return shard;
  }

  void claim(Shard shard, Head head, Summary summary) {
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
        shard.handingBack = shards.isLeaving();
        boolean far = !shards.isSoon(shard.journal.wakeMicros());
        Summary now = Summary.read(claim.head()).orElse(summary); // the listing's may be older
        shard.suspect |= now.suspected();
        shard.added = now.added();
        shard.addedBytes = now.addedBytes();
        shard.lastEndMicros = now.lastEndMicros();
        shard.journal.measured(now.bytes());
        shard.packed = now.packed();
        shard.replaced = shards.retention.stillKept(shard, now.replaced());
        if (now.drained() && !shard.suspect) {
          shards.settling.retire(shard, now);
        } else if (shards.isLeaving() && !shard.awaited() && !shard.suspect) {
          goAgain(shard);
        } else if (shard.suspect || !far || shard.awaited()) {
          shards.loads.load(shard);
        } else {
          shard.fireOwned();
        }
      }
      case Outcome.Fenced<Claim> fenced -> {
        shards.lost(shard);
        if (fenced.epoch() != Head.DROPPED) {
          // Perhaps by a late claim of a start of this node that is over: it is looked for again.
          if (directory.isAlone()) {
            shards.later(shards::look);
          } else {
            lookSoon();
          }
        }
      }
      case Outcome.Conflict<Claim> conflict -> shards.lost(shard);
      default -> shards.later(() -> claimAgain(shard, head, summary));
    }
  }

  private void tellIfTakenOver(Shard shard, Head head) {
    boolean another = head.owner() != options.incarnation() && head.owner() != Shards.NOBODY;
    if (shard.abandoned && another) {
      String owner = directory.nodeOf(head.owner());
      env.tell(new NodeEvent.TookOver(head.shard(), owner != null ? owner : head.home()));
    }
  }

  /** The node stops: it was claimed too late, or for a question that is answered from it. */
  private void goAgain(Shard shard) {
    shard.fireOwned();
    shards.settling.handBackIfAnothers(shard);
  }

  /** Claims again, unless whoever had the shard was heard of meanwhile. */
  private void claimAgain(Shard shard, Head head, Summary summary) {
    if (directory.isFree(head)) {
      claim(shard, head, summary);
    } else {
      shards.lost(shard);
      shards.look(); // the lost claim may be in effect all the same
    }
  }

  /**
   * Takes up a shard that this node has by a claim whose answer it never heard: it let go of it
   * while the claim was on its way. Nobody else takes it while this node is there.
   */
  public void takeUpIfOwn(ShardId id) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> store.journals().head(id),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Head>(Head head)
              && isOwn(head)
              && shards.isJoined()
              && !shards.isLeaving()
              && shards.known(id) == null
              && !shards.isRefused(id)) {
            claim(head);
          }
        });
  }

  /** Whether others have it, or are to have it: nobody takes up at once what wakes later. */
  public boolean isForOthers(Head head) {
    boolean goes =
        shards.isLeaving() && (shards.isStopping() || (wakesSoon(head) && directory.hasTakers()));
    return goes || !directory.isFree(head);
  }

  /** Whether another node, which is to look after the shard, is about to claim it. */
  public boolean isAboutToGo(Head head) {
    return wakesSoon(head) && !directory.isMine(head.home(), head.shard());
  }

  private boolean wakesSoon(Head head) {
    return shards.isSoon(head.wakeMicros());
  }

  /** Lists the shards that wake before then, and claims those that this node is to have. */
  void list(long beforeMicros) {
    if (listing) {
      listAgain = true; // the listing under way may have passed a head that changed since
    } else {
      listing = true;
      givenBack.clear();
      claimsLeft = claimsALook;
      lookSoon = false;
      listWaking(beforeMicros, null);
    }
  }

  /** The node has released the shard: a listing under way may still show it as this node's. */
  void gaveBack(ShardId id) {
    if (listing) {
      givenBack.add(id);
    }
  }

  /** The store is another copy: all that was seen of heads is of the copy before. */
  void forgetAll() {
    orphans.clear();
    headsLooked = false;
  }

  private void listWaking(long before, @Nullable Head after) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> store.journals().listByWake(before, after, Shards.LIST_PAGE),
        outcome -> {
          if (outcome instanceof Outcome.Damaged<List<Head>>) {
            listAroundDamage(before);
          } else if (!(outcome instanceof Outcome.Ok<List<Head>>(List<Head> heads))) {
            listAfterFailure();
          } else {
            heads.forEach(this::claimIfIdle);
            if (heads.size() == Shards.LIST_PAGE) {
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
          found.damaged().forEach(id -> shards.refuse(id, "head of shard " + id + ": damaged"));
          found.intact().stream()
              .filter(head -> head.wakeMicros() < before)
              .forEach(this::claimIfIdle);
          listed();
        });
  }

  private void listAfterFailure() {
    listing = false;
    shards.later(shards::look);
  }

  /** Whether everything that was due at the start is loaded. */
  public boolean caughtUp() {
    if (!looked) {
      return false;
    }
    for (Shard shard : shards.all()) {
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
      shards.look();
    }
  }

  /** Looks once more in a moment: something is about to be free. */
  void lookSoon() {
    if (!willLookSoon) {
      willLookSoon = true;
      shards.at(
          env.monotonicNanos() + SOON_NANOS,
          () -> {
            willLookSoon = false;
            shards.look();
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
            damaged.forEach(id -> shards.refuse(id, "head of shard " + id + ": damaged"));
          } else {
            headsLooked = false; // with the next listing
          }
        });
  }

  /** Whether this node has the shard, perhaps by a claim of which it never heard. */
  boolean isOwn(Head head) {
    return head.owner() == options.incarnation();
  }

  private void claimIfIdle(Head head) {
    if (shards.isLeaving()) {
      return;
    }
    Shard own = shards.known(head.shard());
    if (own != null && own.owned() && head.epoch() > own.journal.epoch()) {
      shards.lost(own); // taken by one who had not heard yet that this node is back
    }
    if (shards.known(head.shard()) != null
        || shards.isRefused(head.shard())
        || shards.isStopping()
        || !shards.isJoined()) {
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
            && shards.retention.keepUntil(summary.get()) > env.wallMicros();
    if (!keptLonger) {
      claimIfPaceAllows(head);
    } else if (shards.packs.wants(summary.get(), head.generation() - head.oldestGeneration())) {
      shards.packs.offer(head);
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

  /**
   * A drained shard goes, unless somebody has it.
   *
   * @param early also before its time
   */
  void retireIfIdle(Head head, boolean early) {
    if (shards.known(head.shard()) == null
        && !shards.isRefused(head.shard())
        && !shards.isStopping()
        && shards.isJoined()
        && directory.isMine(head.home(), head.shard())
        && directory.isFree(head)) {
      claim(head).spent = early;
    }
  }
}
