package dev.carillon.store.jdbc;

import dev.carillon.api.StoreLockedException;
import dev.carillon.api.StoreUnavailableException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Gives a database file to one process: a lock on a file beside it, which ends with the process
 * however that ends. The database file itself is never opened from here, because closing any
 * descriptor of a file drops all of a process's POSIX locks on it, SQLite's too. For the same
 * reason the lock file is opened only after this JVM is known not to hold it.
 *
 * <p>The file holds two lines: the process that has it, and the incarnation of the store it belongs
 * to, once there was one.
 */
final class ProcessLock implements AutoCloseable {

  /** Far behind the text, so that others can read the text where locks are mandatory. */
  private static final long LOCKED_BYTE = 1 << 30;

  private static final int MAX_TEXT_BYTES = 256;

  private final String property;
  private final RandomAccessFile file;
  private final FileLock lock;
  private String incarnation;

  private ProcessLock(String property, RandomAccessFile file, FileLock lock, String incarnation) {
    this.property = property;
    this.file = file;
    this.lock = lock;
    this.incarnation = incarnation;
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
    boolean acquired = false;
    try {
      ProcessLock lock = acquire(database, property);
      lock.write(pid);
      acquired = true;
      return lock;
    } catch (IOException e) {
      throw new StoreUnavailableException(
          "store: cannot write "
              + Sidecar.LOCK.of(database)
              + " (expected: a writable folder with some space): "
              + e.getMessage(),
          e);
    } finally {
      if (!acquired) {
        System.clearProperty(property);
      }
    }
  }

  private static ProcessLock acquire(Path database, String property) throws IOException {
    Path path = Sidecar.LOCK.of(database);
    RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
    FileLock lock = tryLock(file);
    if (lock == null) {
      file.close();
      String pid = line(path, 0);
      throw new StoreLockedException(
          database + (pid.isEmpty() ? "" : " (held by process " + pid + ")"));
    }
    return new ProcessLock(property, file, lock, line(file, 1));
  }

  private static @Nullable FileLock tryLock(RandomAccessFile file) throws IOException {
    try {
      return file.getChannel().tryLock(LOCKED_BYTE, 1, false);
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  private static String line(Path path, int index) {
    try (var in = new FileInputStream(path.toFile())) {
      return line(in.readNBytes(MAX_TEXT_BYTES), index);
    } catch (IOException e) {
      return "";
    }
  }

  private static String line(RandomAccessFile file, int index) throws IOException {
    byte[] text = new byte[(int) Math.min(file.length(), MAX_TEXT_BYTES)];
    file.seek(0);
    file.readFully(text);
    return line(text, index);
  }

  private static String line(byte[] text, int index) {
    return new String(text, StandardCharsets.US_ASCII)
        .lines()
        .skip(index)
        .findFirst()
        .orElse("")
        .strip();
  }

  private void write(String pid) throws IOException {
    byte[] text = (pid + "\n" + incarnation + "\n").getBytes(StandardCharsets.US_ASCII);
    file.seek(0);
    file.write(text);
    file.setLength(text.length);
  }

  /** The incarnation of the store that was here before, empty for none. */
  String incarnation() {
    return incarnation;
  }

  /** Remembers the store it belongs to. */
  void remember(String newIncarnation) throws IOException {
    if (!newIncarnation.equals(incarnation)) {
      incarnation = newIncarnation;
      write(Long.toString(ProcessHandle.current().pid()));
    }
  }

  @Override
  public void close() {
    try (file) {
      write("");
      lock.release();
    } catch (IOException e) {
      // The lock ends with the process at the latest.
    } finally {
      System.clearProperty(property);
    }
  }
}
