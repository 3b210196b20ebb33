package dev.carillon.simulator;

import org.jspecify.annotations.Nullable;

/**
 * Runs seeds until one breaks a guarantee. Made by another class loader, hence public, and its
 * result is its text: how many seeds it took and which guarantee, with a space between, or nothing
 * where none failed.
 */
public final class Hunt {
  private @Nullable String caught;

  /** Hunts from {@code firstSeed} on, with so many nodes, through at most {@code seeds} seeds. */
  public Hunt(long firstSeed, int nodes, boolean workflows, int workers, long seeds) {
    Seed first = new Seed(firstSeed, nodes, workflows, workers);
    FaultTable table = new FaultTable(first);
    for (long i = 0; i < seeds && caught == null; i++) {
      Seed seed = first.of(firstSeed + i);
      Violation violation = new Simulation(seed, table, null).run().violation();
      if (violation != null) {
        caught = i + 1 + " " + violation.guarantee();
      }
    }
  }

  @Override
  public String toString() {
    return caught != null ? caught : "";
  }
}
