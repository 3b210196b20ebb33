package dev.carillon.prove;

import dev.carillon.Carillon;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** Convicts a job that kills its process, and nobody where the process is killed from outside. */
@Command(
    name = "poison",
    description =
        "Restarts a process that one of its jobs kills until that job alone is convicted; then"
            + " kills another from outside, again and again, which must convict nobody.")
final class PoisonCommand implements Callable<Integer> {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int MOST_CRASHES = 4;
  private static final int GIVE_UP_AFTER = 12;
  private static final int LEAST_LIFE_MILLIS = 2_000;
  private static final int MOST_LIFE_MILLIS = 3_000;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Jobs beside the poison (default: ${DEFAULT-VALUE}).",
      defaultValue = "10000")
  private int jobs;

  @Option(
      names = "--kills",
      paramLabel = "N",
      description = "Kills from outside (default: ${DEFAULT-VALUE}).",
      defaultValue = "50")
  private int kills;

  @Option(names = "--short", description = "1,000 jobs and 4 kills.")
  private boolean shortRun;

  @Option(names = "--json", description = "One JSON object instead of a table.")
  private boolean json;

  private final Map<String, Object> figures = new LinkedHashMap<>();
  private final List<String> broken = new ArrayList<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (shortRun) {
      jobs = 1_000;
      kills = 4;
    }
    Path folder = Files.createTempDirectory("carillon-poison-");
    fromInside(folder.resolve("inside.db"));
    fromOutside(folder.resolve("outside.db"));
    print();
    if (broken.isEmpty()) {
      Folders.remove(folder);
    } else {
      System.err.println("files: " + folder);
    }
    return broken.isEmpty() ? 0 : 1;
  }

  private void fromInside(Path file) throws IOException, InterruptedException {
    int crashes = 0;
    int exit = run(file, List.of("--quick=" + jobs, "--poison", "--drain"), Integer.MAX_VALUE);
    while (exit == PoisonChild.HALTED && crashes < GIVE_UP_AFTER) {
      crashes++;
      System.err.println("crash " + crashes + " by the job");
      exit = run(file, List.of("--drain"), Integer.MAX_VALUE);
    }
    Map<String, Long> found = census(file);
    figures.put("crashes by the job", crashes);
    figures.put("jobs that succeeded beside it", found.getOrDefault("quick SUCCEEDED", 0L));
    check(exit == 0, "the process goes on in the end, its exit code is " + exit);
    check(crashes <= MOST_CRASHES, "convicted within " + MOST_CRASHES + " crashes");
    check(
        found.equals(Map.of("quick SUCCEEDED", (long) jobs, "poison DEAD", 1L)),
        "that job alone is dead and every other has succeeded: " + found);
  }

  private void fromOutside(Path file) throws IOException, InterruptedException {
    int each = Math.max(10, jobs / 20);
    for (int i = 0; i < kills; i++) {
      List<String> load = new ArrayList<>(List.of("--quick=" + each, "--alone-millis=1000"));
      if (i == 0) {
        load.add("--long=6");
      }
      int life = ThreadLocalRandom.current().nextInt(LEAST_LIFE_MILLIS, MOST_LIFE_MILLIS);
      run(file, load, life);
      System.err.println("kill " + (i + 1) + " from outside");
    }
    int exit = run(file, List.of("--drain", "--alone-millis=1000"), Integer.MAX_VALUE);
    Map<String, Long> found = census(file);
    figures.put("kills from outside", kills);
    figures.put("jobs of a millisecond", found.getOrDefault("quick SUCCEEDED", 0L));
    figures.put("jobs of a minute", found.getOrDefault("long SUCCEEDED", 0L));
    check(exit == 0, "the process drains in the end, its exit code is " + exit);
    check(
        found.equals(Map.of("quick SUCCEEDED", (long) kills * each, "long SUCCEEDED", 6L)),
        "kills from outside convict nobody and lose nothing: " + found);
  }

  private void check(boolean holds, String promise) {
    if (!holds) {
      broken.add(promise);
    }
  }

  /** Runs a child to its end, or kills it so long after it began to run jobs. */
  private static int run(Path file, List<String> options, int lifeMillis)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.add("poison-child");
    command.add(file.toString());
    command.addAll(options);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      boolean running = out.readLine() != null;
      if (running && lifeMillis != Integer.MAX_VALUE) {
        TimeUnit.MILLISECONDS.sleep(lifeMillis);
        process.toHandle().destroyForcibly();
      }
      return process.waitFor();
    }
  }

  /** How many jobs of each type and state there are. */
  private static Map<String, Long> census(Path file) {
    Map<String, Long> counts = new TreeMap<>();
    try (Carillon carillon = Carillon.open("jdbc:sqlite:" + file)) {
      JobQuery query = JobQuery.all().limit(1000);
      String cursor = null;
      do {
        Page<JobInfo> page = carillon.list(query.cursor(cursor));
        for (JobInfo job : page.items()) {
          boolean convicted =
              job.state() == JobState.DEAD
                  && job.reason() != null
                  && job.reason().startsWith("poison");
          String state = job.state() + (job.state() == JobState.DEAD && !convicted ? "?" : "");
          counts.merge(job.type() + " " + state, 1L, Long::sum);
        }
        cursor = page.next();
      } while (cursor != null);
    }
    return counts;
  }

  private void print() {
    String verdict = broken.isEmpty() ? "PASS" : "FAIL";
    if (json) {
      Map<String, Object> line = new LinkedHashMap<>(figures);
      line.put("suite", "poison");
      line.put("problems", broken);
      line.put("verdict", verdict);
      System.out.println(JSON.writeValueAsString(line));
      return;
    }
    figures.forEach((what, count) -> System.out.printf("%12s  %s%n", count, what));
    broken.forEach(promise -> System.out.println("broken: " + promise));
    System.out.println(verdict);
  }
}
