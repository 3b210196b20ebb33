package dev.carillon.prove;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A worker or a server of {@link WorkersSuite} in a process of its own. */
final class WorkersProcess {
  private static final long END_SECONDS = 60;

  private final Process process;
  private final Thread reader;

  private WorkersProcess(Process process, Consumer<String> lines) {
    this.process = process;
    this.reader = Thread.ofPlatform().name("ledger").daemon().start(() -> read(lines));
  }

  static WorkersProcess start(Path errors, Consumer<String> lines, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1", // lives for seconds only
                "-XX:+UseSerialGC",
                "-Djdk.trackAllThreads=false",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    try {
      return new WorkersProcess(
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
              .start(),
          lines);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read(Consumer<String> lines) {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line;
      while ((line = in.readLine()) != null) {
        lines.accept(line);
      }
    } catch (IOException e) {
      // It was killed.
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Kills it with signal 9 and reads what it had told; whether that was its end. */
  boolean kill() throws InterruptedException {
    process.toHandle().destroyForcibly();
    return process.waitFor(END_SECONDS, TimeUnit.SECONDS) && process.exitValue() == Child.KILLED;
  }

  /** Has it end in order; whether it did. */
  boolean end() throws InterruptedException {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException e) {
      return false;
    }
    return process.waitFor(END_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
  }

  void signal(String signal) throws InterruptedException {
    try {
      int exit = new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
      if (exit != 0) {
        throw new IllegalStateException("kill " + signal + ": exit code " + exit);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void destroy() throws InterruptedException {
    process.toHandle().destroyForcibly();
    reader.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
  }
}
