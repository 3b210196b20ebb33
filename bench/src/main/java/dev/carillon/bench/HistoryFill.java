package dev.carillon.bench;

import dev.carillon.api.JobState;
import dev.carillon.json.JacksonCodec;
import dev.carillon.store.Append;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Fills a store with the ended jobs of a day, as a node leaves them behind: shards of 50,000 jobs,
 * each written in appends of one to ten jobs, adds and ends by turns, drained and released.
 */
final class HistoryFill {
  static final String RARE = "rare";
  static final String COMMON = "order-0";

  private static final int JOBS_A_SHARD = 50_000;
  private static final int JOB_NUMBER_BITS = 40;
  private static final int MOST_TOGETHER = 10;
  private static final int TYPES = 20;
  private static final int DEAD_ONE_IN = 1_000;
  private static final int KEEP_ONE_IN = 4_001;
  private static final int APPENDS_A_CALL = 2_000;
  private static final int WAITING = 40;
  private static final long SECOND = 1_000_000;
  private static final long DAY = 86_400 * SECOND;

  private final Store store;
  private final Report report;
  private final SplittableRandom random = new SplittableRandom(23);
  private final long incarnation = random.nextLong() | 1;
  private final JournalBytes bytes = new JournalBytes();
  private final List<String> ids = new ArrayList<>();
  private final byte[] payload = new JacksonCodec().encode(Order.of(1), Order.class);
  private int shards;
  private long appends;
  private long dead;
  private double seconds;

  HistoryFill(Store store, Report report) {
    this.store = store;
    this.report = report;
  }

  /** Jobs due evenly over the day that ended two hours ago. */
  void run(long jobs) {
    long began = System.nanoTime();
    long from = WallClock.micros() - 2 * 3600 * SECOND - DAY;
    int all = (int) ((jobs + JOBS_A_SHARD - 1) / JOBS_A_SHARD);
    for (int i = 0; i < all; i++) {
      long here = Math.min(JOBS_A_SHARD, jobs - (long) i * JOBS_A_SHARD);
      new Shard(from + DAY / all * i, DAY / all, here).write();
      if ((i + 1) % Math.max(1, all / 10) == 0) {
        report.progress("%,d jobs written".formatted((long) i * JOBS_A_SHARD + here));
      }
    }
    seconds = (System.nanoTime() - began) / 1e9;
  }

  private final class Shard {
    private final long fromMicros;
    private final long widthMicros;
    private final long jobs;
    private final ShardId id;
    private final List<Append> group = new ArrayList<>();
    private final ArrayDeque<Long> waiting = new ArrayDeque<>();
    private long tail;
    private long added;
    private long deadHere;
    private long size;
    private long lastEnd;

    Shard(long fromMicros, long widthMicros, long jobs) {
      this.fromMicros = fromMicros;
      this.widthMicros = widthMicros;
      this.jobs = jobs;
      this.id = new ShardId(fromMicros / SECOND, incarnation, ++shards);
    }

    void write() {
      int width = (int) (widthMicros / SECOND) + 1;
      ok(store.journals().create(id, "local", 0, JournalBytes.summary(width, 0, 0, 0, 0)));
      while (added < jobs || !waiting.isEmpty()) {
        for (int i = random.nextInt(1, MOST_TOGETHER + 1); i > 0 && added < jobs; i--) {
          add();
        }
        append();
        if (waiting.size() > WAITING || added == jobs) {
          for (int i = random.nextInt(1, MOST_TOGETHER + 1); i > 0 && !waiting.isEmpty(); i--) {
            end(waiting.remove());
          }
          append();
        }
      }
      flush();
      byte[] summary = JournalBytes.summary(width, jobs, size, deadHere, lastEnd);
      ok(store.journals().seal(id, 1, summary));
      ok(store.journals().release(id, 1, tail, summary));
      dead += deadHere;
    }

    private long dueOf(long counter) {
      return fromMicros + widthMicros * counter / jobs;
    }

    private void add() {
      long counter = ++added;
      String type = counter == JOBS_A_SHARD / 2 ? RARE : "order-" + random.nextInt(TYPES);
      bytes.add(number(counter), type, dueOf(counter), payload);
      waiting.add(counter);
      if (random.nextInt(KEEP_ONE_IN) == 0) {
        ids.add("j" + id + Long.toString(number(counter), 32));
      }
    }

    private void end(long counter) {
      boolean bad = random.nextInt(DEAD_ONE_IN) == 0;
      deadHere += bad ? 1 : 0;
      long started = Math.max(dueOf(counter), lastEnd);
      lastEnd = started + 1_000;
      JobState state = bad ? JobState.DEAD : JobState.SUCCEEDED;
      bytes.end(number(counter), state.code(), started, lastEnd);
    }

    private static long number(long counter) {
      return 1L << JOB_NUMBER_BITS | counter;
    }

    private void append() {
      byte[] data = bytes.entry();
      if (data.length == 0) {
        return;
      }
      appends++;
      size += data.length;
      group.add(new Append(id, 1, 1, ++tail, random.nextLong() | 1, data));
      if (group.size() == APPENDS_A_CALL) {
        flush();
      }
    }

    private void flush() {
      store.journals().append(group, false).forEach(HistoryFill::ok);
      group.clear();
    }
  }

  private static void ok(Outcome<?> outcome) {
    if (!outcome.isOk()) {
      throw new IllegalStateException("outcome: " + outcome + " (expected: ok)");
    }
  }

  int shards() {
    return shards;
  }

  long appends() {
    return appends;
  }

  long dead() {
    return dead;
  }

  double seconds() {
    return seconds;
  }

  /** The ids of some jobs, evenly spread. */
  List<String> ids() {
    return ids;
  }
}
