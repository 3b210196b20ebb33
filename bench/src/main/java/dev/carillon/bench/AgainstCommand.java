package dev.carillon.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/**
 * Holds this build against another one. Both run the same benchmarks on the same machine within
 * minutes, in turn: other, this, this, other. So a machine that becomes slower or faster meanwhile
 * does the same to both.
 */
@Command(
    name = "against",
    description = {
      "Runs the benchmarks of this build and of another one in turn (other, this, this, other) and"
          + " says which figures got worse.",
      "",
      "A figure is worse if the ratio of the medians is beyond the tolerance and each run of this"
          + " build is worse than all runs of the other. Beyond the tolerance with runs that overlap"
          + " it is noisy: repeat it with more rounds."
    },
    footer =
        "Exits with 0 if nothing got worse, 1 if something did, 2 for a wrong option or build, 3 if"
            + " a build or a benchmark failed.")
final class AgainstCommand implements Callable<Integer> {
  private static final int FAILED = 3;
  private static final JsonMapper JSON = new JsonMapper();
  private static final List<Comparison.Side> IN_TURN =
      List.of(
          Comparison.Side.OTHER, Comparison.Side.THIS, Comparison.Side.THIS, Comparison.Side.OTHER);

  /** Every benchmark, short: about half an hour in all. */
  static final List<String> ALL =
      List.of(
          "throughput --store sqlite --scenario plain --seconds 8 --warmup 4 --rounds 1",
          "throughput --store sqlite --scenario named --seconds 8 --warmup 4 --rounds 1",
          "throughput --store sqlite --scenario scattered --seconds 8 --warmup 4 --rounds 1",
          "throughput --store postgres --scenario plain,named --seconds 8 --warmup 4 --rounds 1",
          "throughput --store memory --seconds 8 --warmup 4 --rounds 1",
          "workflow --seconds 8 --warmup 4 --rounds 1",
          "workflow --store postgres --seconds 8 --warmup 4 --rounds 1 --scenario rate",
          "api --seconds 8 --warmup 4 --rounds 1",
          "remote --scenario rate,http,latency --jobs 50000 --samples 100 --rounds 1",
          "dashboard --short",
          "histograms --seconds 4 --warmup 2 --rounds 2",
          "latency --samples 300 --seconds 5 --warmup 3",
          "group",
          "pending --jobs 200000 --near-jobs 100000 --cancels 200",
          "history --short",
          "tenants --short",
          "backlog --short",
          "lending --jobs 5000",
          "churn --minutes 1",
          "deploys --deploys 12 --jobs 2000",
          "cron --seconds 1 --warmup 1 --rounds 1",
          "compare --jobs 20000 --rounds 1");

  @Spec @Nullable CommandSpec command;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  @Parameters(
      index = "0",
      paramLabel = "BUILD",
      description = "The other build: the folder of a checkout, or a commit of this repository.")
  private String other = "";

  @Option(
      names = "--this",
      paramLabel = "DIR",
      description = "The checkout to judge (default: the one that this command is part of).",
      defaultValue = "${sys:carillon.home}")
  private @Nullable Path own;

  @Option(
      names = "--benchmark",
      paramLabel = "LINE",
      description =
          "A benchmark with its options, such as 'throughput --scenario named'; may be given several"
              + " times (default: every benchmark, short).")
  private List<String> benchmarks = new ArrayList<>();

  @Option(
      names = "--only",
      paramLabel = "TEXT",
      description = "Of the default benchmarks those whose line contains this, such as 'sqlite'.")
  private String only = "";

  @Option(
      names = "--tolerance",
      paramLabel = "PERCENT",
      description = "How much worse a figure may be (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  private double tolerance;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "How often other, this, this, other; the median counts (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private int rounds;

  @Option(names = "--json", description = "One JSON object a line instead of a table.")
  private boolean json;

  @Override
  public Integer call() {
    List<String> lines = chosen();
    Path home = home();
    try (Workspace workspace = Workspace.in(null)) {
      Build before = other(home, workspace.folder());
      return compare(before, new Build("this build", home), lines);
    } catch (Build.BrokenException e) {
      System.err.println(e.getMessage());
      return FAILED;
    }
  }

  private int compare(Build before, Build now, List<String> lines) {
    Comparison comparison = new Comparison(tolerance);
    Progress progress = new Progress(lines.size() * rounds * IN_TURN.size());
    progress.say("building " + before.name());
    before.make();
    progress.say("building " + now.name());
    now.make();
    List<String> notThere = new ArrayList<>();
    for (String line : lines) {
      if (!measure(line, before, now, comparison, progress)) {
        notThere.add(line);
      }
    }
    return print(comparison, notThere);
  }

  /** False where one of the builds does not know the benchmark. */
  private boolean measure(
      String line, Build before, Build now, Comparison comparison, Progress progress) {
    List<String> arguments = List.of(line.trim().split("\\s+"));
    for (int round = 0; round < rounds; round++) {
      for (Comparison.Side side : IN_TURN) {
        Build build = side == Comparison.Side.OTHER ? before : now;
        progress.step(build.name() + ": " + line);
        List<String> printed = build.bench(arguments);
        if (printed.isEmpty()) {
          return false;
        }
        comparison.add(line, side, printed);
      }
    }
    return true;
  }

  private int print(Comparison comparison, List<String> notThere) {
    List<Comparison.Line> lines = comparison.lines();
    if (json) {
      lines.forEach(line -> System.out.println(JSON.writeValueAsString(asMap(line))));
    } else {
      print(lines);
    }
    notThere.forEach(
        line -> System.err.println("not compared, one build does not know it: " + line));
    comparison.broken().forEach(fact -> System.err.println("no longer so: " + fact));
    if (lines.isEmpty()) {
      System.err.println("figures: 0 (expected: at least one that both builds have)");
      return FAILED;
    }
    long worse = count(lines, Comparison.Verdict.WORSE) + comparison.broken().size();
    if (!json) {
      System.out.printf(
          "%s: %,d of %,d figures got worse by more than %s %%, %,d noisy%n",
          worse == 0 ? "PASS" : "FAIL",
          worse,
          lines.size(),
          Figure.number(tolerance),
          count(lines, Comparison.Verdict.NOISY));
    }
    return worse == 0 ? 0 : 1;
  }

  private static long count(List<Comparison.Line> lines, Comparison.Verdict verdict) {
    return lines.stream().filter(line -> line.verdict() == verdict).count();
  }

  private static void print(List<Comparison.Line> lines) {
    String benchmark = "";
    for (Comparison.Line line : lines) {
      if (!line.benchmark().equals(benchmark)) {
        benchmark = line.benchmark();
        System.out.println(benchmark);
        System.out.printf("%-26s %-32s %14s %14s %-7s %6s%n", "", "", "other", "this", "", "ratio");
      }
      System.out.println(line.text());
    }
  }

  private static Map<String, Object> asMap(Comparison.Line line) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("benchmark", line.benchmark());
    map.put("scenario", line.scenario());
    map.put("metric", line.metric());
    map.put("unit", line.unit());
    map.put("other", line.other());
    map.put("this", line.own());
    map.put("ratio", line.ratio());
    map.put("verdict", line.verdict().name());
    return map;
  }

  private List<String> chosen() {
    if (rounds < 1) {
      throw wrong("--rounds: " + rounds + " (expected: at least 1)");
    }
    if (!(tolerance > 0)) {
      throw wrong("--tolerance: " + tolerance + " (expected: more than 0)");
    }
    List<String> lines = benchmarks.isEmpty() ? ALL : benchmarks;
    List<String> chosen = lines.stream().filter(line -> line.contains(only)).toList();
    if (chosen.isEmpty()) {
      throw wrong("--only: " + only + " (expected: part of " + String.join(", ", lines) + ")");
    }
    return chosen;
  }

  private Path home() {
    Path home = own;
    if (home == null || !Build.isOne(home.toAbsolutePath())) {
      throw wrong("--this: " + home + " (expected: the folder of a checkout)");
    }
    return home.toAbsolutePath();
  }

  private Build other(Path home, Path workspace) {
    Path folder = Path.of(other).toAbsolutePath();
    if (Build.isOne(folder)) {
      return new Build(other, folder);
    }
    if (Files.exists(folder) || !Build.knows(home, other)) {
      throw wrong("BUILD: " + other + " (expected: the folder of a checkout, or a commit)");
    }
    return Build.ofCommit(home, other, workspace);
  }

  private ParameterException wrong(String message) {
    if (command == null) {
      throw new IllegalStateException(message);
    }
    return new ParameterException(command.commandLine(), message);
  }

  /** Says on standard error what is being done, and how much of all is left. */
  private static final class Progress {
    private final long startNanos = System.nanoTime();
    private final int steps;
    private int step;

    Progress(int steps) {
      this.steps = steps;
    }

    void say(String what) {
      System.err.printf("[%4d s] %s%n", (System.nanoTime() - startNanos) / 1_000_000_000, what);
    }

    void step(String what) {
      say(++step + " of " + steps + ": " + what);
    }
  }
}
