package dev.carillon.store.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * Notices that the database or its log was deleted, moved away or replaced while it is open: what
 * is committed then goes to a file without a name and is lost with the process.
 */
final class FileIdentity {

  private final Path file;
  private final Path wal;
  private final @Nullable Object fileKey;
  private final @Nullable Object walKey;

  private FileIdentity(Path file, Path wal) {
    this.file = file;
    this.wal = wal;
    this.fileKey = key(file);
    this.walKey = key(wal);
  }

  /** Of a database that is open and has been written to. */
  static FileIdentity of(Path file) {
    return new FileIdentity(file, Sidecar.WAL.of(file));
  }

  /** Whether the database is still the one it was; its log may be another. */
  boolean isSameFile() {
    return fileKey == null || fileKey.equals(key(file));
  }

  /** The file that is no longer the one it was. */
  @Nullable Path changed() {
    // Where files have no identity, both keys are null, and a file that is gone is not noticed.
    if (!isSameFile()) {
      return file;
    }
    return walKey != null && !walKey.equals(key(wal)) ? wal : null;
  }

  /** What tells a file from all others, whatever its name; null if it has nothing or is missing. */
  static @Nullable Object key(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    } catch (IOException e) {
      return null;
    }
  }

  /** How many names the file has; 1 where that cannot be told or it is missing. */
  static int names(Path path) {
    try {
      return Files.getAttribute(path, "unix:nlink") instanceof Integer links ? links : 1;
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return 1;
    }
  }
}
