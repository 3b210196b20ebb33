package dev.carillon.simulator;

/**
 * What decides everything about one simulation.
 *
 * @param number what the dice are thrown from
 * @param nodes how many nodes share the store
 * @param workflows whether users schedule workflows too, in half of the seeds
 */
record Seed(long number, int nodes, boolean workflows) {
  static final int MOST_NODES = 7;

  /** Without workflows. */
  Seed(long number, int nodes) {
    this(number, nodes, false);
  }

  Seed {
    if (nodes < 1 || nodes > MOST_NODES) {
      throw new IllegalArgumentException(
          "nodes: " + nodes + " (expected: from 1 to " + MOST_NODES + ")");
    }
  }

  /** Another one of the same kind. */
  Seed of(long otherNumber) {
    return new Seed(otherNumber, nodes, workflows);
  }
}
