package dev.carillon.store.jdbc;

import dev.carillon.store.Append;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Measures what {@code docs/decisions/0010-sqlite-settings.md} claims. Not a test: commit rates
 * swing by a factor of three between runs, so only figures of one run are comparable.
 *
 * <p>Arguments: {@code key=value}. {@code seconds} for each scenario, {@code page}, {@code
 * checkpoint}, {@code cap}, {@code cache} in bytes, {@code folder}, {@code only} with the beginning
 * of the scenarios' names, {@code rounds}.
 */
final class SqliteBench {

  private static final int BATCH_NAMES = 1_000;

  private final Map<String, String> arguments = new TreeMap<>();

  private SqliteBench(String[] arguments) {
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      this.arguments.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
  }

  public static void main(String[] arguments) throws IOException {
    new SqliteBench(arguments).run();
  }

  private long number(String name, long other) {
    String value = arguments.get(name);
    return value == null ? other : Long.parseLong(value);
  }

  private void run() throws IOException {
    for (int round = 0; round < number("rounds", 1); round++) {
      appends(1, 1, 200);
      appends(1, 1, 6_000);
      appends(1, 24, 64 << 10);
      appends(1, 6, 256 << 10);
      appends(16, 16, 96 << 10);
      appends(488, 488, 3_000);
      appends(488, 488, 300);
      names(0);
      names(100_000);
    }
  }

  private SqliteOptions options() {
    long cap = number("cap", SqliteOptions.DEFAULT.walCapBytes());
    return SqliteOptions.builder()
        .pageBytes((int) number("page", SqliteOptions.DEFAULT.pageBytes()))
        .cacheBytes((int) number("cache", SqliteOptions.DEFAULT.cacheBytes()))
        .wal(
            number("checkpoint", SqliteOptions.DEFAULT.checkpointBytes()),
            cap,
            Math.max(cap, SqliteOptions.DEFAULT.walHardCapBytes()))
        .build();
  }

  private interface Scenario {
    /** One call; answers how many bytes of data it wrote. */
    long step();
  }

  private boolean skips(String name) {
    return !name.startsWith(arguments.getOrDefault("only", ""));
  }

  private void appends(int journals, int entries, int bytes) throws IOException {
    String name = "append-" + journals + "x" + entries / journals + "x" + bytes;
    if (skips(name)) {
      return;
    }
    withStore(
        name,
        store -> {
          byte[] data = new byte[bytes];
          Random random = new Random(1);
          random.nextBytes(data);
          List<Head> heads = new ArrayList<>();
          for (int i = 0; i < journals; i++) {
            ShardId shard = new ShardId(1_000 + i, 7, i + 1);
            heads.add(store.journals().create(shard, "bench", 0, new byte[0]).orThrow());
          }
          long[] tails = new long[journals];
          return () -> {
            List<Append> group = new ArrayList<>(entries);
            for (int i = 0; i < entries; i++) {
              int journal = i % journals;
              Head head = heads.get(journal);
              group.add(
                  new Append(head.shard(), 1, 1, ++tails[journal], random.nextLong() | 1, data));
            }
            store.journals().append(group, false).forEach(Outcome::orThrow);
            return (long) entries * bytes;
          };
        });
  }

  /** Puts a batch of names and deletes the one before it, beside {@code others} that stay. */
  private void names(int others) throws IOException {
    String name = "names-beside-" + others;
    if (skips(name)) {
      return;
    }
    withStore(
        name,
        store -> {
          long[] sequence = {0};
          Random random = new Random(2);
          List<Change> kept = new ArrayList<>();
          for (int i = 0; i < others; i++) {
            kept.add(put(random, ++sequence[0]));
            if (kept.size() == 10_000 || i == others - 1) {
              store.records().apply(kept).forEach(Outcome::orThrow);
              kept.clear();
            }
          }
          List<Change> before = new ArrayList<>();
          return () -> {
            List<Change> changes = new ArrayList<>();
            for (Change change : before) {
              changes.add(
                  new Change(change.key(), change.stamp(), null, new Stamp(9, ++sequence[0])));
            }
            before.clear();
            for (int i = 0; i < BATCH_NAMES; i++) {
              before.add(put(random, ++sequence[0]));
            }
            changes.addAll(before);
            store.records().apply(changes).forEach(Outcome::orThrow);
            return (long) BATCH_NAMES;
          };
        });
  }

  private static Change put(Random random, long sequence) {
    return new Change(
        "name/default/" + Long.toHexString(random.nextLong()),
        Stamp.ABSENT,
        new byte[40],
        new Stamp(9, sequence));
  }

  private interface Preparation {
    Scenario prepare(SqliteStore store);
  }

  private void withStore(String name, Preparation preparation) throws IOException {
    Path parent = Path.of(arguments.getOrDefault("folder", System.getProperty("java.io.tmpdir")));
    Path folder = Files.createTempDirectory(parent, "sqlite-bench");
    try {
      Path file = folder.resolve("bench.db");
      try (SqliteStore store = SqliteStore.open(file, options())) {
        measure(name, store, preparation.prepare(store));
      }
    } finally {
      try (var files = Files.list(folder)) {
        for (Path left : files.toList()) {
          Files.delete(left);
        }
      }
      Files.delete(folder);
    }
  }

  private void measure(String name, SqliteStore store, Scenario scenario) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long cpuStart = threads.getCurrentThreadCpuTime();
    long start = System.nanoTime();
    long end = start + TimeUnit.SECONDS.toNanos(number("seconds", 3));
    long bytes = 0;
    long walBytes = 0;
    long[] nanos = new long[1 << 20];
    int calls = 0;
    for (long now = start; now < end; ) {
      bytes += scenario.step();
      long after = System.nanoTime();
      nanos[calls++ % nanos.length] = after - now;
      now = after;
      if (calls % 16 == 0) {
        walBytes = Math.max(walBytes, Files.size(Sidecar.WAL.of(store.file())));
      }
    }
    long cpu = threads.getCurrentThreadCpuTime() - cpuStart;
    double seconds = (System.nanoTime() - start) / 1e9;
    long[] sorted = Arrays.copyOf(nanos, Math.min(calls, nanos.length));
    Arrays.sort(sorted);
    SqliteCounters counters = store.counters();
    System.out.printf(
        "%-24s %8.1f MB/s %8.0f commits/s  p50 %6.2f  p99 %7.2f  max %7.1f ms"
            + "  cpu %6.2f ms a commit  wal %4d MiB  checkpoints %d (%d stalled)%n",
        name,
        bytes / seconds / 1e6,
        calls / seconds,
        sorted[sorted.length / 2] / 1e6,
        sorted[(int) (sorted.length * 0.99)] / 1e6,
        sorted[sorted.length - 1] / 1e6,
        cpu / 1e6 / calls,
        walBytes >> 20,
        counters.checkpoints(),
        counters.stalledCheckpoints());
  }
}
