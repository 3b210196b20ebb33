package dev.carillon.prove;

import com.sun.net.httpserver.HttpServer;
import dev.carillon.fixture.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/**
 * Kills a server under the requests of its clients, again and again. The clients ask again under
 * the same keys, as the API says, and keep the ledger; at last the server lists what there is.
 */
final class ApiSuite implements Suite {
  private static final int LEAST_LOAD_MILLIS = 300;
  private static final int MOST_LOAD_MILLIS = 2_000;
  private static final int DEAD_MILLIS = 100;
  private static final int READY_MILLIS = 60_000;
  private static final int LEAST_ACKNOWLEDGED = 50;
  private static final int ACKNOWLEDGED_MILLIS = 120_000;
  private static final int REST_MILLIS = 60_000;
  private static final int DRAIN_MILLIS = 120_000;
  private static final int POLL_MILLIS = 20;

  private final KillSuite.Kind kind;

  ApiSuite(KillSuite.Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return kind == KillSuite.Kind.SQLITE ? "api" : "api-postgres";
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
    if (kind == KillSuite.Kind.SQLITE) {
      return new Run(stage, "jdbc:sqlite:" + stage.folder().resolve("jobs.db")).proof();
    }
    try (PostgresServer server = PostgresServer.start(stage.postgres(), "api")) {
      return new Run(stage, server.url()).proof();
    }
  }

  /** One run of the suite. */
  private static final class Run {
    private final Stage stage;
    private final String url;
    private final int port = freePort();
    private final ApiLedger ledger = new ApiLedger();
    private final List<String> problems = new ArrayList<>();

    Run(Stage stage, String url) {
      this.stage = stage;
      this.url = url;
    }

    Proof proof() throws InterruptedException {
      HttpServer hook = receiver();
      List<JsonNode> jobs = List.of();
      ApiServer server = null;
      try (ApiRequests requests = new ApiRequests(port)) {
        ApiLoad load =
            new ApiLoad(
                requests, ledger, "http://127.0.0.1:%d/".formatted(hook.getAddress().getPort()));
        load.begin(stage.seed());
        server = start(requests);
        Random random = new Random(stage.seed());
        for (int round = 1; round <= stage.rounds() && problems.isEmpty(); round++) {
          awaitAcknowledged();
          TimeUnit.MILLISECONDS.sleep(
              LEAST_LOAD_MILLIS + random.nextInt(MOST_LOAD_MILLIS - LEAST_LOAD_MILLIS));
          kill(server);
          TimeUnit.MILLISECONDS.sleep(DEAD_MILLIS);
          server = start(requests);
          stage
              .progress()
              .accept(
                  "round %d of %d: %,d jobs asked for"
                      .formatted(round, stage.rounds(), ledger.requests()));
        }
        if (!load.rest(REST_MILLIS)) {
          problems.add("clients wait for an answer after " + REST_MILLIS / 1000 + " s");
        }
        if (problems.isEmpty()) {
          awaitDeliveries(requests);
          jobs = all(requests);
        }
      } finally {
        if (server != null) {
          kill(server);
        }
        hook.stop(0);
      }
      Map<String, Long> figures = new LinkedHashMap<>();
      figures.put("kills", (long) stage.rounds());
      figures.putAll(ledger.figures());
      figures.put("jobs in the store", (long) jobs.size());
      return new Proof(problems.isEmpty() ? ledger.checks(jobs) : List.of(), problems, figures);
    }

    private ApiServer start(ApiRequests requests) throws InterruptedException {
      ledger.launched();
      ApiServer server = ApiServer.start(stage.errors(), url, port);
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(READY_MILLIS);
      while (!requests.isReady()) {
        if (System.nanoTime() - deadline > 0 || !server.isAlive()) {
          problems.add("a server is not ready, its log is " + stage.errors());
          break;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
      return server;
    }

    /**
     * Waits until this life of the server has acknowledged enough to lose something. Where others
     * may hold the store, it has to wait until the one that was killed counts as dead.
     */
    private void awaitAcknowledged() throws InterruptedException {
      int before = ledger.acknowledgements();
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ACKNOWLEDGED_MILLIS);
      while (ledger.acknowledgements() < before + LEAST_ACKNOWLEDGED) {
        if (System.nanoTime() - deadline > 0) {
          problems.add(
              "a server acknowledged %d jobs in %d s, expected %d"
                  .formatted(
                      ledger.acknowledgements() - before,
                      ACKNOWLEDGED_MILLIS / 1000,
                      LEAST_ACKNOWLEDGED));
          return;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }

    private void kill(ApiServer server) throws InterruptedException {
      if (!server.kill()) {
        problems.add("a server ended before it was killed, its log is " + stage.errors());
      }
    }

    private void awaitDeliveries(ApiRequests requests) throws InterruptedException {
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS);
      for (String state : List.of("SCHEDULED", "READY", "RUNNING", "BLOCKED")) {
        String path = ApiRequests.JOBS + "?limit=1&type=carillon.webhook&state=" + state;
        while (!requests.ask(path, null).body().path("items").isEmpty()) {
          if (System.nanoTime() - deadline > 0) {
            problems.add("webhooks are left after " + DRAIN_MILLIS / 1000 + " s");
            return;
          }
          TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
      }
    }

    private List<JsonNode> all(ApiRequests requests) throws InterruptedException {
      List<JsonNode> all = new ArrayList<>();
      String cursor = "";
      do {
        JsonNode page = requests.ask(ApiRequests.JOBS + "?limit=1000" + cursor, null).body();
        page.path("items").forEach(all::add);
        String next = page.path("next").asString("");
        cursor = next.isEmpty() ? "" : "&cursor=" + encoded(next);
      } while (!cursor.isEmpty());
      return all;
    }

    private static String encoded(String text) {
      return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /** Where the webhooks go: the body of each is the key of its job. */
    private HttpServer receiver() {
      try {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        HttpServer hook = HttpServer.create(address, 0);
        hook.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        hook.createContext(
            "/",
            exchange -> {
              String body =
                  new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
              ledger.delivered(
                  body.replace("\"", ""), exchange.getRequestHeaders().getFirst("webhook-id"));
              exchange.sendResponseHeaders(204, -1);
              exchange.close();
            });
        hook.start();
        return hook;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
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
