package dev.carillon.engine.dispatch;

import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens the slots of a node a step at a time, so that a backlog does not hit everything at once:
 * after a start, and after the node fenced itself.
 *
 * <p>A node that is fenced again and again may be so because of its own work: handlers that take
 * the processor or the memory from its heartbeats. So each fence in a row halves the slots with
 * which the node goes on and, up to {@value #MOST_SLOWER} times, doubles the time of a step. Fences
 * are in a row until all slots have been open for a minute.
 *
 * <ol>
 *   <li>Start: 64 slots, twice as many after each {@code slowStart}; all slots at once where that
 *       is zero.
 *   <li>First fence: the same.
 *   <li>Fence n: 64 / 2^(n-1) slots, at least one. A step takes at least a second, and 2 or 4 times
 *       as long.
 * </ol>
 *
 * <p>Owned by the loop of its node. A crash forgets the fences.
 */
public final class SlowStart {
  private static final int FIRST_SLOTS = 64;
  private static final int MOST_HALVINGS = 6;
  private static final int MOST_SLOWER = 4;
  private static final long LEAST_STEP_NANOS = 1_000_000_000;
  private static final long STEADY_NANOS = 60_000_000_000L;

  private final LongSupplier nanos;
  private final Timers timers;
  private final NodeOptions options;
  private final Gate gate;
  private Timers.@Nullable Timer next;
  private int fences;
  private long fencedNanos;

  public SlowStart(LongSupplier nanos, Timers timers, NodeOptions options, Gate gate) {
    this.nanos = nanos;
    this.timers = timers;
    this.options = options;
    this.gate = gate;
  }

  /** The node starts. */
  public void start() {
    if (!options.slowStart().isZero() && options.slots() > FIRST_SLOTS) {
      gate.limit(FIRST_SLOTS);
    }
    goOn();
  }

  /** The node fenced itself: nothing starts until {@link #goOn}. */
  public void fenced() {
    fences++;
    fencedNanos = nanos.getAsLong();
    timers.cancel(next);
    gate.limit(firstSlots());
  }

  /** How many slots the node opens first. */
  public int firstSlots() {
    boolean atOnce = fences <= 1 && options.slowStart().isZero();
    int first = atOnce ? options.slots() : Math.min(FIRST_SLOTS, options.slots());
    return Math.max(1, first >> Math.min(fences - 1, MOST_HALVINGS));
  }

  /** The node may start attempts, with the slots that are open and more from step to step. */
  public void goOn() {
    timers.cancel(next);
    boolean all = gate.limit() >= options.slots();
    if (!all) {
      next = timers.at(nanos.getAsLong() + stepNanos(), this::step);
    } else if (fences > 0) {
      next = timers.at(nanos.getAsLong() + STEADY_NANOS, () -> fences = 0);
    }
  }

  private long stepNanos() {
    long step = options.slowStart().toNanos();
    return fences <= 1
        ? step
        : Math.max(step, LEAST_STEP_NANOS) * Math.min(1L << (fences - 1), MOST_SLOWER);
  }

  private void step() {
    gate.limit((int) Math.min(2L * gate.limit(), options.slots()));
    goOn();
  }

  /** How often the node has fenced itself in a row. */
  public int fences() {
    return fences;
  }

  /** What became of the last fences, for people; null where there was none of late. */
  public @Nullable String problem() {
    if (fences == 0) {
      return null;
    }
    long seconds = (nanos.getAsLong() - fencedNanos) / 1_000_000_000;
    return "this node fenced itself (%d in a row, the last %d s ago): heartbeats were late; "
            .formatted(fences, seconds)
        + "%d of %d slots are open".formatted(gate.limit(), options.slots());
  }
}
