package dev.carillon.testkit;

import dev.carillon.api.Metrics;
import dev.carillon.api.TaskType;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.io.TempDir;

/** What tests of ended jobs share: a store that stays, and what the node counted. */
abstract class HistoryWorld {
  static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  static final TaskType<Integer> COMMON = TaskType.of("common", Integer.class);

  @TempDir Path folder;

  final MemoryStore memory = new MemoryStore();
  final Map<String, Long> counts = new ConcurrentHashMap<>();

  enum Kind {
    MEMORY,
    SQLITE
  }

  CarillonTest world(Kind kind) {
    return world(kind, 0);
  }

  CarillonTest world(Kind kind, long historyBytes) {
    Metrics metrics = new Counting(counts);
    return CarillonTest.at(
        START,
        () -> open(kind),
        options ->
            options
                .advanced(
                    a ->
                        a.loadHorizon(Duration.ofMinutes(10))
                            .historyBytes(historyBytes)
                            .indexMetadata("order"))
                .metrics(metrics));
  }

  Store open(Kind kind) {
    return kind == Kind.MEMORY ? memory : SqliteStore.open(folder.resolve("jobs.db"));
  }

  private record Counting(Map<String, Long> counts) implements Metrics {
    @Override
    public void count(String name, long delta) {
      counts.merge(name, delta, Long::sum);
    }

    @Override
    public void time(String name, long nanos) {}

    @Override
    public void gauge(String name, long value) {}
  }
}
