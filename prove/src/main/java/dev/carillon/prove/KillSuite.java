package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Kills one process under load, again and again, and looks at what its store holds at the end. */
final class KillSuite implements Suite {
  private final Kind kind;

  /** The stores it can run on. */
  enum Kind {
    SQLITE,
    POSTGRES
  }

  KillSuite(Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return kind == Kind.SQLITE ? "kill" : "kill-postgres";
  }

  @Override
  public int rounds() {
    return 50;
  }

  @Override
  public int shortRounds() {
    return kind == Kind.SQLITE ? 5 : 3;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    if (kind == Kind.SQLITE) {
      Path file = stage.folder().resolve("jobs.db");
      KillLoop loop = loop(stage, "jdbc:sqlite:" + file);
      return proof(loop, StoreContents.ofFile(file));
    }
    try (PostgresServer server = PostgresServer.start(stage.postgres(), "kill")) {
      KillLoop loop = loop(stage, server.url());
      return proof(loop, StoreContents.ofPostgres(server.url()));
    }
  }

  private static KillLoop loop(Stage stage, String url) throws InterruptedException {
    KillLoop loop =
        new KillLoop(url, stage.errors(), stage.seed(), stage.shortRun(), stage.progress());
    loop.run(stage.rounds());
    return loop;
  }

  private static Proof proof(KillLoop loop, StoreContents contents) {
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("kills under load", (long) loop.kills());
    figures.put("kills while starting", (long) loop.earlyKills());
    Figures.add(figures, loop.ledger(), contents, loop.errors());
    return new Proof(
        new KillChecks(loop.ledger(), contents).all(), List.copyOf(loop.problems()), figures);
  }
}
