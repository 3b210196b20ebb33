package dev.carillon.prove;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.prove.WorkersLedger.Begun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A server and two workers, each a process, under attempts that last for seconds and many short
 * ones. Each round kills a worker, kills the server, lets a worker stand still for three leases,
 * and restarts the server in order. The workers tell what they begin; the server says at last how
 * each job ended.
 */
final class WorkersSuite implements Suite {
  static final int LEASE_SECONDS = 5;
  private static final int WORKERS = 2;
  private static final int LONG_JOBS = 6;
  private static final int SHORT_JOBS = 40;
  private static final int KEYED_JOBS = 2;
  private static final long LONG_MILLIS = 7_000;
  private static final long SHORT_MILLIS = 20;

  /** By then an attempt is leased, on a slow machine too. */
  private static final long LEASED_MILLIS = 2_500;

  private static final long DEAD_MILLIS = 300;
  private static final long AGAIN_MILLIS = LEASE_SECONDS * 1_000 + 2_000;
  private static final long RECONNECT_MILLIS = 3_000;
  private static final long PATIENCE_MILLIS = 120_000;
  private static final int POLL_MILLIS = 20;

  /** A worker that stands still is given another attempt before its silence is noticed. */
  private static final long NOT_ACCEPTED_MILLIS = 5_000;

  private static final String AT_ONCE =
      "\"onFailure\": {\"kind\": \"CONSTANT\", \"interval\": \"PT0S\", \"maxRetries\": 10}";

  private final KillSuite.Kind kind;

  WorkersSuite(KillSuite.Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return kind == KillSuite.Kind.SQLITE ? "workers" : "workers-postgres";
  }

  @Override
  public int rounds() {
    return 30;
  }

  @Override
  public int shortRounds() {
    return 1;
  }

  @Override
  public Proof run(Stage stage) throws InterruptedException {
    if (kind == KillSuite.Kind.SQLITE) {
      return new Run(stage, "jdbc:sqlite:" + stage.folder().resolve("jobs.db")).proof();
    }
    try (PostgresServer server = PostgresServer.start(stage.postgres(), "workers")) {
      return new Run(stage, server.url()).proof();
    }
  }

  /** What is done in each round. */
  private enum Fault {
    WORKER_KILLED("wk", "a worker is killed"),
    SERVER_KILLED("sk", "the server is killed"),
    WORKER_STOPPED("ws", "a worker stands still for three leases"),
    SERVER_RESTARTED("sr", "the server is restarted in order");

    final String word;
    final String words;

    Fault(String word, String words) {
      this.word = word;
      this.words = words;
    }
  }

  /** One run of the suite. */
  private static final class Run {
    private final Stage stage;
    private final String url;
    private final int port = freePort();
    private final int workerPort = freePort();
    private final Random random;
    private final WorkersLedger ledger = new WorkersLedger();
    private final List<String> problems = new ArrayList<>();
    private final Map<Integer, WorkersProcess> workers = new LinkedHashMap<>();
    private final Map<String, String> ids = new LinkedHashMap<>();
    private final Map<String, String> results = new HashMap<>();
    private final Check ended = new Check("every job succeeded, by an attempt that returned");

    /** Where the next server is there within the lease, which a busy machine may not manage. */
    private final Check once =
        Check.ofTime("a leased attempt ran on while its server was away, and was not made again");

    private final Check counted = new Check("an attempt that was lost with its worker counts");
    private final Check kept = new Check("the outcome of a job never changes");
    private final Check alone = new Check("jobs of a concurrency key never run at once");
    private final Timings again = new Timings("from the death of a worker to the next attempt");
    private final Timings still =
        new Timings("from when a worker stands still to the next attempt");
    private final Timings back = new Timings("from a server that is ready to its workers");
    private @Nullable WorkersProcess server;
    private int names;
    private long readyNanos;

    Run(Stage stage, String url) {
      this.stage = stage;
      this.url = url;
      this.random = new Random(stage.seed());
    }

    Proof proof() throws InterruptedException {
      try (ApiRequests requests = new ApiRequests(port)) {
        server = startServer(requests);
        for (int i = 0; i < WORKERS; i++) {
          startWorker();
        }
        awaitConnected();
        for (int round = 1; round <= stage.rounds() && problems.isEmpty(); round++) {
          for (Fault fault : Fault.values()) {
            if (problems.isEmpty()) {
              round(requests, round, fault);
            }
          }
        }
        if (problems.isEmpty()) {
          lookAgain(requests);
        }
      } finally {
        for (WorkersProcess worker : workers.values()) {
          worker.destroy();
        }
        if (server != null) {
          server.destroy();
        }
      }
      Map<String, Long> figures = new LinkedHashMap<>();
      figures.put("rounds", (long) stage.rounds());
      figures.put("acknowledged, new", (long) ids.size());
      again.addTo(figures);
      still.addTo(figures);
      back.addTo(figures);
      List<Check> checks = new ArrayList<>(List.of(ended, once, counted, kept, alone));
      checks.add(again.within(100, AGAIN_MILLIS));
      checks.add(still.within(100, AGAIN_MILLIS + NOT_ACCEPTED_MILLIS));
      checks.add(back.within(50, RECONNECT_MILLIS));
      return new Proof(checks, problems, figures);
    }

    // ---- a round

    private void round(ApiRequests requests, int round, Fault fault) throws InterruptedException {
      String name = "r" + round + "-" + fault.word;
      List<String> longJobs = new ArrayList<>();
      List<String> all = new ArrayList<>();
      for (int i = 0; i < LONG_JOBS; i++) {
        longJobs.add(schedule(requests, name + "-long-" + i, LONG_MILLIS, null));
      }
      for (int i = 0; i < KEYED_JOBS; i++) {
        all.add(schedule(requests, name + "-keyed-" + i, LONG_MILLIS / 2, name));
      }
      await(
          "all long jobs to begin", () -> longJobs.stream().noneMatch(k -> ledger.of(k).isEmpty()));
      TimeUnit.MILLISECONDS.sleep(LEASED_MILLIS);
      for (int i = 0; i < SHORT_JOBS; i++) {
        all.add(schedule(requests, name + "-short-" + i, SHORT_MILLIS, null));
      }
      switch (fault) {
        case WORKER_KILLED -> killWorker(longJobs);
        case WORKER_STOPPED -> stopWorker(longJobs);
        case SERVER_KILLED -> {
          if (server == null || !server.kill()) {
            problems.add("the server ended before it was killed, its log is " + stage.errors());
          }
          TimeUnit.MILLISECONDS.sleep(DEAD_MILLIS + random.nextInt(1_000));
          server = startServer(requests);
          awaitConnected();
        }
        case SERVER_RESTARTED -> {
          if (server == null || !server.end()) {
            problems.add("the server did not stop in order, its log is " + stage.errors());
          }
          server = startServer(requests);
          awaitConnected();
        }
      }
      all.addAll(longJobs);
      for (String key : all) {
        end(requests, key);
      }
      if (fault == Fault.SERVER_KILLED || fault == Fault.SERVER_RESTARTED) {
        for (String key : longJobs) {
          once.that(ledger.of(key).size() == 1, ledger.of(key));
        }
      }
      if (fault != Fault.WORKER_STOPPED && fault != Fault.WORKER_KILLED) {
        lookAtKey(name);
      }
      stage.progress().accept("round %d of %d: %s".formatted(round, stage.rounds(), fault.words));
    }

    private void killWorker(List<String> longJobs) throws InterruptedException {
      int victim = any();
      List<Begun> lost = ledger.running(victim, longJobs);
      long killed = System.nanoTime();
      WorkersProcess process = workers.remove(victim);
      if (process == null || !process.kill()) {
        problems.add("a worker ended before it was killed, its log is " + stage.errors());
      }
      startWorker();
      awaitAgain(lost, killed, again);
    }

    private void stopWorker(List<String> longJobs) throws InterruptedException {
      int victim = any();
      WorkersProcess process = workers.get(victim);
      if (process == null) {
        return;
      }
      List<Begun> lost = ledger.running(victim, longJobs);
      long stopped = System.nanoTime();
      process.signal("-STOP");
      awaitAgain(lost, stopped, still);
      long stands = TimeUnit.SECONDS.toNanos(3L * LEASE_SECONDS);
      TimeUnit.NANOSECONDS.sleep(Math.max(0, stopped + stands - System.nanoTime()));
      process.signal("-CONT");
    }

    /** Each of them begins again, as the next attempt. */
    private void awaitAgain(List<Begun> lost, long since, Timings timings)
        throws InterruptedException {
      for (Begun each : lost) {
        await("another attempt of " + each, () -> ledger.of(each.key).size() > 1);
        List<Begun> attempts = ledger.of(each.key);
        if (attempts.size() > 1) {
          timings.add((attempts.get(1).beganNanos - since) / 1_000);
          counted.that(attempts.get(1).attempt.startsWith("2:"), attempts);
        }
      }
    }

    private void lookAtKey(String name) {
      List<Begun> of = new ArrayList<>();
      for (int i = 0; i < KEYED_JOBS; i++) {
        of.addAll(ledger.of(name + "-keyed-" + i));
      }
      for (Begun one : of) {
        for (Begun other : of) {
          boolean after = one.beganNanos > other.beganNanos;
          if (after && !one.key.equals(other.key)) {
            alone.that(other.isOver() && other.endedNanos <= one.beganNanos, of);
          }
        }
      }
    }

    // ---- jobs

    private String schedule(
        ApiRequests requests, String key, long millis, @Nullable String concurrency)
        throws InterruptedException {
      String shared =
          concurrency == null ? "" : ", \"concurrency\": {\"key\": \"" + concurrency + "\"}";
      String body =
          "{\"type\": \"proved\", \"input\": {\"key\": \"%s\", \"millis\": %d}, \"key\": \"%s\", %s%s}"
              .formatted(key, millis, key, AT_ONCE, shared);
      ApiRequests.Reply reply = requests.ask(ApiRequests.JOBS, body);
      String id = reply.body().path("id").asString("");
      if (id.isEmpty()) {
        problems.add("a job was refused: " + reply);
      }
      ids.put(key, id);
      return key;
    }

    /** Waits for the end of a job and looks at it. */
    private void end(ApiRequests requests, String key) throws InterruptedException {
      String path = ApiRequests.JOBS + "/" + ids.get(key);
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
      JsonNode job = requests.ask(path, null).body();
      while (!job.path("state").asString("").equals("SUCCEEDED")) {
        if (System.nanoTime() - deadline > 0) {
          ended.that(false, job + " " + ledger.of(key));
          problems.add("job " + key + " does not end: " + job);
          return;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        job = requests.ask(path, null).body();
      }
      String result = result(requests, key);
      results.put(key, result);
      boolean returned =
          ledger.of(key).stream().anyMatch(b -> b.returned && b.attempt.equals(result));
      ended.that(returned, key + " " + result + " " + ledger.of(key));
    }

    private String result(ApiRequests requests, String key) throws InterruptedException {
      return requests
          .ask(ApiRequests.JOBS + "/" + ids.get(key) + "/result", null)
          .body()
          .asString("");
    }

    private void lookAgain(ApiRequests requests) throws InterruptedException {
      for (Map.Entry<String, String> each : results.entrySet()) {
        String now = result(requests, each.getKey());
        kept.that(now.equals(each.getValue()), each + " now " + now);
      }
    }

    // ---- processes

    private WorkersProcess startServer(ApiRequests requests) throws InterruptedException {
      WorkersProcess started =
          WorkersProcess.start(
              stage.errors(),
              line -> {},
              "workers-server-child",
              url,
              "--port=" + port,
              "--worker-port=" + workerPort,
              "--node-id=proved");
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
      while (!requests.isReady()) {
        if (System.nanoTime() - deadline > 0 || !started.isAlive()) {
          problems.add("a server is not ready, its log is " + stage.errors());
          break;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
      readyNanos = System.nanoTime();
      return started;
    }

    private void startWorker() {
      int name = ++names;
      workers.put(
          name,
          WorkersProcess.start(
              stage.errors(),
              line -> ledger.told(name, line),
              "workers-child",
              "--server=127.0.0.1:" + workerPort,
              "--lease-seconds=" + LEASE_SECONDS));
    }

    private void awaitConnected() throws InterruptedException {
      for (int worker : List.copyOf(workers.keySet())) {
        await("worker " + worker, () -> ledger.connectedSince(worker) != null);
        Long since = ledger.connectedSince(worker);
        if (since != null) {
          back.add(Math.max(0, since - readyNanos) / 1_000);
        }
      }
    }

    private int any() {
      List<Integer> all = List.copyOf(workers.keySet());
      return all.get(random.nextInt(all.size()));
    }

    private void await(String what, BooleanSupplier condition) throws InterruptedException {
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - deadline > 0) {
          problems.add("waited for " + what + " for " + PATIENCE_MILLIS / 1_000 + " s");
          return;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }

    private static int freePort() {
      try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
