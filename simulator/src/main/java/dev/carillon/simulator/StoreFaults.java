package dev.carillon.simulator;

import dev.carillon.simulator.FaultTable.Column;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.FaultyStore.Operation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decides which store calls meet which fault, and remembers what the current piece of work did. */
final class StoreFaults implements FaultyStore.Faults {
  private static final int OUTAGE = 6_000;
  private static final long LATEST_NANOS = 600 * VirtualClock.SECOND;
  private static final Map<Operation, List<Fault>> POSSIBLE = possible();

  private final World world;
  private final Runnable deliverLate;
  private final UserOperations users;
  private Runnable betweenCalls = () -> {};
  private boolean hung;
  private int calls;
  private long slowness;
  private @Nullable Operation last;

  /** While set, most calls fail. */
  boolean outage;

  /** How many faults were decided. */
  long decided;

  StoreFaults(World world, UserOperations users, Runnable deliverLate) {
    this.world = world;
    this.users = users;
    this.deliverLate = deliverLate;
  }

  private static Map<Operation, List<Fault>> possible() {
    Map<Operation, List<Fault>> possible = new EnumMap<>(Operation.class);
    for (Operation operation : Operation.values()) {
      List<Fault> faults = new ArrayList<>();
      for (Fault fault : Fault.values()) {
        if (fault != Fault.NONE && operation.faults().contains(fault)) {
          faults.add(fault);
        }
      }
      possible.put(operation, faults);
    }
    return possible;
  }

  static List<Fault> of(Operation operation) {
    return POSSIBLE.getOrDefault(operation, List.of());
  }

  /** A piece of work begins; {@code between} runs between its store calls. */
  void begin(boolean hangs, Runnable between) {
    betweenCalls = between;
    hung = hangs;
    calls = 0;
    slowness = 0;
    last = null;
  }

  /** What a piece of work had done when another interrupted it. */
  record Moment(Runnable between, boolean hung, int calls, long slowness) {}

  Moment suspend() {
    return new Moment(betweenCalls, hung, calls, slowness);
  }

  void resume(Moment moment) {
    betweenCalls = moment.between();
    hung = moment.hung();
    calls = moment.calls();
    slowness = moment.slowness();
  }

  @Nullable Operation lastOperation() {
    return last;
  }

  long slowness() {
    return slowness;
  }

  @Override
  public Fault next(Operation operation) {
    if (calls++ > 0) {
      betweenCalls.run();
    }
    last = operation;
    if (hung) {
      decided += calls == 1 ? 1 : 0;
      world.table.count(operation, Column.HANG);
      users.met(Column.HANG);
    }
    if (!world.faulty || !world.chance.happens(likelihood(operation))) {
      return Fault.NONE;
    }
    Fault fault = world.chance.pick(of(operation));
    decided++;
    world.trace.note(operation.toString(), -1, fault.name());
    users.met(Column.of(fault));
    if (fault == Fault.TIMEOUT_THEN_APPLY && !world.chance.oneIn(5)) {
      boolean soon = world.chance.oneIn(2);
      world.in(
          soon
              ? world.chance.between(0, 4 * world.climate.slowestCallNanos)
              : world.chance.spread(VirtualClock.MICRO, LATEST_NANOS),
          deliverLate);
    }
    return fault;
  }

  private int likelihood(Operation operation) {
    if (outage) {
      return OUTAGE;
    }
    return switch (operation) {
      case APPEND, LIST_BY_WAKE, LIST_BY_ID, READ, HEAD, RECORDS_GET, RECORDS_APPLY ->
          world.climate.storeFaults;
      default -> world.climate.rareStoreFaults;
    };
  }

  @Override
  public void slow(Operation operation) {
    slowness += world.chance.spread(VirtualClock.MILLI, 10 * VirtualClock.SECOND);
    betweenCalls.run();
  }
}
