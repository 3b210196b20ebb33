package dev.carillon.prove;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** Kills a process under load in a loop and checks what survived. */
@Command(
    name = "kill",
    description =
        "Kills a process with a Carillon on a SQLite file under load with signal 9, again and"
            + " again, and holds what it acknowledged and started against what the file says at"
            + " the end.")
final class KillCommand implements Callable<Integer> {
  private static final int ROUNDS = 50;
  private static final int SHORT_ROUNDS = 5;
  private static final JsonMapper JSON = new JsonMapper();

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Kills under load (default: 50; 5 with --short).")
  private @Nullable Integer rounds;

  @Option(names = "--short", description = "Few rounds, quick to drain.")
  private boolean shortRun;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of the load and the moments (default: a random one, printed).")
  private @Nullable Long seed;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Where the file lies; kept (default: a temporary folder, kept on FAIL).")
  private @Nullable Path dir;

  @Option(names = "--json", description = "One JSON object a line instead of a table.")
  private boolean json;

  @Spec private CommandSpec spec;

  KillCommand() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Integer asked = rounds;
    if (asked != null && asked < 1) {
      throw new ParameterException(
          spec.commandLine(), "--rounds: " + asked + " (expected: 1 or more)");
    }
    int all = asked != null ? asked : shortRun ? SHORT_ROUNDS : ROUNDS;
    long chosen = seed != null ? seed : new Random().nextLong(1L << 32);
    Path given = dir;
    Path folder =
        given != null
            ? Files.createTempDirectory(Files.createDirectories(given), "kill-")
            : Files.createTempDirectory("carillon-kill-");
    KillProof proof = KillProof.run(folder, all, chosen, shortRun, System.err::println);
    print(proof, chosen);
    if (proof.holds() && given == null) {
      Folders.remove(folder);
    } else {
      System.err.println("files: " + folder);
    }
    return proof.holds() ? 0 : 1;
  }

  private void print(KillProof proof, long chosen) {
    if (json) {
      proof.checks().forEach(check -> System.out.println(JSON.writeValueAsString(line(check))));
      Map<String, Object> sum = new LinkedHashMap<>(proof.figures());
      sum.put("suite", "kill");
      sum.put("seed", chosen);
      sum.put("problems", proof.problems());
      sum.put("verdict", verdict(proof.holds()));
      System.out.println(JSON.writeValueAsString(sum));
      return;
    }
    proof.figures().forEach((what, count) -> System.out.printf("%,12d  %s%n", count, what));
    System.out.println();
    System.out.printf("%10s %8s%n", "cases", "broken");
    for (Check check : proof.checks()) {
      System.out.printf(
          "%,10d %,8d  %s  %s%n",
          check.cases(), check.broken(), verdict(check.holds()), check.promise());
      check.examples().forEach(example -> System.out.println("                       " + example));
    }
    List<String> problems = proof.problems();
    problems.forEach(problem -> System.out.println("problem: " + problem));
    System.out.println(verdict(proof.holds()) + " (seed " + chosen + ")");
  }

  private static Map<String, Object> line(Check check) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("suite", "kill");
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
