package dev.carillon.simulator;

import java.util.function.Supplier;

/** A guarantee was seen broken. Ends the simulation of its seed. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Guarantee guarantee;

  Violation(Guarantee guarantee, String what) {
    super(what);
    this.guarantee = guarantee;
  }

  Guarantee guarantee() {
    return guarantee;
  }

  static void check(boolean holds, Guarantee guarantee, String what) {
    if (!holds) {
      throw new Violation(guarantee, what);
    }
  }

  /** The same with words that cost something to put together. */
  static void check(boolean holds, Guarantee guarantee, Supplier<String> what) {
    if (!holds) {
      throw new Violation(guarantee, what.get());
    }
  }
}
