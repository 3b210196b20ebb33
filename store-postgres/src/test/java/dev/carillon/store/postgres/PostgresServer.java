package dev.carillon.store.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A PostgreSQL server of this process, which syncs what it commits; stopped when the process ends.
 * Processes that tests start use the server of their parent.
 */
final class PostgresServer implements AutoCloseable {

  private static final Path FOLDER = Path.of("target", "postgres").toAbsolutePath();
  private static final Duration START_WAIT = Duration.ofSeconds(60);

  private static PostgresServer shared;

  private final Path data;
  private int port;
  private EmbeddedPostgres server;

  private PostgresServer(Path data) {
    this.data = data;
    removeOld();
    this.server = launch();
    this.port = server.getPort();
  }

  /** The server that all tests of this process share. */
  static synchronized PostgresServer shared() {
    if (shared == null) {
      shared = start("shared");
      note(shared.url());
    }
    return shared;
  }

  /** Where to connect to: the own server, or that of the process that started this one. */
  static String sharedUrl() {
    Path parents = ProcessHandle.current().parent().map(parent -> note(parent.pid())).orElseThrow();
    try {
      return Files.exists(parents) ? Files.readString(parents) : shared().url();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path note(long pid) {
    return FOLDER.resolve(pid + ".url");
  }

  private static void note(String url) {
    Path note = note(ProcessHandle.current().pid());
    try {
      Files.writeString(note, url);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    note.toFile().deleteOnExit();
  }

  /** A server of its own, with its data in a folder of that name; to be closed. */
  static PostgresServer start(String name) {
    return new PostgresServer(FOLDER.resolve(name + "-" + ProcessHandle.current().pid()));
  }

  /** Removes what processes that are gone have left: a crash of theirs is none of ours. */
  private static synchronized void removeOld() {
    try (Stream<Path> folders = Files.list(Files.createDirectories(FOLDER))) {
      for (Path folder : folders.filter(PostgresServer::isOld).toList()) {
        try (Stream<Path> files = Files.walk(folder)) {
          files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isOld(Path folder) {
    String pid = folder.getFileName().toString().replaceAll(".*-|[.]url", "");
    return pid.matches("[0-9]+") && ProcessHandle.of(Long.parseLong(pid)).isEmpty();
  }

  private EmbeddedPostgres launch() {
    try {
      Files.createDirectories(data);
      EmbeddedPostgres.Builder builder =
          EmbeddedPostgres.builder()
              .setDataDirectory(data)
              .setOverrideWorkingDirectory(FOLDER.resolve("binaries").toFile())
              .setCleanDataDirectory(false)
              .setPGStartupWait(START_WAIT)
              // Its defaults are meant for tests that do not care what is on the disk.
              .setServerConfig("fsync", "on")
              .setServerConfig("synchronous_commit", "on")
              .setServerConfig("full_page_writes", "on")
              .setServerConfig("max_connections", "200")
              .setServerConfig("max_wal_size", "2GB");
      return (port == 0 ? builder : builder.setPort(port)).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Stops at once, as in a crash: {@code pg_ctl stop -m immediate} sends the same signal. */
  void crash() {
    try {
      String pid = Files.readAllLines(data.resolve("postmaster.pid")).getFirst();
      new ProcessBuilder("kill", "-QUIT", pid).inheritIO().start().waitFor();
      server.getProcess().waitFor();
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Starts again on the data that the crash has left. */
  void restart() {
    server = launch();
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String url() {
    return server.getJdbcUrl("postgres", "postgres");
  }

  /** Where its data is. */
  Path data() {
    return data;
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(url());
  }

  /** Runs statements as the superuser. */
  void run(String sql) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
