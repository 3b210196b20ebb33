package dev.carillon.prove;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Folders of a proof. */
final class Folders {
  private Folders() {}

  /** Copies a folder and all that is in it, with owners and rights. */
  static void copy(Path from, Path to) throws InterruptedException {
    try {
      Process copy =
          new ProcessBuilder("cp", "-a", from.toString(), to.toString()).inheritIO().start();
      if (copy.waitFor() != 0) {
        throw new IllegalStateException("cp -a " + from + " " + to + ": " + copy.exitValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes a folder and all that is in it. */
  static void remove(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
