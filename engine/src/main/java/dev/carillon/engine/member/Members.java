package dev.carillon.engine.member;

import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.StoreCalls;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.shard.Directory;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who else runs on this store, by the heartbeats that each writes and all read, and who is to look
 * after which shard.
 *
 * <p>A peer is dead when reads that cover the timeout, with no gap above half of it, all showed the
 * same heartbeat; and it may be alive again half a timeout after the last read. Every wait is
 * measured by this node's monotonic clock. A wrong judgement costs a take-over and nothing else:
 * epochs decide who may write.
 *
 * <p>A look also shows whether the store is still the copy that this node knows. If it is not, this
 * node lets go of everything, waits until what it had asked for is answered, adopts the copy and
 * joins anew. No write that was decided by one copy can reach another: before the adoption the
 * store refuses it, after it there is none.
 */
public final class Members implements Directory, ControlVersion.Host {
  private static final int PAGE = 1000;

  /** How long the handlers of a node have to stop after it was dead. */
  private static final long STOP_NANOS = 10_000_000_000L;

  /**
   * What this node asks of the store on its way to another copy has been answered before, and so
   * has what it {@linkplain Committer#channels commits}.
   */
  private static final List<NodeEnvironment.Channel> BEFORE_ADOPTION =
      List.of(
          NodeEnvironment.Channel.CONTROL,
          NodeEnvironment.Channel.RECORDS,
          NodeEnvironment.Channel.READ,
          NodeEnvironment.Channel.PACK);

  /** Owners without a record of whom this node keeps in mind since when it wonders. */
  private static final int MOST_STRANGERS = 10_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final NodeOptions options;
  private final Membership settings;
  private final Heartbeat heartbeat;
  private final ControlVersion controls;
  private final MemberNews news;
  private final ClusterFormat format;
  private final Host host;

  /** Null where this node's clock has nothing to do with the store's. */
  private final @Nullable WallClock wallClock;

  private final long writer;
  private final String ownKey;
  private final long bornNanos;
  private final Map<Long, Peer> peers = new LinkedHashMap<>();
  private final Map<Long, Stranger> strangers = new LinkedHashMap<>();
  private long sequence;
  private long lastReadNanos;
  private boolean hasRead;
  private String copy;
  private boolean adopting;
  private boolean started;
  private Timers.@Nullable Timer nextLook;
  private boolean over;
  private boolean proven;
  private StandIns standIns = new StandIns(List.of());
  private Set<String> homes = Set.of();
  private Orders orders = Orders.NONE;

  /** The node, as far as membership needs it. */
  public interface Host {
    /** Members came, went or died. */
    void membersChanged();

    /** Who else is there, at each look. */
    void looked(List<Member> others);

    /** Operators have set something: it is read and acted on; then {@code done} runs. */
    void controlsChanged(Runnable done);

    /**
     * The store is another copy of the data, perhaps an older one: everything that was learnt from
     * it is to be forgotten. {@code then} runs when it is.
     */
    void exchanged(String was, String is, Runnable then);

    /** From now on the store takes what this node writes, also what was decided before. */
    void adopted();
  }

  private static final class Peer {
    private Member member;
    private Stamp version;
    private long sinceNanos;
    private boolean dead;

    /** The last era in which it was taken for dead: a heartbeat of that time may arrive late. */
    private long lostEra = -1;

    /** It was there then or later, by a heartbeat that was new; null where none has been. */
    private @Nullable Long heardNanos;

    /** A heartbeat came after a long silence: it may have been on its way for as long. */
    private boolean late;

    Peer(Member member, Stamp version, long sinceNanos) {
      this.member = member;
      this.version = version;
      this.sinceNanos = sinceNanos;
    }

    boolean isThere() {
      return !dead && !member.isGone();
    }
  }

  /** An owner that has no record: it never sent a heartbeat, or was forgotten. */
  private static final class Stranger {
    private long sinceNanos;
    private boolean dead;

    Stranger(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }
  }

  public Members(
      Basics basics, Membership settings, ClusterFormat format, Heartbeat.Host ofBeat, Host host) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.options = basics.options();
    this.settings = settings;
    this.format = format;
    this.host = host;
    this.heartbeat = new Heartbeat(env, timers, options, settings, ofBeat);
    this.controls = new ControlVersion(env, basics.records(), heartbeat, this);
    this.news = new MemberNews(env, options.nodeId());
    Duration clockLimit = settings.clockLimit();
    this.wallClock = clockLimit == null ? null : new WallClock(env, Micros.ceil(clockLimit));
    heartbeat.say(said -> said.withFormat(format.newest()));
    this.writer = env.random() | 1;
    this.ownKey = Heartbeat.key(options.incarnation());
    this.bornNanos = env.monotonicNanos();
    this.copy = env.firstCopy();
  }

  /** Begins to look whether the store is still the copy that this node knows. */
  public void watch() {
    look();
  }

  /** Begins to send heartbeats, and to look at who else is there. */
  public void start() {
    started = true;
    heartbeat.start();
    if (nextLook != null) {
      timers.cancel(nextLook);
      look();
    }
  }

  public Heartbeat heartbeat() {
    return heartbeat;
  }

  @Nullable WallClock wallClock() {
    return wallClock;
  }

  ControlVersion controls() {
    return controls;
  }

  @Override
  public void controlsChanged(Runnable done) {
    host.controlsChanged(done);
  }

  @Override
  public long actedOnByAll() {
    long least = Long.MAX_VALUE;
    for (Peer peer : peers.values()) {
      if (peer.isThere()) {
        least = Math.min(least, peer.member.controls());
      }
    }
    return least;
  }

  /** Tells the others that this node is about to go: they do not count on it any more. */
  void leaving() {
    heartbeat.leaving();
  }

  /** Gives no more signs of life, without a word. */
  void fallSilent() {
    over = true;
    heartbeat.stop();
  }

  /** This node has given everything back. */
  public void leave(Runnable done) {
    over = true;
    heartbeat.leave(done);
  }

  // ---- looking

  private void look() {
    if (over) {
      return;
    }
    long sent = now();
    boolean asMember = started;
    nextLook = null;
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        Members::look,
        look -> {
          try {
            compare(look.incarnation());
            if (asMember) {
              looked(look, sent);
            }
          } catch (RuntimeException e) {
            env.report("what the look at the members showed could not be acted on", e);
          }
          if (asMember == started) {
            nextLook = timers.at(Math.max(nextLookNanos(sent), now()), this::look);
          } else {
            look();
          }
        });
  }

  private void looked(Look look, long sentNanos) {
    if (look.clockMicros() instanceof Outcome.Ok<Long>(Long micros) && wallClock != null) {
      wallClock.compare(sentNanos, micros);
      heartbeat.say(said -> said.withClock(wallClock.offsetMicros()));
    }
    if (look.records() instanceof Outcome.Ok<List<Stored>>(List<Stored> records)) {
      looked(records, sentNanos);
    }
  }

  /**
   * A heartbeat interval later, or when somebody's silence has lasted for the timeout, whichever
   * comes first.
   */
  private long nextLookNanos(long sentNanos) {
    long next = sentNanos + settings.heartbeatInterval().toNanos();
    for (Peer peer : peers.values()) {
      long silentAt = peer.sinceNanos + settings.timeout().toNanos();
      if (peer.isThere() && silentAt - next < 0 && silentAt - sentNanos > 0) {
        next = silentAt;
      }
    }
    return next;
  }

  /** What a look shows, what the store's clock did, and of which copy it was when it was over. */
  private record Look(
      Outcome<List<Stored>> records, Outcome<Long> clockMicros, String incarnation) {}

  private static Look look(Store store) {
    Outcome<List<Stored>> records = all(store);
    Outcome<Long> clock = records.isOk() ? store.clockMicros() : records.map(none -> 0L);
    return new Look(records, clock, store.incarnation());
  }

  /** Notices that the store went back in time, or was exchanged for another. */
  private void compare(String incarnation) {
    String known = copy;
    if (incarnation.equals(known) || adopting) {
      return;
    }
    adopting = true;
    heartbeat.exchanged();
    controls.exchanged();
    watchAnew();
    env.metrics().count("store.exchanged", 1);
    host.exchanged(known, incarnation, () -> afterAllAsked(() -> adopt(incarnation)));
  }

  /**
   * The last heartbeats may be gone with the other copy, and whoever sent them may count on them:
   * nobody is judged by what there was before.
   */
  private void watchAnew() {
    hasRead = false;
    strangers.clear();
    peers.clear();
  }

  /**
   * Runs {@code then} when the store has done what it was asked before: until the copy is adopted
   * it refuses to write what was decided by another.
   */
  private void afterAllAsked(Runnable then) {
    List<NodeEnvironment.Channel> channels = new ArrayList<>(Committer.channels(env));
    channels.addAll(BEFORE_ADOPTION);
    int[] left = {channels.size()};
    for (NodeEnvironment.Channel channel : channels) {
      env.submit(
          channel,
          store -> true,
          done -> {
            if (--left[0] == 0) {
              then.run();
            }
          });
    }
  }

  /** The copy of the store that this node goes by; null while it is on its way to another. */
  @Nullable String copy() {
    return adopting ? null : copy;
  }

  private void adopt(String incarnation) {
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        store -> {
          store.adopt(incarnation);
          return true;
        },
        done -> {
          copy = incarnation;
          adopting = false;
          host.adopted();
        });
  }

  /** The records of all who are there, or were of late. */
  static Outcome<List<Stored>> all(Store store) {
    return StoreCalls.list(store, Heartbeat.PREFIX, PAGE, Integer.MAX_VALUE);
  }

  /** What a read that was sent then has shown. */
  private void looked(List<Stored> records, long sentNanos) {
    boolean gap = !hasReadOfLate();
    Long before = gap ? null : (Long) lastReadNanos;
    boolean changed = gap; // what could not be claimed meanwhile is looked for again
    hasRead = true;
    lastReadNanos = sentNanos; // it may have been answered long after it looked
    Set<Long> there = new LinkedHashSet<>();
    for (Stored record : records) {
      if (!isHeartbeat(record)) {
        saw(record);
        continue;
      }
      if (!record.key().equals(ownKey)) {
        Member seen = read(record);
        there.add(seen.incarnation());
        strangers.remove(seen.incarnation());
        changed |= saw(seen, record.version(), sentNanos, before);
      }
    }
    changed |= letGo(there);
    changed |= heed(Orders.read(records));
    changed |= wonder(sentNanos, gap);
    if (changed) {
      drawAgain();
      host.membersChanged();
    }
    List<Member> others = others();
    news.looked(others, this::diedSilently);
    host.looked(others);
    controls.look(sentNanos);
  }

  private boolean diedSilently(long incarnation) {
    Peer peer = peers.get(incarnation);
    return peer != null && peer.dead && !peer.member.isGone();
  }

  /** True where operators have ordered something else than before. */
  private boolean heed(Orders now) {
    boolean changed = !now.equals(orders);
    if (changed) {
      news.ordered(orders, now);
    }
    orders = now;
    heartbeat.draining(now.drained().contains(options.nodeId()));
    return changed;
  }

  /** Whether a record among the heartbeats is one; the others are of no node. */
  public static boolean isHeartbeat(Stored record) {
    return record.key().charAt(Heartbeat.PREFIX.length()) != '~';
  }

  private void saw(Stored record) {
    if (record.key().equals(ControlVersion.KEY)) {
      controls.saw(record);
    } else if (record.key().equals(ClusterFormat.KEY)) {
      format.saw(record);
    }
  }

  public static Member read(Stored record) {
    try {
      return Member.decode(record.value());
    } catch (UnknownFormatException | DamagedException e) {
      String incarnation = record.key().substring(Heartbeat.PREFIX.length());
      try {
        return Member.unreadable(Long.parseUnsignedLong(incarnation, 16));
      } catch (NumberFormatException strange) {
        return Member.unreadable(incarnation.hashCode()); // nobody's, and nobody's harm
      }
    }
  }

  /** True where that changes who is to look after what. */
  private boolean saw(Member seen, Stamp version, long sentNanos, @Nullable Long beforeNanos) {
    boolean gap = beforeNanos == null;
    Peer peer = peers.get(seen.incarnation());
    if (peer == null) {
      peers.put(seen.incarnation(), new Peer(seen, version, now()));
      return true;
    }
    boolean changed = !peer.member.traits().equals(seen.traits());
    boolean beaten = !peer.version.equals(version);
    long silent = sentNanos - peer.sinceNanos;
    if (beaten) {
      changed |= peer.dead;
      peer.dead = false;
      hear(peer, beforeNanos);
    } else if (!gap && !peer.dead && silent >= settings.timeout().toNanos()) {
      peer.dead = true;
      peer.lostEra = peer.member.said().era() | 1; // the one in which it may be by now
      env.metrics().count("members.judged.dead", 1);
      changed = true;
    }
    if (beaten || (gap && !peer.dead)) {
      peer.sinceNanos = now();
    } else if (!peer.isThere() && silent >= forgetNanos()) {
      forget(peer);
    }
    peer.member = seen;
    peer.version = version;
    return changed;
  }

  /**
   * Takes note of a heartbeat that is new. After a long silence the second one counts: it was sent
   * when its node knew whether it had been late with the first.
   *
   * @param beforeNanos when it was not there yet; null where that is not known
   */
  private void hear(Peer peer, @Nullable Long beforeNanos) {
    Long heard = peer.heardNanos;
    boolean silent = heard == null || now() - heard >= heardFor();
    if (beforeNanos == null || (silent && !peer.late)) {
      peer.late = beforeNanos != null;
    } else {
      peer.heardNanos = beforeNanos;
      peer.late = false;
    }
  }

  /** One without a record is over to everybody: its handlers have had their time before. */
  private long forgetNanos() {
    return Math.max(settings.forget().toNanos(), overNanos());
  }

  private long overNanos() {
    return settings.timeout().toNanos() + STOP_NANOS;
  }

  /** Nobody expects it back; the next look shows whether its record is gone. */
  private void forget(Peer peer) {
    peer.sinceNanos = now(); // where it is not, it is tried again then
    Change change =
        new Change(
            Heartbeat.key(peer.member.incarnation()),
            peer.version,
            null,
            new Stamp(writer, ++sequence));
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        store -> store.records().apply(List.of(change)),
        outcome -> env.metrics().count("members.forgotten", 1));
  }

  /** Those whose record is gone: they said so themselves, or nobody expects them back. */
  private boolean letGo(Set<Long> there) {
    if (there.containsAll(peers.keySet())) {
      return false;
    }
    List<Long> gone = peers.keySet().stream().filter(peer -> !there.contains(peer)).toList();
    for (Long incarnation : gone) {
      peers.remove(incarnation);
      stranger(incarnation).dead = true;
    }
    return true;
  }

  private boolean wonder(long sentNanos, boolean gap) {
    boolean changed = false;
    for (Stranger stranger : strangers.values()) {
      if (gap && !stranger.dead) {
        stranger.sinceNanos = now();
      } else if (!stranger.dead
          && sentNanos - stranger.sinceNanos >= settings.timeout().toNanos()) {
        stranger.dead = true;
        changed = true;
      }
    }
    return changed;
  }

  private void drawAgain() {
    standIns = new StandIns(living());
    Set<String> known = new LinkedHashSet<>();
    known.add(options.nodeId());
    peers.values().forEach(peer -> known.add(peer.member.nodeId()));
    homes = known;
  }

  /** Whether the last read is recent enough to act on what it showed. */
  private boolean hasReadOfLate() {
    return hasRead && now() - lastReadNanos <= newsNanos();
  }

  /** How long it takes at most until others act on what a node says of itself. */
  long newsNanos() {
    return settings.timeout().toNanos() / 2;
  }

  /**
   * Whether this start of the node is too young for anybody to have taken it for dead, by a first
   * heartbeat that was answered late or by what else it wrote before one arrived.
   */
  boolean isYoung() {
    return now() - bornNanos < heartbeat.countsForNanos();
  }

  private long now() {
    return env.monotonicNanos();
  }

  // ---- who is there, and whose shards are whose

  /** The members that are there, this node with them. */
  public List<Member> living() {
    List<Member> living = others();
    living.add(heartbeat.self());
    return living;
  }

  private List<Member> others() {
    List<Member> others = new ArrayList<>();
    for (Peer peer : peers.values()) {
      if (peer.isThere()) {
        others.add(peer.member);
      }
    }
    return others;
  }

  /** Everybody who has a record, this node first. */
  List<MemberState> states() {
    List<MemberState> states = new ArrayList<>();
    states.add(state(heartbeat.self(), false));
    peers.values().forEach(peer -> states.add(state(peer.member, peer.dead)));
    return states;
  }

  private static MemberState state(Member member, boolean dead) {
    MemberState.Kind kind = MemberState.Kind.THERE;
    if (member.isGone()) {
      kind = MemberState.Kind.GONE;
    } else if (dead) {
      kind = MemberState.Kind.DEAD;
    } else if (member.traits().contains(Member.Trait.LEAVING)) {
      kind = MemberState.Kind.LEAVING;
    } else if (member.traits().contains(Member.Trait.DRAINING)) {
      kind = MemberState.Kind.DRAINING;
    }
    return new MemberState(
        member.nodeId(),
        member.incarnation(),
        kind,
        member.said().clockMicros(),
        member.said().format());
  }

  /** The incarnations that are there, this node's with them; empty where that is not known. */
  public Set<Long> incarnations() {
    if (!hasReadOfLate()) {
      return Set.of();
    }
    Set<Long> there = new LinkedHashSet<>();
    living().forEach(member -> there.add(member.incarnation()));
    return there;
  }

  /**
   * Whether nothing runs any more of an incarnation: it stopped in order, or its handlers have had
   * time to stop since it was dead.
   */
  public boolean isOver(long incarnation) {
    if (!hasReadOfLate() || !isDead(incarnation)) {
      return false;
    }
    Peer peer = peers.get(incarnation);
    return peer == null || peer.member.isGone() || now() - peer.sinceNanos >= overNanos();
  }

  /**
   * Until when nobody can have taken a peer for dead since that era of it began, by the monotonic
   * clock, with two heartbeats to spare for the looks of this node and of others; null where
   * somebody may have.
   */
  @Nullable Long heardUntil(long incarnation, long era) {
    Peer peer = peers.get(incarnation);
    Long heard = peer == null ? null : peer.heardNanos;
    if (peer == null || heard == null || now() - heard >= heardFor()) {
      return null;
    }
    boolean same = peer.lostEra < era && peer.member.said().era() <= era;
    return same && peer.isThere() ? heard + heardFor() : null;
  }

  private long heardFor() {
    return settings.timeout().toNanos() - 2 * settings.heartbeatInterval().toNanos();
  }

  /** What operators have ordered, as far as was read. */
  Orders orders() {
    return orders;
  }

  /** The id of a node; empty where it is not known here. */
  String nodeId(long incarnation) {
    Peer peer = peers.get(incarnation);
    return peer != null ? peer.member.nodeId() : "";
  }

  /** Whether a peer was there when it was heard of last, also where that is long ago. */
  public boolean wasThere(long incarnation) {
    Peer peer = peers.get(incarnation);
    return peer != null && peer.isThere();
  }

  /** Whether nobody expects that incarnation back. */
  public boolean isForgotten(long incarnation) {
    return incarnation != options.incarnation()
        && peers.get(incarnation) == null
        && hasReadOfLate()
        && isDead(incarnation);
  }

  /** Whether it said itself that it stopped. */
  boolean stoppedInOrder(long incarnation) {
    Peer peer = peers.get(incarnation);
    return peer == null || peer.member.isGone(); // or its record went with its last word
  }

  /** Whether one is there that has others do what it is asked for. */
  boolean hasClients() {
    return peers.values().stream()
        .anyMatch(peer -> peer.isThere() && peer.member.traits().contains(Member.Trait.CLIENT));
  }

  @Override
  public boolean hasTakers() {
    return peers.values().stream().anyMatch(peer -> peer.isThere() && peer.member.takesShards());
  }

  /** Whether anybody else is there. */
  boolean hasPeers() {
    for (Peer peer : peers.values()) {
      if (peer.isThere()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether the owner of a shard is not there any more. One without a record is watched for as long
   * as one without a new heartbeat.
   */
  public boolean isDead(long incarnation) {
    if (incarnation == options.incarnation()) {
      return false;
    }
    Peer peer = peers.get(incarnation);
    if (peer != null) {
      return !peer.isThere();
    }
    return stranger(incarnation).dead;
  }

  private Stranger stranger(long incarnation) {
    if (strangers.size() >= MOST_STRANGERS) {
      strangers.clear();
    }
    return strangers.computeIfAbsent(incarnation, i -> new Stranger(now()));
  }

  @Override
  public boolean isFree(Head head) {
    if (settings.client()) {
      return false; // not to be had by this node
    }
    return head.released()
        || head.owner() == options.incarnation()
        || (hasReadOfLate() && isDead(head.owner()));
  }

  @Override
  public boolean isMine(String home, ShardId shard) {
    Member wanted = standIns.named(orders.moved().get(shard));
    if (wanted != null) {
      return wanted.incarnation() == options.incarnation();
    }
    boolean drained = orders.drained().contains(options.nodeId()) && !standIns.isEmpty();
    if (home.equals(options.nodeId()) && !drained) {
      return true; // also while an earlier start of this node has not been judged dead
    }
    Member member = standIns.of(home, shard);
    return member != null && member.incarnation() == options.incarnation();
  }

  @Override
  public boolean isMovedAway(ShardId shard) {
    Member wanted = standIns.named(orders.moved().get(shard));
    return wanted != null && wanted.incarnation() != options.incarnation();
  }

  @Override
  public boolean isProven() {
    return heartbeat.isMember() && proven;
  }

  /** Whether this node has proven its shards since it was last fenced. */
  boolean hasProven() {
    return proven;
  }

  public void proven(boolean now) {
    proven = now;
  }

  @Override
  public @Nullable String nodeOf(long incarnation) {
    Peer peer = peers.get(incarnation);
    return peer == null ? null : peer.member.nodeId();
  }

  @Override
  public boolean isNamesake(long incarnation) {
    Peer peer = peers.get(incarnation);
    return peer != null && peer.member.nodeId().equals(options.nodeId());
  }

  @Override
  public long era() {
    return heartbeat.era();
  }

  @Override
  public boolean hasLooked() {
    return hasRead;
  }

  @Override
  public boolean isForgotten(String nodeId) {
    return hasRead && !homes.contains(nodeId);
  }
}
