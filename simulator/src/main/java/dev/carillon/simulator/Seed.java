package dev.carillon.simulator;

/**
 * What decides everything about one simulation.
 *
 * @param number what the dice are thrown from
 * @param nodes how many nodes share the store
 * @param workflows whether users schedule workflows too, in half of the seeds
 * @param workers how many workers there are, with jobs that only they run
 */
record Seed(long number, int nodes, boolean workflows, int workers) {
  static final int MOST_NODES = 7;

  static final int MOST_WORKERS = 32;

  /** Without workflows and workers. */
  Seed(long number, int nodes) {
    this(number, nodes, false, 0);
  }

  /** Without workers. */
  Seed(long number, int nodes, boolean workflows) {
    this(number, nodes, workflows, 0);
  }

  Seed {
    if (nodes < 1 || nodes > MOST_NODES) {
      throw new IllegalArgumentException(
          "nodes: " + nodes + " (expected: from 1 to " + MOST_NODES + ")");
    }
    if (workers < 0 || workers > MOST_WORKERS) {
      throw new IllegalArgumentException(
          "workers: " + workers + " (expected: from 0 to " + MOST_WORKERS + ")");
    }
  }

  /** Another one of the same kind. */
  Seed of(long otherNumber) {
    return new Seed(otherNumber, nodes, workflows, workers);
  }

  /** The command that runs it alone, with its trace. */
  String command() {
    return "./carillon simulate --seed "
        + number
        + (nodes == 1 ? "" : " --nodes " + nodes)
        + (workflows ? " --workflows" : "")
        + (workers == 0 ? "" : " --workers " + workers)
        + " --trace";
  }
}
