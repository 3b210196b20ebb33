package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.prove.Ledger.Blow;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Crashes the server under load and starts it again; sometimes it is away for a while. */
final class RestartSuite implements Suite {
  private static final int SHARDS = 60;
  private static final int LONGEST_AWAY_MILLIS = 4_000;
  private static final long DUE_AHEAD_MICROS = 600_000;
  private static final long DUE_SPAN_MICROS = 2_000_000;
  private static final long AGAIN_MILLIS = 5_000;
  private static final long POLL_NANOS = 10_000_000;
  private static final long GIVE_UP_MILLIS = 30_000;

  /** How long after the server is back attempts may be made again for its sake. */
  private static final long AFTERMATH_MICROS = 5_000_000;

  /** Claims that a round may cost, for each shard that the nodes have. */
  private static final int CLAIMS_A_SHARD = 3;

  private final Timings again = new Timings("from accepting connections to the next start, each");
  private final Check works = new Check("each node starts jobs again, and its loop answers");
  private final Check claims = new Check("no storm of claims: at most 3 a shard and outage");
  private long mostClaims;

  @Override
  public String name() {
    return "restart";
  }

  @Override
  public int rounds() {
    return 20;
  }

  @Override
  public int shortRounds() {
    return 2;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    try (Fleet fleet = new Fleet(stage, name())) {
      fleet.begin();
      for (int round = 1; round <= stage.rounds() && fleet.problems().isEmpty(); round++) {
        restart(fleet, round);
      }
      fleet.end();
      return proof(stage, fleet);
    }
  }

  private void restart(Fleet fleet, int round) throws InterruptedException {
    Child node = fleet.node(fleet.any());
    if (fleet.ask(node, new Order.Spread(SHARDS), Note.Spread.class) == null) {
      return;
    }
    long due = Note.micros(Instant.now()) + DUE_AHEAD_MICROS;
    if (fleet.ask(node, new Order.Gather(due, DUE_SPAN_MICROS), Note.Gathered.class) == null) {
      return;
    }
    Fleet.Counts before = fleet.counts();
    long down = Note.micros(Instant.now());
    fleet.server().crash();
    TimeUnit.MILLISECONDS.sleep(fleet.random().nextInt(LONGEST_AWAY_MILLIS));
    long up = startAgain(fleet.server());
    for (Child each : fleet.nodes()) {
      fleet.ledger().disturbed(Blow.OUTAGE, each.incarnation(), down, up + AFTERMATH_MICROS);
    }
    long slowest = 0;
    for (Child each : fleet.nodes()) {
      long started = fleet.awaitStart(each, up, GIVE_UP_MILLIS);
      works.that(started != Long.MAX_VALUE, "round " + round + ", " + each.incarnation());
      again.add(started - up);
      slowest = Math.max(slowest, started - up);
    }
    Fleet.Counts after = fleet.counts();
    long asked = after.of("claims.asked") - before.of("claims.asked");
    long most = (long) CLAIMS_A_SHARD * Math.max(before.shards(), after.shards());
    claims.that(asked <= most, "round %d: %d claims, %d at most".formatted(round, asked, most));
    mostClaims = Math.max(mostClaims, asked);
    fleet.progress(
        "round %d: away for %d ms, all start again after %d ms, %d claims"
            .formatted(round, (up - down) / 1000, slowest / 1000, asked));
  }

  /** Starts the server; returns when it first accepted a connection. */
  private static long startAgain(PostgresServer server) throws InterruptedException {
    String url = server.url();
    CompletableFuture<Long> accepted = new CompletableFuture<>();
    Thread poll =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (!accepted.isDone()) {
                    try (Connection connection = DriverManager.getConnection(url)) {
                      if (connection.isValid(1)) {
                        accepted.complete(Note.micros(Instant.now()));
                      }
                    } catch (SQLException e) {
                      LockSupport.parkNanos(POLL_NANOS); // not yet
                    }
                  }
                });
    server.restart();
    poll.join();
    return accepted.join();
  }

  private Proof proof(Stage stage, Fleet fleet) {
    StoreContents contents = StoreContents.ofPostgres(fleet.server().url());
    List<Check> checks = new ArrayList<>();
    checks.add(works);
    checks.add(again.within(100, AGAIN_MILLIS));
    checks.add(claims);
    checks.addAll(new KillChecks(fleet.ledger(), contents).all());
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("rounds", (long) stage.rounds());
    figures.put("claims in a round, at most", mostClaims);
    again.addTo(figures);
    Figures.add(figures, fleet.ledger(), contents, stage.errors());
    return new Proof(checks, List.copyOf(fleet.problems()), figures);
  }
}
