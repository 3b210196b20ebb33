package dev.carillon.simulator;

import dev.carillon.simulator.FaultTable.Column;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decides which store calls meet which fault, and remembers what the current piece of work did. */
final class StoreFaults implements FaultyStore.Faults {
  private static final int CUT_DROPS = 200;
  private static final int OUTAGE = 6_000;
  private static final long LATEST_NANOS = 600 * VirtualClock.SECOND;
  private static final Map<Operation, List<Fault>> POSSIBLE = possible();

  private final World world;
  private final Runnable deliverLate;
  private final UserOperations users;
  private Runnable betweenCalls = () -> {};
  private int node;
  private boolean hung;
  private boolean cut;
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
        if (fault != Fault.NONE && FaultyStore.possible(operation).contains(fault)) {
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

  /**
   * A piece of work begins.
   *
   * @param by the node that asks for it
   * @param hangs whether it took long to get here
   * @param isCut whether no call of it gets through
   * @param between runs between its store calls
   */
  void begin(int by, boolean hangs, boolean isCut, Runnable between) {
    betweenCalls = between;
    node = by;
    hung = hangs;
    cut = isCut;
    calls = 0;
    slowness = 0;
    last = null;
  }

  /** What a piece of work had done when another interrupted it. */
  record Moment(Runnable between, int node, boolean hung, boolean cut, int calls, long slowness) {}

  Moment suspend() {
    return new Moment(betweenCalls, node, hung, cut, calls, slowness);
  }

  void resume(Moment moment) {
    betweenCalls = moment.between();
    node = moment.node();
    hung = moment.hung();
    cut = moment.cut();
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
      users.met(node, Column.HANG);
    }
    if (cut || cutAtDrop(operation)) {
      decided++;
      world.table.count(operation, Column.CUT);
      users.met(node, Column.CUT);
      return Fault.FAIL_BEFORE;
    }
    if (!world.faulty || !world.chance.happens(likelihood(operation))) {
      return Fault.NONE;
    }
    Fault fault = world.chance.pick(of(operation));
    decided++;
    world.trace.note(operation.toString(), -1, fault.name());
    users.met(node, Column.of(fault));
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

  /** A node drops shards while little else happens: a cut at a random moment hardly meets that. */
  private boolean cutAtDrop(Operation operation) {
    return operation == Operation.DROP
        && world.climate.nodes > 1
        && world.faulty
        && world.chance.oneIn(CUT_DROPS);
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
