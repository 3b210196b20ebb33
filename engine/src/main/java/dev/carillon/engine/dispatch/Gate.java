package dev.carillon.engine.dispatch;

import dev.carillon.engine.limit.Rates;
import dev.carillon.engine.limit.Share;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.limit.TokenBucket;
import org.jspecify.annotations.Nullable;

/**
 * How many attempts of something (a node, a queue, a namespace, a handler) may run at once, how
 * often they start, and whether at all.
 */
public final class Gate {
  public static final int OPEN = Integer.MAX_VALUE;

  private int limit;
  private int running;
  private @Nullable TokenBucket bucket;
  private @Nullable Rates rates;
  private @Nullable Share share;
  private @Nullable Shares shares;

  /** Why nothing goes through; null where something may. */
  @Nullable String paused;

  public Gate(int limit) {
    this.limit = limit;
  }

  /** Whether nothing has gone through that is not out again, and nobody has set anything. */
  boolean isIdle() {
    return running == 0 && limit == OPEN && paused == null && bucket == null && share == null;
  }

  /** Whether only so many may go through at once. */
  boolean isLimited() {
    return limit != OPEN || share != null;
  }

  public boolean hasRoom() {
    return hasRoom(Long.MAX_VALUE);
  }

  /** The same for those who wait since then; others may be waiting on other nodes. */
  boolean hasRoom(long sinceMicros) {
    return hasPlace(sinceMicros) && isInTime();
  }

  /** The same for a workflow that goes on after a wait, which uses no rate. */
  boolean hasPlace(long sinceMicros) {
    return running < limit && paused == null && hasShare(sinceMicros);
  }

  private boolean hasShare(long sinceMicros) {
    if (share == null || shares == null) {
      return true;
    }
    long since = Math.min(sinceMicros, shares.nowMicros());
    if (running < share.usable()) {
      share.expectedSince = Math.min(share.expectedSince, since);
      return true;
    }
    // Twice as many each time: what it needs shows only as it goes.
    shares.ask(share, limit, Math.clamp(running, 1, limit - running), since);
    return running < share.usable();
  }

  private boolean isInTime() {
    return bucket == null || rates == null || rates.mayTake(bucket);
  }

  /** One is in already that an earlier owner of its shard let through. */
  void adopt() {
    running++;
    if (share != null && shares != null) {
      shares.used(share, limit);
    }
  }

  /**
   * One goes through.
   *
   * @param starts whether it counts for the rate
   * @return what it has taken of the rate; null for nothing
   */
  @Nullable TokenBucket enter(boolean starts) {
    running++;
    if (!starts || bucket == null || rates == null) {
      return null;
    }
    rates.take(bucket);
    return bucket;
  }

  void enter() {
    var unused = enter(true);
  }

  /** One is out again; true where that makes the difference between no room and some. */
  boolean leave() {
    if (--running < 0) {
      throw new IllegalStateException("running: " + running + " (expected: not negative)");
    }
    if (share != null && shares != null) {
      shares.freed(share);
      return true;
    }
    return running == limit - 1;
  }

  public int running() {
    return running;
  }

  public int limit() {
    return limit;
  }

  public void limit(int newLimit) {
    limit = newLimit;
  }

  /** Its limit is of all nodes together, of which this one has a share; or with null its own. */
  void share(@Nullable Share newShare, Shares kept) {
    share = newShare;
    shares = kept;
  }

  /** Its part of a limit of all nodes; null where the limit is this node's alone. */
  @Nullable Share share() {
    return share;
  }

  @Nullable TokenBucket bucket() {
    return bucket;
  }

  /** As often as the bucket allows, or with null as often as they come. */
  void rate(@Nullable TokenBucket newBucket, Rates kept) {
    bucket = newBucket;
    rates = kept;
  }
}
