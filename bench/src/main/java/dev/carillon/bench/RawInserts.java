package dev.carillon.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the server can take: rows of the observed size inserted in groups of the observed size, one
 * prepared statement that commits by itself after the other, on one connection. No lock, no check,
 * no index but the primary key; the bytes go in binary and are kept uncompressed, as the store's.
 */
final class RawInserts implements AutoCloseable {
  private static final String TABLE = "raw_rows";

  private final Connection connection;
  private final PreparedStatement insert;
  private final RawShape shape;
  private final byte[] data;

  RawInserts(Connection connection, RawShape shape) throws SQLException {
    this.connection = connection;
    this.shape = shape;
    this.data = new byte[shape.entryBytes()];
    new SplittableRandom(1).nextBytes(data);
    run(
        "create table %s(id bigint generated always as identity primary key, data bytea)"
            .formatted(TABLE));
    run("alter table %s alter column data set storage external".formatted(TABLE));
    String rows =
        Stream.generate(() -> "(?)").limit(shape.entries()).collect(Collectors.joining(","));
    this.insert = connection.prepareStatement("insert into " + TABLE + "(data) values " + rows);
  }

  private void run(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  double bytesPerSecond(int warmupSeconds, int seconds) throws SQLException {
    during(warmupSeconds);
    return during(seconds);
  }

  private double during(int seconds) throws SQLException {
    long start = System.nanoTime();
    long until = start + seconds * 1_000_000_000L;
    long bytes = 0;
    while (System.nanoTime() < until) {
      insertGroup();
      bytes += shape.groupBytes();
    }
    return bytes * 1e9 / Math.max(1, System.nanoTime() - start);
  }

  private void insertGroup() throws SQLException {
    for (int i = 1; i <= shape.entries(); i++) {
      insert.setBytes(i, data);
    }
    insert.executeUpdate();
  }

  @Override
  public void close() throws SQLException {
    insert.close();
    run("drop table " + TABLE);
  }
}
