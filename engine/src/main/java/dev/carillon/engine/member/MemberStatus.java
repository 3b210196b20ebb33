package dev.carillon.engine.member;

import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.shard.Directory;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How this node stands among the nodes of its store: which of them live, whether it may start
 * attempts, and what time it is. A node that has the store to itself gets an answer too, so that
 * nobody else has to know whether there are {@link Members}.
 *
 * <p>Owned by the loop of its node; {@link #nowMicros(long, long)} alone is for any thread.
 */
public final class MemberStatus {
  private final NodeEnvironment env;
  private final NodeOptions options;

  /** Null where this node has the store to itself. */
  private final @Nullable Members members;

  /** Null where nothing is compared with the store's clock. */
  private final @Nullable WallClock wallClock;

  private int copies;
  private boolean stopping;

  public MemberStatus(NodeEnvironment env, NodeOptions options, @Nullable Members members) {
    this.env = env;
    this.options = options;
    this.members = members;
    this.wallClock = members == null ? null : members.wallClock();
  }

  /** Whether other nodes may share the store. */
  public boolean isShared() {
    return members != null;
  }

  public long incarnation() {
    return options.incarnation();
  }

  /** Whether this node owns no shard and sends every request to another node. */
  public boolean isClient() {
    Membership membership = options.membership();
    return membership != null && membership.client();
  }

  /** Whether attempts go to other nodes and come from them. */
  public boolean lends() {
    Membership membership = options.membership();
    return membership != null && membership.lends();
  }

  public Directory directory() {
    return members != null ? members : Directory.ALONE;
  }

  // ---- time

  /**
   * The time at which a request is made: by the wall clock of this node, or by the store's where
   * that of this node is too far off. Any thread may ask.
   */
  public long nowMicros(long wallMicros, long monotonicNanos) {
    return wallClock == null ? wallMicros : wallClock.nowMicros(wallMicros, monotonicNanos);
  }

  public long nowMicros() {
    return nowMicros(env.wallMicros(), env.monotonicNanos());
  }

  /** Whether a job that is due by the wall clock may count as due. */
  public boolean isClockTrusted() {
    return wallClock == null || wallClock.isTrusted();
  }

  /** Why the wall clock is not trusted; null where it is. */
  public @Nullable String clockProblem() {
    return wallClock == null ? null : wallClock.problem();
  }

  /** Compares the wall clock with the store's, where it has jumped. */
  public void checkClock() {
    if (wallClock != null) {
      wallClock.turn();
    }
  }

  // ---- this node

  /** Whether this node may start an attempt now: it is a member, proven, with a right clock. */
  public boolean mayStart() {
    return members == null
        || (members.heartbeat().isMember() && members.hasProven() && isClockTrusted());
  }

  /** Whether nobody can have taken this node for dead, and its shards are its own. */
  public boolean isSure() {
    return members == null || (members.heartbeat().isMember() && members.hasProven());
  }

  /** Until when a handler must be called, by the monotonic clock; null for any time. */
  public @Nullable Long startBy() {
    return members == null ? null : members.heartbeat().deadlineNanos();
  }

  /** Whether the shards of this node are its own for certain. */
  public boolean isProven() {
    return members == null || members.isProven();
  }

  /** Whether this node has proven its shards since it was last fenced. */
  public boolean hasProven() {
    return members == null || members.hasProven();
  }

  /** This node's era, by its heartbeat. */
  public long era() {
    return members == null ? 0 : members.heartbeat().era();
  }

  /** The next heartbeat says something else of this node. */
  public void say(UnaryOperator<Member.Said> change) {
    if (members != null) {
      members.heartbeat().say(change);
    }
  }

  /** Runs {@code done} when every living node acts on the setting that this node has changed. */
  public void announceSetting(Runnable done) {
    if (members == null) {
      done.run();
    } else {
      members.controls().announce(done);
    }
  }

  /** Whether nobody can have taken this start of the node for dead yet. */
  public boolean isYoung() {
    return members == null || members.isYoung();
  }

  /** How long it takes at most until other nodes act on what a node says of itself. */
  public long newsNanos() {
    return members == null ? 0 : members.newsNanos();
  }

  /** How long ago the last heartbeat that was acknowledged was sent; 0 without one. */
  public long silentNanos() {
    return members == null ? 0 : members.heartbeat().silentNanos();
  }

  /** The shards of this node are proven to be its own, or not any more. */
  public void proven(boolean now) {
    if (members != null) {
      members.proven(now);
    }
  }

  /** Begins to look whether the store is still the copy that this node knows. */
  public void watch() {
    if (members != null) {
      members.watch();
    }
  }

  /** Begins to send heartbeats and to look who else is there. */
  public void join() {
    if (members != null) {
      members.start();
    }
  }

  /** Sends no more heartbeats, without a word. */
  public void fallSilent() {
    if (members != null) {
      members.fallSilent();
    }
  }

  /** This node has given everything back; {@code done} runs when others may know. */
  public void leave(Runnable done) {
    if (members == null) {
      done.run();
    } else {
      members.leave(done);
    }
  }

  /** This node begins to stop. */
  public void stop() {
    stopping = true;
    leaving();
  }

  public boolean isStopping() {
    return stopping;
  }

  /** Other nodes are told that this node is about to go. */
  public void leaving() {
    if (members != null) {
      members.leaving();
    }
  }

  // ---- the store

  /** The copy of the store that this node goes by; null while it goes by none. */
  public @Nullable String copy() {
    return members == null ? null : members.copy();
  }

  /** How often the store has become another copy: a reply from an earlier one counts no more. */
  public int copies() {
    return copies;
  }

  /** The store has become another copy. */
  public void exchanged() {
    copies++;
  }

  /** The orders of operators, as far as they were read. */
  public Orders orders() {
    return members == null ? Orders.NONE : members.orders();
  }

  // ---- other nodes

  /** Whether another node is there. */
  public boolean hasPeers() {
    return members != null && members.hasPeers();
  }

  /** Whether another node is there with which this one exchanges messages. */
  public boolean hasCorrespondents() {
    boolean speaks = lends() || isClient();
    return members != null && (speaks ? members.hasPeers() : members.hasClients());
  }

  /** Whether the node of that incarnation is not there any more. */
  public boolean isDead(long incarnation) {
    return members != null && members.isDead(incarnation);
  }

  /** Whether nobody expects that incarnation back. */
  public boolean isForgotten(long incarnation) {
    return members != null && members.isForgotten(incarnation);
  }

  /** Whether no handler of that incarnation can run any more. */
  public boolean isOver(long incarnation) {
    return members != null && members.isOver(incarnation);
  }

  /** Whether that incarnation stopped in order: no job that it ran has killed it. */
  public boolean stoppedInOrder(long incarnation) {
    return members != null && members.stoppedInOrder(incarnation);
  }

  /** Whether that incarnation lives, as far as is known: no job that it runs has killed it. */
  public boolean isThere(long incarnation) {
    return incarnation == options.incarnation()
        || (members != null && members.wasThere(incarnation));
  }

  /** The id of a node that shares the store; empty where it is not known. */
  public String nodeId(long incarnation) {
    return members != null ? members.nodeId(incarnation) : "";
  }

  /**
   * Until when, by the monotonic clock, nobody can have taken that node for dead since that era of
   * it: its jobs are its own. Null where somebody may have.
   */
  public @Nullable Long heardUntil(long incarnation, long era) {
    return members == null ? null : members.heardUntil(incarnation, era);
  }

  /** The incarnations that are there, this node's with them; empty where that is not known. */
  Set<Long> incarnations() {
    return members != null ? members.incarnations() : Set.of(options.incarnation());
  }

  /**
   * Says which incarnations are gone, as of now: rows that they took and did not add are taken
   * again. One that has only just come may be among them: its add is refused then.
   */
  public LongPredicate gone() {
    Set<Long> there = incarnations();
    return there.isEmpty() ? incarnation -> false : incarnation -> !there.contains(incarnation);
  }

  /** The members that are there, this node with them; none where it has the store to itself. */
  public List<Member> living() {
    return members != null ? members.living() : List.of();
  }

  /** Every node that has a record, this one first. */
  public List<MemberState> states() {
    return members != null
        ? members.states()
        : List.of(
            new MemberState(
                options.nodeId(),
                options.incarnation(),
                MemberState.Kind.THERE,
                MemberState.CLOCK_UNKNOWN,
                0));
  }
}
