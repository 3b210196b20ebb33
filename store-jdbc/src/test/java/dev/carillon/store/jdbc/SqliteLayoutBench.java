package dev.carillon.store.jdbc;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Compares ways to keep entries in a table, for {@code docs/decisions/0011-sqlite-layout.md}: the
 * same entries with the same statements, once for each layout. No checkpoints: they cost the same
 * for all but for what the log holds, which is printed.
 *
 * <p>Arguments: seconds for each, page size, a folder; all may be left out.
 */
final class SqliteLayoutBench {

  private enum Layout {
    /** A table in the order of arrival, and an index. */
    ROWID_AND_INDEX(
        "create table e(id integer primary key, segment integer, number integer, epoch integer,"
            + " batch integer, crc integer, data blob)",
        "create unique index e_by_number on e(segment, number)"),
    /** A table in the order of segments, the key in the rowid. */
    ROWID_AS_KEY(
        "create table e(id integer primary key, segment integer, number integer, epoch integer,"
            + " batch integer, crc integer, data blob)",
        ""),
    /** A table that is its own index. */
    WITHOUT_ROWID(
        "create table e(segment integer, number integer, epoch integer, batch integer,"
            + " crc integer, data blob, primary key(segment, number)) without rowid",
        "");

    final String table;
    final String index;

    Layout(String table, String index) {
      this.table = table;
      this.index = index;
    }
  }

  private final long seconds;
  private final int pageBytes;
  private final Path folder;

  private SqliteLayoutBench(List<String> arguments) {
    seconds = arguments.isEmpty() ? 2 : Long.parseLong(arguments.getFirst());
    pageBytes = arguments.size() < 2 ? 16 << 10 : Integer.parseInt(arguments.get(1));
    folder =
        Path.of(arguments.size() < 3 ? System.getProperty("java.io.tmpdir") : arguments.get(2));
  }

  public static void main(String[] arguments) throws IOException, SQLException {
    SqliteLayoutBench bench = new SqliteLayoutBench(List.of(arguments));
    for (String vacuum : List.of("none", "incremental")) {
      for (Layout layout : Layout.values()) {
        bench.run(layout, vacuum, 1, 24, 64 << 10);
        bench.run(layout, vacuum, 488, 488, 3_000);
        bench.run(layout, vacuum, 488, 488, 300);
      }
    }
  }

  private void run(Layout layout, String vacuum, int journals, int entries, int bytes)
      throws IOException, SQLException {
    Path file = Files.createTempDirectory(folder, "layout-bench").resolve("bench.db");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = connection.createStatement()) {
      for (String sql :
          List.of(
              "pragma page_size = " + pageBytes,
              "pragma auto_vacuum = " + vacuum,
              "pragma journal_mode = wal",
              "pragma synchronous = full",
              "pragma wal_autocheckpoint = 0",
              "pragma cache_size = -16384",
              layout.table,
              layout.index)) {
        if (!sql.isEmpty()) {
          statement.execute(sql);
        }
      }
      System.out.printf("%-16s vacuum %-11s %3d x %5d bytes ", layout, vacuum, entries, bytes);
      measure(connection, layout, journals, entries, bytes);
      System.out.printf("  log %6.1f MB%n", Files.size(Sidecar.WAL.of(file)) / 1e6);
    } finally {
      Shell.run("rm", "-r", file.getParent().toString());
    }
  }

  private void measure(Connection connection, Layout layout, int journals, int entries, int bytes)
      throws SQLException {
    byte[] data = new byte[bytes];
    Random random = new Random(1);
    random.nextBytes(data);
    long[] tails = new long[journals];
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (PreparedStatement begin = connection.prepareStatement("begin immediate");
        PreparedStatement commit = connection.prepareStatement("commit");
        PreparedStatement insert =
            connection.prepareStatement(
                layout == Layout.ROWID_AS_KEY
                    ? "insert into e values (?1 << 32 | ?2, ?1, ?2, ?3, ?4, ?5, ?6)"
                    : "insert into e(segment, number, epoch, batch, crc, data)"
                        + " values (?1, ?2, ?3, ?4, ?5, ?6)")) {
      long commits = 0;
      long cpu = threads.getCurrentThreadCpuTime();
      long start = System.nanoTime();
      while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(seconds)) {
        begin.execute();
        for (int i = 0; i < entries; i++) {
          int journal = i % journals;
          insert.setLong(1, journal + 1L);
          insert.setLong(2, ++tails[journal]);
          insert.setLong(3, 1);
          insert.setLong(4, random.nextLong());
          insert.setLong(5, random.nextInt());
          insert.setBytes(6, data);
          insert.addBatch();
        }
        insert.executeBatch();
        commit.execute();
        commits++;
      }
      double elapsed = (System.nanoTime() - start) / 1e9;
      System.out.printf(
          "%7.1f MB/s %7.0f commits/s  cpu %6.2f ms a commit  data %7.1f MB",
          commits * entries * (double) bytes / elapsed / 1e6,
          commits / elapsed,
          (threads.getCurrentThreadCpuTime() - cpu) / 1e6 / commits,
          commits * entries * (double) bytes / 1e6);
    }
  }
}
