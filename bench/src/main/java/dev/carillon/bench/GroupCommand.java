package dev.carillon.bench;

import dev.carillon.Carillon;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What it costs that somebody waits for the result of a large group. */
@Command(
    name = "group",
    description =
        "A large group with and without somebody who waits for its result and watches it.")
final class GroupCommand implements Callable<Integer> {
  private static final double MOST_TIMES = 2;
  private static final double BESIDE_MORE_MILLIS = 50;
  private static final double NANOS_PER_MILLI = 1e6;

  @Mixin private RunOptions options = new RunOptions();

  @Option(
      names = "--members",
      paramLabel = "N",
      description = "Jobs of the group (default: ${DEFAULT-VALUE}).",
      defaultValue = "9999")
  private int members;

  @Override
  public Integer call() throws InterruptedException {
    Report report = options.report();
    options.positive("--members", members);
    report.title("group");
    report.setting("members", members);
    report.setting("beside it", "a job of another namespace each millisecond");
    Rounds alone = new Rounds();
    Rounds waited = new Rounds();
    Rounds besideAlone = new Rounds();
    Rounds besideWaited = new Rounds();
    try (StorePlace place = StorePlace.of(options)) {
      report.setting(options.store.word(), place.settings());
      try (Carillon carillon = Carillon.open(place.newAddress("group"))) {
        GroupRun run = new GroupRun(carillon, members);
        report.progress("warming up");
        var unused = run.run(false);
        for (int round = 1; round <= options.rounds; round++) {
          report.progress("round " + round);
          measure(run, false, alone, besideAlone);
          measure(run, true, waited, besideWaited);
        }
      }
    }
    String scenario = "group";
    report.figure(Figure.of(scenario, "time, nobody waits", alone.median(), "ms"));
    report.figure(Figure.of(scenario, "time, somebody waits", waited.median(), "ms"));
    report.figure(
        Figure.of(scenario, "time with a waiter, of that without", ratio(waited, alone), "times")
            .held(Bound.atMost(MOST_TIMES)));
    report.figure(Figure.of(scenario, "others p99, nobody waits", besideAlone.median(), "ms"));
    report.figure(
        Figure.of(scenario, "others p99, somebody waits", besideWaited.median(), "ms")
            .held(Bound.atMost(besideAlone.median() + BESIDE_MORE_MILLIS)));
    return report.verdict();
  }

  private static double ratio(Rounds one, Rounds other) {
    return one.median() / other.median();
  }

  private static void measure(GroupRun run, boolean waited, Rounds times, Rounds beside)
      throws InterruptedException {
    GroupRun.Found found = run.run(waited);
    times.add(found.nanos() / NANOS_PER_MILLI);
    beside.add(found.beside().percentile(99) / NANOS_PER_MILLI);
  }
}
