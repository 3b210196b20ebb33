package dev.carillon.bench;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Attempts in workers of another process, beside handlers in the node's. */
@Command(
    name = "remote",
    description =
        "Attempts a second in a worker of another process on the same cores, how late they start,"
            + " and what 10,000 at once cost.")
final class RemoteCommand implements Callable<Integer> {
  private static final double LEAST_ON_FILE = 25_000;
  private static final double LEAST_ON_SERVER = 20_000;
  private static final double LEAST_OVER_HTTP = 2_000;
  private static final int HTTP_CONNECTIONS = 16;
  private static final int HTTP_PART = 10;
  private static final double P50_BEHIND_MILLIS = 2;
  private static final double P99_BEHIND_MILLIS = 10;
  private static final int AT_ONCE = 10_000;
  private static final int CONNECTIONS = 50;
  private static final int AT_ONCE_SECONDS = 60;
  private static final int AWAIT_SECONDS = 300;
  private static final double NANOS_PER_MILLI = 1e6;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--scenario",
      split = ",",
      paramLabel = "NAME",
      description = "rate, http, latency, at-once (default: all).")
  private Set<Scenario> scenarios = EnumSet.allOf(Scenario.class);

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "In a round (default: ${DEFAULT-VALUE}).",
      defaultValue = "200000")
  private int jobs;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Single jobs of the latency (default: ${DEFAULT-VALUE}).",
      defaultValue = "500")
  private int samples;

  /** What is measured. */
  enum Scenario {
    RATE,
    HTTP,
    LATENCY,
    AT_ONCE
  }

  @Override
  public Integer call() throws Exception {
    options.knows(RunOptions.Kind.SQLITE, RunOptions.Kind.POSTGRES);
    options.positive("--jobs", jobs);
    options.positive("--samples", samples);
    Report report = options.report();
    report.title("remote");
    report.setting("input", Order.bytes() + " bytes; the handler does nothing");
    report.setting("worker", "a process of its own, beside the server's on the same cores");
    try (StorePlace place = StorePlace.of(options)) {
      report.setting(options.store.word(), place.settings());
      for (Scenario scenario : scenarios) {
        switch (scenario) {
          case RATE -> rate(place, report);
          case HTTP -> http(place, report);
          case LATENCY -> latency(place, report);
          case AT_ONCE -> atOnce(place, report);
        }
      }
    }
    return report.verdict();
  }

  private void rate(StorePlace place, Report report) throws IOException, InterruptedException {
    Rounds remote = new Rounds();
    Rounds inside = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      try (RemoteRun run = new RemoteRun(place)) {
        run.prepare(jobs);
        var unused = run.carillon().handle(RemoteRun.ORDER, (order, job) -> {});
        inside.add(run.drain(jobs));
      }
      try (RemoteRun run = new RemoteRun(place)) {
        run.prepare(jobs);
        var unused = run.work(1, 1_000);
        remote.add(run.drain(jobs));
      }
      report.progress("round " + round + " of " + options.rounds);
    }
    report.figure(Figure.of("rate", "in this process", inside.median(), "attempts/s"));
    Figure rate = Figure.of("rate", "in a worker", remote.median(), "attempts/s");
    boolean file = options.store == RunOptions.Kind.SQLITE;
    report.figure(rate.held(Bound.atLeast(file ? LEAST_ON_FILE : LEAST_ON_SERVER)));
  }

  private void http(StorePlace place, Report report) throws IOException, InterruptedException {
    Rounds remote = new Rounds();
    int few = Math.max(1, jobs / HTTP_PART);
    for (int round = 1; round <= options.rounds; round++) {
      try (RemoteRun run = new RemoteRun(place)) {
        run.prepare(few);
        var unused = run.workOverHttp(HTTP_CONNECTIONS);
        remote.add(run.drain(few));
      }
      report.progress("over HTTP, round " + round + " of " + options.rounds);
    }
    report.figure(
        Figure.of("http", "over 16 connections, each leased first", remote.median(), "attempts/s")
            .held(Bound.atLeast(LEAST_OVER_HTTP)));
  }

  private void latency(StorePlace place, Report report) throws IOException, InterruptedException {
    Samples inside = new Samples();
    try (RemoteRun run = new RemoteRun(place)) {
      var unused =
          run.carillon()
              .handle(
                  RemoteRun.DUE,
                  (nothing, job) -> {
                    long late = ChronoUnit.MICROS.between(job.scheduledTime(), Instant.now());
                    synchronized (inside) {
                      inside.add(late * 1_000);
                    }
                  });
      run.single(samples + samples / 10, 20);
    }
    String[] words;
    try (RemoteRun run = new RemoteRun(place)) {
      RemoteRun.Workers workers = run.work(1, 100);
      run.single(samples + samples / 10, 20);
      words = workers.ask("lateness").split(" ", -1);
    }
    double[] in = {
      inside.percentile(50) / NANOS_PER_MILLI, inside.percentile(99) / NANOS_PER_MILLI
    };
    double[] out = {
      Long.parseLong(words[0]) / NANOS_PER_MILLI, Long.parseLong(words[1]) / NANOS_PER_MILLI
    };
    report.figure(Figure.of("latency, idle", "in this process, p50", in[0], "ms"));
    report.figure(Figure.of("latency, idle", "in this process, p99", in[1], "ms"));
    report.figure(Figure.of("latency, idle", "in a worker, p50", out[0], "ms"));
    report.figure(Figure.of("latency, idle", "in a worker, p99", out[1], "ms"));
    report.figure(
        Figure.of("latency, idle", "p50 behind", out[0] - in[0], "ms")
            .held(Bound.atMost(P50_BEHIND_MILLIS)));
    report.figure(
        Figure.of("latency, idle", "p99 behind", out[1] - in[1], "ms")
            .held(Bound.atMost(P99_BEHIND_MILLIS)));
  }

  private void atOnce(StorePlace place, Report report) throws IOException, InterruptedException {
    try (RemoteRun run = new RemoteRun(place)) {
      RemoteRun.Workers workers = run.work(CONNECTIONS, AT_ONCE / CONNECTIONS);
      run.start(AT_ONCE);
      LatenessLog.await(
          AT_ONCE + " attempts",
          () -> Integer.parseInt(workers.ask("running")) >= AT_ONCE,
          AWAIT_SECONDS);
      LatenessLog.await(
          "their leases",
          () ->
              run.carillon().node().workers().connected().stream()
                  .flatMap(each -> each.runs().stream())
                  .allMatch(attempt -> attempt.leased()),
          AWAIT_SECONDS);
      CountedStore.Calls before = run.calls();
      TimeUnit.SECONDS.sleep(AT_ONCE_SECONDS);
      CountedStore.Calls minute = run.calls().since(before);
      report.figure(
          Figure.of("10,000 at once", "running", Integer.parseInt(workers.ask("running")), "jobs"));
      report.figure(
          Figure.of(
                  "10,000 at once",
                  "entries written in a minute",
                  (double) minute.entries(),
                  "entries")
              .held(Bound.atMost(AT_ONCE / 100)));
      report.figure(
          Figure.of("10,000 at once", "heap of the server", Heap.usedBytes() / 1e6, "MB"));
    }
  }
}
