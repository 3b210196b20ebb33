package dev.carillon.store.jdbc;

import dev.carillon.api.StoreLockedException;
import dev.carillon.api.StoreUnavailableException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Gives a database file to one process: a lock on a file beside it, which ends with the process
 * however that ends. The database file itself is never opened from here, because closing any
 * descriptor of a file drops all of a process's POSIX locks on it, SQLite's too. For the same
 * reason the lock file is opened only after this JVM is known not to hold it.
 */
final class ProcessLock implements AutoCloseable {

  /** Far behind the text, so that others can read the text where locks are mandatory. */
  private static final long LOCKED_BYTE = 1 << 30;

  private static final int MAX_PID_BYTES = 32;

  private final String property;
  private final RandomAccessFile file;
  private final FileLock lock;

  private ProcessLock(String property, RandomAccessFile file, FileLock lock) {
    this.property = property;
    this.file = file;
    this.lock = lock;
  }

  /**
   * Takes the lock of {@code database}.
   *
   * @throws StoreLockedException if a process, this one included, has it
   */
  static ProcessLock acquire(Path database) {
    // A property, because a static field would be one for each class loader.
    String property = "dev.carillon.sqlite.open:" + database;
    String pid = Long.toString(ProcessHandle.current().pid());
    if (System.getProperties().putIfAbsent(property, pid) != null) {
      throw new StoreLockedException(database + " (held by this process, " + pid + ")");
    }
    try {
      return acquire(database, property, pid);
    } catch (RuntimeException | Error e) {
      System.clearProperty(property);
      throw e;
    }
  }

  private static ProcessLock acquire(Path database, String property, String pid) {
    Path path = Sidecar.LOCK.of(database);
    try {
      RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
      FileLock lock = tryLock(file);
      if (lock == null) {
        file.close();
        throw new StoreLockedException(database + holder(path));
      }
      file.setLength(0);
      file.write(pid.getBytes(StandardCharsets.US_ASCII));
      return new ProcessLock(property, file, lock);
    } catch (IOException e) {
      throw new StoreUnavailableException(
          "store: cannot write " + path + " (expected: a writable folder): " + e.getMessage(), e);
    }
  }

  private static @org.jspecify.annotations.Nullable FileLock tryLock(RandomAccessFile file)
      throws IOException {
    try {
      return file.getChannel().tryLock(LOCKED_BYTE, 1, false);
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  private static String holder(Path path) {
    try (var in = Files.newInputStream(path)) {
      String pid = new String(in.readNBytes(MAX_PID_BYTES), StandardCharsets.US_ASCII).strip();
      return pid.isEmpty() ? "" : " (held by process " + pid + ")";
    } catch (IOException e) {
      return "";
    }
  }

  @Override
  public void close() {
    try {
      file.setLength(0);
      lock.release();
      file.close();
    } catch (IOException e) {
      // The lock ends with the process at the latest.
    } finally {
      System.clearProperty(property);
    }
  }
}
