package dev.carillon.bench;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Whether jobs that come and go leave the server as fast and as small as it was. */
@Command(
    name = "churn",
    description =
        "Minutes of jobs beside an old transaction: rate, dead rows and size, on PostgreSQL.")
final class ChurnCommand implements Callable<Integer> {
  private static final String SCENARIO = "churn";
  private static final double LEAST_PERCENT_OF_FIRST = 80;
  private static final double MOST_GROWTH_PERCENT = 125;
  private static final double MEBIBYTE = 1 << 20;

  /**
   * Rows that one change of a shard's head leaves dead at the most: those of head, maker and
   * segments, of which a packed shard has three.
   */
  private static final int ROWS_A_HEAD_CHANGE = 4;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description = "How long (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int minutes;

  @Option(
      names = "--producers",
      paramLabel = "N",
      description = "Virtual threads that schedule(), one job each (default: ${DEFAULT-VALUE}).",
      defaultValue = "64")
  private int producers;

  @Override
  public Integer call() throws InterruptedException, SQLException {
    Report report = options.report("postgres");
    options.positive("--minutes", minutes);
    options.positive("--producers", producers);
    report.title(SCENARIO);
    report.setting("payload bytes", Order.bytes());
    report.setting("producers", producers + " virtual threads, schedule(), one job each");
    report.setting("handler", "no-op");
    report.setting("history", "successes kept for %d s".formatted(ChurnRun.RETENTION.toSeconds()));
    report.setting(
        "tables", "one of entries for each %d s".formatted(ChurnRun.ROTATE_EVERY.toSeconds()));
    report.setting("beside", "a transaction that is older than all of it and stays open");
    report.setting("minutes", minutes + " after " + options.warmup + " s");
    try (ServerPlace place = StorePlace.server(options)) {
      report.setting("postgres", place.settings());
      print(report, new ChurnRun(place, report, producers).run(options.warmup, minutes));
    }
    return report.verdict();
  }

  private void print(Report report, ChurnRun.Found found) {
    List<ChurnRun.Minute> all = found.minutes();
    for (int i = 0; i < all.size(); i++) {
      ChurnRun.Minute minute = all.get(i);
      String suffix = ", minute " + (i + 1);
      report.figure(Figure.of(SCENARIO, "commits" + suffix, minute.commits(), "1/s"));
      report.figure(Figure.of(SCENARIO, "jobs ended" + suffix, minute.jobs(), "jobs/s"));
      report.figure(count("dead rows" + suffix, minute.deadRows(), "rows"));
      report.figure(
          Figure.of(SCENARIO, "most bytes" + suffix, minute.mostBytes() / MEBIBYTE, "MiB"));
    }
    report.figure(
        Figure.of(SCENARIO, "commits, last of first minute", found.lastOfFirst(), "%")
            .held(Bound.atLeast(LEAST_PERCENT_OF_FIRST)));
    CountedStore.Calls calls = found.calls();
    long changes = calls.recordChanges() + ROWS_A_HEAD_CHANGE * calls.headChanges();
    long dead = all.getLast().deadRows();
    report.figure(count("changes of records, beats", calls.recordChanges(), "changes"));
    report.figure(count("changes of heads, claims", calls.headChanges(), "changes"));
    report.figure(count("dead rows", dead, "rows").held(Bound.atMost((double) changes)));
    report.figure(
        Figure.of(SCENARIO, "dead rows, 1,000 jobs", 1000.0 * dead / found.jobs(), "rows"));
    report.figure(Figure.of(SCENARIO, "bytes, each job written", found.bytesPerJob(), "B"));
    Figure growth = Figure.of(SCENARIO, "most bytes, last of middle third", found.growth(), "%");
    // With fewer the tables have not come round once.
    report.figure(
        all.size() >= ChurnRun.MINUTES_UNTIL_FLAT
            ? growth.held(Bound.atMost(MOST_GROWTH_PERCENT))
            : growth);
    report.fact(SCENARIO, "the old transaction was open to the end", found.oldStayedOpen());
  }

  private static Figure count(String metric, long value, String unit) {
    return Figure.of(SCENARIO, metric, (double) value, unit);
  }
}
