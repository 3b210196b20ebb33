package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Jobs scheduled and run without a pause beside a transaction that was there before them, which
 * keeps the server from removing any row that has died since. History goes after a few seconds, so
 * that what is looked at for minutes is what a year looks like with the default of 7 days: tables
 * of entries that fill, are followed, and go.
 */
final class ChurnRun {
  static final Duration RETENTION = Duration.ofSeconds(20);
  static final Duration ROTATE_EVERY = Duration.ofSeconds(20);

  /** A shard is full, drained, packed and dropped by then, and its tables are. */
  static final int MINUTES_UNTIL_FLAT = 6;

  private static final TaskType<Order> ORDER = TaskType.of("order", Order.class);
  private static final int SLICE_SECONDS = 5;
  private static final int SLICES_A_MINUTE = 60 / SLICE_SECONDS;
  private static final int BACKLOG = 20_000;
  private static final int SLOTS = 1024;

  private final ServerPlace place;
  private final Report report;
  private final int producers;
  private final LongAdder ran = new LongAdder();
  private String oldId = "";

  /**
   * A minute: rates are those of its median slice, so that a hiccup of the machine is no decline.
   *
   * @param deadRows at its end
   * @param mostBytes on disk at any time in it
   */
  record Minute(double commits, double jobs, long deadRows, long mostBytes) {}

  /**
   * What came of it.
   *
   * @param jobs that ended, those of the warm-up too
   * @param calls what the store was asked, from the beginning
   */
  record Found(List<Minute> minutes, long jobs, CountedStore.Calls calls, boolean oldStayedOpen) {

    double lastOfFirst() {
      return 100 * minutes.getLast().commits() / minutes.getFirst().commits();
    }

    double bytesPerJob() {
      return (double) calls.bytes() / Math.max(1, jobs);
    }

    /** The most bytes in the last third, of those in the middle one; 100 for a single minute. */
    double growth() {
      int third = Math.max(1, minutes.size() / 3);
      int last = minutes.size() - third;
      return 100.0 * most(last, minutes.size()) / most(last - third, last);
    }

    private long most(int from, int to) {
      int least = Math.max(0, from);
      return minutes.subList(least, Math.max(least + 1, to)).stream()
          .mapToLong(Minute::mostBytes)
          .max()
          .orElseThrow();
    }
  }

  ChurnRun(ServerPlace place, Report report, int producers) {
    this.place = place;
    this.report = report;
    this.producers = producers;
  }

  Found run(int warmupSeconds, int minutes) throws InterruptedException, SQLException {
    String address = place.newAddress("churn");
    CountedStore store =
        new CountedStore(StorePlace.open(address + "&carillon.rotateEvery=" + ROTATE_EVERY));
    try (Carillon carillon =
            Carillon.builder().store(store).slots(SLOTS).retention(RETENTION, RETENTION).open();
        Connection old = openOld()) {
      carillon.handle(ORDER, (order, job) -> ran.increment());
      Producers crowd = new Producers(carillon, crowd(), n -> ORDER.job(Order.of(n)), ran::sum);
      crowd.start();
      TimeUnit.SECONDS.sleep(warmupSeconds);
      List<Minute> found = new ArrayList<>();
      for (int i = 1; i <= minutes; i++) {
        Minute minute = minute(store, crowd, ServerPlace.schema(address));
        found.add(minute);
        report.progress(
            "minute %d: %,.0f commits/s, %,.0f jobs/s, %,d dead rows, at most %,d MiB"
                .formatted(
                    i,
                    minute.commits(),
                    minute.jobs(),
                    minute.deadRows(),
                    minute.mostBytes() >> 20));
      }
      CountedStore.Calls calls = store.calls();
      long jobs = ran.sum();
      crowd.stop();
      return new Found(found, jobs, calls, transaction(old).equals(oldId));
    }
  }

  private Connection openOld() throws SQLException {
    Connection old = place.server().connect();
    old.setAutoCommit(false);
    old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    oldId = transaction(old);
    return old;
  }

  private static String transaction(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select pg_current_xact_id()")) {
      return rows.next() ? rows.getString(1) : "";
    }
  }

  private Producers.Crowd crowd() {
    return new Producers.Crowd(Producers.Mode.BLOCKING, producers, producers, BACKLOG, SLOTS);
  }

  private Minute minute(CountedStore store, Producers crowd, String schema)
      throws InterruptedException {
    Rounds commits = new Rounds();
    Rounds jobs = new Rounds();
    long mostBytes = 0;
    for (int i = 0; i < SLICES_A_MINUTE; i++) {
      long start = System.nanoTime();
      long groups = store.calls().groups();
      long before = ran.sum();
      TimeUnit.SECONDS.sleep(SLICE_SECONDS);
      double seconds = (System.nanoTime() - start) / 1e9;
      commits.add((store.calls().groups() - groups) / seconds);
      jobs.add((ran.sum() - before) / seconds);
      mostBytes = Math.max(mostBytes, bytes(schema));
      crowd.check();
    }
    return new Minute(commits.median(), jobs.median(), deadRows(schema), mostBytes);
  }

  private long deadRows(String schema) {
    return number(
        "select coalesce(sum(n_dead_tup), 0) from pg_stat_user_tables where schemaname = '%s'"
            .formatted(schema));
  }

  /** With indexes and what is kept beside the rows. */
  private long bytes(String schema) {
    return number(
        ("select coalesce(sum(coalesce(pg_total_relation_size(c.oid), 0)), 0) from pg_class c"
                + " join pg_namespace n on n.oid = c.relnamespace"
                + " where c.relkind = 'r' and n.nspname = '%s'")
            .formatted(schema));
  }

  private long number(String sql) {
    return Long.parseLong(place.text(sql));
  }
}
