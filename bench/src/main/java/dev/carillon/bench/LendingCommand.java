package dev.carillon.bench;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How much sooner jobs of one node end when others have slots to spare. */
@Command(
    name = "lending",
    description =
        "Due jobs that wait, scheduled through one of three nodes, on PostgreSQL: the time that"
            + " three take of what one takes.")
final class LendingCommand implements Callable<Integer> {
  private static final String SCENARIO = "lending";
  private static final double MOST_PERCENT_OF_ONE = 45;
  private static final int NODES = 3;

  /** An unmeasured round is this part of a measured one. */
  private static final int WARM_UP_PART = 10;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Due jobs in each round (default: ${DEFAULT-VALUE}).",
      defaultValue = "30000")
  private int jobs;

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report("postgres");
    options.positive("--jobs", jobs);
    report.title(SCENARIO);
    report.setting("jobs", jobs + " due ones in a round, scheduled in batches through one node");
    report.setting("handler", "waits " + LendingRun.WAIT.toMillis() + " ms");
    report.setting("nodes", NODES + " with " + LendingRun.SLOTS + " slots each, and one alone");
    try (ServerPlace place = StorePlace.server(options)) {
      report.setting("postgres", place.settings());
      LendingRun run = new LendingRun(place);
      report.progress("warming up");
      run.spread(NODES, Math.max(1, jobs / WARM_UP_PART));
      measure(report, run);
      report.progress("the handler is on another node");
      LendingRun.Found elsewhere = run.handlerElsewhere(jobs / WARM_UP_PART);
      report.fact(SCENARIO, "all run where their handler is", elsewhere.lent() == elsewhere.jobs());
    }
    return report.verdict();
  }

  private void measure(Report report, LendingRun run) throws InterruptedException {
    Rounds percents = new Rounds();
    for (int round = 1; round <= options.rounds; round++) {
      report.progress("round " + round);
      LendingRun.Found one = run.spread(1, jobs);
      LendingRun.Found three = run.spread(NODES, jobs);
      report.figure(Figure.of(SCENARIO, "one node, round " + round, one.seconds(), "s"));
      report.figure(Figure.of(SCENARIO, "three nodes, round " + round, three.seconds(), "s"));
      report.figure(Figure.of(SCENARIO, "lent, round " + round, (double) three.lent(), "jobs"));
      percents.add(100 * three.seconds() / one.seconds());
    }
    report.figure(
        Figure.of(SCENARIO, "three nodes' time of one's", percents.median(), "%")
            .held(Bound.atMost(MOST_PERCENT_OF_ONE)));
  }
}
