package dev.carillon.prove;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One pool, shared by a node, its handlers and its callers. */
final class PoolTrial {
  static final String HEADER =
      "%6s %9s %8s %7s %7s %7s %12s %16s %16s %18s"
          .formatted(
              "pool",
              "handlers",
              "seconds",
              "starts",
              "ends",
              "fenced",
              "heartbeat gap ms",
              "inside p99 ms",
              "outside p99 ms",
              "while held p99 ms");

  private static final TaskType<Integer> HOLD = TaskType.of("hold", Integer.class);
  private static final TaskType<Integer> QUICK = TaskType.of("quick", Integer.class);
  private static final int CALLERS = 16;

  /** What a virtual machine compiles in its first seconds is not measured. */
  private static final Duration WARM_UP = Duration.ofSeconds(3);

  private static final long PACE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final String HEARTBEATS = "m\0";

  /** Half of the time after which others take a silent node for dead. */
  private static final long LONGEST_GAP_MILLIS = 1_250;

  private static final long LONGEST_CALL_MILLIS = 200;

  /** What a pool has to bear. */
  record Load(int pool, int handlers, Duration hold, Duration calls) {}

  private final String url;
  private final Load load;
  private final AtomicInteger starts = new AtomicInteger();
  private final AtomicInteger ends = new AtomicInteger();
  private final Timings inside = new Timings("inside");
  private final Timings outside = new Timings("outside");
  private final Timings whileHeld = new Timings("while held");

  PoolTrial(String url, Load load) {
    this.url = url;
    this.load = load;
  }

  /** Runs it and prints its line; true where every promise was kept. */
  boolean run() throws Exception {
    String schema = "pool_%d_%d".formatted(load.pool(), load.handlers());
    try (HikariDataSource pool = pool();
        Carillon carillon = Carillon.builder().dataSource(pool).schema(schema).daemon(true).open();
        Store store = Stores.openReadOnly(StoreAddress.of(url + "&carillon.schema=" + schema));
        Heartbeats heartbeats = new Heartbeats(store)) {
      carillon.handle(QUICK, (input, job) -> {});
      carillon.handle(HOLD, (input, job) -> hold(pool));
      AtomicBoolean never = new AtomicBoolean();
      call(WARM_UP, never, () -> callInside(carillon, pool), new Timings("warm-up"));
      call(load.calls(), never, () -> callOutside(carillon), outside);
      call(load.calls(), never, () -> callInside(carillon, pool), inside);
      long began = System.nanoTime();
      for (int i = 0; i < load.handlers(); i++) {
        carillon.schedule(HOLD.job(i));
      }
      AtomicBoolean over = new AtomicBoolean();
      try (ExecutorService waiter = Executors.newSingleThreadExecutor()) {
        var unused = waiter.submit(() -> awaitEnds(over));
        call(patience(), over, () -> callOutside(carillon), whileHeld);
      }
      double seconds = (System.nanoTime() - began) / 1e9;
      return print(
          seconds, carillon.node().figures().count("members.fenced"), heartbeats.longestMillis());
    }
  }

  private HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(load.pool());
    config.setConnectionTimeout(patience().toMillis());
    return new HikariDataSource(config);
  }

  /** Twice what the handlers need one after the other on the pool's connections, and a minute. */
  private Duration patience() {
    return load.hold()
        .multipliedBy(2L * load.handlers())
        .dividedBy(load.pool())
        .plus(Duration.ofMinutes(1));
  }

  private void hold(HikariDataSource pool) throws SQLException {
    starts.incrementAndGet();
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("select pg_sleep(" + load.hold().toMillis() / 1000.0 + ")");
    }
    ends.incrementAndGet();
  }

  private void awaitEnds(AtomicBoolean over) {
    long deadline = System.nanoTime() + patience().toNanos();
    while (ends.get() < load.handlers() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(LOOK_NANOS);
    }
    over.set(true);
  }

  private interface Call {
    /** How many microseconds it took. */
    long make() throws SQLException;
  }

  private static void call(Duration time, AtomicBoolean over, Call call, Timings timings)
      throws Exception {
    long deadline = System.nanoTime() + time.toNanos();
    try (ExecutorService threads = Executors.newFixedThreadPool(CALLERS)) {
      List<Future<List<Long>>> all = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        all.add(
            threads.submit(
                () -> {
                  List<Long> micros = new ArrayList<>();
                  while (!over.get() && System.nanoTime() - deadline < 0) {
                    micros.add(call.make());
                    LockSupport.parkNanos(PACE_NANOS);
                  }
                  return micros;
                }));
      }
      for (Future<List<Long>> one : all) {
        one.get().forEach(timings::add);
      }
    }
  }

  private static long callOutside(Carillon carillon) {
    long began = System.nanoTime();
    carillon.schedule(QUICK.job(1));
    return (System.nanoTime() - began) / 1000;
  }

  /** A job by the transaction, and one beside it while the transaction is open. */
  private static long callInside(Carillon carillon, HikariDataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      long began = System.nanoTime();
      carillon.schedule(connection, QUICK.job(2));
      carillon.schedule(QUICK.job(3));
      long micros = (System.nanoTime() - began) / 1000;
      connection.commit();
      return micros;
    }
  }

  private boolean print(double seconds, long fenced, long gapMillis) {
    boolean kept =
        starts.get() == load.handlers()
            && ends.get() == load.handlers()
            && fenced == 0
            && gapMillis <= LONGEST_GAP_MILLIS
            && isFast(inside)
            && isFast(outside)
            && isFast(whileHeld);
    System.out.println(
        "%6d %9d %8.1f %7d %7d %7d %12d %16s %16s %18s%s"
            .formatted(
                load.pool(),
                load.handlers(),
                seconds,
                starts.get(),
                ends.get(),
                fenced,
                gapMillis,
                text(inside),
                text(outside),
                text(whileHeld),
                kept ? "" : "  BROKEN"));
    return kept;
  }

  private static boolean isFast(Timings timings) {
    return timings.size() > 0 && timings.percentileMillis(99) <= LONGEST_CALL_MILLIS;
  }

  private static String text(Timings timings) {
    return timings.percentileMillis(99) + " of " + timings.size();
  }

  /** Looks at the heartbeat of the node, by a connection of its own, and notes the longest gap. */
  private static final class Heartbeats implements AutoCloseable {
    private final Store store;
    private final Thread thread = Thread.ofPlatform().name("heartbeats").unstarted(this::watch);
    private volatile boolean closed;
    private volatile long longestNanos;

    Heartbeats(Store store) {
      this.store = store;
      thread.start();
    }

    private void watch() {
      Stamp last = Stamp.ABSENT;
      long since = System.nanoTime();
      while (!closed) {
        LockSupport.parkNanos(LOOK_NANOS);
        Stamp now = look();
        if (now != null && !now.equals(last)) {
          last = now;
          since = System.nanoTime();
        }
        longestNanos = Math.max(longestNanos, System.nanoTime() - since);
      }
    }

    private @Nullable Stamp look() {
      Outcome<List<Stored>> found = store.records().list(HEARTBEATS, null, 1);
      return found instanceof Outcome.Ok<List<Stored>>(List<Stored> records) && !records.isEmpty()
          ? records.getFirst().version()
          : null;
    }

    long longestMillis() {
      return longestNanos / 1_000_000;
    }

    @Override
    public void close() {
      closed = true;
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
