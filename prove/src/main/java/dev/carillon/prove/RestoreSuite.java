package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.prove.Ledger.Blow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Takes a copy of the server's data, lets the nodes work on, exchanges one of them, and puts the
 * copy back as a recovery does: the server begins a new timeline. What was acknowledged in between
 * is lost with it; everything else is not, and the nodes find out by themselves.
 */
final class RestoreSuite implements Suite {
  private static final int SHARDS = 40;
  private static final long DUE_AHEAD_MICROS = 4_000_000;
  private static final long DUE_SPAN_MICROS = 1_000_000;
  private static final long WORK_MILLIS = 1_500;
  private static final long GIVE_UP_MILLIS = 30_000;
  private static final long AFTERMATH_MICROS = 5_000_000;
  private static final String REPORT = "the store went back in time or was exchanged";

  private final Timings again = new Timings("from the restored copy to the next start, each");
  private final Check noticed = new Check("each node notices once that the store went back");
  private final Check reported = new Check("each node reports that jobs may be lost");
  private final Check works = new Check("each node starts jobs again");

  @Override
  public String name() {
    return "restore";
  }

  @Override
  public int rounds() {
    return 10;
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
        restore(stage, fleet, round);
      }
      fleet.end();
      return proof(stage, fleet);
    }
  }

  private void restore(Stage stage, Fleet fleet, int round) throws InterruptedException {
    int index = fleet.any();
    Child node = fleet.node(index);
    if (fleet.ask(node, new Order.Spread(SHARDS), Note.Spread.class) == null) {
      return;
    }
    long due = Note.micros(Instant.now()) + DUE_AHEAD_MICROS;
    if (fleet.ask(node, new Order.Gather(due, DUE_SPAN_MICROS), Note.Gathered.class) == null) {
      return;
    }
    Ledger.Moment before = fleet.ledger().moment();
    Path backup = stage.folder().resolve("backup-" + round);
    takeBackup(fleet, backup);
    // Owners of the copy are dead when it comes back, and their shards have others meanwhile.
    fleet.kill(index);
    TimeUnit.MILLISECONDS.sleep(WORK_MILLIS);
    fleet.restart(index);
    long noticedBefore = fleet.counts().of("store.exchanged");
    long reportedBefore = Figures.logged(stage.errors(), REPORT);
    long down = Note.micros(Instant.now());
    fleet.server().crash();
    putBack(backup, fleet.server());
    fleet.server().restart();
    long up = Note.micros(Instant.now());
    long slowest = awaitWork(fleet, round, down, up);
    fleet.ledger().wentBackTo(before);
    long noticedNow = fleet.counts().of("store.exchanged") - noticedBefore;
    long reportedNow = Figures.logged(stage.errors(), REPORT) - reportedBefore;
    noticed.that(noticedNow == Fleet.NODES, "round " + round + ": by " + noticedNow);
    reported.that(reportedNow == Fleet.NODES, "round " + round + ": by " + reportedNow);
    fleet.progress(
        "round %d: noticed by %d, all start again after %d ms"
            .formatted(round, noticedNow, slowest / 1000));
    TimeUnit.MILLISECONDS.sleep(WORK_MILLIS);
  }

  private long awaitWork(Fleet fleet, int round, long down, long up) throws InterruptedException {
    long slowest = 0;
    for (Child each : fleet.nodes()) {
      fleet.ledger().disturbed(Blow.OUTAGE, each.incarnation(), down, up + AFTERMATH_MICROS);
      long started = fleet.awaitStart(each, up, GIVE_UP_MILLIS);
      works.that(started != Long.MAX_VALUE, "round " + round + ", " + each.incarnation());
      again.add(started - up);
      slowest = Math.max(slowest, started - up);
    }
    return slowest;
  }

  /** Of a server that is not running: as consistent as after a crash. */
  private static void takeBackup(Fleet fleet, Path backup) throws InterruptedException {
    long down = Note.micros(Instant.now());
    fleet.server().crash();
    Folders.copy(fleet.server().data(), backup);
    fleet.server().restart();
    long up = Note.micros(Instant.now());
    for (Child each : fleet.nodes()) {
      fleet.ledger().disturbed(Blow.OUTAGE, each.incarnation(), down, up + AFTERMATH_MICROS);
    }
  }

  /** As a recovery from an archive, which holds nothing: it ends at once, on a new timeline. */
  private static void putBack(Path backup, PostgresServer server) throws InterruptedException {
    try {
      Folders.remove(server.data());
      Folders.copy(backup, server.data());
      Folders.remove(backup);
      Files.createFile(server.data().resolve("recovery.signal"));
      Files.writeString(
          server.data().resolve("postgresql.auto.conf"),
          "restore_command = 'false'\n",
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Proof proof(Stage stage, Fleet fleet) {
    StoreContents contents = StoreContents.ofPostgres(fleet.server().url());
    Ledger ledger = fleet.ledger();
    List<Check> checks = new ArrayList<>();
    checks.add(noticed);
    checks.add(reported);
    checks.add(works);
    checks.addAll(new KillChecks(ledger, contents).all());
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("rounds", (long) stage.rounds());
    figures.put(
        "acknowledged jobs that went with what was not in the copy",
        ledger.lines().stream()
            .filter(line -> line.mayBeLost && line.created())
            .filter(line -> contents.ofRequest(line.request).isEmpty())
            .count());
    again.addTo(figures);
    Figures.add(figures, ledger, contents, stage.errors());
    return new Proof(checks, List.copyOf(fleet.problems()), figures);
  }
}
