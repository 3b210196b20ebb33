package dev.carillon.engine.member;

import dev.carillon.engine.environment.NodeEnvironment;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * This node's wall clock, held against the store's, which all nodes can read alike.
 *
 * <p>Jobs start by the wall clock of the node that starts them. One that is far off would start
 * them early or late by everybody else's, so nothing starts by it: not before it was compared for
 * the first time, not while it is further from the store's than the limit, and not when it has
 * jumped against the monotonic clock since it was last compared, until it is compared again: the
 * store's may have gone back with it, and this one forward again. No safety rests on any of this.
 * What is asked for on a node whose clock is too far off is stamped by the store's clock.
 *
 * <p>What was sent at one moment and answered at another was read in between, so a comparison is
 * exact to half of what it took. One that took long says nothing, nor does one during which this
 * clock jumped: the store's may have jumped with it, before or after it was read.
 */
final class WallClock {
  /** From how far off on operators are warned. */
  private static final long WARN_MICROS = 500_000;

  /** How far the clock may jump against the monotonic one before it is compared again. */
  private static final long JUMP_MICROS = 10_000_000;

  /** An answer that took longer is too vague to tell anything. */
  private static final long LONGEST_MICROS = 2_000_000;

  /** How soon the store is asked again that did not answer. */
  private static final long ASK_AGAIN_NANOS = 100_000_000;

  /** A change of the clock that is more than the clocks' running a little apart. */
  private static final long STEP_MICROS = 100_000;

  private final NodeEnvironment env;
  private final long limitMicros;
  private boolean compared;
  private long offsetMicros;
  private long againstMonotonicMicros;
  private long lastSeenMicros;
  private long steadySinceNanos;
  private boolean tooFar;
  private boolean warned;
  private boolean asked;
  private long askAgainNanos;

  /** What the store's clock shows, while this one is too far from it; read by any thread. */
  private volatile @Nullable Reading instead;

  /** The store's clock showed that time at most, at that moment of the monotonic clock. */
  private record Reading(long storeMicros, long atNanos) {}

  /** One that may be so far from the store's. */
  WallClock(NodeEnvironment env, long limitMicros) {
    this.env = env;
    this.limitMicros = limitMicros;
    this.lastSeenMicros = againstMonotonicMicros();
    this.steadySinceNanos = env.monotonicNanos();
    this.askAgainNanos = steadySinceNanos;
  }

  /**
   * The time at which something is asked for: this clock's, or the store's where this clock is too
   * far from it. Of the times that the store's clock may show it is the last, so that no job that
   * is due some time from now starts early. Any thread may ask.
   *
   * @param wallMicros what this clock shows
   * @param monotonicNanos what the monotonic clock shows
   */
  long nowMicros(long wallMicros, long monotonicNanos) {
    Reading store = instead;
    return store == null
        ? wallMicros
        : store.storeMicros() + (monotonicNanos - store.atNanos()) / 1000;
  }

  /** Whether jobs may start by it. */
  boolean isTrusted() {
    return compared && !tooFar && !hasJumped();
  }

  /** Why nothing starts by it; null where it is trusted. */
  @Nullable String problem() {
    if (!compared) {
      return "its clock has not been compared with the store's yet";
    }
    if (tooFar) {
      return "its clock is "
          + words(offsetMicros)
          + " the store's (expected: at most "
          + seconds(limitMicros)
          + " s apart)";
    }
    return hasJumped() ? "its clock has jumped and is being compared with the store's" : null;
  }

  private boolean hasJumped() {
    return Math.abs(againstMonotonicMicros() - againstMonotonicMicros) > JUMP_MICROS;
  }

  private long againstMonotonicMicros() {
    return env.wallMicros() - env.monotonicNanos() / 1000;
  }

  /** By how much it is ahead of the store's, as last compared. */
  long offsetMicros() {
    return compared ? offsetMicros : Member.Said.CLOCK_UNKNOWN;
  }

  /** Asks the store, outside the rhythm of the heartbeats, where the clock has jumped. */
  void turn() {
    notice();
    long sent = env.monotonicNanos();
    if (!compared || !hasJumped() || asked || sent - askAgainNanos < 0) {
      return;
    }
    asked = true;
    askAgainNanos = sent + ASK_AGAIN_NANOS;
    env.submit(
        NodeEnvironment.Channel.HEARTBEAT,
        store -> store.clockMicros(),
        outcome -> {
          asked = false;
          outcome.map(
              micros -> {
                compare(sent, micros);
                return true;
              });
        });
  }

  private void notice() {
    long seen = againstMonotonicMicros();
    if (Math.abs(seen - lastSeenMicros) > STEP_MICROS) {
      lastSeenMicros = seen;
      steadySinceNanos = env.monotonicNanos();
    }
  }

  /** What the store's clock showed between then and now. */
  void compare(long sentNanos, long storeMicros) {
    notice();
    long took = (env.monotonicNanos() - sentNanos) / 1000;
    if (took > LONGEST_MICROS || sentNanos - steadySinceNanos < 0) {
      return;
    }
    offsetMicros = env.wallMicros() - took / 2 - storeMicros;
    againstMonotonicMicros = againstMonotonicMicros();
    compared = true;
    warn(Math.abs(offsetMicros) - took / 2 > WARN_MICROS);
    hold(Math.abs(offsetMicros) > limitMicros);
    instead = tooFar ? new Reading(storeMicros + took, env.monotonicNanos()) : null;
  }

  private void warn(boolean off) {
    if (off && !warned) {
      env.metrics().count("clock.off", 1);
      env.report(
          "this node's clock is "
              + words(offsetMicros)
              + " the store's: its jobs run by that much earlier or later than others'",
          null);
    }
    warned = off;
  }

  private void hold(boolean now) {
    boolean before = tooFar;
    tooFar = now;
    if (now && !before) {
      env.metrics().count("clock.held", 1);
      env.report("nothing starts on this node: " + problem(), null);
    }
  }

  private static String words(long offsetMicros) {
    return seconds(Math.abs(offsetMicros)) + (offsetMicros > 0 ? " s ahead of" : " s behind");
  }

  private static String seconds(long micros) {
    return String.format(Locale.ROOT, "%.1f", micros / 1e6);
  }
}
