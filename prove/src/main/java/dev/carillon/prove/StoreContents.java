package dev.carillon.prove;

import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.engine.JobReader;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Everything that the store holds at the end, read without a node. */
final class StoreContents {
  private static final int SHARDS_A_PAGE = 256;

  private final Map<String, Found> byJob = new HashMap<>();
  private final Map<String, List<Found>> byRequest = new HashMap<>();
  private final List<String> problems = new ArrayList<>();
  private int shards;

  /** A job and its history. */
  record Found(JobInfo info, List<JobEvent> events) {
    String request() {
      return info.metadata().getOrDefault(Work.REQUEST, "?");
    }
  }

  private StoreContents() {}

  static StoreContents read(Path file) {
    StoreContents contents = new StoreContents();
    contents.checkFile(file);
    try (SqliteStore store = SqliteStore.openReadOnly(file)) {
      contents.readAll(store);
    } catch (RuntimeException e) {
      contents.problems.add("the store cannot be read: " + e);
    }
    return contents;
  }

  /** Contents that were not read from a file. */
  static StoreContents of(List<Found> jobs) {
    StoreContents contents = new StoreContents();
    jobs.forEach(contents::add);
    return contents;
  }

  private void readAll(SqliteStore store) {
    JobReader reader = new JobReader(store);
    ShardId after = null;
    while (true) {
      List<Head> page = page(store, after);
      for (Head head : page) {
        shards++;
        readShard(reader, head.shard());
      }
      if (page.size() < SHARDS_A_PAGE) {
        return;
      }
      after = page.getLast().shard();
    }
  }

  private static List<Head> page(SqliteStore store, @Nullable ShardId after) {
    return store.journals().listById(after, SHARDS_A_PAGE).orThrow();
  }

  private void readShard(JobReader reader, ShardId shard) {
    Outcome<List<JobReader.Story>> outcome = reader.stories(shard, number -> true);
    if (!(outcome instanceof Outcome.Ok<List<JobReader.Story>>(var stories))) {
      problems.add("shard " + shard + ": " + outcome);
      return;
    }
    for (JobReader.Story story : stories) {
      add(new Found(story.view().info(), story.events()));
    }
  }

  private void add(Found found) {
    if (byJob.put(found.info().id().value(), found) != null) {
      problems.add("job " + found.info().id() + ": there twice");
    }
    byRequest.computeIfAbsent(found.request(), r -> new ArrayList<>(1)).add(found);
  }

  /** What SQLite itself thinks of the file. */
  private void checkFile(Path file) {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("PRAGMA integrity_check")) {
      while (rows.next()) {
        String row = rows.getString(1);
        if (!"ok".equals(row)) {
          problems.add("integrity check: " + row);
        }
      }
    } catch (SQLException e) {
      problems.add("integrity check: " + e.getMessage());
    }
  }

  @Nullable Found job(String id) {
    return byJob.get(id);
  }

  List<Found> ofRequest(String request) {
    return byRequest.getOrDefault(request, List.of());
  }

  Iterable<Found> all() {
    return byJob.values();
  }

  int size() {
    return byJob.size();
  }

  int shards() {
    return shards;
  }

  List<String> problems() {
    return problems;
  }
}
