package dev.carillon.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A checkout of Carillon whose benchmarks can be run, each in processes of its own.
 *
 * @param name what people call it
 * @param folder the one with the script {@code carillon}
 */
record Build(String name, Path folder) {
  /** A child runs what {@link #make} has built: it does not build again. */
  private static final Map<String, String> AS_BUILT = Map.of("CARILLON_NO_BUILD", "1");

  /** The exit code of a benchmark that does not know an option, or that is not there. */
  private static final int NOT_KNOWN = 2;

  private static final String SCRIPT = "carillon";

  /** A program of a build ended otherwise than it should. */
  static final class BrokenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BrokenException(String message) {
      super(message);
    }
  }

  /** Whether a folder is a checkout. */
  static boolean isOne(Path folder) {
    return Files.isExecutable(folder.resolve(SCRIPT));
  }

  /** Whether a repository has such a commit. */
  static boolean knows(Path repository, String commit) {
    List<String> look =
        List.of(
            "git", "rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}");
    return start(repository, look, Map.of()).exit() == 0;
  }

  /**
   * The sources of a commit in a folder below {@code target}. Nothing changes in the repository.
   */
  static Build ofCommit(Path repository, String commit, Path target) {
    Path sources = target.resolve("other");
    Path packed = target.resolve("other.tar");
    try {
      Files.createDirectories(sources);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run(repository, "git", "archive", "--format=tar", "-o", packed.toString(), commit);
    run(target, "tar", "-xf", packed.toString(), "-C", sources.toString());
    return new Build(commit, sources);
  }

  private static void run(Path folder, String... command) {
    Ended ended = start(folder, List.of(command), Map.of());
    if (ended.exit() != 0) {
      throw new BrokenException(
          String.join(" ", command) + ": exit code " + ended.exit() + " (expected: 0)");
    }
  }

  /** Builds it where its sources are newer than what was built. */
  void make() {
    Ended ended = start(folder, List.of(script(), "bench", "--help"), Map.of());
    if (ended.exit() != 0) {
      throw new BrokenException(name + ": it does not build (expected: a checkout that does)");
    }
  }

  /**
   * Runs a benchmark.
   *
   * @return what it printed; empty where this build does not know such a benchmark
   */
  List<String> bench(List<String> arguments) {
    List<String> command = new ArrayList<>(List.of(script(), "bench"));
    command.addAll(arguments);
    command.add("--json");
    Ended ended = start(folder, command, AS_BUILT);
    if (ended.exit() == NOT_KNOWN) {
      return List.of();
    }
    if (ended.exit() > 1 || ended.lines().isEmpty()) { // 1: one of its own bounds does not hold
      throw new BrokenException(
          "%s, %s: exit code %d (expected: 0 or 1, and figures)"
              .formatted(name, String.join(" ", arguments), ended.exit()));
    }
    return ended.lines();
  }

  private String script() {
    return folder.resolve(SCRIPT).toString();
  }

  private record Ended(int exit, List<String> lines) {}

  private static Ended start(Path folder, List<String> command, Map<String, String> environment) {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    try {
      Process process = builder.start();
      try (BufferedReader out =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        List<String> lines = out.lines().toList();
        return new Ended(process.waitFor(), lines);
      } finally {
        process.descendants().forEach(ProcessHandle::destroy);
        process.destroy();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
