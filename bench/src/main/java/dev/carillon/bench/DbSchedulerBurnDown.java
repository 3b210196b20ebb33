package dev.carillon.bench;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.carillon.json.JacksonCodec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler as its own documentation tunes it for throughput on PostgreSQL: lock-and-fetch, and
 * so that threads stay busy it fetches when fewer than once as many executions wait as there are
 * threads, up to four times as many. The table is the documented one without the index for
 * priorities, which are off; payloads go through the same codec as Carillon's.
 */
final class DbSchedulerBurnDown implements BurnDown {
  static final int THREADS = 100;
  static final Duration POLL = Duration.ofMillis(100);

  private static final double FETCH_BELOW = 1.0;
  private static final double FETCH_UP_TO = 4.0;
  private static final int SECONDS_AT_MOST = 1200;
  private static final String TABLE = "scheduled_tasks";

  private final ServerPlace place;
  private final int connections;
  private final LongAdder ran = new LongAdder();
  private final OneTimeTask<Order> task =
      Tasks.oneTime("order", Order.class).execute((instance, context) -> count(instance.getData()));

  DbSchedulerBurnDown(ServerPlace place, int connections) {
    this.place = place;
    this.connections = connections;
  }

  /** Its data is decoded when it is asked for. */
  private void count(Order order) {
    if (order.quantity() > 0) {
      ran.increment();
    }
  }

  @Override
  public Drained run(int jobs) throws InterruptedException {
    createTable();
    ran.reset();
    try (HikariDataSource source = source()) {
      Scheduler scheduler = scheduler(source);
      double enqueued = enqueue(scheduler, jobs);
      place.server().run("analyze " + TABLE);
      place.checkpoint();
      long start = System.nanoTime();
      scheduler.start();
      try {
        LatenessLog.await(
            "the end of " + jobs + " executions",
            () -> ran.sum() >= jobs && left() == 0,
            SECONDS_AT_MOST);
        return new Drained(enqueued, BurnDown.perSecond(jobs, start), ran.sum() == jobs);
      } finally {
        scheduler.stop();
      }
    } finally {
      place.server().run("drop table " + TABLE);
      place.checkpoint();
    }
  }

  private long left() {
    return Long.parseLong(place.text("select count(*) from " + TABLE));
  }

  private HikariDataSource source() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(place.server().url());
    config.setMaximumPoolSize(connections);
    return new HikariDataSource(config);
  }

  private Scheduler scheduler(HikariDataSource source) {
    return Scheduler.create(source, task)
        .tableName(TABLE)
        .threads(THREADS)
        .pollUsingLockAndFetch(FETCH_BELOW, FETCH_UP_TO)
        .pollingInterval(POLL)
        .serializer(new JsonSerializer())
        .build();
  }

  private double enqueue(SchedulerClient client, int jobs) {
    Instant due = Instant.now();
    long start = System.nanoTime();
    for (int from = 0; from < jobs; from += BATCH) {
      List<TaskInstance<?>> batch = new ArrayList<>(BATCH);
      for (int i = from; i < Math.min(jobs, from + BATCH); i++) {
        batch.add(task.instance(Integer.toString(i), Order.of(i)));
      }
      client.scheduleBatch(batch, due);
    }
    return BurnDown.perSecond(jobs, start);
  }

  private void createTable() {
    place
        .server()
        .run(
            """
            drop table if exists scheduled_tasks;
            create table scheduled_tasks (
              task_name text not null,
              task_instance text not null,
              task_data bytea,
              execution_time timestamp with time zone,
              picked boolean not null,
              picked_by text,
              last_success timestamp with time zone,
              last_failure timestamp with time zone,
              consecutive_failures int,
              last_heartbeat timestamp with time zone,
              version bigint not null,
              priority smallint,
              state text,
              primary key (task_name, task_instance));
            create index execution_time_idx on scheduled_tasks (execution_time);
            create index last_heartbeat_idx on scheduled_tasks (last_heartbeat);
            """);
  }

  private static final class JsonSerializer implements Serializer {
    private final JacksonCodec codec = new JacksonCodec();

    @Override
    public byte @Nullable [] serialize(@Nullable Object data) {
      return data == null ? null : codec.encode(data, data.getClass());
    }

    @Override
    public <T> @Nullable T deserialize(Class<T> type, byte @Nullable [] bytes) {
      return bytes == null ? null : type.cast(codec.decode(bytes, type));
    }
  }
}
