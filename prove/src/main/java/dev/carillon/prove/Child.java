package dev.carillon.prove;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A child process and the thread that reads its notes into the ledger. */
final class Child {
  /** What the kernel reports of a process that signal 9 ended. */
  static final int KILLED = 128 + 9;

  private final int incarnation;
  private final Process process;
  private final Thread reader;
  private final CountDownLatch loading = new CountDownLatch(1);
  private volatile @Nullable Throwable broken;
  private volatile boolean drained;

  private Child(int incarnation, Process process, Ledger ledger) {
    this.incarnation = incarnation;
    this.process = process;
    this.reader = Thread.ofPlatform().name("ledger").daemon().start(() -> read(ledger));
  }

  /** Starts a process with this one's class path. */
  static Child start(int incarnation, Path errors, Ledger ledger, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:TieredStopAtLevel=1"); // lives for seconds only
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.add("kill-child");
    command.addAll(arguments);
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
              .start();
      return new Child(incarnation, process, ledger);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(Ledger ledger) {
    try (BufferedReader notes =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8), 1 << 16)) {
      String line;
      while ((line = notes.readLine()) != null) {
        Note note = Note.parse(line);
        ledger.tell(incarnation, note);
        switch (note) {
          case Note.Loading loads -> loading.countDown();
          case Note.Drained done -> drained = true;
          default -> {}
        }
      }
    } catch (IOException | RuntimeException e) {
      broken = e;
    } finally {
      loading.countDown();
    }
  }

  /** Waits until it works; false where it ended instead. */
  boolean awaitLoading(long millis) throws InterruptedException {
    return loading.await(millis, TimeUnit.MILLISECONDS) && process.isAlive();
  }

  /** Asks it to cancel jobs. */
  void cancel(Collection<String> jobs) {
    try {
      Writer in = process.outputWriter(StandardCharsets.UTF_8);
      for (String job : jobs) {
        in.write(job + "\n");
      }
      in.flush();
    } catch (IOException e) {
      // It died: then nobody was asked.
      broken = null;
    }
  }

  /**
   * Kills it with SIGKILL and reads what it had told. Through the handle: {@link
   * Process#destroyForcibly} would close the pipe and lose what is still in it.
   *
   * @return its exit code
   */
  int kill() throws InterruptedException {
    process.toHandle().destroyForcibly();
    return await();
  }

  /** Waits for its end, and for its last note to be in the ledger. */
  int await() throws InterruptedException {
    int exit = process.waitFor();
    reader.join();
    Throwable problem = broken;
    if (problem != null) {
      throw new IllegalStateException("the notes of a child cannot be read", problem);
    }
    return exit;
  }

  boolean awaitEnd(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  boolean drained() {
    return drained;
  }
}
