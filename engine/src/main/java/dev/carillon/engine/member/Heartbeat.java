package dev.carillon.engine.member;

import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * This node's word that it is there, and whether it may still count on having given it.
 *
 * <p>The node stops itself before others may take it for dead: nothing starts once the timeout,
 * less a margin, has passed since the last acknowledged heartbeat was <em>sent</em>.
 *
 * <p>Crash table: a heartbeat is lost: the next one says the same. Its outcome is unknown: it is
 * resolved before the next. The node is paused: the deadline has passed when it wakes, and is
 * looked at before every start. The wall clock jumps: it is not read here.
 */
public final class Heartbeat {
  public static final String PREFIX = "m\0";

  /** The part of the timeout by which this node stops earlier than others may judge it. */
  private static final int MARGIN_PART = 10;

  private final NodeEnvironment env;
  private final Timers timers;
  private final NodeOptions options;
  private final Membership settings;
  private final Host host;
  private final long writer;
  private final Set<Member.Trait> traits = EnumSet.noneOf(Member.Trait.class);
  private long heartbeats;
  private long controls;
  private Member.Said said = Member.Said.NOTHING;
  private long sequence;
  private Stamp version = Stamp.ABSENT;
  private @Nullable Sent unknown;
  private @Nullable Sent acknowledged;
  private Timers.@Nullable Timer fence;
  private boolean member;
  private @Nullable Long fencedNanos;
  private long era;
  private boolean underWay;
  private boolean over;
  private @Nullable Runnable whenLeft;

  /** The node, as far as its heartbeat needs it. */
  public interface Host {
    /** What the next heartbeat says of this node is asked for. */
    Member.Said says(Member.Said before);

    /** This node may be dead to others: nothing starts, and what runs is asked to stop. */
    void fenced();

    /** Its heartbeats arrive again, or for the first time. */
    void joined();
  }

  /** A change of this node's record on its way, and when it was sent. */
  private record Sent(Change change, long nanos) {}

  Heartbeat(
      NodeEnvironment env, Timers timers, NodeOptions options, Membership settings, Host host) {
    this.env = env;
    this.timers = timers;
    this.options = options;
    this.settings = settings;
    this.host = host;
    this.writer = env.random() | 1; // its changes must not wait for those of the node
    if (settings.client()) {
      traits.add(Member.Trait.CLIENT);
    }
  }

  static String key(long incarnation) {
    return PREFIX + Long.toHexString(incarnation);
  }

  /** What the next heartbeat says of this node. */
  Member self() {
    return new Member(
        options.nodeId(),
        options.incarnation(),
        heartbeats,
        EnumSet.copyOf(traits),
        controls,
        said);
  }

  /** What this node says of itself with its next heartbeat is another thing. */
  void say(UnaryOperator<Member.Said> change) {
    said = change.apply(said);
  }

  /** This node acts on what operators have set, up to that version. */
  void actsOn(long version) {
    controls = version;
  }

  /** Whether this node says of itself that it leaves. */
  void leaving() {
    traits.add(Member.Trait.LEAVING);
  }

  /** Whether this node is to have no shards. */
  void draining(boolean now) {
    if (now) {
      traits.add(Member.Trait.DRAINING);
    } else {
      traits.remove(Member.Trait.DRAINING);
    }
  }

  /** Sends heartbeats from now on. */
  void start() {
    sendNext();
  }

  private void sendNext() {
    if (over || underWay) {
      return;
    }
    underWay = true;
    Sent before = unknown;
    if (before != null) {
      resolve(before);
    } else {
      heartbeats++;
      said = host.says(said).withEra(era()); // not that of a time before it may have been dead
      send(self().encode(), this::goOn);
    }
  }

  private void goOn(long sentNanos) {
    underWay = false;
    if (whenLeft != null) {
      sayGoodbye(whenLeft);
    } else {
      timers.at(
          Math.max(sentNanos + settings.heartbeatInterval().toNanos(), now()), this::sendNext);
    }
  }

  private interface Answered {
    void answered(long sentNanos);
  }

  private void send(byte @Nullable [] value, Answered then) {
    Stamp stamp = new Stamp(writer, ++sequence);
    Sent sent = new Sent(new Change(key(options.incarnation()), version, value, stamp), now());
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        store -> store.records().apply(List.of(sent.change())).getFirst(),
        outcome -> {
          try {
            switch (outcome) {
              case Outcome.Ok<Stamp> ok -> acknowledge(sent);
              case Outcome.Unknown<Stamp> lost -> unknown = sent;
              case Outcome.Conflict<Stamp> other -> lookUpOwn();
              default -> {}
            }
          } finally {
            then.answered(sent.nanos());
          }
        });
  }

  private void resolve(Sent sent) {
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        store -> store.records().resolve(sent.change()),
        outcome -> {
          boolean resolved = outcome.isOk();
          if (resolved) {
            unknown = null;
          }
          try {
            if (outcome instanceof Outcome.Ok<Boolean>(Boolean inEffect) && inEffect) {
              acknowledge(sent);
            }
          } finally {
            goOn(resolved ? now() - settings.heartbeatInterval().toNanos() : now());
          }
        });
  }

  /** Others had forgotten this node and deleted its record: the next heartbeat makes it again. */
  private void lookUpOwn() {
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        store -> store.records().get(key(options.incarnation())),
        outcome -> {
          if (outcome instanceof Outcome.Ok<Optional<Stored>>(Optional<Stored> found)) {
            version = found.map(Stored::version).orElse(Stamp.ABSENT);
          }
        });
  }

  private void acknowledge(Sent sent) {
    fenceIfLate(); // the answer may have waited while this node stood still
    version = sent.change().value() == null ? Stamp.ABSENT : sent.change().stamp();
    acknowledged = sent;
    timers.cancel(fence);
    fence = timers.at(deadlineNanos(), this::fenceIfLate);
    if (!member && now() - deadlineNanos() < 0) {
      member = true;
      era++;
      if (fencedNanos != null) {
        env.tell(new NodeEvent.Rejoined(now() - fencedNanos));
        fencedNanos = null;
      }
      host.joined();
    }
  }

  private void fenceIfLate() {
    if (member && now() - deadlineNanos() >= 0) {
      member = false;
      era++;
      env.metrics().count("members.fenced", 1);
      fencedNanos = now();
      host.fenced();
    }
  }

  /** The store is another copy: what was acknowledged is not there, and this node joins anew. */
  void exchanged() {
    era += member ? 1 : 0;
    member = false;
    acknowledged = null;
  }

  /** How long ago the last heartbeat that was acknowledged was sent; 0 without one. */
  long silentNanos() {
    Sent last = acknowledged;
    return last == null ? 0 : now() - last.nanos();
  }

  /** From then on others may take this node for dead, if nothing it says arrives meanwhile. */
  public long deadlineNanos() {
    Sent last = acknowledged;
    return last == null ? now() : last.nanos() + countsForNanos();
  }

  /** How long after something was sent nobody can have taken this node for dead by it. */
  long countsForNanos() {
    long timeout = settings.timeout().toNanos();
    return timeout - timeout / MARGIN_PART;
  }

  /** Whether this node may count itself among the living now. */
  public boolean isMember() {
    fenceIfLate();
    return member;
  }

  /** Another number after each time that it stopped or began to be one, odd while it is one. */
  long era() {
    fenceIfLate();
    return era;
  }

  /** Sends no more. */
  void stop() {
    over = true;
    member = false;
  }

  /**
   * Says that this node is gone, once, and then nothing more; {@code done} runs when that is
   * answered, whatever the answer: a word that does not arrive costs others the timeout.
   */
  void leave(Runnable done) {
    whenLeft = done;
    if (!underWay) {
      sayGoodbye(done);
    }
  }

  private void sayGoodbye(Runnable done) {
    over = true;
    member = false;
    if (unknown != null || version.equals(Stamp.ABSENT)) {
      done.run();
      return;
    }
    traits.clear();
    traits.add(Member.Trait.GONE);
    heartbeats++;
    send(settings.returns() ? self().encode() : null, sentNanos -> done.run());
  }

  private long now() {
    return env.monotonicNanos();
  }
}
