package dev.carillon.server.webhook;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;
import org.opentest4j.TestAbortedException;

/**
 * Libraries of npm for tests; where there is no Node or no registry, the test is skipped loudly.
 */
final class NodeLibrary {
  private static final long PATIENCE_SECONDS = 100;

  private NodeLibrary() {}

  /** Installs a library into a folder. */
  static Path install(Path folder, String library) throws InterruptedException {
    try {
      run(
          folder,
          List.of("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", library));
      return folder;
    } catch (IOException e) {
      throw skip(library + ": " + e.getMessage());
    }
  }

  /** Runs a script in the folder; what it printed. */
  static String run(Path folder, String script, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("node", script));
    command.addAll(List.of(arguments));
    return run(folder, command);
  }

  private static String run(Path folder, List<String> command)
      throws IOException, InterruptedException {
    Path printed = folder.resolve("printed");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    process.destroyForcibly();
    String text = java.nio.file.Files.readString(printed, StandardCharsets.UTF_8).strip();
    if (!ended || process.exitValue() != 0) {
      throw new IOException(String.join(" ", command) + ": " + text);
    }
    return text;
  }

  private static RuntimeException skip(String reason) {
    if ("all".equals(System.getProperty("it.require"))) {
      Assertions.fail(reason);
    }
    System.err.println("SKIPPED: " + reason);
    throw new TestAbortedException(reason);
  }
}
