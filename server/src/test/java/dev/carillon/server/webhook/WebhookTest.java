package dev.carillon.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import dev.carillon.Carillon;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.server.webhook.Receiver.Got;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Webhook jobs from the API to a receiver on this host, which a server without tokens may reach.
 */
@Timeout(120)
class WebhookTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final String OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String NEW = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD8RYnCd0mJpc=";

  /** Retries soon, so that tests do not wait. */
  private static final String SOON =
      ", \"onFailure\": {\"kind\": \"CONSTANT\", \"interval\": \"20ms\", \"maxRetries\": 3}";

  private static final String NEVER = ", \"onFailure\": {\"kind\": \"DROP\"}";

  @TempDir private Path folder;
  private WebhookSettings settings = WebhookSettings.none();
  private Carillon carillon;
  private CarillonServer server;
  private HttpClient client;
  private String base;

  @BeforeEach
  void open() throws Exception {
    carillon = Carillon.builder().inMemory().closeGrace(Duration.ofSeconds(2)).open();
    server =
        CarillonServer.start(
            carillon,
            ServerOptions.standard()
                .port(0)
                .stopGrace(Duration.ofSeconds(2))
                .webhooks(() -> settings));
    client = HttpClient.newHttpClient();
    base = "http://127.0.0.1:" + server.address().getPort();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    carillon.close();
  }

  private HttpResponse<String> get(String path) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(base + path)).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String body, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + JOBS))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private String schedule(String webhook, String more, String... headers) throws Exception {
    HttpResponse<String> response = post("{\"webhook\": " + webhook + more + "}", headers);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(201);
    return JOBS + "/" + JSON.readTree(response.body()).path("id").asString();
  }

  private String to(Receiver receiver, String... fields) {
    String more = fields.length == 0 ? "" : ", " + String.join(", ", fields);
    return "{\"url\": \"%s\"%s}".formatted(receiver.url("/hook?a=b%20c"), more);
  }

  private JsonNode ended(String job) {
    return Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(10))
        .until(() -> JSON.readTree(get(job).body()), each -> !each.path("endedAt").isMissingNode());
  }

  private String state(String job) {
    return ended(job).path("state").asString();
  }

  private String error(String job) {
    return ended(job).path("lastError").path("message").asString();
  }

  // ---- what is sent

  @Test
  void requestIsSentAsItWasAskedFor() throws Exception {
    try (Receiver receiver = Receiver.answering(Receiver.ok("application/json", "{\"n\": 1.50}"))) {
      String job =
          schedule(
              to(
                  receiver,
                  "\"method\": \"PUT\"",
                  "\"headers\": {\"X-Tenant\": \"a b\", \"User-Agent\": \"shop\"}",
                  "\"body\": {\"order\":  7.10}"),
              "");
      Got got = receiver.next();
      assertThat(got.line()).isEqualTo("PUT /hook?a=b%20c HTTP/1.1");
      assertThat(got.text()).isEqualTo("{\"order\":  7.10}");
      assertThat(got.headers())
          .containsEntry("host", "127.0.0.1:" + receiver.port())
          .containsEntry("x-tenant", "a b")
          .containsEntry("user-agent", "shop")
          .containsEntry("content-type", "application/json")
          .containsEntry("content-length", "16")
          .containsKey("webhook-id")
          .doesNotContainKeys("webhook-signature", "ce-id", "traceparent");
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      HttpResponse<String> result = get(job + "/result");
      assertThat(result.statusCode()).isEqualTo(200);
      assertThat(result.body()).isEqualTo("{\"n\": 1.50}");
      assertThat(result.headers().firstValue("content-type")).hasValue("application/json");
      assertThat(get(job).body()).contains("\"type\":\"carillon.webhook\"");
    }
  }

  @Test
  void textsAndBytesAndNothingAreSentToo() throws Exception {
    try (Receiver receiver = Receiver.answering(Receiver.status(204))) {
      schedule(to(receiver, "\"bodyText\": \"é\""), "");
      Got text = receiver.next();
      assertThat(text.text()).isEqualTo("é");
      assertThat(text.header("content-type")).isEqualTo("text/plain; charset=utf-8");
      schedule(to(receiver, "\"bodyBase64\": \"AAEC\""), "");
      Got bytes = receiver.next();
      assertThat(bytes.body()).containsExactly(0, 1, 2);
      assertThat(bytes.header("content-type")).isEqualTo("application/octet-stream");
      String none = schedule(to(receiver, "\"method\": \"GET\""), "");
      assertThat(receiver.next().headers()).doesNotContainKeys("content-length", "content-type");
      assertThat(state(none)).isEqualTo("SUCCEEDED");
      assertThat(get(none + "/result").statusCode()).isEqualTo(204);
    }
  }

  @Test
  void eventAndTraceContextArePassedOn() throws Exception {
    try (Receiver receiver = Receiver.answering(Receiver.status(200))) {
      schedule(
          to(
              receiver,
              "\"cloudEvent\": {\"type\": \"order.paid\", \"source\": \"/shop é\", \"subject\": \"7\"}"),
          "",
          "traceparent",
          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "tracestate",
          "a=1");
      Got got = receiver.next();
      assertThat(got.headers())
          .containsEntry("ce-specversion", "1.0")
          .containsEntry("ce-id", got.header("webhook-id"))
          .containsEntry("ce-type", "order.paid")
          .containsEntry("ce-source", "/shop%20%C3%A9")
          .containsEntry("ce-subject", "7")
          .containsEntry("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
          .containsEntry("tracestate", "a=1");
    }
  }

  // ---- signatures, judged by the library of Standard Webhooks

  private static WebhookSettings secrets(String... secrets) {
    return new WebhookSettings(
        Map.of(
            "default",
            new WebhookSettings.Namespace(
                List.of(secrets).stream().map(WebhookSecret::of).toList(), List.of())));
  }

  private static boolean verifies(String secret, Got got) throws Exception {
    try {
      new Webhook(secret.substring("whsec_".length())).verify(got.text(), got.lists());
      return true;
    } catch (WebhookVerificationException e) {
      return false;
    }
  }

  @Test
  void bothSecretsSignWhileTheyAreRotatedUnderOneIdForAllAttempts() throws Exception {
    settings = secrets(NEW, OLD);
    try (Receiver receiver =
        Receiver.answering(Receiver.status(500), Receiver.status(503), Receiver.status(200))) {
      String job = schedule(to(receiver, "\"body\": {\"paid\": \"é\"}"), SOON);
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      List<Got> all = receiver.all();
      assertThat(all).hasSize(3);
      for (Got got : all) {
        assertThat(verifies(OLD, got)).isTrue();
        assertThat(verifies(NEW, got)).isTrue();
        assertThat(got.header("webhook-id")).isEqualTo(all.getFirst().header("webhook-id"));
        assertThat(got.header("webhook-id")).matches("job_[A-Za-z0-9~-]+");
      }
      settings = secrets(NEW);
      schedule(to(receiver), "");
      Got later = receiver.next();
      assertThat(verifies(NEW, later)).isTrue();
      assertThat(verifies(OLD, later)).isFalse();
      assertThat(later.header("webhook-id")).isNotEqualTo(all.getFirst().header("webhook-id"));
    }
  }

  @Test
  void occurrencesHaveIdsOfTheirOwn() throws Exception {
    settings = secrets(NEW);
    try (Receiver receiver = Receiver.answering(Receiver.status(200))) {
      schedule(
          to(receiver), ", \"name\": \"n\", \"schedule\": {\"every\": \"50ms\", \"times\": 2}");
      Got first = receiver.next();
      Got second = receiver.next();
      assertThat(first.header("webhook-id")).endsWith("_1");
      assertThat(second.header("webhook-id"))
          .isEqualTo(first.header("webhook-id").replaceAll("_1$", "_2"));
      assertThat(verifies(NEW, second)).isTrue();
    }
  }

  @Test
  void jobSaysThatItIsSignedOrNot() throws Exception {
    try (Receiver receiver = Receiver.answering(Receiver.status(200))) {
      String unsigned = schedule(to(receiver, "\"sign\": true"), NEVER);
      assertThat(error(unsigned)).contains("no secret");
      settings = secrets(NEW);
      schedule(to(receiver, "\"sign\": false"), "");
      assertThat(receiver.next().headers()).doesNotContainKey("webhook-signature");
      assertThat(receiver.connections()).isEqualTo(1);
    }
  }

  /** The library of npm, where there is a Node: the same deliveries. */
  @Test
  void libraryOfNpmVerifiesToo() throws Exception {
    Path modules = NodeLibrary.install(folder, "standardwebhooks@1.1.1");
    settings = secrets(NEW, OLD);
    try (Receiver receiver = Receiver.answering(Receiver.status(200))) {
      schedule(to(receiver, "\"body\": {\"text\": \"é\"}"), "");
      Got got = receiver.next();
      Files.writeString(folder.resolve("headers.json"), JSON.writeValueAsString(got.headers()));
      Files.write(folder.resolve("body"), got.body());
      Files.writeString(
          folder.resolve("verify.js"),
          """
          const { Webhook } = require("standardwebhooks");
          const fs = require("fs");
          const headers = JSON.parse(fs.readFileSync("headers.json"));
          const body = fs.readFileSync("body", "utf8");
          new Webhook(process.argv[2]).verify(body, headers);
          let refused = false;
          try { new Webhook(process.argv[2]).verify(body + " ", headers); } catch (e) { refused = true; }
          console.log(refused ? "verified" : "verifies anything");
          """);
      assertThat(NodeLibrary.run(modules, "verify.js", NEW)).isEqualTo("verified");
      assertThat(NodeLibrary.run(modules, "verify.js", OLD)).isEqualTo("verified");
    }
  }

  // ---- what answers lead to

  @ParameterizedTest
  @ValueSource(ints = {400, 404, 410, 422})
  void finalStatusesAreNotRetriedUnlessTheJobSaysSo(int status) throws Exception {
    try (Receiver receiver = Receiver.answering(Receiver.status(status), Receiver.status(200))) {
      String job = schedule(to(receiver), SOON);
      assertThat(state(job)).isEqualTo("DEAD");
      assertThat(error(job)).isEqualTo("answered " + status);
      assertThat(receiver.connections()).isEqualTo(1);
    }
    try (Receiver receiver = Receiver.answering(Receiver.status(status), Receiver.status(200))) {
      String job = schedule(to(receiver, "\"retryOn\": [" + status + "]"), SOON);
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 307, 308, 401, 403, 408, 429, 500, 502, 503})
  void otherStatusesAreRetriedByThePolicy(int status) throws Exception {
    try (Receiver receiver =
        Receiver.answering(
            Receiver.status(status, "Location: http://169.254.169.254/latest/meta-data/"),
            Receiver.status(200))) {
      assertThat(state(schedule(to(receiver), SOON))).isEqualTo("SUCCEEDED");
      assertThat(receiver.connections()).isEqualTo(2);
    }
  }

  @Test
  void retryAfterDelaysTheNextAttemptWithinPolicyAndDeadline() throws Exception {
    try (Receiver receiver =
        Receiver.answering(Receiver.status(429, "Retry-After: 2"), Receiver.status(200))) {
      long begun = System.nanoTime();
      assertThat(state(schedule(to(receiver), SOON))).isEqualTo("SUCCEEDED");
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(2));
    }
    try (Receiver receiver = Receiver.answering(Receiver.status(503, "Retry-After: 0"))) {
      assertThat(state(schedule(to(receiver), SOON))).isEqualTo("DEAD");
      assertThat(receiver.connections()).isEqualTo(4);
    }
    try (Receiver receiver = Receiver.answering(Receiver.status(503, "Retry-After: 3600"))) {
      String deadline = ", \"deadline\": \"%s\"".formatted(java.time.Instant.now().plusSeconds(2));
      assertThat(state(schedule(to(receiver), SOON + deadline))).isEqualTo("EXPIRED");
      assertThat(receiver.connections()).isEqualTo(1);
    }
  }

  @Test
  void errorShowsTheBeginningOfATextThatWasAnswered() throws Exception {
    String body = "no\\r\\nsuch\\u0007 order ".replace("\\r\\n", "\r\n") + "x".repeat(5_000);
    try (Receiver receiver =
        Receiver.answering(
            "HTTP/1.1 422 X\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(body.length(), body))) {
      assertThat(error(schedule(to(receiver), "")))
          .startsWith("answered 422: no such")
          .hasSizeLessThan(300);
    }
  }

  @Test
  void resultKeepsTheFirst64KibOfAnAnswer() throws Exception {
    try (Receiver receiver =
        Receiver.answering(Receiver.ok("application/json", longJson(65_536)))) {
      String job = schedule(to(receiver), "");
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      assertThat(get(job + "/result").headers().firstValue("carillon-codec")).hasValue("json");
    }
    try (Receiver receiver =
        Receiver.answering(Receiver.ok("application/json", longJson(65_537)))) {
      String job = schedule(to(receiver), "");
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      HttpResponse<String> result = get(job + "/result");
      assertThat(result.headers().firstValue("carillon-codec")).hasValue("bytes");
      assertThat(result.body()).hasSize(65_536);
    }
  }

  private static String longJson(int bytes) {
    return '"' + "x".repeat(bytes - 2) + '"';
  }

  // ---- receivers that do harm

  @Test
  void receiverThatHangsIsGivenUpAtTheTimeout() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (Receiver receiver = Receiver.of((all, in, out) -> over.await())) {
      String job = schedule(to(receiver, "\"timeout\": \"300ms\""), NEVER);
      assertThat(error(job)).isEqualTo("no answer within PT0.3S");
      over.countDown();
    }
  }

  @Test
  void receiverThatTricklesItsHeadIsGivenUpAtTheTimeout() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    try (Receiver receiver =
        Receiver.of(
            (all, in, out) -> {
              Receiver.read(in);
              out.write("HTTP/1.1 200 OK\r\nX: ".getBytes(StandardCharsets.UTF_8));
              while (!never.await(20, java.util.concurrent.TimeUnit.MILLISECONDS)) {
                out.write('x');
              }
            })) {
      String job = schedule(to(receiver, "\"timeout\": \"500ms\""), NEVER);
      assertThat(error(job)).isEqualTo("no answer within PT0.5S");
    }
  }

  /** The status counts; the body that does not come to an end only shortens the result. */
  @Test
  void receiverThatTricklesItsBodyHasAccepted() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    try (Receiver receiver =
        Receiver.of(
            (all, in, out) -> {
              Receiver.read(in);
              out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.UTF_8));
              while (!never.await(20, java.util.concurrent.TimeUnit.MILLISECONDS)) {
                out.write('x');
              }
            })) {
      String job = schedule(to(receiver, "\"timeout\": \"500ms\""), NEVER);
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      assertThat(get(job + "/result").body()).matches("x+");
    }
  }

  @Test
  void receiverThatAnswersTenGigabytesIsCutOff() throws Exception {
    try (Receiver receiver =
        Receiver.of(
            (all, in, out) -> {
              Receiver.read(in);
              out.write(
                  "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"
                      .getBytes(StandardCharsets.UTF_8));
              byte[] part = new byte[1 << 16];
              for (long sent = 0; sent < 10_000_000_000L; sent += part.length) {
                out.write(part);
              }
            })) {
      long begun = System.nanoTime();
      String job = schedule(to(receiver), NEVER);
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
      assertThat(get(job + "/result").body()).hasSize(65_536);
    }
  }

  @Test
  void receiverThatLiesAboutTheLengthIsReadAsFarAsItGoes() throws Exception {
    try (Receiver receiver =
        Receiver.answering(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}")) {
      String job = schedule(to(receiver), NEVER);
      assertThat(state(job)).isEqualTo("SUCCEEDED");
      assertThat(get(job + "/result").headers().firstValue("carillon-codec")).hasValue("bytes");
    }
  }

  @Test
  void receiverThatNeverReadsIsGivenUpAtTheTimeout() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ServerSocket listener = new ServerSocket()) {
      listener.setReceiveBufferSize(4 << 10);
      listener.bind(new java.net.InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), 0));
      try (Receiver receiver = new Receiver(listener, (all, in, out) -> over.await())) {
        String body = "\"bodyText\": \"" + "x".repeat(1_000_000) + '"';
        String job = schedule(to(receiver, "\"timeout\": \"500ms\"", body), NEVER);
        assertThat(error(job)).isEqualTo("no answer within PT0.5S");
        over.countDown();
      }
    }
  }

  @Test
  void receiverThatRefusesABodyBeforeItIsReadIsHeard() throws Exception {
    try (Receiver receiver =
        Receiver.of(
            (all, in, out) -> {
              out.write(Receiver.status(404).getBytes(StandardCharsets.UTF_8));
              out.flush();
              in.transferTo(OutputStream.nullOutputStream());
            })) {
      assertThat(error(schedule(to(receiver, "\"body\": 1"), ""))).isEqualTo("answered 404");
    }
  }

  @Test
  void receiverThatIsNotThereIsTriedAgain() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0)) {
      free = socket.getLocalPort();
    }
    String job = schedule("{\"url\": \"http://127.0.0.1:%d/\"}".formatted(free), SOON);
    assertThat(ended(job).path("attempt").asInt()).isEqualTo(4);
    assertThat(error(job)).startsWith("connecting: ");
  }

  @Test
  void serverItselfIsNeverReached() throws Exception {
    for (String host : List.of("127.0.0.1", "localhost", "[::1]", "127.0.0.2")) {
      String job =
          schedule(
              "{\"url\": \"http://%s:%d/v1/cluster\", \"method\": \"GET\"}"
                  .formatted(host, server.address().getPort()),
              SOON);
      assertThat(state(job)).isEqualTo("DEAD");
      assertThat(error(job)).contains("not allowed");
    }
  }

  @Test
  void cancelledJobLetsItsReceiverGo() throws Exception {
    CountDownLatch here = new CountDownLatch(1);
    CountDownLatch gone = new CountDownLatch(1);
    try (Receiver receiver =
        Receiver.of(
            (all, in, out) -> {
              Receiver.read(in);
              here.countDown();
              if (in.read() < 0) {
                gone.countDown();
              }
            })) {
      String job = schedule(to(receiver), "");
      here.await();
      client.send(
          HttpRequest.newBuilder(URI.create(base + job + "/cancel"))
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofString("{}"))
              .build(),
          BodyHandlers.ofString());
      assertThat(gone.await(20, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
      assertThat(state(job)).isEqualTo("CANCELLED");
    }
  }

  // ---- what is refused when it is scheduled

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}|url: missing",
        "{\"url\": \"ftp://h/\"}|http:// or https://",
        "{\"url\": \"file:///etc/passwd\"}|http:// or https://",
        "{\"url\": \"http:///x\"}|http:// or https://",
        "{\"url\": \"http://u:p@h/\"}|with a user",
        "{\"url\": \"http://h/#f\"}|no fragment",
        "{\"url\": \"http://h:0/\"}|a port of",
        "{\"url\": \"http://h:70000/\"}|a port of",
        "{\"url\": \"http://2130706433/\"}|four decimal numbers",
        "{\"url\": \"http://0x7f.1/\"}|http:// or https://",
        "{\"url\": \"http://[fe80::1%25eth0]/\"}|http:// or https://",
        "{\"url\": \"http://h/ x\"}|http:// or https://",
        "{\"url\": \"http://é/\"}|http:// or https://",
        "{\"url\": \"http://h/\", \"method\": \"CONNECT\"}|one of [DELETE",
        "{\"url\": \"http://h/\", \"headers\": {\"Host\": \"x\"}}|headers.Host: given",
        "{\"url\": \"http://h/\", \"headers\": {\"webhook-id\": \"x\"}}|headers.webhook-id: given",
        "{\"url\": \"http://h/\", \"headers\": {\"a b\": \"x\"}}|the name of a header",
        "{\"url\": \"http://h/\", \"headers\": {\"a\": \"x\\r\\nb: c\"}}|visible ASCII",
        "{\"url\": \"http://h/\", \"body\": 1, \"bodyText\": \"x\"}|given twice",
        "{\"url\": \"http://h/\", \"method\": \"GET\", \"body\": 1}|none for GET",
        "{\"url\": \"http://h/\", \"bodyBase64\": \"?\"}|not base64",
        "{\"url\": \"http://h/\", \"timeout\": \"1h\"}|timeout: PT1H",
        "{\"url\": \"http://h/\", \"retryOn\": [500]}|retryOn: 500",
        "{\"url\": \"http://h/\", \"cloudEvent\": {\"type\": \"t\"}}|cloudEvent.source: missing",
        "{\"url\": \"http://h/\", \"traceparent\": \"x\"}|Trace Context",
        "{\"url\": \"http://h/\", \"colour\": \"x\"}|unknown field",
      })
  void badRequestsAreRefusedWhenTheyAreScheduled(String each) throws Exception {
    int bar = each.lastIndexOf('|');
    HttpResponse<String> response = post("{\"webhook\": " + each.substring(0, bar) + "}");
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(JSON.readTree(response.body()).path("detail").asString())
        .startsWith("webhook")
        .contains(each.substring(bar + 1));
  }

  @Test
  void webhookIsInPlaceOfTypeAndInput() throws Exception {
    String webhook = "\"webhook\": {\"url\": \"http://h/\"}";
    assertThat(post("{\"type\": \"t\", " + webhook + "}").body()).contains("one of both");
    assertThat(post("{\"input\": 1, " + webhook + "}").body()).contains("one of both");
    assertThat(post("{\"type\": \"carillon.webhook\"}").statusCode()).isEqualTo(400);
  }
}
