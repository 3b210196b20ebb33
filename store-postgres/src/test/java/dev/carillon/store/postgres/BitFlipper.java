package dev.carillon.store.postgres;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Flips one bit of one value of a cluster's rows, and flips it back before the next one. What is
 * wrong within the server's own pages is for its own checksums to find.
 */
final class BitFlipper {

  private static final Map<String, List<String>> COLUMNS =
      Map.of(
          "heads",
          List.of(
              "epoch",
              "owner",
              "suspect",
              "status",
              "generation",
              "oldest",
              "segment",
              "period",
              "base",
              "tail",
              "wake",
              "home",
              "summary",
              "crc"),
          "segments",
          List.of("generation", "snapshot", "state", "period", "first", "last", "crc"),
          "records",
          List.of("key", "writer", "sequence", "value", "crc"),
          "entries",
          List.of("number", "epoch", "batch", "data", "crc"));

  private static final int MAX_TRIES = 1_000;

  private final String url;
  private final String schema;
  private String undo;

  BitFlipper(String url, String schema) {
    this.url = url;
    this.schema = schema;
  }

  void undo() {
    if (undo != null) {
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        statement.execute(undo);
      } catch (SQLException e) {
        throw new IllegalStateException(undo, e);
      }
      undo = null;
    }
  }

  void flip(String cluster, Random random) {
    undo();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      int id = cluster(connection, cluster);
      for (int i = 0; i < MAX_TRIES && undo == null; i++) {
        undo = tryFlip(statement, id, random);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private int cluster(Connection connection, String name) throws SQLException {
    try (var select =
        connection.prepareStatement("select id from " + schema + ".clusters where name = ?")) {
      select.setString(1, name);
      try (ResultSet rows = select.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }

  /** Answers what flips it back; null where the flip would break the server's own rules. */
  private String tryFlip(Statement statement, int cluster, Random random) throws SQLException {
    List<String> names = COLUMNS.keySet().stream().sorted().toList();
    String name = names.get(random.nextInt(names.size()));
    List<String> columns = COLUMNS.get(name);
    String column = columns.get(random.nextInt(columns.size()));
    boolean entries = name.equals("entries");
    String table = schema + "." + (entries ? "entries_" + cluster + "_1" : name);
    String where = entries ? "true" : "cluster = " + cluster;
    String flipped = flipped(statement, table, column, where, random);
    if (flipped == null) {
      return null;
    }
    String ctid =
        text(
            statement,
            "select ctid from " + table + " where " + where + " order by random() limit 1");
    String update = "update " + table + " set " + column + " = " + flipped + " where ctid = '";
    try {
      String moved = text(statement, update + ctid + "' returning ctid");
      return moved == null ? null : update + moved + "'";
    } catch (SQLException e) {
      return null;
    }
  }

  private static String flipped(
      Statement statement, String table, String column, String where, Random random)
      throws SQLException {
    String type =
        text(
            statement,
            "select pg_typeof(" + column + ") from " + table + " where " + where + " limit 1");
    return switch (String.valueOf(type)) {
      case "boolean" -> "not " + column;
      case "integer" -> column + " # (1 << " + random.nextInt(31) + ")";
      case "bigint" -> column + " # (1::bigint << " + random.nextInt(63) + ")";
      case "bytea" -> {
        int bit = random.nextInt(32);
        yield "set_bit(" + column + ", " + bit + ", 1 - get_bit(" + column + ", " + bit + "))";
      }
      default -> null;
    };
  }

  private static String text(Statement statement, String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    }
  }
}
