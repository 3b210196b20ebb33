package dev.carillon.store;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.FaultyStore.Faults;
import dev.carillon.store.ForwardingStore.Operation;
import java.util.Random;

/** Faults by lot: two calls in three pass, and late ones are delivered now and then. */
final class SeededFaults implements Faults {

  private static final Fault[] LOTS = {
    Fault.FAIL_BEFORE,
    Fault.APPLY_THEN_TIMEOUT,
    Fault.APPLY_THEN_TIMEOUT,
    Fault.TIMEOUT_THEN_APPLY,
    Fault.TIMEOUT_THEN_APPLY,
    Fault.SLOW,
    Fault.FULL
  };

  /** Long enough for another thread to get ahead. */
  private static final int SPINS = 1_000;

  private final Random random;
  private FaultyStore store;

  private SeededFaults(long seed) {
    this.random = new Random(seed);
  }

  static FaultyStore wrap(Store store, long seed) {
    SeededFaults faults = new SeededFaults(seed);
    faults.store = new FaultyStore(store, faults);
    return faults.store;
  }

  @Override
  public Fault next(Operation operation) {
    if (random.nextInt(8) == 0) {
      store.deliverNextLate();
    }
    int lot = random.nextInt(3 * LOTS.length);
    return lot < LOTS.length ? LOTS[lot] : Fault.NONE;
  }

  @Override
  public void slow(Operation operation) {
    for (int i = 0; i < SPINS; i++) {
      Thread.onSpinWait();
    }
  }
}
