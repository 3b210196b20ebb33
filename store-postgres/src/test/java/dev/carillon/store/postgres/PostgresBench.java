package dev.carillon.store.postgres;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Append;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Commits of packed entries, raw and through the store, in turns within one run: rates of one run
 * compare, those of two do not. Run by hand; prints a line for each.
 */
final class PostgresBench {

  private static final int ROUNDS = 3;
  private static final long ROUND_NANOS = 3_000_000_000L;
  private static final int JOB_BYTES = 200;

  private final PostgresServer server = PostgresServer.shared();
  private final PostgresStore store =
      PostgresStore.open(PostgresOptions.at(server.url()).schema("bench").build());
  private final long incarnation = new Random().nextLong() | 1;
  private int shards;

  private PostgresBench() {}

  public static void main(String[] arguments) throws Exception {
    PostgresBench bench = new PostgresBench();
    bench.server.run(
        "create table raw(id bigint generated always as identity primary key, data bytea);"
            + "alter table raw alter column data set storage external");
    for (int round = 0; round < ROUNDS; round++) {
      for (int threads : new int[] {1, 4}) {
        for (int jobs : new int[] {1, 100, 1_000}) {
          bench.print("raw", threads, 1, jobs, bench.rate(threads, () -> bench.raw(jobs)));
          for (int journals : new int[] {1, 20}) {
            if (journals <= jobs) {
              int each = jobs / journals;
              bench.print(
                  "store",
                  threads,
                  journals,
                  jobs,
                  bench.rate(threads, () -> bench.append(journals, each)));
            }
          }
        }
      }
    }
    bench.store.close();
    System.exit(0);
  }

  private void print(String what, int threads, int journals, int jobs, double rate) {
    System.out.printf(
        Locale.ROOT,
        "%-6s %d threads, %2d journals, %4d jobs of %d bytes a commit: %6.0f commits/s, %7.0f"
            + " jobs/s%n",
        what,
        threads,
        journals,
        jobs,
        JOB_BYTES,
        rate,
        rate * jobs);
  }

  /** Makes as many commits as fit into a while; answers how many. */
  private interface Work {
    long run() throws SQLException;
  }

  private double rate(int threads, Work work) throws InterruptedException, ExecutionException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    long start = System.nanoTime();
    List<Callable<Long>> tasks = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      tasks.add(work::run);
    }
    long commits = 0;
    for (Future<Long> future : pool.invokeAll(tasks)) {
      commits += future.get();
    }
    pool.shutdown();
    return commits * 1e9 / (System.nanoTime() - start);
  }

  private long raw(int jobs) throws SQLException {
    byte[] data = new byte[jobs * JOB_BYTES];
    long commits = 0;
    try (Connection connection = server.connect();
        PreparedStatement insert =
            connection.prepareStatement("insert into raw(data) values (?)")) {
      for (long end = System.nanoTime() + ROUND_NANOS; System.nanoTime() < end; commits++) {
        insert.setBytes(1, data);
        insert.executeUpdate();
      }
    }
    return commits;
  }

  private long append(int journals, int jobs) {
    byte[] data = new byte[jobs * JOB_BYTES];
    List<Head> heads = new ArrayList<>();
    for (int i = 0; i < journals; i++) {
      heads.add(create());
    }
    long commits = 0;
    for (long end = System.nanoTime() + ROUND_NANOS; System.nanoTime() < end; ) {
      commits++;
      List<Append> group = new ArrayList<>();
      for (Head head : heads) {
        group.add(new Append(head.shard(), 1, 1, commits, commits, data));
      }
      store.journals().append(group, false).forEach(Outcome::orThrow);
    }
    return commits;
  }

  private synchronized Head create() {
    ShardId shard = new ShardId(1_700_000_000L, incarnation, ++shards);
    return store.journals().create(shard, "home", 0, new byte[0]).orThrow();
  }
}
