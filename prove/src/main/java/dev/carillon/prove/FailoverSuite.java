package dev.carillon.prove;

import dev.carillon.prove.Ledger.Line;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Kills the owner of many shards, each with a job that becomes due just then, and measures when the
 * others start the first and the last of those jobs. Some rounds stop a node in order instead.
 */
final class FailoverSuite implements Suite {
  /** With the load's own, well above 200. */
  private static final int SHARDS = 220;

  private static final int LEAST_SHARDS = 200;
  private static final int ROUNDS_A_STOP = 2;
  private static final long DUE_AHEAD_MICROS = 1_200_000;
  private static final long DUE_SPAN_MICROS = 1_000_000;
  private static final long GIVE_UP_MILLIS = 60_000;
  private static final long FIRST_P50_MILLIS = 3_000;
  private static final long LAST_P99_MILLIS = 6_000;
  private static final long STOP_MILLIS = 500;

  private final Timings first = new Timings("from the kill to the first overdue job elsewhere");
  private final Timings last = new Timings("from the kill to the last overdue job of the victim");
  private final Timings stop = new Timings("to stop in order");
  private final Check shards = new Check("the victim had at least 200 shards");
  private final Check started = new Check("every overdue job of the victim started elsewhere");
  private long fewestShards = Long.MAX_VALUE;

  @Override
  public String name() {
    return "failover";
  }

  @Override
  public int rounds() {
    return 50;
  }

  @Override
  public int shortRounds() {
    return 1;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    try (Fleet fleet = new Fleet(stage, name())) {
      fleet.begin();
      int stops = Math.ceilDiv(stage.rounds(), ROUNDS_A_STOP);
      for (int round = 1; round <= stage.rounds() && fleet.problems().isEmpty(); round++) {
        kill(fleet, round);
      }
      for (int round = 1; round <= stops && fleet.problems().isEmpty(); round++) {
        stop(fleet, round);
      }
      fleet.end();
      return proof(stage, fleet);
    }
  }

  private Proof proof(Stage stage, Fleet fleet) {
    StoreContents contents = StoreContents.ofPostgres(fleet.server().url());
    List<Check> checks = new ArrayList<>();
    checks.add(shards);
    checks.add(started);
    checks.add(first.within(50, FIRST_P50_MILLIS));
    checks.add(last.within(99, LAST_P99_MILLIS));
    checks.add(stop.within(100, STOP_MILLIS));
    checks.addAll(new KillChecks(fleet.ledger(), contents).all());
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("rounds", (long) stage.rounds());
    figures.put("shards of a victim, at least", fewestShards);
    first.addTo(figures);
    last.addTo(figures);
    stop.addTo(figures);
    Figures.add(figures, fleet.ledger(), contents, stage.errors());
    return new Proof(checks, List.copyOf(fleet.problems()), figures);
  }

  private void kill(Fleet fleet, int round) throws InterruptedException {
    int index = fleet.any();
    Child victim = fleet.node(index);
    if (!spread(fleet, victim)) {
      return;
    }
    long due = Note.micros(Instant.now()) + DUE_AHEAD_MICROS;
    Order gather = new Order.Gather(due, DUE_SPAN_MICROS);
    if (fleet.ask(victim, gather, Note.Gathered.class) == null) {
      return;
    }
    long left = due - Note.micros(Instant.now());
    TimeUnit.MICROSECONDS.sleep(Math.max(0, left));
    long killed = fleet.kill(index);
    long from = due;
    List<String> overdue =
        fleet
            .ledger()
            .look(
                lines ->
                    lines.stream()
                        .filter(line -> line.incarnation == victim.incarnation())
                        .filter(line -> line.dues.stream().anyMatch(d -> isGathered(d, from)))
                        .filter(line -> line.created() && line.starts.isEmpty())
                        .filter(line -> line.end == null && !fleet.ledger().isCancelled(line))
                        .map(line -> line.request)
                        .toList());
    awaitStarts(fleet, overdue);
    List<Line> missing = missing(fleet, overdue); // before: one that starts since then is late
    LongSummaryStatistics starts = starts(fleet, overdue, killed);
    started.that(
        missing.isEmpty() && starts.getCount() > 0,
        "round %d: %d of %d, not %s".formatted(round, starts.getCount(), overdue.size(), missing));
    first.add(starts.getMin());
    last.add(starts.getMax());
    fleet.progress(
        "round %d: %d overdue jobs, first after %d ms, last after %d ms"
            .formatted(round, overdue.size(), starts.getMin() / 1000, starts.getMax() / 1000));
    fleet.restart(index);
  }

  private static boolean isGathered(long dueMicros, long from) {
    return dueMicros >= from && dueMicros < from + DUE_SPAN_MICROS;
  }

  private boolean spread(Fleet fleet, Child victim) throws InterruptedException {
    Note.Spread spread = fleet.ask(victim, new Order.Spread(SHARDS), Note.Spread.class);
    if (spread == null) {
      return false;
    }
    shards.that(spread.owned() >= LEAST_SHARDS, spread);
    fewestShards = Math.min(fewestShards, spread.owned());
    return true;
  }

  /** Waits until none is missing, unless that takes too long. */
  private static void awaitStarts(Fleet fleet, List<String> requests) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GIVE_UP_MILLIS);
    while (!missing(fleet, requests).isEmpty() && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** When, after the kill, those that have started first did. */
  private static LongSummaryStatistics starts(Fleet fleet, List<String> requests, long from) {
    return fleet
        .ledger()
        .look(
            lines ->
                linesOf(fleet, requests)
                    .filter(line -> !line.starts.isEmpty())
                    .mapToLong(line -> line.starts.getFirst().note().atMicros() - from)
                    .summaryStatistics());
  }

  /**
   * Those that have not started and are to. One that came under a name or a key may be found by the
   * load of another node, and cancelled before it starts.
   */
  private static List<Line> missing(Fleet fleet, List<String> requests) {
    return fleet
        .ledger()
        .look(
            lines ->
                linesOf(fleet, requests)
                    .filter(line -> line.starts.isEmpty() && !fleet.ledger().isCancelled(line))
                    .toList());
  }

  private static Stream<Line> linesOf(Fleet fleet, List<String> requests) {
    return requests.stream().map(fleet.ledger()::lineOf).map(Objects::requireNonNull);
  }

  private void stop(Fleet fleet, int round) throws InterruptedException {
    int index = fleet.any();
    Child node = fleet.node(index);
    if (!spread(fleet, node)) {
      return;
    }
    long due = Note.micros(Instant.now()) + DUE_AHEAD_MICROS;
    Note.Gathered gathered =
        fleet.ask(node, new Order.Gather(due, DUE_SPAN_MICROS), Note.Gathered.class);
    Note.Closed closed = gathered == null ? null : fleet.stop(node);
    if (closed == null) {
      return;
    }
    stop.add(closed.micros());
    shards.that(closed.shards() >= LEAST_SHARDS, closed);
    fleet.progress(
        "stop %d: %d ms, %d shards".formatted(round, closed.micros() / 1000, closed.shards()));
    fleet.restart(index);
  }
}
