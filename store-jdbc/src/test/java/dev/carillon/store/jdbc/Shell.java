package dev.carillon.store.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.opentest4j.TestAbortedException;

/**
 * Programs that tests run. Also copies of an open database are made by one: reading the file from
 * here would drop SQLite's locks on it.
 */
final class Shell {

  private Shell() {}

  /** What a program printed, and how it ended. */
  record Result(int status, String output) {}

  static Result tryRun(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Result(process.waitFor(), output);
    } catch (IOException e) {
      return new Result(127, e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  static String run(String... command) {
    Result result = tryRun(command);
    if (result.status() != 0) {
      throw new UncheckedIOException(new IOException(List.of(command) + ": " + result.output()));
    }
    return result.output();
  }

  /** Skips the test with a reason, or fails it where nothing may be skipped. */
  static RuntimeException skip(String reason) {
    if ("all".equals(System.getProperty("it.require"))) {
      Assertions.fail(reason);
    }
    System.err.println("SKIPPED: " + reason);
    throw new TestAbortedException(reason);
  }
}
