package dev.carillon.simulator;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Says how a campaign went. */
final class Report {
  /** From this many seeds on an empty cell of the table is a failure. */
  private static final long SEEDS_FOR_A_FULL_TABLE = 1_000;

  private static final int FAILURES_SHOWN_WHOLE = 3;

  private final Campaign.Outcome outcome;

  Report(Campaign.Outcome outcome) {
    this.outcome = outcome;
  }

  boolean passed() {
    return outcome.failed() == 0 && outcome.weak().isEmpty() && missing().isEmpty();
  }

  private List<String> missing() {
    return outcome.seeds() >= SEEDS_FOR_A_FULL_TABLE ? outcome.table().empty() : List.of();
  }

  void print(PrintStream out) {
    int shown = 0;
    for (Campaign.Failure failure : outcome.failures()) {
      printFailure(failure, shown++ < FAILURES_SHOWN_WHOLE, out);
    }
    for (Simulation.Result weak : outcome.weak()) {
      out.printf(
          "seed %d is too small: %d jobs, %d events, %d faults%n",
          weak.seed(), weak.jobs(), weak.events(), weak.faults());
    }
    out.println();
    outcome.table().lines().forEach(out::println);
    out.println();
    printCalls(out);
    printReasons(out);
    missing().forEach(cell -> out.println("never happened: " + cell));
    out.printf(
        "%d seeds with %d jobs, %d events and %d faults, hash %016x%n"
            + "%.1f s, %.0f seeds/s; %.0f seeds for each second of a core%n",
        outcome.seeds(),
        outcome.jobs(),
        outcome.events(),
        outcome.faults(),
        outcome.hash(),
        outcome.seconds(),
        outcome.seeds() / outcome.seconds(),
        outcome.seeds() / outcome.cpuSeconds());
    out.println(passed() ? "PASS" : "FAIL: " + why());
  }

  private void printCalls(PrintStream out) {
    out.println("workflows:");
    outcome.table().calls().forEach((what, times) -> out.printf("%12d  %s%n", times, what));
    out.println();
  }

  private void printReasons(PrintStream out) {
    out.println("nodes were asked why jobs do not run, and all that they named was so:");
    outcome.table().reasons().forEach((what, times) -> out.printf("%12d  %s%n", times, what));
    out.println();
  }

  private String why() {
    if (outcome.failed() > 0) {
      return outcome.failed() + " of " + outcome.seeds() + " seeds broke a guarantee";
    }
    return outcome.weak().isEmpty()
        ? missing().size() + " cells of the table are empty"
        : outcome.weak().size() + " seeds are too small";
  }

  private void printFailure(Campaign.Failure failure, boolean whole, PrintStream out) {
    Violation violation = failure.violation();
    long seed = failure.result().seed();
    out.printf("%nseed %d broke %s: %s%n", seed, violation.guarantee(), violation.getMessage());
    out.println("  (" + violation.guarantee().text() + ")");
    out.println("  replay: " + outcome.first().of(seed).command());
    if (whole) {
      failure.trace().forEach(line -> out.println("  " + line));
      Throwable cause = violation.getCause();
      if (cause != null) {
        cause.printStackTrace(out);
      }
    }
  }

  void printJson(PrintStream out) {
    List<String> cells = new ArrayList<>();
    outcome
        .table()
        .rows()
        .forEach(
            (name, row) -> {
              for (FaultTable.Column column : FaultTable.Column.values()) {
                if (row.isPossible(column)) {
                  cells.add(
                      "{\"operation\":\"%s\",\"fault\":\"%s\",\"times\":%d}"
                          .formatted(name, column, row.get(column)));
                }
              }
            });
    String failures =
        outcome.failures().stream()
            .map(
                failure ->
                    "{\"seed\":%d,\"guarantee\":\"%s\"}"
                        .formatted(failure.result().seed(), failure.violation().guarantee()))
            .collect(Collectors.joining(","));
    out.printf(
        "{\"seeds\":%d,\"firstSeed\":%d,\"nodes\":%d,\"failed\":%d,\"jobs\":%d,\"events\":%d,\"faults\":%d,"
            + "\"seconds\":%.3f,\"cpuSeconds\":%.3f,\"seedsPerSecond\":%.1f,\"hash\":\"%016x\",\"passed\":%b,"
            + "\"failures\":[%s],\"table\":[%s],\"workflows\":{%s}}%n",
        outcome.seeds(),
        outcome.first().number(),
        outcome.first().nodes(),
        outcome.failed(),
        outcome.jobs(),
        outcome.events(),
        outcome.faults(),
        outcome.seconds(),
        outcome.cpuSeconds(),
        outcome.seeds() / outcome.seconds(),
        outcome.hash(),
        passed(),
        failures,
        String.join(",", cells),
        outcome.table().calls().entrySet().stream()
            .map(each -> "\"%s\":%d".formatted(each.getKey(), each.getValue()))
            .collect(Collectors.joining(",")));
  }
}
