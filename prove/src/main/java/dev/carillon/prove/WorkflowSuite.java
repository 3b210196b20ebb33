package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
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
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Kills a process that runs workflows at random moments, again and again: over steps, retries, a
 * child, a timer, a signal and compensations. At last a process may end them all.
 */
final class WorkflowSuite implements Suite {
  private static final int A_ROUND = 40;
  private static final int LEAST_MILLIS = 300;
  private static final int MOST_MILLIS = 2_500;
  private static final int START_MILLIS = 60_000;
  private static final int DRAIN_SECONDS = 280;

  /** A node among others waits for its former self to be dead before it has its shards again. */
  private static final int REJOIN_MILLIS = 2_500;

  private final KillSuite.Kind kind;

  WorkflowSuite(KillSuite.Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return kind == KillSuite.Kind.SQLITE ? "workflow" : "workflow-postgres";
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
    if (kind == KillSuite.Kind.SQLITE) {
      return run(stage, "jdbc:sqlite:" + stage.folder().resolve("jobs.db"), 0);
    }
    try (PostgresServer server = PostgresServer.start(stage.postgres(), "workflow")) {
      return run(stage, server.url(), REJOIN_MILLIS);
    }
  }

  private static Proof run(Stage stage, String url, int moreMillis) throws InterruptedException {
    Random random = new Random(stage.seed());
    WorkflowLedger ledger = new WorkflowLedger();
    List<String> problems = new ArrayList<>();
    for (int round = 0; round < stage.rounds(); round++) {
      Running child = Running.start(stage.errors(), ledger, url, round * A_ROUND, false);
      if (!child.began.await(START_MILLIS, TimeUnit.MILLISECONDS)) {
        problems.add("round " + round + ": the process did not begin to work");
      }
      TimeUnit.MILLISECONDS.sleep(moreMillis + LEAST_MILLIS + random.nextInt(MOST_MILLIS));
      child.process.toHandle().destroyForcibly();
      child.reader.join();
      stage
          .progress()
          .accept("round %d of %d: %,d steps".formatted(round + 1, stage.rounds(), ledger.steps()));
    }
    int all = stage.rounds() * A_ROUND;
    Running last = Running.start(stage.errors(), ledger, url, (stage.rounds() - 1) * A_ROUND, true);
    if (!last.process.waitFor(DRAIN_SECONDS, TimeUnit.SECONDS)) {
      problems.add("workflows are left after " + DRAIN_SECONDS + " s without a kill");
      last.process.toHandle().destroyForcibly();
    }
    last.reader.join();
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("kills", (long) stage.rounds());
    figures.put("workflows", (long) all);
    figures.put("steps begun", ledger.steps());
    figures.put("values seen", ledger.seen());
    return new Proof(ledger.checks(all), problems, figures);
  }

  /** A child process and the thread that reads what it tells. */
  private record Running(Process process, Thread reader, CountDownLatch began) {
    static Running start(Path errors, WorkflowLedger ledger, String url, int first, boolean drain) {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("-XX:TieredStopAtLevel=1"); // lives for seconds only
      command.add("-Djdk.trackAllThreads=false");
      command.add("-cp");
      command.add(System.getProperty("java.class.path"));
      command.add(Main.class.getName());
      command.add("workflow-child");
      command.add(url);
      command.add("--first=" + first);
      command.add("--count=" + A_ROUND);
      if (drain) {
        command.add("--drain");
      }
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
                .start();
        CountDownLatch began = new CountDownLatch(1);
        Thread reader =
            Thread.ofPlatform().name("ledger").daemon().start(() -> read(process, ledger, began));
        return new Running(process, reader, began);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void read(Process process, WorkflowLedger ledger, CountDownLatch began) {
      try (BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        String line;
        while ((line = lines.readLine()) != null) {
          began.countDown();
          ledger.tell(line);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
