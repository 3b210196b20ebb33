package dev.carillon.prove;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A hundred times as many workflows wait as threads are kept, in a heap of 512 MB: they are given
 * up without their code noticing, and all end once they are signalled. A round is a thousand
 * workflows.
 */
final class ParkedSuite implements Suite {
  private static final int A_ROUND = 1_000;
  private static final int WAITING_FOR_ONE_KEPT = 100;
  private static final int HISTORY_BYTES = 20_000;
  private static final long LEAST_PER_SECOND = 2_000;
  private static final long MOST_STEP_MILLIS = 250;
  private static final int SECONDS_A_PART = 280;
  private static final int SECONDS = 900;

  @Override
  public String name() {
    return "parked";
  }

  @Override
  public int rounds() {
    return 100;
  }

  @Override
  public int shortRounds() {
    return 3;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    long count = (long) stage.rounds() * A_ROUND;
    long budget = count / WAITING_FOR_ONE_KEPT;
    List<String> problems = new ArrayList<>();
    Map<String, Long> told = new LinkedHashMap<>();
    child(stage, count, budget, told, problems);
    List<Check> checks = checks(told, count, budget);
    if (!stage.shortRun()) {
      checks.add(compacted(told));
    }
    return new Proof(checks, problems, figures(told, count, budget));
  }

  private static void child(
      Stage stage, long count, long budget, Map<String, Long> told, List<String> problems)
      throws InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-Xmx512m");
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.add("-Djdk.trackAllThreads=false");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.add("parked-child");
    command.add(stage.folder().resolve("jobs.db").toString());
    command.add("--count=" + count);
    command.add("--budget=" + budget);
    command.add("--bytes=" + HISTORY_BYTES);
    command.add("--seconds=" + SECONDS_A_PART);
    if (stage.shortRun()) {
      command.add("--no-compaction");
    }
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(stage.errors().toFile()))
              .start();
      try (BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          int at = line.indexOf('=');
          told.put(line.substring(0, at), Long.parseLong(line.substring(at + 1)));
          stage.progress().accept(line);
        }
      }
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        problems.add("the process did not come to its end; what it said is in " + stage.errors());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<Check> checks(Map<String, Long> told, long count, long budget) {
    List<Check> checks = new ArrayList<>();
    checks.add(
        check(
            "at least 99 in 100 threads are given up, and their code runs again",
            told.getOrDefault("ran again", 0L) >= count - budget,
            told.get("ran again") + " of " + count));
    checks.add(none("no catch (Exception) around a wait runs because of it", told, "caught"));
    checks.add(none("no finally around a wait runs because of it", told, "unwound"));
    checks.add(none("each sees its own step and its own signal", told, "wrong"));
    long nanos = told.getOrDefault("passed nanos", Long.MAX_VALUE);
    long perSecond = (long) (told.getOrDefault("passed", 0L) * 1e9 / Math.max(1, nanos));
    Check rate = Check.ofTime("signalled workflows end at " + LEAST_PER_SECOND + " a second");
    rate.that(perSecond >= LEAST_PER_SECOND, perSecond + " a second");
    checks.add(rate);
    long p99 = told.getOrDefault("step nanos p99", Long.MAX_VALUE) / 1_000_000;
    Check steps =
        Check.ofTime(
            "a step is durable within %d ms (99 %%) meanwhile".formatted(MOST_STEP_MILLIS));
    steps.that(p99 <= MOST_STEP_MILLIS, p99 + " ms");
    checks.add(steps);
    return checks;
  }

  /** What takes seconds until it is looked for. */
  static Check compacted(Map<String, Long> told) {
    return check(
        "shards of live histories are compacted",
        told.getOrDefault("compacted", 0L) > 0,
        told.get("compacted") + " shards");
  }

  private static Check check(String promise, boolean kept, String what) {
    Check check = new Check(promise);
    check.that(kept, what);
    return check;
  }

  private static Check none(String promise, Map<String, Long> told, String counted) {
    Long times = told.get(counted);
    return check(promise, times != null && times == 0, times + " times");
  }

  private static Map<String, Long> figures(Map<String, Long> told, long count, long budget) {
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("workflows", count);
    figures.put("threads kept", budget);
    told.forEach(
        (what, value) ->
            figures.put(
                what.replace("nanos", "ms"), what.contains("nanos") ? value / 1_000_000 : value));
    return figures;
  }
}
