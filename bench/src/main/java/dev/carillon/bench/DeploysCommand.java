package dev.carillon.bench;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Whether a fleet whose machines are made anew at every deploy stays as fast and as small. */
@Command(
    name = "deploys",
    description =
        "Rolling deploys of three nodes, each with new node ids, and jobs of a month, on"
            + " PostgreSQL: how many shards there are, how long a start and a take-over take.")
final class DeploysCommand implements Callable<Integer> {
  private static final double MOST_OF_FIRST = 1.5;

  /** What a busy machine and a look at the members, each half a second, do to either figure. */
  private static final double SLACK_MILLIS = 150;

  /** Compared are the medians of so many deploys at the beginning and at the end. */
  private static final int COMPARED = 10;

  /** Before the first that counts, on a store of their own. */
  private static final int WARM_UP_DEPLOYS = 3;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--deploys",
      paramLabel = "N",
      description = "Rolling deploys, of each kind of ids (default: ${DEFAULT-VALUE}).",
      defaultValue = "60")
  private int deploys;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Jobs of a month before the first deploy (default: ${DEFAULT-VALUE}).",
      defaultValue = "6000")
  private int jobs;

  @Option(
      names = "--more",
      paramLabel = "N",
      description = "Such jobs that each new node schedules (default: ${DEFAULT-VALUE}).",
      defaultValue = "120")
  private int more;

  @Option(
      names = "--ids",
      split = ",",
      description =
          "never-return: ids of which a node says that they do not come back;"
              + " forgotten: ids that might, and are forgotten (default: ${DEFAULT-VALUE}).",
      defaultValue = "never-return,forgotten")
  private List<DeploysRun.Ids> ids = List.of();

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report("postgres");
    options.positive("--deploys", deploys);
    options.positive("--jobs", jobs);
    options.positive("--more", more);
    report.title("deploys");
    report.setting("nodes", DeploysRun.NODES + ", each replaced by one of another id in a deploy");
    report.setting("order", "by turns the new node first, and the old one gone first");
    report.setting(
        "jobs",
        ("%d before the first deploy, %d through each new node, half within a day,"
                + " half within a month")
            .formatted(jobs, more));
    report.setting("deploys", deploys + " after " + WARM_UP_DEPLOYS);
    try (ServerPlace place = StorePlace.server(options)) {
      report.setting("postgres", place.settings());
      for (DeploysRun.Ids kind : ids) {
        report.progress("warming up");
        var unused = new DeploysRun(place, report, kind).run(jobs, more, WARM_UP_DEPLOYS);
        print(
            report, kind.scenario(), new DeploysRun(place, report, kind).run(jobs, more, deploys));
      }
    }
    return report.verdict();
  }

  private static void print(Report report, String scenario, DeploysRun.Found found) {
    List<DeploysRun.Deploy> all = found.deploys();
    for (int i = 0; i < all.size(); i++) {
      DeploysRun.Deploy deploy = all.get(i);
      String suffix = ", deploy " + (i + 1);
      report.figure(
          Figure.of(scenario, "shards with pending jobs" + suffix, deploy.shards(), "shards")
              .held(Bound.atMost(DeploysRun.mostShards(deploy.buckets()))));
      report.figure(Figure.of(scenario, "buckets in use" + suffix, deploy.buckets(), "buckets"));
      report.figure(Figure.of(scenario, "start" + suffix, deploy.startMillis(), "ms"));
      report.figure(Figure.of(scenario, "take-over" + suffix, deploy.takeOverMillis(), "ms"));
    }
    compare(report, scenario, "start", all, DeploysRun.Deploy::startMillis);
    compare(report, scenario, "take-over", all, DeploysRun.Deploy::takeOverMillis);
    report.fact(scenario, "every job is pending or has ended", found.nothingLost());
  }

  private static void compare(
      Report report,
      String scenario,
      String what,
      List<DeploysRun.Deploy> all,
      ToDoubleFunction<DeploysRun.Deploy> of) {
    int compared = Math.min(COMPARED, all.size());
    double first = median(all.subList(0, compared), of);
    double last = median(all.subList(all.size() - compared, all.size()), of);
    report.figure(Figure.of(scenario, what + ", first deploys, median", first, "ms"));
    report.figure(
        Figure.of(scenario, what + ", last deploys, median", last, "ms")
            .held(Bound.atMost(MOST_OF_FIRST * first + SLACK_MILLIS)));
  }

  private static double median(
      List<DeploysRun.Deploy> deploys, ToDoubleFunction<DeploysRun.Deploy> of) {
    Rounds rounds = new Rounds();
    deploys.forEach(deploy -> rounds.add(of.applyAsDouble(deploy)));
    return rounds.median();
  }
}
