package dev.carillon.simulator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What all parts of one simulation share. */
final class World {
  private static final long AFTER_EFFECTS_NANOS = 20 * VirtualClock.SECOND;
  private static final long LONGEST_AFTER_EFFECTS_NANOS = 60 * VirtualClock.SECOND;

  /** How long a node takes at most to open all its slots after it was fenced again and again. */
  private static final long SLOTS_NANOS = 30 * VirtualClock.SECOND;

  final Seed seed;
  final Chance chance;
  final VirtualClock clock;
  final EventQueue queue = new EventQueue();
  final Trace trace;
  final FaultTable table;
  final Climate climate;
  final Model model;
  NameRecords names = new NameRecords();
  final FlowRecords flow;
  final WorkflowModel workflows = new WorkflowModel(this);
  final WorkerModel workers = new WorkerModel(this);
  final Stage stage = new Stage();
  final KeyJudge keys = new KeyJudge(this);
  final MemberJudge members = new MemberJudge(this);
  final WhyProbe why = new WhyProbe(this);
  final Rings rings;

  /** The life whose store call takes effect just now; null for one that nobody answers for. */
  @Nullable Life writer;

  /** When that call was made. */
  long writtenNanos;

  /** Which copy of the data the store is: another after an older one was put back. */
  int copy;

  private final Map<Long, Life> lives = new LinkedHashMap<>();
  private final List<Life> running = new ArrayList<>();

  /** How often a node may still be killed just so. */
  int crashesLeft;

  /** Faults may happen; false from the moment when everything heals. */
  boolean faulty = true;

  /** Nothing of the faults is left: what is still on its way from dead nodes never arrives. */
  boolean calm;

  private long wrongUntilNanos;
  private long healthyFromNanos = Long.MAX_VALUE;

  World(Seed seed, FaultTable table, @Nullable Consumer<String> printer) {
    this.seed = seed;
    this.chance = new Chance(seed.number());
    this.climate = new Climate(chance, seed);
    this.crashesLeft = climate.crashes;
    this.clock = new VirtualClock(climate);
    this.trace = new Trace(clock, printer);
    this.table = table;
    this.model = new Model(this);
    this.flow = new FlowRecords(clock, climate.nodes > 1);
    this.rings = new Rings(this, climate.nodes > 1 && chance.oneIn(2));
  }

  /** From now on nothing new goes wrong; what goes wrong already still does for a while. */
  void heal() {
    faulty = false;
    long now = clock.nanos();
    Together together = climate.together;
    long slots = together == null ? 0 : SLOTS_NANOS;
    long noticed = AFTER_EFFECTS_NANOS + (together == null ? 0 : together.timeoutNanos);
    healthyFromNanos =
        Math.min(now + LONGEST_AFTER_EFFECTS_NANOS, Math.max(now, wrongUntilNanos) + noticed)
            + slots;
  }

  /** Something has gone wrong that lasts until then, whether or not everything heals before. */
  void goesWrongUntil(long nanos) {
    wrongUntilNanos = Math.max(wrongUntilNanos, nanos);
  }

  /** When the last fault and its after-effects are over. */
  long healthyFromNanos() {
    return healthyFromNanos;
  }

  /** Whether the last fault and its after-effects are over. */
  boolean healthy() {
    return clock.nanos() >= healthyFromNanos;
  }

  /** The number of the next life. */
  int nextLife() {
    return lives.size() + 1;
  }

  /** A node lives. */
  void begins(Life life) {
    lives.put(life.incarnation, life);
    running.removeIf(other -> !other.alive());
    running.add(life);
    flow.begins(life.index);
  }

  /** Which life has or had the incarnation; null for none. */
  @Nullable Life life(long incarnation) {
    return lives.get(incarnation);
  }

  /** All that run. */
  List<Life> living() {
    running.removeIf(life -> !life.alive());
    return running;
  }

  /** Whether the life of that incarnation runs. */
  boolean lives(long incarnation) {
    Life life = lives.get(incarnation);
    return life != null && life.alive();
  }

  /** The clocks of the node of that incarnation, or of the first where nobody has or had it. */
  NodeClock clockOf(long incarnation) {
    Life life = lives.get(incarnation);
    return life != null ? life.clock : clock.of(0);
  }

  /** Runs {@code action} that many nanoseconds from now. */
  void in(long nanos, Runnable action) {
    queue.at(clock.nanos() + nanos, action);
  }
}
