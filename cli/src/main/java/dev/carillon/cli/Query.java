package dev.carillon.cli;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** SQL over the jobs of a store, in a temporary database. */
@Command(
    name = "query",
    description = {
      "Reads every job of a store into a temporary SQLite database and asks it.",
      "No node needs to run, none is disturbed, nothing is claimed.",
      "A shard that cannot be read is named on the error stream and left out; the",
      "answer is over the others, and the exit code is 1 then.",
      "",
      "Tables:",
      "  jobs      id, type, type_version, namespace, queue, priority, name, key,",
      "            state, scheduled_at, due_at, started_at, ended_at, node, attempt,",
      "            reason, error_type, error_message, timeout, deadline,",
      "            cancel_requested, metadata, payload, result",
      "  events    job_id, number, at, kind, attempt, started_at, node, \"by\",",
      "            detail, error_type, error_message",
      "  attempts  job_id, attempt, started_at, at, node, outcome, error_type,",
      "            error_message; those of occurrences are their recurring job's",
      "  steps     job_id, number, step, attempt, started_at, at, outcome, error_type,",
      "            error_message: the steps of workflows",
      "Times are ISO 8601 text in UTC; metadata, payload and result are JSON text.",
      ""
    },
    footer = {
      "",
      "Example: ./carillon query jdbc:sqlite:jobs.db \\",
      "           'select type, state, count(*) from jobs group by 1, 2'"
    })
final class Query extends StoreCommand implements Callable<Integer> {
  @Parameters(index = "1", paramLabel = "SQL", description = "one select")
  private String sql = "";

  @Option(names = "--json", description = "one JSON object a row instead of a table")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    SelectText.check(sql);
    Reading reading;
    Path file = Files.createTempFile("carillon-query", ".db");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
      try (JobTables tables = JobTables.create(connection)) {
        reading = eachJob(tables::add);
      }
      try (Statement statement = connection.createStatement()) {
        statement.execute("pragma query_only = on");
        ask(statement);
      }
    } finally {
      Files.deleteIfExists(file);
    }
    return conclude(reading);
  }

  private void ask(Statement statement) throws SQLException {
    PrintWriter out = out();
    try (ResultSet rows = statement.executeQuery(sql)) {
      if (json) {
        printJson(rows, out);
      } else {
        TextTable.print(columns(rows), values(rows), out);
      }
    } catch (SQLException e) {
      throw new IllegalArgumentException("SQL: " + e.getMessage() + " (expected: one select)", e);
    }
    out.flush();
  }

  private static void printJson(ResultSet rows, PrintWriter out) throws SQLException {
    List<String> columns = columns(rows);
    while (rows.next()) {
      Map<String, @Nullable Object> row = new LinkedHashMap<>();
      for (int i = 0; i < columns.size(); i++) {
        row.put(columns.get(i), rows.getObject(i + 1));
      }
      out.println(JobJson.line(row));
    }
  }

  private static List<String> columns(ResultSet rows) throws SQLException {
    ResultSetMetaData metaData = rows.getMetaData();
    List<String> columns = new ArrayList<>();
    for (int i = 1; i <= metaData.getColumnCount(); i++) {
      columns.add(metaData.getColumnLabel(i));
    }
    return columns;
  }

  private static List<List<@Nullable Object>> values(ResultSet rows) throws SQLException {
    List<List<@Nullable Object>> values = new ArrayList<>();
    int columns = rows.getMetaData().getColumnCount();
    while (rows.next()) {
      List<@Nullable Object> row = new ArrayList<>();
      for (int i = 1; i <= columns; i++) {
        row.add(rows.getObject(i));
      }
      values.add(row);
    }
    return values;
  }
}
