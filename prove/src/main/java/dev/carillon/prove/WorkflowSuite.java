package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Kills processes that run workflows at random moments, again and again: over steps, retries, a
 * child, a timer, a signal and compensations, while a storm of pauses goes over them. On SQLite
 * there is one process; on PostgreSQL there are three nodes, of which the others take over what the
 * killed one had. At last a process may end them all.
 */
final class WorkflowSuite implements Suite {
  private static final int A_ROUND = 40;
  private static final int LEAST_MILLIS = 300;
  private static final int MOST_MILLIS = 2_500;
  private static final int START_MILLIS = 60_000;
  private static final int DRAIN_SECONDS = 280;
  private static final int NODES = 3;

  private final KillSuite.Kind kind;

  WorkflowSuite(KillSuite.Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return kind == KillSuite.Kind.SQLITE ? "workflow" : "workflow-postgres";
  }

  @Override
  public int rounds() {
    return 100;
  }

  @Override
  public int shortRounds() {
    return 3;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    if (kind == KillSuite.Kind.SQLITE) {
      return new Run(stage, "jdbc:sqlite:" + stage.folder().resolve("jobs.db"), 1).proof();
    }
    try (PostgresServer server = PostgresServer.start(stage.postgres(), "workflow")) {
      return new Run(stage, server.url(), NODES).proof();
    }
  }

  /** One run of the suite: its nodes and what they told. */
  private static final class Run {
    private final Stage stage;
    private final String url;
    private final int nodes;
    private final Random random;
    private final WorkflowLedger ledger = new WorkflowLedger();
    private final List<String> problems = new ArrayList<>();
    private final List<WorkflowProcess> running = new ArrayList<>();
    private int launched;
    private long underWay;

    Run(Stage stage, String url, int nodes) {
      this.stage = stage;
      this.url = url;
      this.nodes = nodes;
      this.random = new Random(stage.seed());
    }

    Proof proof() throws InterruptedException {
      try {
        for (int node = 0; node < nodes; node++) {
          running.add(launch(node, false));
        }
        for (int round = 0; round < stage.rounds(); round++) {
          awaitLife();
          kill(round);
        }
        awaitLife();
        drain();
      } finally {
        running.forEach(WorkflowProcess::kill);
      }
      Map<String, Long> figures = new LinkedHashMap<>();
      figures.put("kills", (long) stage.rounds());
      figures.put("workflows", (long) launched * A_ROUND);
      figures.put("workflows under way at kills", underWay);
      figures.put("steps begun", ledger.steps());
      figures.put("values seen", ledger.seen());
      figures.put("pauses answered", ledger.pauses());
      return new Proof(ledger.checks(launched * A_ROUND), problems, figures);
    }

    /** Each process that is not to drain schedules workflows of its own. */
    private WorkflowProcess launch(int node, boolean drain) {
      List<String> arguments = new ArrayList<>();
      arguments.add(url);
      arguments.add("--node=proved-" + node);
      arguments.add("--first=" + (drain ? 0 : launched * A_ROUND));
      arguments.add("--count=" + (drain ? launched * A_ROUND : A_ROUND));
      if (drain) {
        arguments.add("--drain");
      } else {
        launched++;
      }
      return WorkflowProcess.start(stage.errors(), ledger, arguments);
    }

    private void awaitLife() throws InterruptedException {
      for (WorkflowProcess each : running) {
        if (!each.awaitBegin(START_MILLIS)) {
          problems.add("a process did not begin to work");
        }
      }
    }

    /** One node dies; where there are others, it stays away for a while. */
    private void kill(int round) throws InterruptedException {
      TimeUnit.MILLISECONDS.sleep(LEAST_MILLIS + random.nextInt(MOST_MILLIS));
      int victim = random.nextInt(nodes);
      underWay += ledger.underWay();
      running.get(victim).kill();
      if (nodes > 1 && random.nextBoolean()) {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_MILLIS));
      }
      running.set(victim, launch(victim, false));
      stage
          .progress()
          .accept("round %d of %d: %,d steps".formatted(round + 1, stage.rounds(), ledger.steps()));
    }

    /**
     * The first node ends what is left and asks for every result; the others help, and are calm.
     */
    private void drain() throws InterruptedException {
      running.forEach(WorkflowProcess::kill);
      for (int node = 1; node < nodes; node++) {
        List<String> arguments = List.of(url, "--node=proved-" + node, "--count=0");
        running.set(node, WorkflowProcess.start(stage.errors(), ledger, arguments));
      }
      WorkflowProcess last = launch(0, true);
      running.set(0, last);
      if (!last.awaitEnd(DRAIN_SECONDS)) {
        problems.add("workflows are left after " + DRAIN_SECONDS + " s without a kill");
      }
    }
  }
}
