package dev.carillon.prove;

import dev.carillon.prove.Ledger.Blow;
import dev.carillon.prove.Ledger.Line;
import dev.carillon.prove.Ledger.Start;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Lets a node stand still while others take its shards over, and go on. It learns from the store
 * that they are not its own any more; until then nothing of what it does may count.
 */
final class PauseSuite implements Suite {
  private static final int SHARDS = 40;
  private static final long PAUSE_MILLIS = 3 * 2_500;
  private static final long DUE_AHEAD_MICROS = 600_000;
  private static final long DUE_SPAN_MICROS = 1_000_000;
  private static final long AGAIN_MILLIS = 30_000;

  private final Timings again = new Timings("from going on to the next start of the node itself");
  private final Check taken = new Check("others took its jobs over while it stood still");
  private final Check works = new Check("a node that stood still works again");

  @Override
  public String name() {
    return "pause";
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
      for (int round = 1; round <= stage.rounds() && fleet.problems().isEmpty(); round++) {
        pause(fleet, round);
      }
      fleet.end();
      return proof(stage, fleet);
    }
  }

  private void pause(Fleet fleet, int round) throws InterruptedException {
    Child node = fleet.node(fleet.any());
    if (fleet.ask(node, new Order.Spread(SHARDS), Note.Spread.class) == null) {
      return;
    }
    long due = Note.micros(Instant.now()) + DUE_AHEAD_MICROS;
    if (fleet.ask(node, new Order.Gather(due, DUE_SPAN_MICROS), Note.Gathered.class) == null) {
      return;
    }
    long into = due + fleet.random().nextLong(DUE_SPAN_MICROS);
    TimeUnit.MICROSECONDS.sleep(Math.max(0, into - Note.micros(Instant.now())));
    long from = Note.micros(Instant.now());
    node.pause();
    TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    long to = Note.micros(Instant.now());
    node.resume();
    taken.that(startedElsewhere(fleet.ledger(), node, from, to) > 0, "round " + round);
    fleet.ledger().disturbed(Blow.PAUSE, node.incarnation(), from, to);
    long started = fleet.awaitStart(node, to, AGAIN_MILLIS);
    works.that(started != Long.MAX_VALUE, "round " + round);
    again.add(started - to);
    fleet.progress("round %d: works again after %d ms".formatted(round, (started - to) / 1000));
  }

  /** Jobs of a node that others started in that time. */
  private static long startedElsewhere(Ledger ledger, Child node, long from, long to) {
    return ledger.look(
        lines ->
            lines.stream()
                .filter(line -> line.incarnation == node.incarnation())
                .flatMap(line -> line.starts.stream())
                .filter(start -> start.incarnation() != node.incarnation())
                .filter(start -> start.note().atMicros() >= from)
                .filter(start -> start.note().atMicros() <= to)
                .count());
  }

  private Proof proof(Stage stage, Fleet fleet) {
    StoreContents contents = StoreContents.ofPostgres(fleet.server().url());
    Ledger ledger = fleet.ledger();
    List<Check> checks = new ArrayList<>();
    checks.add(taken);
    checks.add(works);
    checks.add(refused(ledger));
    checks.addAll(new KillChecks(ledger, contents).all());
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("rounds", (long) stage.rounds());
    figures.put("handler starts after the node's own deadline", (long) late(ledger).size());
    figures.put("entries whose epochs were looked at", contents.entries());
    again.addTo(figures);
    Figures.add(figures, ledger, contents, stage.errors());
    return new Proof(checks, List.copyOf(fleet.problems()), figures);
  }

  private static List<Line> late(Ledger ledger) {
    return ledger.lines().stream()
        .filter(line -> line.starts.stream().anyMatch(start -> ledger.isLate(line, start)))
        .toList();
  }

  /** Whoever started a job late is not the one whose word about it counted. */
  private static Check refused(Ledger ledger) {
    Check check = new Check("what a handler did that started after the deadline was refused");
    for (Line line : late(ledger)) {
      for (Start start : line.starts) {
        boolean counted = line.end != null && line.end.incarnation() == start.incarnation();
        check.that(!ledger.isLate(line, start) || !counted, line);
      }
    }
    return check;
  }
}
