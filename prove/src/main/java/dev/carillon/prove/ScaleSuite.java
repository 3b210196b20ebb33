package dev.carillon.prove;

import dev.carillon.prove.TickBook.Recurring;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Three nodes become five and three again, while recurring jobs tick every second and others come
 * and go. Of the two that leave in each round one was there before and one has just come; in every
 * other round one of them is killed.
 */
final class ScaleSuite implements Suite {
  private static final int MORE = 2;
  private static final int SCHEDULES_OF_EACH_KIND = 3;
  private static final int LEAST_MILLIS = 2_000;
  private static final int MOST_MILLIS = 5_000;

  /** For whatever a kill has delayed. */
  private static final int CATCH_UP_MILLIS = 12_000;

  private static final int HALT_MILLIS = 60_000;
  private static final int POLL_MILLIS = 50;
  private static final int ROUNDS_A_KILL = 2;

  private final Check came = new Check("nodes that come take part: jobs start there");
  private final Timings stop = new Timings("to stop in order");
  private long kills;
  private long stops;

  @Override
  public String name() {
    return "scale";
  }

  @Override
  public int rounds() {
    return 10;
  }

  @Override
  public int shortRounds() {
    return 2;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    try (Fleet fleet = new Fleet(stage, name())) {
      fleet.begin();
      for (Child node : List.copyOf(fleet.nodes())) {
        recur(fleet, node);
      }
      for (int round = 1; round <= stage.rounds() && fleet.problems().isEmpty(); round++) {
        round(fleet, round);
      }
      TimeUnit.MILLISECONDS.sleep(CATCH_UP_MILLIS);
      halt(fleet);
      fleet.end();
      return proof(stage, fleet);
    }
  }

  private static void recur(Fleet fleet, Child node) throws InterruptedException {
    fleet.ask(node, new Order.Recur(SCHEDULES_OF_EACH_KIND), Note.Recurs.class);
  }

  private void round(Fleet fleet, int round) throws InterruptedException {
    pause(fleet);
    Child old = fleet.node(fleet.any());
    List<Child> more = new ArrayList<>();
    for (int i = 0; i < MORE; i++) {
      Child node = fleet.join();
      recur(fleet, node);
      more.add(node);
    }
    pause(fleet);
    for (Child node : more) {
      came.that(
          fleet.awaitStart(node, 0, LEAST_MILLIS) != Long.MAX_VALUE,
          "round %d: incarnation %d started nothing".formatted(round, node.incarnation()));
    }
    Child young = more.get(fleet.random().nextInt(MORE));
    boolean kill = round % ROUNDS_A_KILL == 0;
    Child victim = fleet.random().nextBoolean() ? old : young;
    for (Child leaver : List.of(old, young)) {
      if (kill && leaver == victim) {
        kills++;
        fleet.killForGood(leaver);
      } else {
        stops++;
        Note.Closed closed = fleet.leave(leaver);
        if (closed != null) {
          stop.add(closed.micros());
        }
      }
      pause(fleet);
    }
    fleet.progress(
        "round %d: incarnations %d and %d left%s"
            .formatted(
                round,
                old.incarnation(),
                young.incarnation(),
                kill ? ", %d killed".formatted(victim.incarnation()) : " in order"));
  }

  private static void pause(Fleet fleet) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(fleet.random().nextInt(LEAST_MILLIS, MOST_MILLIS));
  }

  /** Ends all schedules through one node, whoever has them. */
  private static void halt(Fleet fleet) throws InterruptedException {
    fleet.progress("ending the schedules");
    Child node = fleet.node(0);
    for (Recurring recurring : fleet.ledger().ticks()) {
      node.order(new Order.Halt(recurring.job + ""));
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HALT_MILLIS);
    while (fleet.ledger().ticks().stream().anyMatch(r -> r.haltedMicros == Long.MAX_VALUE)) {
      if (System.nanoTime() > deadline) {
        fleet.problems().add("schedules go on after " + HALT_MILLIS / 1000 + " s");
        return;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  private Proof proof(Stage stage, Fleet fleet) {
    StoreContents contents = StoreContents.ofPostgres(fleet.server().url());
    List<Check> checks = new ArrayList<>();
    checks.add(came);
    checks.addAll(new TickChecks(fleet.ledger(), contents.ticks()).all());
    checks.addAll(new KillChecks(fleet.ledger(), contents, true).all());
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("rounds", (long) stage.rounds());
    figures.put("nodes that left in order", stops);
    figures.put("nodes that were killed", kills);
    List<Recurring> ticks = fleet.ledger().ticks();
    figures.put("schedules", (long) ticks.size());
    figures.put("occurrences", ticks.stream().mapToLong(r -> r.starts.size()).sum());
    figures.put(
        "occurrences that started again",
        ticks.stream()
            .flatMap(recurring -> recurring.starts.values().stream())
            .filter(starts -> starts.size() > 1)
            .count());
    stop.addTo(figures);
    Figures.add(figures, fleet.ledger(), contents, stage.errors());
    return new Proof(checks, List.copyOf(fleet.problems()), figures);
  }
}
