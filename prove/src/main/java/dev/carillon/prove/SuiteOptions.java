package dev.carillon.prove;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** What every suite can be told, and how its result is shown. */
final class SuiteOptions {
  private static final JsonMapper JSON = new JsonMapper();

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  @Option(names = "--rounds", paramLabel = "N", description = "How many rounds each suite has.")
  private @Nullable Integer rounds;

  @Option(names = "--short", description = "Few rounds, and nothing that takes minutes.")
  private boolean shortRun;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of the load and the moments (default: a random one, printed).")
  private @Nullable Long seed;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where files lie; kept (default: a temporary folder, kept on FAIL).")
  private @Nullable Path dir;

  @Option(names = "--json", description = "One JSON object a line instead of a table.")
  private boolean json;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  SuiteOptions() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  /** Runs them one after the other; 0 where all hold. */
  int run(List<Suite> suites) throws IOException, InterruptedException {
    Integer asked = rounds;
    if (asked != null && asked < 1) {
      throw new ParameterException(
          spec.commandLine(), "--rounds: " + asked + " (expected: 1 or more)");
    }
    long chosen = seed != null ? seed : new Random().nextLong(1L << 32);
    Path given = dir;
    Path root =
        given != null
            ? Files.createTempDirectory(Files.createDirectories(given), "prove-")
            : Files.createTempDirectory("carillon-prove-");
    boolean all = true;
    for (Suite suite : suites) {
      all &= run(suite, root, asked, chosen);
    }
    if (all && given == null) {
      Folders.remove(root);
    } else {
      System.err.println("files: " + root);
    }
    return all ? 0 : 1;
  }

  private boolean run(Suite suite, Path root, @Nullable Integer asked, long chosen)
      throws IOException, InterruptedException {
    int all = asked != null ? asked : shortRun ? suite.shortRounds() : suite.rounds();
    Path folder = Files.createDirectories(root.resolve(suite.name()));
    Suite.Stage stage =
        new Suite.Stage(
            folder,
            root.resolve("postgres"),
            all,
            chosen,
            shortRun,
            line -> System.err.println(suite.name() + ": " + line));
    Proof proof = suite.run(stage);
    if (json) {
      printJson(suite.name(), proof, chosen);
    } else {
      print(suite.name(), proof, chosen);
    }
    return proof.holds();
  }

  private static void printJson(String suite, Proof proof, long chosen) {
    proof
        .checks()
        .forEach(check -> System.out.println(JSON.writeValueAsString(line(suite, check))));
    Map<String, Object> sum = new LinkedHashMap<>(proof.figures());
    sum.put("suite", suite);
    sum.put("seed", chosen);
    sum.put("problems", proof.problems());
    sum.put("verdict", verdict(proof.holds()));
    System.out.println(JSON.writeValueAsString(sum));
  }

  private static void print(String suite, Proof proof, long chosen) {
    System.out.println(suite);
    proof.figures().forEach((what, count) -> System.out.printf("%,12d  %s%n", count, what));
    System.out.println();
    System.out.printf("%10s %8s%n", "cases", "broken");
    for (Check check : proof.checks()) {
      System.out.printf(
          "%,10d %,8d  %s  %s%n",
          check.cases(), check.broken(), verdict(check.holds()), check.promise());
      check.examples().forEach(example -> System.out.println("                       " + example));
    }
    proof.problems().forEach(problem -> System.out.println("problem: " + problem));
    System.out.println(verdict(proof.holds()) + " " + suite + " (seed " + chosen + ")");
    System.out.println();
  }

  private static Map<String, Object> line(String suite, Check check) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("suite", suite);
    line.put("promise", check.promise());
    line.put("cases", check.cases());
    line.put("broken", check.broken());
    line.put("examples", check.examples());
    line.put("verdict", verdict(check.holds()));
    return line;
  }

  private static String verdict(boolean holds) {
    return holds ? "PASS" : "FAIL";
  }
}
