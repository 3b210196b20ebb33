package dev.carillon.store.postgres;

import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.PGStatement;
import org.postgresql.util.ByteStreamWriter;

/**
 * A borrowed connection, and the schema its statements are about. In the texts of statements {@code
 * $.} stands before each table: it becomes the quoted schema, so that no search path decides what
 * is meant. Used by one thread.
 */
final class Session {

  /** Texts with the schema put in, by schema and text; as many as there are in these sources. */
  private static final Map<String, Map<String, String>> TEXTS = new ConcurrentHashMap<>();

  private static final Pattern PREFIX = Pattern.compile("('?)\\$\\.");

  private final Connection connection;
  private final String schema;
  private final Map<String, String> texts;
  private final int timeoutSeconds;

  /**
   * A session whose statements are cancelled from here.
   *
   * @param timeoutSeconds after how long, 0 where the server sees to it
   */
  Session(Connection connection, String schema, int timeoutSeconds) {
    this.connection = connection;
    this.schema = schema;
    this.texts = TEXTS.computeIfAbsent(schema, key -> new ConcurrentHashMap<>());
    this.timeoutSeconds = timeoutSeconds;
  }

  Connection connection() {
    return connection;
  }

  static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** Puts the schema in, also where a name stands in quotes. */
  private String text(String sql) {
    String prefix = quoted(schema) + ".";
    return PREFIX
        .matcher(sql)
        .replaceAll(
            match ->
                Matcher.quoteReplacement(
                    match.group(1)
                        + (match.group(1).isEmpty() ? prefix : prefix.replace("'", "''"))));
  }

  /** A statement that will be made again; the driver keeps it prepared. */
  PreparedStatement statement(String sql) throws SQLException {
    PreparedStatement statement =
        connection.prepareStatement(texts.computeIfAbsent(sql, this::text));
    if (timeoutSeconds > 0) {
      statement.setQueryTimeout(timeoutSeconds);
    }
    return statement;
  }

  /** Runs statements that are needed once. */
  void run(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(text(sql));
    }
  }

  /** The number a query without parameters answers, 0 for none. */
  long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(text(sql))) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }

  /** Sets an array of numbers. */
  void setLongs(PreparedStatement statement, int index, long[] values) throws SQLException {
    statement.setArray(
        index,
        connection.createArrayOf("int8", Arrays.stream(values).boxed().toArray(Long[]::new)));
  }

  /** Sets an array of texts. */
  void setTexts(PreparedStatement statement, int index, List<String> values) throws SQLException {
    statement.setArray(index, connection.createArrayOf("text", values.toArray(new String[0])));
  }

  /** Sets an array of bytes, some of which may be null. */
  void setBytes(PreparedStatement statement, int index, byte[][] values) throws SQLException {
    statement.setArray(index, connection.createArrayOf("bytea", values));
  }

  /**
   * Sets bytes that do not change until the statement has run. The driver copies those of {@code
   * setBytes}, which for large entries is most of what it does with them.
   */
  static void setUncopied(PreparedStatement statement, int index, byte[] bytes)
      throws SQLException {
    if (statement.isWrapperFor(PGStatement.class)) {
      statement.setObject(index, ByteStreamWriter.of(ByteBuffer.wrap(bytes)));
    } else {
      statement.setBytes(index, bytes);
    }
  }

  static void mustChangeOne(PreparedStatement statement) throws SQLException {
    mustChange(statement, 1);
  }

  static void mustChange(PreparedStatement statement, int expected) throws SQLException {
    int changed = statement.executeUpdate();
    if (changed != expected) {
      // The class of a refusal: nothing of this transaction may be committed.
      throw new SQLException("rows changed: " + changed + " (expected: " + expected + ")", "23000");
    }
  }
}
