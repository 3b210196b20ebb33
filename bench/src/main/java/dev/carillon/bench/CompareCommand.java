package dev.carillon.bench;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The same work done by Carillon and by another scheduler, in turn, on one server. */
@Command(
    name = "compare",
    description = "The same work by Carillon and by another scheduler, in turn, on one PostgreSQL.")
final class CompareCommand implements Callable<Integer> {
  private static final double LEAST_RATIO = 15;

  /** An unmeasured round is this part of a measured one. */
  private static final int WARM_UP_PART = 4;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--scenario",
      paramLabel = "NAME",
      description = "burn-down: due jobs that wait are worked off (default: ${DEFAULT-VALUE}).",
      defaultValue = "burn-down")
  private Scenario scenario = Scenario.BURN_DOWN;

  @Option(
      names = "--peer",
      paramLabel = "NAME",
      description = "db-scheduler (default: ${DEFAULT-VALUE}).",
      defaultValue = "db-scheduler")
  private Peer peer = Peer.DB_SCHEDULER;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Due jobs in each round, as many for each (default: ${DEFAULT-VALUE}).",
      defaultValue = "400000")
  private int jobs;

  @Option(
      names = "--peer-connections",
      paramLabel = "N",
      description = "Connections of the peer's pool (default: ${DEFAULT-VALUE}).",
      defaultValue = "20")
  private int connections;

  /** What is done. */
  enum Scenario {
    BURN_DOWN;

    @Override
    public String toString() {
      return "burn-down";
    }
  }

  /** By whom else. */
  enum Peer {
    DB_SCHEDULER;

    @Override
    public String toString() {
      return "db-scheduler";
    }
  }

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report("postgres");
    options.positive("--jobs", jobs);
    options.positive("--peer-connections", connections);
    report.title("compare");
    report.setting("jobs", jobs + " due ones in a round, for each");
    report.setting("payload bytes", Order.bytes());
    report.setting("handler", "no-op");
    report.setting("carillon", "defaults: 1,024 slots, doubling from 64 each second; history kept");
    report.setting(
        peer.toString(),
        "lock-and-fetch 1.0, 4.0, %d threads, %d connections, polls every %d ms; rows deleted"
            .formatted(
                DbSchedulerBurnDown.THREADS, connections, DbSchedulerBurnDown.POLL.toMillis()));
    try (ServerPlace place = StorePlace.server(options)) {
      report.setting("postgres", place.settings());
      BurnDown ours = new CarillonBurnDown(place, report);
      BurnDown theirs = new DbSchedulerBurnDown(place, connections);
      report.progress("warming up");
      int few = Math.max(1, jobs / WARM_UP_PART);
      ours.run(few);
      theirs.run(few);
      measure(report, ours, theirs);
    }
    return report.verdict();
  }

  private void measure(Report report, BurnDown ours, BurnDown theirs) throws InterruptedException {
    Rounds ourRates = new Rounds();
    Rounds theirRates = new Rounds();
    Rounds ratios = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      report.progress(scenario + ": round " + round);
      // Whoever goes second finds the machine as the other left it: that changes each round.
      boolean oursFirst = round % 2 == 1;
      BurnDown.Drained first = (oursFirst ? ours : theirs).run(jobs);
      BurnDown.Drained second = (oursFirst ? theirs : ours).run(jobs);
      BurnDown.Drained mine = oursFirst ? first : second;
      BurnDown.Drained other = oursFirst ? second : first;
      print(report, round, mine, "carillon");
      print(report, round, other, peer.toString());
      ourRates.add(mine.perSecond());
      theirRates.add(other.perSecond());
      ratios.add(mine.perSecond() / other.perSecond());
    }
    String name = scenario.toString();
    report.figure(Figure.of(name, "rate", theirRates.median(), "jobs/s").by(peer.toString()));
    report.figure(Figure.of(name, "rate", ourRates.median(), "jobs/s"));
    report.figure(
        Figure.of(name, "ratio_to_peer", ratios.median(), "times")
            .held(Bound.atLeast(LEAST_RATIO)));
  }

  private void print(Report report, int round, BurnDown.Drained drained, String system) {
    String name = scenario.toString();
    List<Figure> figures =
        List.of(
            Figure.of(name, "enqueued in batches, round " + round, drained.enqueued(), "jobs/s"),
            Figure.of(name, "rate, round " + round, drained.perSecond(), "jobs/s"));
    figures.forEach(figure -> report.figure(figure.by(system)));
    report.figure(
        Figure.of(name, "nothing is left, round " + round, drained.nothingLeft() ? 1 : 0, "1=yes")
            .by(system)
            .held(Bound.atLeast(1)));
  }
}
