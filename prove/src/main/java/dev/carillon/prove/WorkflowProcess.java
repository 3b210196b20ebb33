package dev.carillon.prove;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A {@link WorkflowChild} in a process of its own, and the thread that reads what it tells. */
final class WorkflowProcess {
  private final Process process;
  private final Thread reader;
  private final CountDownLatch began = new CountDownLatch(1);

  private WorkflowProcess(Process process, WorkflowLedger ledger) {
    this.process = process;
    this.reader = Thread.ofPlatform().name("ledger").daemon().unstarted(() -> read(ledger));
  }

  static WorkflowProcess start(Path errors, WorkflowLedger ledger, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:TieredStopAtLevel=1"); // lives for seconds only
    command.add("-Djdk.trackAllThreads=false");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.add("workflow-child");
    command.addAll(arguments);
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
              .start();
      WorkflowProcess started = new WorkflowProcess(process, ledger);
      started.reader.start();
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(WorkflowLedger ledger) {
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

  /** Whether it works within that time. */
  boolean awaitBegin(long millis) throws InterruptedException {
    return began.await(millis, TimeUnit.MILLISECONDS);
  }

  /** Whether it has ended by itself within that time, having done all that it was to do. */
  boolean awaitEnd(long seconds) throws InterruptedException {
    boolean ended = process.waitFor(seconds, TimeUnit.SECONDS) && process.exitValue() == 0;
    if (ended) {
      reader.join();
    }
    return ended;
  }

  /** Kills it with signal 9; returns when all it told is in the ledger. */
  void kill() {
    process.toHandle().destroyForcibly();
    boolean interrupted = false;
    while (reader.isAlive()) {
      try {
        reader.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
