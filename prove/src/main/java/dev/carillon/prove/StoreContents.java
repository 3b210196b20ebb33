package dev.carillon.prove;

import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Journals;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import dev.carillon.store.postgres.PostgresOptions;
import dev.carillon.store.postgres.PostgresStore;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Everything that the store holds at the end, read without a node. */
final class StoreContents {
  private static final int SHARDS_A_PAGE = 256;
  private static final int ENTRY_BYTES_A_PAGE = 4 << 20;

  private final Map<String, Found> byJob = new HashMap<>();
  private final Map<String, List<Found>> byRequest = new HashMap<>();
  private final List<JobInfo> ticks = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private int shards;
  private long entries;

  /** A job and its history. */
  record Found(JobInfo info, List<JobEvent> events) {
    String request() {
      return info.metadata().getOrDefault(Work.REQUEST, "?");
    }
  }

  private StoreContents() {}

  static StoreContents ofFile(Path file) {
    StoreContents contents = new StoreContents();
    contents.checkFile(file);
    contents.readFrom(() -> SqliteStore.openReadOnly(file));
    return contents;
  }

  static StoreContents ofPostgres(String url) {
    StoreContents contents = new StoreContents();
    contents.readFrom(() -> PostgresStore.openReadOnly(PostgresOptions.at(url).build()));
    return contents;
  }

  private void readFrom(Supplier<Store> opener) {
    try (Store store = opener.get()) {
      readAll(store);
    } catch (RuntimeException e) {
      problems.add("the store cannot be read: " + e);
    }
  }

  /** Contents that were not read from a file. */
  static StoreContents of(List<Found> jobs) {
    StoreContents contents = new StoreContents();
    jobs.forEach(contents::add);
    return contents;
  }

  private void readAll(Store store) {
    JobReader reader = new JobReader(store);
    ShardId after = null;
    while (true) {
      List<Head> page = page(store, after);
      for (Head head : page) {
        shards++;
        readShard(reader, head.shard());
        for (int g = head.oldestGeneration(); g <= head.generation(); g++) {
          checkEpochs(store, head.shard(), g);
        }
      }
      if (page.size() < SHARDS_A_PAGE) {
        return;
      }
      after = page.getLast().shard();
    }
  }

  private static List<Head> page(Store store, @Nullable ShardId after) {
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

  /**
   * Who wrote what: no entry stands behind one of a later epoch. What a compaction has copied has
   * no epoch.
   */
  private void checkEpochs(Store store, ShardId shard, int generation) {
    long next = 1;
    long epoch = 0;
    boolean complete = false;
    while (!complete) {
      Journals.ReadPage page =
          store.journals().read(shard, generation, next, ENTRY_BYTES_A_PAGE).orThrow();
      for (Entry entry : page.entries()) {
        if (entry.epoch() != 0 && entry.epoch() < epoch) {
          problems.add(
              "shard %s, generation %d, entry %d: of epoch %d behind one of %d"
                  .formatted(shard, generation, entry.number(), entry.epoch(), epoch));
        }
        epoch = Math.max(epoch, entry.epoch());
        next = entry.number() + 1;
        entries++;
      }
      complete = page.complete();
    }
  }

  private void add(Found found) {
    if (found.info().type().equals(Tick.TYPE.name())) {
      ticks.add(found.info());
      return;
    }
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

  /** Recurring jobs, and their occurrences; they are not among the others. */
  List<JobInfo> ticks() {
    return ticks;
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

  /** Entries whose epochs were looked at. */
  long entries() {
    return entries;
  }

  List<String> problems() {
    return problems;
  }
}
