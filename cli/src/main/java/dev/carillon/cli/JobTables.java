package dev.carillon.cli;

import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.engine.query.JobReader.Story;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs as rows of a temporary database. */
final class JobTables implements AutoCloseable {
  private static final int ROWS_A_COMMIT = 10_000;

  private static final List<String> SCHEMA =
      List.of(
          "pragma journal_mode = off",
          "pragma synchronous = off",
          """
          create table jobs (
            id text primary key, type text, type_version integer, namespace text, queue text,
            priority integer, name text, key text, state text, scheduled_at text, due_at text,
            started_at text, ended_at text, node text, attempt integer, reason text, error_type text, error_message text,
            timeout text, deadline text, cancel_requested integer, metadata text, payload text,
            result text)\
          """,
          """
          create table events (
            job_id text, number integer, at text, kind text, attempt integer, started_at text,
            node text, "by" text, detail text, error_type text, error_message text)\
          """,
          """
          create view attempts as
            select job_id, attempt, started_at, at, node, kind as outcome, error_type,
              error_message from events
            where attempt > 0 and kind in ('RETRIED', 'POSTPONED', 'OCCURRED', 'OCCURRENCE_FAILED',
              'SUCCEEDED', 'FAILED', 'DEAD', 'CANCELLED', 'EXPIRED')\
          """,
          """
          create view steps as
            select job_id, number, detail as step, attempt, started_at, at, kind as outcome,
              error_type, error_message from events
            where kind in ('STEP_DONE', 'STEP_FAILED')\
          """);

  private final Connection connection;
  private final PreparedStatement jobs;
  private final PreparedStatement events;
  private int rows;

  private JobTables(Connection connection) throws SQLException {
    this.connection = connection;
    this.jobs =
        connection.prepareStatement(
            "insert into jobs values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    this.events = connection.prepareStatement("insert into events values (?,?,?,?,?,?,?,?,?,?,?)");
  }

  static JobTables create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : SCHEMA) {
        statement.execute(sql);
      }
    }
    connection.setAutoCommit(false);
    return new JobTables(connection);
  }

  void add(Story story) throws SQLException {
    JobInfo info = story.view().info();
    JobError error = info.lastError();
    byte[] result = story.view().result();
    insert(
        jobs,
        info.id().value(),
        info.type(),
        info.typeVersion(),
        info.namespace(),
        info.queue(),
        info.priority(),
        info.name(),
        info.key(),
        info.state().name(),
        text(info.scheduledAt()),
        text(info.dueAt()),
        text(info.startedAt()),
        text(info.endedAt()),
        info.node(),
        info.attempt(),
        info.reason(),
        error == null ? null : error.type(),
        error == null ? null : error.message(),
        text(info.timeout()),
        text(info.deadline()),
        info.cancelRequested() ? 1 : 0,
        info.metadata().isEmpty() ? null : JobJson.line(info.metadata()),
        json(story.payload()),
        result == null ? null : json(result));
    int number = 0;
    for (JobEvent event : story.events()) {
      JobError of = event.error();
      insert(
          events,
          info.id().value(),
          ++number,
          text(event.at()),
          event.kind().name(),
          event.attempt(),
          text(event.startedAt()),
          event.node(),
          event.by(),
          event.detail(),
          of == null ? null : of.type(),
          of == null ? null : of.message());
    }
  }

  private static @Nullable String text(@Nullable Object value) {
    return value == null ? null : value.toString();
  }

  private static @Nullable String json(byte[] stored) {
    Object value = JobJson.payload(stored);
    return value == null ? null : JobJson.line(value);
  }

  private void insert(PreparedStatement statement, @Nullable Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    statement.executeUpdate();
    if (++rows % ROWS_A_COMMIT == 0) {
      connection.commit();
    }
  }

  @Override
  public void close() throws SQLException {
    connection.commit();
    jobs.close();
    events.close();
    connection.setAutoCommit(true);
  }
}
