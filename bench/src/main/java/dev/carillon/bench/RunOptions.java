package dev.carillon.bench;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that every benchmark has. */
final class RunOptions {

  @Spec(Spec.Target.MIXEE)
  @Nullable CommandSpec command;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  @Option(
      names = "--store",
      description =
          "sqlite, postgres or memory, as far as a benchmark knows them (default: ${DEFAULT-VALUE}).",
      defaultValue = "sqlite")
  Kind store = Kind.SQLITE;

  @Option(names = "--json", description = "One JSON object a line instead of a table.")
  boolean json;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where files go, in a folder that is removed (default: the temporary folder).")
  @Nullable Path dir;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "How long a round measures, after its warm-up (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  int seconds;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      description = "Seconds of warm-up before a round (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  int warmup;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Rounds; the median counts (default: ${DEFAULT-VALUE}).",
      defaultValue = "3")
  int rounds;

  /** What is measured. */
  enum Kind {
    SQLITE,
    POSTGRES,
    MEMORY;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Where figures go; refuses a run that measures nothing. */
  Report report() {
    return report(store.word());
  }

  /** The same for a run that measures something other than the store it was given. */
  Report report(String measured) {
    positive("--seconds", seconds);
    positive("--warmup", warmup);
    positive("--rounds", rounds);
    return new Report(json, measured, System.out, System.err);
  }

  /** Refuses a store that a benchmark does not know. */
  void knows(Kind... kinds) {
    if (!List.of(kinds).contains(store) && command != null) {
      String known = Arrays.stream(kinds).map(Kind::word).collect(Collectors.joining(" or "));
      throw new ParameterException(
          command.commandLine(), "--store: " + store.word() + " (expected: " + known + ")");
    }
  }

  void positive(String option, long value) {
    if (value < 1 && command != null) {
      throw new ParameterException(
          command.commandLine(), option + ": " + value + " (expected: at least 1)");
    }
  }
}
