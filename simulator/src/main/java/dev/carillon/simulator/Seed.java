package dev.carillon.simulator;

/**
 * What decides everything about one simulation.
 *
 * @param number what the dice are thrown from
 * @param nodes how many nodes share the store
 */
record Seed(long number, int nodes) {
  static final int MOST_NODES = 7;

  Seed {
    if (nodes < 1 || nodes > MOST_NODES) {
      throw new IllegalArgumentException(
          "nodes: " + nodes + " (expected: from 1 to " + MOST_NODES + ")");
    }
  }
}
