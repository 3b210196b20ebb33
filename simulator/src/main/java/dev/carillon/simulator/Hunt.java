package dev.carillon.simulator;

import org.jspecify.annotations.Nullable;

/**
 * Runs seeds until one breaks a guarantee. Made by another class loader, hence public, and its
 * result is its text: how many seeds it took and which guarantee, with a space between, or nothing
 * where none failed.
 */
public final class Hunt {
  private @Nullable String caught;

  /** Hunts from {@code firstSeed} on, through at most {@code seeds} seeds. */
  public Hunt(long firstSeed, long seeds) {
    FaultTable table = new FaultTable();
    for (long i = 0; i < seeds && caught == null; i++) {
      Violation violation = new Simulation(firstSeed + i, table, null).run().violation();
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
