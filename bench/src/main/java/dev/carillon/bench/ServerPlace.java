package dev.carillon.bench;

import dev.carillon.fixture.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Stores on a PostgreSQL server of this run, each in a schema of its own. */
final class ServerPlace implements StorePlace {
  private static final String SCHEMA = "carillon.schema=";
  private static final List<String> SETTINGS =
      List.of(
          "server_version",
          "fsync",
          "synchronous_commit",
          "full_page_writes",
          "shared_buffers",
          "max_wal_size");

  private final Workspace workspace;
  private final PostgresServer server;
  private int schemas;

  ServerPlace(Workspace workspace, PostgresServer server) {
    this.workspace = workspace;
    this.server = server;
  }

  /** For whoever uses the server beside the stores. */
  PostgresServer server() {
    return server;
  }

  @Override
  public String newAddress(String name) {
    String schema = name.replaceAll("[^a-z]", "_") + "_" + ++schemas;
    return server.url() + (server.url().contains("?") ? "&" : "?") + SCHEMA + schema;
  }

  /** The schema of a store, which is as its name: letters and digits. */
  static String schema(String address) {
    return address.substring(address.indexOf(SCHEMA) + SCHEMA.length());
  }

  /** Its log is written to the tables too, so that the next round does not pay for this one. */
  @Override
  public void remove(String address) {
    server.run("drop schema if exists " + schema(address) + " cascade");
    checkpoint();
  }

  void checkpoint() {
    server.run("checkpoint");
  }

  /** As the server itself says. */
  @Override
  public String settings() {
    List<String> texts = new ArrayList<>();
    for (String setting : SETTINGS) {
      texts.add(setting + "=" + text("show " + setting));
    }
    return String.join(", ", texts);
  }

  /** What a query answers, as a text. */
  String text(String sql) {
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getString(1) + "" : "";
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  @Override
  public double rawBytesPerSecond(RawShape shape, int warmupSeconds, int seconds) {
    try (Connection connection = server.connect();
        RawInserts inserts = new RawInserts(connection, shape)) {
      return inserts.bytesPerSecond(warmupSeconds, seconds);
    } catch (SQLException e) {
      throw new IllegalStateException("raw inserts", e);
    } finally {
      checkpoint();
    }
  }

  @Override
  public void close() {
    server.close();
    workspace.close();
  }
}
