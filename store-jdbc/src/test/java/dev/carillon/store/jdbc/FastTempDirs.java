package dev.carillon.store.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Puts tests' folders into memory where there is enough of it: the suite commits some hundred
 * thousand times, and a sync costs nothing there. What a test claims about syncing it shows
 * otherwise.
 */
final class FastTempDirs implements TempDirFactory {

  private static final Path MEMORY = Path.of("/dev/shm");
  private static final long ENOUGH_BYTES = 2L << 30;

  @Override
  public Path createTempDirectory(
      AnnotatedElementContext elementContext, ExtensionContext extensionContext)
      throws IOException {
    return MEMORY.toFile().getUsableSpace() >= ENOUGH_BYTES && Files.isWritable(MEMORY)
        ? Files.createTempDirectory(MEMORY, "carillon")
        : Files.createTempDirectory("carillon");
  }
}
