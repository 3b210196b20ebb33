package dev.carillon.prove;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Kills those who lend and those who borrow, in turn: one node has no handler and lends everything,
 * one has a single slot and lends what it does not get round to, one has slots to spare.
 */
final class LendSuite implements Suite {
  private static final List<List<String>> SETTINGS =
      List.of(List.of("--slots=1"), List.of("--without-handler"), List.of("--slots=64"));

  private static final int LEAST_MILLIS = 2_000;
  private static final int MOST_MILLIS = 5_000;

  private final Check lent = new Check("attempts were lent and borrowed before each kill");
  private final Check borrowedByDead = new Check("some were with a node that was killed");
  private long lost;
  private long total;

  @Override
  public String name() {
    return "lend";
  }

  @Override
  public int rounds() {
    return 30;
  }

  @Override
  public int shortRounds() {
    return 3;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    try (Fleet fleet = new Fleet(stage, name(), SETTINGS::get)) {
      fleet.begin();
      for (int round = 1; round <= stage.rounds() && fleet.problems().isEmpty(); round++) {
        kill(fleet, round);
      }
      count(fleet.counts());
      fleet.end();
      return proof(stage, fleet);
    }
  }

  private void kill(Fleet fleet, int round) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(fleet.random().nextInt(LEAST_MILLIS, MOST_MILLIS));
    Fleet.Counts counts = fleet.counts();
    count(counts);
    long out = counts.of("attempts.lent");
    long in = counts.of("attempts.borrowed");
    lent.that(out > 0 && in > 0, "round %d: %d lent, %d borrowed".formatted(round, out, in));
    int victim = (round + 1) % Fleet.NODES; // first the one that has slots to spare
    fleet.kill(victim);
    fleet.progress(
        "round %d: node-%d killed after %d were lent, %d borrowed"
            .formatted(round, victim, out, in));
    TimeUnit.MILLISECONDS.sleep(fleet.random().nextInt(LEAST_MILLIS, MOST_MILLIS));
    fleet.restart(victim);
  }

  private void count(Fleet.Counts counts) {
    lost = Math.max(lost, counts.of("attempts.lent.lost"));
    total = Math.max(total, counts.of("attempts.lent"));
  }

  private Proof proof(Stage stage, Fleet fleet) {
    StoreContents contents = StoreContents.ofPostgres(fleet.server().url());
    borrowedByDead.that(lost > 0, lost + " attempts were taken back from dead nodes");
    List<Check> checks = new ArrayList<>();
    checks.add(lent);
    checks.add(borrowedByDead);
    checks.addAll(new KillChecks(fleet.ledger(), contents, true).all());
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("rounds", (long) stage.rounds());
    figures.put("most attempts lent between two kills of their lender", total);
    figures.put("most taken back from dead nodes meanwhile", lost);
    Figures.add(figures, fleet.ledger(), contents, stage.errors());
    return new Proof(checks, List.copyOf(fleet.problems()), figures);
  }
}
