package dev.carillon.simulator;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What all parts of one simulation share. */
final class World {
  private static final long AFTER_EFFECTS_NANOS = 60 * VirtualClock.SECOND;

  final long seed;
  final Chance chance;
  final VirtualClock clock;
  final EventQueue queue = new EventQueue();
  final Trace trace;
  final FaultTable table;
  final Climate climate;
  final Model model;
  final NameRecords names = new NameRecords();
  final FlowRecords flow;
  final KeyJudge keys = new KeyJudge(this);

  /** The life that runs now, 0 while none does. */
  long incarnation;

  private final Map<Long, Integer> lives = new HashMap<>();

  /** How often the node may still be killed just so. */
  int crashesLeft;

  /** Faults may happen; false from the moment when everything heals. */
  boolean faulty = true;

  private long healthyFromNanos = Long.MAX_VALUE;

  World(long seed, FaultTable table, @Nullable Consumer<String> printer) {
    this.seed = seed;
    this.chance = new Chance(seed);
    this.climate = new Climate(chance);
    this.crashesLeft = climate.crashes;
    this.clock = new VirtualClock(climate.firstWallMicros);
    this.trace = new Trace(clock, printer);
    this.table = table;
    this.model = new Model(clock);
    this.flow = new FlowRecords(clock);
  }

  /** From now on nothing new goes wrong; what goes wrong already still does for a while. */
  void heal() {
    faulty = false;
    healthyFromNanos = clock.nanos() + AFTER_EFFECTS_NANOS;
  }

  /** When the last fault and its after-effects are over. */
  long healthyFromNanos() {
    return healthyFromNanos;
  }

  /** Whether the last fault and its after-effects are over. */
  boolean healthy() {
    return clock.nanos() >= healthyFromNanos;
  }

  /** A node lives. */
  void begins(Life life) {
    incarnation = life.incarnation;
    lives.put(life.incarnation, life.index);
    flow.begins(life.index);
  }

  /** Which life had the incarnation; 0 for none. */
  int lifeOf(long incarnationOfLife) {
    return lives.getOrDefault(incarnationOfLife, 0);
  }

  /** Runs {@code action} that many nanoseconds from now. */
  void in(long nanos, Runnable action) {
    queue.at(clock.nanos() + nanos, action);
  }
}
