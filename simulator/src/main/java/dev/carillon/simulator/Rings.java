package dev.carillon.simulator;

import dev.carillon.store.Doorbells;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Carries notifications between nodes, where the store does: some late, some never. */
final class Rings implements Doorbells {
  private static final int LOST_ONE_IN = 4;

  private final World world;
  private final boolean carried;
  private final Map<String, List<Runnable>> listeners = new LinkedHashMap<>();

  Rings(World world, boolean carried) {
    this.world = world;
    this.carried = carried;
  }

  @Override
  public void ring(String name) {
    if (carried && !world.chance.oneIn(LOST_ONE_IN)) {
      long late = world.chance.spread(VirtualClock.MICRO, VirtualClock.SECOND);
      world.in(late, () -> heard(name));
    }
  }

  private void heard(String name) {
    listeners.getOrDefault(name, List.of()).forEach(Runnable::run);
  }

  @Override
  public Listening listen(String name, Runnable heard) {
    listeners.computeIfAbsent(name, n -> new ArrayList<>()).add(heard);
    return () -> listeners.remove(name);
  }
}
