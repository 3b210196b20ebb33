package dev.carillon.simulator;

import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What the command line asks for.
 *
 * @param seeds how many seeds to run
 * @param first the first of them, with the number of nodes of all
 * @param threads how many at once
 * @param json whether to print one object instead of text
 * @param trace whether to print everything that happens
 * @param planted whether to hunt planted bugs
 * @param bug which one, null for all
 */
record Arguments(
    long seeds,
    Seed first,
    int threads,
    boolean json,
    boolean trace,
    boolean planted,
    @Nullable String bug,
    boolean help) {

  static final String USAGE =
      """
      Usage: ./carillon simulate [OPTION...]

      Runs the engine on simulated time, with faults, and checks its guarantees.

        --seeds N         how many seeds (default: 1000)
        --seed S          the first seed (default: drawn for this run, and printed with the command
                          that runs the same seeds again)
        --nodes N         how many nodes share the store, up to 7 (default: 1)
        --workflows       users schedule workflows too, in half of the seeds
        --workers N       there are N workers, up to 32, and jobs that only they run (default: 0)
        --threads T       how many at once (default: one for each core)
        --json            print the result as one JSON object
        --trace           print everything that happens (with one seed, one thread)
        --planted [NAME]  break the engine on purpose, in each known way or in one, and see that it
                          is noticed within N seeds (default: 2000) from three first seeds, each with
                          the nodes and the workflows it takes; needs the source tree and a JDK;
                          what was noticed by a run that was stopped is in
                          simulator/target/planted-caught.txt
        --help            print this
      """;

  private static final long SEEDS = 1_000;
  private static final long SEEDS_FOR_A_BUG = 2_000;

  /** Below it are all first seeds that are drawn: short enough to be typed. */
  private static final long DRAWN_BELOW = 1_000_000_000;

  /** Reads them; an {@link IllegalArgumentException} says what is wrong. */
  static Arguments parse(String... args) {
    Long seeds = null;
    Long firstSeed = null;
    long nodes = 1;
    int threads = Runtime.getRuntime().availableProcessors();
    boolean workflows = false;
    long workers = 0;
    boolean json = false;
    boolean trace = false;
    boolean planted = false;
    String bug = null;
    boolean help = false;
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "--seeds" -> seeds = number(args, ++i);
        case "--seed" -> firstSeed = number(args, ++i);
        case "--nodes" -> nodes = number(args, ++i);
        case "--threads" -> threads = Math.clamp(number(args, ++i), 1, 1_024);
        case "--workflows" -> workflows = true;
        case "--workers" -> workers = number(args, ++i);
        case "--json" -> json = true;
        case "--trace" -> trace = true;
        case "--help", "-h" -> help = true;
        case "--planted" -> {
          planted = true;
          if (i + 1 < args.length && !args[i + 1].startsWith("--")) {
            bug = args[++i];
          }
        }
        default -> throw new IllegalArgumentException("unknown option: " + args[i]);
      }
    }
    long count = seeds != null ? seeds : planted ? SEEDS_FOR_A_BUG : trace ? 1 : SEEDS;
    long drawn = new SplittableRandom().nextLong(1, DRAWN_BELOW);
    Seed first =
        new Seed(
            firstSeed != null ? firstSeed : drawn,
            Math.clamp(nodes, 0, Seed.MOST_NODES + 1),
            workflows,
            Math.clamp(workers, -1, Seed.MOST_WORKERS + 1));
    return new Arguments(count, first, trace ? 1 : threads, json, trace, planted, bug, help);
  }

  /** The command that runs the same seeds again. */
  String command() {
    String nodes = first.nodes() == 1 ? "" : " --nodes " + first.nodes();
    String workflows = first.workflows() ? " --workflows" : "";
    String workers = first.workers() == 0 ? "" : " --workers " + first.workers();
    return "./carillon simulate"
        + nodes
        + workflows
        + workers
        + " --seeds "
        + seeds
        + " --seed "
        + first.number();
  }

  private static long number(String[] args, int at) {
    if (at >= args.length) {
      throw new IllegalArgumentException(args[at - 1] + ": nothing (expected: a number)");
    }
    try {
      return Long.parseLong(args[at]);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          args[at - 1] + ": " + args[at] + " (expected: a number)", e);
    }
  }
}
