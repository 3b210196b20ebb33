package dev.carillon.simulator;

import java.io.PrintStream;
import java.util.concurrent.atomic.AtomicLong;

/** {@code ./carillon simulate}: runs seeds and says whether every guarantee held. */
public final class Main {
  private static final long PROGRESS_NANOS = 5_000_000_000L;

  private Main() {}

  /** Exits with 0 if it passed, 1 if not, 2 if it was asked for something strange. */
  public static void main(String[] args) {
    System.exit(run(System.out, System.err, args));
  }

  static int run(PrintStream out, PrintStream err, String... args) {
    Arguments arguments;
    try {
      arguments = Arguments.parse(args);
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      err.print(Arguments.USAGE);
      return 2;
    }
    if (arguments.help()) {
      out.print(Arguments.USAGE);
      return 0;
    }
    if (arguments.planted()) {
      return planted(arguments, out);
    }
    return arguments.trace() ? trace(arguments, out) : campaign(arguments, out, err);
  }

  private static int planted(Arguments arguments, PrintStream out) {
    boolean caught =
        new PlantedBugs(BrokenEngine.root(), arguments.seeds(), arguments.threads(), out)
            .hunt(arguments.bug());
    out.println(caught ? "PASS" : "FAIL: a planted bug was not noticed");
    return caught ? 0 : 1;
  }

  private static int campaign(Arguments arguments, PrintStream out, PrintStream err) {
    (arguments.json() ? err : out).println("the same seeds again: " + arguments.command());
    Report report =
        new Report(
            new Campaign(
                    arguments.first(),
                    arguments.seeds(),
                    arguments.threads(),
                    progress(arguments.seeds(), err))
                .run());
    if (arguments.json()) {
      report.printJson(out);
    } else {
      report.print(out);
    }
    return report.passed() ? 0 : 1;
  }

  private static java.util.function.LongConsumer progress(long seeds, PrintStream err) {
    long began = System.nanoTime();
    AtomicLong last = new AtomicLong(began);
    return done -> {
      long now = System.nanoTime();
      if (now - last.get() >= PROGRESS_NANOS) {
        last.set(now);
        err.printf("%d of %d seeds, %.0f/s%n", done, seeds, done / ((now - began) / 1e9));
      }
    };
  }

  private static int trace(Arguments arguments, PrintStream out) {
    boolean passed = true;
    for (long i = 0; i < arguments.seeds(); i++) {
      long seed = arguments.first().number() + i;
      Seed first = arguments.first();
      out.println("seed " + seed);
      Simulation.Result result =
          new Simulation(first.of(seed), new FaultTable(first), out::println).run();
      Violation violation = result.violation();
      out.printf(
          "seed %d: %d jobs, %d events, %d faults, hash %016x%n",
          seed, result.jobs(), result.events(), result.faults(), result.hash());
      if (violation != null) {
        passed = false;
        out.printf("broke %s: %s%n", violation.guarantee(), violation.getMessage());
        Throwable cause = violation.getCause();
        if (cause != null) {
          cause.printStackTrace(out);
        }
      }
    }
    out.println(passed ? "PASS" : "FAIL");
    return passed ? 0 : 1;
  }
}
