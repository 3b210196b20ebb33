package dev.carillon.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Has a fresh process open the store with all its jobs, and reports what it found. */
final class Restart {
  private static final String SCENARIO = "pending, restarted";
  private static final double RESTART_SECONDS = 3;
  private static final double CANCEL_MILLIS = 50;
  private static final double LIST_SECONDS = 1;
  private static final double HEAP_MIB = 64;
  private static final double FLAT_MIB = 4;

  private final Report report;
  private final Workspace workspace;
  private final int cancels;

  Restart(Report report, Workspace workspace, int cancels) {
    this.report = report;
    this.workspace = workspace;
    this.cancels = cancels;
  }

  void run(Path file, List<String> ids) {
    Path list = workspace.newFile("ids");
    try {
      Files.write(list, ids);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    report.setting("file dropped from the page cache", dropFromPageCache(file));
    Map<String, Double> found = new HashMap<>();
    List<String> lines =
        FreshJvm.run(
            "restart",
            file.toString(),
            list.toString(),
            "--cancels=" + cancels,
            "--started=" + System.currentTimeMillis());
    for (String line : lines) {
      int equals = line.indexOf('=');
      found.put(line.substring(0, equals), Double.parseDouble(line.substring(equals + 1)));
    }
    print(found);
  }

  private void print(Map<String, Double> found) {
    held(found, "from start to first dispatch", "s", Bound.atMost(RESTART_SECONDS));
    printed(found, "from opening to first dispatch", "s");
    printed(found, "cancel, cold, p50", "ms");
    printed(found, "cancel, cold, p99", "ms");
    printed(found, "cancel, cold, max", "ms");
    printed(found, "cancel, warm, p50", "ms");
    held(found, "cancel, warm, p99", "ms", Bound.atMost(CANCEL_MILLIS));
    printed(found, "cancel, warm, max", "ms");
    held(found, "cancels answered with cancelled", "%", Bound.atLeast(100));
    held(found, "heap after the cancels", "MiB", Bound.atMost(HEAP_MIB));
    held(found, "first page of a day and a type", "s", Bound.atMost(LIST_SECONDS));
    held(found, "first page of ten days and a type", "s", Bound.atMost(LIST_SECONDS));
    held(found, "jobs on the first page", "jobs", Bound.atLeast(1));
    held(found, "heap growth by the lists", "MiB", Bound.atMost(FLAT_MIB));
    printed(found, "allocated by the lists", "MiB");
  }

  private void printed(Map<String, Double> found, String metric, String unit) {
    report.figure(Figure.of(SCENARIO, metric, found.getOrDefault(metric, Double.NaN), unit));
  }

  private void held(Map<String, Double> found, String metric, String unit, Bound bound) {
    report.figure(
        Figure.of(SCENARIO, metric, found.getOrDefault(metric, Double.NaN), unit).held(bound));
  }

  /** So that the first cancels read from the disk; elsewhere than on Linux they may not. */
  private static boolean dropFromPageCache(Path file) {
    try {
      return new ProcessBuilder(
                  "dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
