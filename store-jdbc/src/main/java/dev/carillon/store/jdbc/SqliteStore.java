package dev.carillon.store.jdbc;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.api.error.StoreLockedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.error.StoreVersionException;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.StoreInfo.Durability;
import dev.carillon.store.jdbc.Database.Urgency;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The store in one SQLite file: the default, for one process. What it has acknowledged survives the
 * loss of power.
 *
 * <p>The file makes its own tables. Beside it lie the write-ahead log and its index ({@code -wal},
 * {@code -shm}), which belong to it, a lock file ({@code -lock}) and some space kept back for a
 * full disk ({@code -reserve}), which do not. One process has it open for writing at a time; any
 * number may read it meanwhile.
 *
 * <p>May be used by any number of threads; their writes follow one another. An interrupted caller
 * loses nothing and keeps its interrupt.
 */
public final class SqliteStore implements Store {

  private static final StoreInfo INFO =
      new StoreInfo(
          "sqlite",
          Durability.HOST,
          Set.of(Capability.ATOMIC_ACROSS_JOURNALS, Capability.SINGLE_PROCESS),
          8 << 20,
          64 << 20,
          64 << 10,
          3 << 10);

  static final String URL_PREFIX = "jdbc:sqlite:";

  private final Path file;
  private final String incarnation;
  private final Database database;
  private final @Nullable MaintenanceLoop maintenance;
  private final @Nullable ProcessLock lock;
  private final Journals journals;
  private final Records records;
  private final AtomicBoolean closed = new AtomicBoolean();

  private SqliteStore(
      Path file,
      String incarnation,
      Database database,
      @Nullable MaintenanceLoop maintenance,
      @Nullable ProcessLock lock) {
    this.file = file;
    this.incarnation = incarnation;
    this.database = database;
    this.maintenance = maintenance;
    this.lock = lock;
    this.journals = new SqliteJournals(database, INFO);
    this.records = new SqliteRecords(database, INFO);
  }

  /** Opens the store in {@code file} with the default options, making it where there is none. */
  public static SqliteStore open(Path file) {
    return open(file, SqliteOptions.DEFAULT);
  }

  /**
   * Opens the store in {@code file}, making it where there is none.
   *
   * @throws StoreLockedException if another process, or this one, has it open
   * @throws StoreVersionException if a newer version wrote it
   * @throws StoreCorruptedException if it is damaged, or not a store
   * @throws StoreUnavailableException if it cannot be read or written
   */
  public static SqliteStore open(Path file, SqliteOptions options) {
    return undisturbed(() -> openWriter(realPath(file), options));
  }

  private static SqliteStore openWriter(Path file, SqliteOptions options)
      throws SQLException, IOException {
    ProcessLock lock = ProcessLock.acquire(file);
    boolean opened = false;
    try {
      refuseLinked(file);
      refuseEmptied(file, lock);
      WalCheck.check(file);
      SqliteStore store = openWriterOnFullDisk(file, options, lock);
      opened = true;
      return store;
    } catch (SQLException e) {
      throw notOpened(file, e);
    } finally {
      if (!opened) {
        lock.abandon();
      }
    }
  }

  /** Opening takes some space too, and a store on a full disk must open so that jobs can end. */
  private static SqliteStore openWriterOnFullDisk(
      Path file, SqliteOptions options, ProcessLock lock) throws SQLException, IOException {
    try {
      return openWriter(file, options, lock);
    } catch (SQLException e) {
      Reserve reserve = new Reserve(file, options.reserveBytes());
      if (reserve.usableBytes() > Database.SPARE_BYTES || !reserve.giveTo(Urgency.URGENT)) {
        throw e;
      }
      return openWriter(file, options, lock);
    }
  }

  /** Lock and log go by the file's name: under another one a second process would find neither. */
  private static void refuseLinked(Path file) {
    int names = FileIdentity.names(file);
    if (names > 1) {
      throw new StoreUnavailableException(
          "store: " + file + " has " + names + " names (expected: one, without hard links)");
    }
  }

  /** SQLite makes a new database of an empty file, and deletes the log that belonged to it. */
  private static void refuseEmptied(Path file, ProcessLock lock) {
    if (file.toFile().length() > 0) {
      return;
    }
    if (Sidecar.WAL.of(file).toFile().length() > 0) {
      throw new StoreCorruptedException(
          file.toString(), "empty or missing, but its write-ahead log is there");
    }
    if (Files.exists(file) && !lock.incarnation().isEmpty()) {
      throw new StoreCorruptedException(
          file.toString(), "empty, but it held store " + lock.incarnation() + " before");
    }
  }

  private static SqliteStore openWriter(Path file, SqliteOptions options, ProcessLock lock)
      throws SQLException, IOException {
    Session session = Session.create(file, options);
    boolean opened = false;
    try {
      lock.holdIdentity();
      Schema schema = new Schema(file, options);
      if (schema.isEmpty(session)) {
        schema.install(session);
      }
      schema.check(session);
      schema.useWal(session);
      Schema.prove(session);
      String incarnation = Schema.incarnation(session);
      lock.remember(incarnation);
      Database database = Database.of(file, options, new Counters(), session);
      opened = true;
      MaintenanceLoop maintenance =
          new MaintenanceLoop(database, "carillon-sqlite-" + file.getFileName());
      maintenance.start();
      return new SqliteStore(file, incarnation, database, maintenance, lock);
    } finally {
      if (!opened) {
        session.close();
      }
    }
  }

  private interface Opening<T> {
    T run() throws SQLException, IOException;
  }

  /** Opening reads files through channels, which an interrupt would close: it comes afterwards. */
  private static <T> T undisturbed(Opening<T> opening) {
    boolean interrupted = Thread.interrupted();
    try {
      return opening.run();
    } catch (SQLException | IOException e) {
      throw new StoreUnavailableException("store: cannot open it: " + e.getMessage(), e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Opens an existing store for reading only, also while a process writes to it: takes no lock and
   * changes nothing. Every write answers unavailable.
   *
   * @throws StoreVersionException if a newer version wrote it
   * @throws StoreCorruptedException if it is damaged, or not a store
   * @throws StoreUnavailableException if it cannot be read
   */
  public static SqliteStore openReadOnly(Path file) {
    return undisturbed(() -> openReader(realPath(existing(file))));
  }

  private static Path existing(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new StoreUnavailableException("store: " + file + " (expected: an existing file)");
    }
    return file;
  }

  private static SqliteStore openReader(Path file) {
    SqliteOptions options = SqliteOptions.DEFAULT;
    WalCheck.checkIfUnchanged(file);
    try {
      return openReader(file, options, Session.openReader(file, options));
    } catch (SQLException e) {
      if (Failure.of(e) != Failure.READ_ONLY || Sidecar.WAL.of(file).toFile().length() > 0) {
        throw notOpened(file, e);
      }
      return openImmutable(file, options);
    }
  }

  private static SqliteStore openImmutable(Path file, SqliteOptions options) {
    try {
      return openReader(file, options, Session.openImmutable(file, options));
    } catch (SQLException e) {
      throw notOpened(file, e);
    }
  }

  private static SqliteStore openReader(Path file, SqliteOptions options, Session session)
      throws SQLException {
    boolean opened = false;
    try {
      new Schema(file, options).check(session);
      String incarnation = Schema.incarnation(session);
      Database reader = Database.ofReader(file, options, new Counters(), session);
      opened = true;
      return new SqliteStore(file, incarnation, reader, null, null);
    } finally {
      if (!opened) {
        session.close();
      }
    }
  }

  /**
   * Gives the store in {@code file} a new {@linkplain #incarnation() incarnation}: to be called
   * once after it was restored from a copy, while no process has it open.
   *
   * @return the new incarnation
   */
  public static String renewIncarnation(Path file) {
    return undisturbed(() -> renew(realPath(existing(file))));
  }

  private static String renew(Path file) throws IOException {
    SqliteOptions options = SqliteOptions.DEFAULT;
    ProcessLock lock = ProcessLock.acquire(file);
    boolean renewed = false;
    try (Session session = Session.open(file, options)) {
      new Schema(file, options).check(session);
      String incarnation = Schema.renewIncarnation(session);
      lock.remember(incarnation);
      renewed = true;
      return incarnation;
    } catch (SQLException e) {
      throw notOpened(file, e);
    } finally {
      if (renewed) {
        lock.close();
      } else {
        lock.abandon();
      }
    }
  }

  /**
   * All files that a store has: its own and those that may lie beside it.
   *
   * @param file the store's file
   */
  public static List<Path> filesOf(Path file) {
    List<Path> files = new ArrayList<>();
    files.add(file);
    files.add(file.resolveSibling(file.getFileName() + "-shm")); // SQLite's, with the log
    for (Sidecar sidecar : Sidecar.values()) {
      files.add(sidecar.of(file));
    }
    return files;
  }

  /**
   * The file that a JDBC URL names.
   *
   * @param url such as {@code jdbc:sqlite:jobs.db}
   * @throws dev.carillon.api.error.InvalidArgumentException if it is not the URL of an SQLite file,
   *     or has parameters
   */
  public static Path fileOf(String url) {
    if (!url.toLowerCase(Locale.ROOT).startsWith(URL_PREFIX)) {
      throw badUrl(url, "jdbc:sqlite:FILE");
    }
    String name = url.substring(URL_PREFIX.length());
    if (name.isBlank() || name.contains(":memory:") || name.contains("mode=memory")) {
      throw badUrl(url, "a file, as in jdbc:sqlite:jobs.db; for a store in memory use MemoryStore");
    }
    if (name.startsWith("file:") || name.startsWith(":resource:") || name.contains("?")) {
      throw badUrl(url, "a plain file name without parameters; see SqliteOptions");
    }
    return Path.of(name);
  }

  private static InvalidArgumentException badUrl(String url, String expected) {
    return new InvalidArgumentException("url: " + url + " (expected: " + expected + ")");
  }

  /** One name for one file, whatever links lead to it. */
  private static Path realPath(Path file) {
    try {
      if (Files.exists(file)) {
        return file.toRealPath();
      }
      Path absolute = file.toAbsolutePath();
      Path folder = absolute.getParent();
      if (folder == null || absolute.getFileName() == null) {
        throw new StoreUnavailableException("store: " + file + " (expected: a file)");
      }
      return folder.toRealPath().resolve(absolute.getFileName());
    } catch (IOException e) {
      throw new StoreUnavailableException(
          "store: " + file + " (expected: a file in an existing folder): " + e.getMessage(), e);
    }
  }

  private static RuntimeException notOpened(Path file, SQLException error) {
    String problem = String.valueOf(error.getMessage());
    return switch (Failure.of(error)) {
      case CORRUPT -> new StoreCorruptedException(file.toString(), problem, error);
      case READ_ONLY ->
          new StoreUnavailableException(
              "store: cannot write "
                  + file
                  + " (expected: a writable file in a writable folder): "
                  + problem,
              error);
      case FULL ->
          new StoreUnavailableException("store: no space left for " + file + ": " + problem, error);
      case BUSY, CONSTRAINT, IO ->
          new StoreUnavailableException("store: cannot open " + file + ": " + problem, error);
    };
  }

  @Override
  public StoreInfo info() {
    return INFO;
  }

  @Override
  public String incarnation() {
    return incarnation;
  }

  /** The clock of this machine: one process at a time has the file. */
  @Override
  public Outcome<Long> clockMicros() {
    return Outcome.ok(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
  }

  @Override
  public Journals journals() {
    return journals;
  }

  @Override
  public Records records() {
    return records;
  }

  /** What it has done since it was opened. */
  public SqliteCounters counters() {
    return database.counters().read();
  }

  /** The database file. */
  public Path file() {
    return file;
  }

  /** Copies the whole write-ahead log to the file and empties it. */
  boolean emptyLog() {
    return database.emptyLog(true);
  }

  /** Waits for the calls under way; later ones answer unavailable. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    if (maintenance != null) {
      maintenance.stop();
    }
    database.close();
    if (lock != null) {
      lock.close();
    }
  }
}
