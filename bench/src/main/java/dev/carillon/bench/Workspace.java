package dev.carillon.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A folder of a run's own; closing it removes all that is in it. */
final class Workspace implements AutoCloseable {
  private final Path folder;
  private int files;

  private Workspace(Path folder) {
    this.folder = folder;
  }

  /** A new folder below {@code parent}, or where temporary files go. */
  static Workspace in(@Nullable Path parent) {
    try {
      return new Workspace(
          parent == null
              ? Files.createTempDirectory("carillon-bench-")
              : Files.createTempDirectory(Files.createDirectories(parent), "carillon-bench-"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path folder() {
    return folder;
  }

  /** A file that is not there yet. */
  Path newFile(String name) {
    return folder.resolve(name + "-" + ++files + ".db");
  }

  /** Removes a database and what lies beside it. */
  void remove(Path database) {
    String name = database.getFileName() + "";
    try (Stream<Path> all = Files.list(folder)) {
      List<Path> parts = all.filter(f -> (f.getFileName() + "").startsWith(name)).toList();
      for (Path part : parts) {
        Files.delete(part);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
