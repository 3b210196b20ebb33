package dev.carillon.browser;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.JobType;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A real server on SQLite with jobs in every state, as an operator would find it. */
final class DemoServer implements AutoCloseable {
  static final JobType<RawPayload, RawPayload> MAIL = type("mail.send");
  static final JobType<RawPayload, RawPayload> CHARGE = type("billing.charge");
  static final JobType<RawPayload, RawPayload> REPORT = type("report.build");
  static final JobType<RawPayload, RawPayload> ORDER = type("order.fulfil");

  private final CountDownLatch over = new CountDownLatch(1);
  private ServerClient client;
  private final Path file;
  private Carillon carillon;
  private CarillonServer server;
  private int port;

  DemoServer(Path file) {
    this.file = file;
    start();
  }

  private static JobType<RawPayload, RawPayload> type(String name) {
    return JobType.of(name, RawPayload.class, RawPayload.class);
  }

  private void start() {
    try {
      carillon =
          Carillon.builder()
              .url("jdbc:sqlite:" + file)
              .nodeId("shop-1")
              .closeGrace(Duration.ofMillis(200))
              .open();
      handlers();
      server =
          CarillonServer.start(
              carillon, ServerOptions.standard().port(port).stopGrace(Duration.ofMillis(200)));
      port = server.address().getPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void handlers() {
    RawPayload done = new RawPayload("json", bytes("{\"delivered\": true}"));
    carillon.handle(MAIL, (input, job) -> done);
    carillon.handle(
        CHARGE,
        (input, job) -> {
          String text = new String(input.bytes(), StandardCharsets.UTF_8);
          if (text.contains("good")) {
            return done;
          }
          throw new IllegalStateException(text);
        });
    carillon.handle(
        REPORT,
        (input, job) -> {
          over.await();
          return done;
        });
    carillon.workflow(
        ORDER,
        (input, wf) -> {
          wf.step("reserve stock", () -> {});
          wf.step("charge card", () -> {});
          RawPayload approval = wf.await(SignalType.of("approved", RawPayload.class));
          wf.step("ship", () -> {});
          return approval;
        });
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  Carillon carillon() {
    return carillon;
  }

  /** Where the dashboard is, with a slash at the end. */
  String pages() {
    return "http://127.0.0.1:" + port + "/ui/";
  }

  int port() {
    return port;
  }

  /** Stops the node and its server; the file stays. */
  void stop() {
    server.close();
    carillon.close();
  }

  /** The same again, at the same address. */
  void startAgain() {
    start();
  }

  /** What happened in a shop: everything that pages have to show. */
  void fill() {
    for (int i = 1; i <= 40; i++) {
      job(
          """
          {"type": "mail.send", "queue": "mail", "input": {"to": "user%d@example.org"},
           "metadata": {"customer": "%d"}}"""
              .formatted(i, i % 5));
    }
    for (int i = 1; i <= 3; i++) {
      job(
          """
          {"type": "billing.charge", "queue": "billing", "input": "card %d declined",
           "name": "invoice-%d", "onFailure": {"kind": "CONSTANT", "interval": "50ms",
           "maxRetries": 2}, "metadata": {"invoice": "2026-%d"}}"""
              .formatted(4000 + i, i, i));
    }
    job(
        """
        {"type": "billing.charge", "queue": "billing", "input": "no route to the bank",
         "name": "invoice-9", "onFailure": {"kind": "DROP"}}""");
    job(
        "{\"type\": \"report.build\", \"queue\": \"reports\", \"name\": \"monthly\", \"input\": 1}");
    job(
        "{\"type\": \"order.fulfil\", \"queue\": \"orders\", \"name\": \"order-77\", \"input\": 77}");
    job("{\"type\": \"thumbnail.make\", \"queue\": \"images\", \"input\": {\"image\": 5}}");
    for (int i = 1; i <= 4; i++) {
      job(
          "{\"type\": \"mail.send\", \"queue\": \"mail\", \"name\": \"later-%d\", \"in\": \"PT%dH\"}"
              .formatted(i, i));
    }
    schedule("nightly-report", "report.export", "30 2 * * *");
    schedule("weekday-digest", "mail.send", "0 9 * * MON-FRI");
  }

  private void schedule(String name, String type, String cron) {
    send(
        "PUT",
        "/v1/namespaces/default/schedules/" + name,
        """
        {"type": "%s", "queue": "mail",
         "schedule": {"cron": "%s", "zone": "Europe/Berlin"}}"""
            .formatted(type, cron));
  }

  /** Schedules a job over HTTP; answers its id. */
  String job(String body) {
    String answer = send("POST", "/v1/namespaces/default/jobs", body);
    return answer.replaceAll("(?s).*\"id\"\\s*:\\s*\"([^\"]+)\".*", "$1");
  }

  String get(String path) {
    return client().get(path);
  }

  String send(String method, String path, String body) {
    return client().send(method, path, body);
  }

  private ServerClient client() {
    ServerClient known = client;
    if (known == null) {
      known = new ServerClient(port);
      client = known;
    }
    return known;
  }

  @Override
  public void close() {
    over.countDown();
    stop();
    if (client != null) {
      client.close();
    }
  }
}
