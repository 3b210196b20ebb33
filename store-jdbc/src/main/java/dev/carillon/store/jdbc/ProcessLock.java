package dev.carillon.store.jdbc;

import dev.carillon.api.error.StoreLockedException;
import dev.carillon.api.error.StoreUnavailableException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives a database file to one process: a lock on a file beside it, which ends with the process
 * however that ends. The database file itself is never opened from here, because closing any
 * descriptor of a file drops all of a process's POSIX locks on it, SQLite's too. For the same
 * reason the lock file is opened only after this JVM is known not to hold it.
 *
 * <p>Within this process the database's identity is held too, so that a hard link to it is refused;
 * another process is kept away by the path, and opens no file that has two.
 *
 * <p>The file holds two lines: the process that has it, and the incarnation of the store it belongs
 * to, once there was one.
 */
final class ProcessLock implements AutoCloseable {

  /** Far behind the text, so that others can read the text where locks are mandatory. */
  private static final long LOCKED_BYTE = 1 << 30;

  private static final int MAX_TEXT_BYTES = 256;

  private static final String PROPERTY = "dev.carillon.sqlite.open:";

  /** Tries to lock a file that others remove at the same moment. */
  private static final int MAX_TRIES = 100;

  private final Path database;
  private final Set<String> properties;
  private final RandomAccessFile file;
  private final FileLock lock;
  private final boolean created;
  private String incarnation;

  private ProcessLock(
      Path database, Set<String> properties, RandomAccessFile file, FileLock lock, boolean created)
      throws IOException {
    this.database = database;
    this.properties = properties;
    this.file = file;
    this.lock = lock;
    this.created = created;
    this.incarnation = line(file, 1);
  }

  /**
   * Takes the lock of {@code database}.
   *
   * @throws StoreLockedException if a process, this one included, has it
   */
  static ProcessLock acquire(Path database) {
    Set<String> properties = new HashSet<>();
    ProcessLock lock = null;
    boolean acquired = false;
    try {
      hold(database.toString(), database, properties);
      holdIdentity(database, properties);
      lock = lockFile(database, properties);
      lock.write(pid());
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
      if (!acquired && lock != null) {
        lock.abandon();
      } else if (!acquired) {
        properties.forEach(System::clearProperty);
      }
    }
  }

  /** Marks a name of the database as open in this process. */
  private static void hold(String name, Path database, Set<String> properties) {
    // A property, because a static field would be one for each class loader.
    String property = PROPERTY + name;
    String holder =
        System.getProperties().putIfAbsent(property, database.toString()) instanceof String path
            ? path
            : null;
    if (holder != null) {
      String other = holder.equals(database.toString()) ? "" : " as " + holder;
      throw new StoreLockedException(
          database + " (this process, " + pid() + ", has it open already" + other + ")");
    }
    properties.add(property);
  }

  /** The file itself, which may have several names: hard links have a lock file each. */
  private static void holdIdentity(Path database, Set<String> properties) {
    Object key = FileIdentity.key(database);
    if (key != null) {
      hold(key.toString(), database, properties);
    }
  }

  /**
   * To be called when the database is there, if it was not before.
   *
   * @throws StoreLockedException if this process has it open under another name
   */
  void holdIdentity() {
    if (properties.size() == 1) {
      holdIdentity(database, properties);
    }
  }

  private static String pid() {
    return Long.toString(ProcessHandle.current().pid());
  }

  /** A lock on a file that a refused opener removed meanwhile would lock nothing: another try. */
  private static ProcessLock lockFile(Path database, Set<String> properties) throws IOException {
    Path path = Sidecar.LOCK.of(database);
    for (int i = 0; i < MAX_TRIES; i++) {
      boolean created = create(path);
      Object key = FileIdentity.key(path);
      RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
      FileLock lock = tryLock(file);
      if (lock == null) {
        file.close();
        String pid = line(path, 0);
        throw new StoreLockedException(
            database + (pid.isEmpty() ? "" : " (held by process " + pid + ")"));
      }
      if (Objects.equals(key, FileIdentity.key(path))) {
        return new ProcessLock(database, properties, file, lock, created);
      }
      file.close();
    }
    throw new IOException("removed again and again");
  }

  private static boolean create(Path path) throws IOException {
    try {
      Files.createFile(path);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
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
      write(pid());
    }
  }

  /** Gives up after a refused open, and takes away the lock file if it was not there before. */
  void abandon() {
    if (created) {
      // While it is still locked, so that nobody else relies on it.
      var unused = Sidecar.LOCK.of(database).toFile().delete();
    }
    close();
  }

  @Override
  public void close() {
    try (file) {
      write("");
      lock.release();
    } catch (IOException e) {
      // The lock ends with the process at the latest.
    } finally {
      properties.forEach(System::clearProperty);
    }
  }
}
