package dev.carillon.engine.environment;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a node counts itself, and others, among those who are there.
 *
 * @param heartbeatInterval how often a node says that it is there, and looks who is
 * @param timeout how long after its last heartbeat a node is dead to others; it stops itself before
 * @param forget how long after its last heartbeat a node is expected back
 * @param returns whether a node of this id may come back after it stopped in order; if not it is
 *     forgotten at once
 * @param clockLimit how far its wall clock may be from the store's before nothing starts by it;
 *     null for one whose clock has nothing to do with the store's
 * @param lends whether due attempts go to other nodes where this one has no slot or no handler, and
 *     those of others come here
 * @param client whether this node owns nothing and has others do what it is asked for
 */
public record Membership(
    Duration heartbeatInterval,
    Duration timeout,
    Duration forget,
    boolean returns,
    @Nullable Duration clockLimit,
    boolean lends,
    boolean client) {

  /** How far clocks may be apart unless somebody says otherwise. */
  public static final Duration CLOCK_LIMIT = Duration.ofSeconds(30);

  /** Heartbeats in a timeout: two may be lost without a node being taken for dead. */
  private static final int LEAST_HEARTBEATS = 3;

  public Membership {
    if (heartbeatInterval.isNegative() || heartbeatInterval.isZero()) {
      throw new IllegalArgumentException(
          "heartbeat interval: " + heartbeatInterval + " (expected: above zero)");
    }
    if (timeout.compareTo(heartbeatInterval.multipliedBy(LEAST_HEARTBEATS)) < 0) {
      throw new IllegalArgumentException(
          "member timeout: "
              + timeout
              + " (expected: at least "
              + LEAST_HEARTBEATS
              + " heartbeat intervals of "
              + heartbeatInterval
              + ")");
    }
    if (forget.compareTo(timeout) < 0) {
      throw new IllegalArgumentException(
          "forget: " + forget + " (expected: at least the member timeout, " + timeout + ")");
    }
  }

  /** With the usual limit of clocks. */
  public Membership(
      Duration heartbeatInterval, Duration timeout, Duration forget, boolean returns) {
    this(heartbeatInterval, timeout, forget, returns, CLOCK_LIMIT, true, false);
  }

  /** The same for a node that owns nothing. */
  public Membership asClient() {
    return new Membership(heartbeatInterval, timeout, forget, returns, clockLimit, false, true);
  }

  /** The same, where each runs its own attempts. */
  public Membership withoutLending() {
    return new Membership(heartbeatInterval, timeout, forget, returns, clockLimit, false, client);
  }

  /** The defaults. */
  public static Membership standard() {
    return new Membership(
        Duration.ofMillis(500), Duration.ofMillis(2500), Duration.ofMinutes(10), true);
  }
}
