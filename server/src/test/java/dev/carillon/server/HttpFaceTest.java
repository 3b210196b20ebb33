package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.server.ApiClient.Reply;
import dev.carillon.server.http.HttpLimits;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is refused before a handler sees it: methods, media types, sizes, slow bodies, hosts. */
class HttpFaceTest {
  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final String HEAD =
      "POST " + JOBS + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  private static final HttpLimits LIMITS =
      new HttpLimits(64, 8, 2, 8 << 10, 4 << 20, Duration.ofMillis(700), Duration.ofSeconds(5));

  private ServerFixture fixture;
  private ApiClient client;

  @BeforeEach
  void open() {
    fixture = ServerFixture.on(Carillon.builder().inMemory(), ServerFixture.OPTIONS.limits(LIMITS));
    client = fixture.client;
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void probesAndDescriptionAreThereForAnyone() {
    assertThat(client.get("/health/live").expect(200).json().path("ok").asBoolean()).isTrue();
    assertThat(client.get("/health/ready").expect(200).json().path("ok").asBoolean()).isTrue();
    assertThat(client.get("/openapi.yaml").expect(200).text()).startsWith("openapi: 3.1.0");
    client.get(JOBS).expect(200);
    assertThat(client.get("/metrics").expect(200).text())
        .contains("carillon_jobs_scheduled_total")
        .contains("operation=\"listJobs\",status=\"2xx\"");
  }

  @Test
  void pathsMethodsAndParametersThatAreNotThereAreRefused() {
    assertThat(client.get("/nothing").expect(404).problem()).isEqualTo("not-found");
    assertThat(client.get("/v1/namespaces//jobs").expect(404).problem()).isEqualTo("not-found");
    Reply method = client.delete(JOBS).expect(405);
    assertThat(method.whole().headers().firstValue("allow")).hasValue("GET, POST");
    assertThat(client.get(JOBS + "?colour=red").expect(400).detail())
        .contains("unknown parameter \"colour\"");
    assertThat(client.get(JOBS + "?limit=0").expect(400).detail()).contains("limit: 0");
    assertThat(client.get(JOBS + "?limit=x").expect(400).detail()).contains("a whole number");
    assertThat(client.get(JOBS + "?limit=1&limit=2").expect(400).detail()).contains("2 times");
    assertThat(client.get(JOBS + "?state=GONE").expect(400).detail()).contains("SCHEDULED");
    assertThat(client.get(JOBS + "?cursor=x").expect(400).problem()).isEqualTo("invalid");
    assertThat(client.get(JOBS + "/%FF").expect(400).problem()).isEqualTo("invalid");
    assertThat(client.get(JOBS + "?type=%FF").expect(400).detail()).contains("UTF-8");
    assertThat(client.get(JOBS + "?type=%C3%A9+x").expect(200).json().path("items")).isEmpty();
  }

  /** Clients send other characters in their own encodings, so that one key would be two. */
  @Test
  void keyInTheHeaderIsAscii() throws Exception {
    String body = "{\"type\": \"t\", \"in\": \"1h\"}";
    String request =
        HEAD
            + "Idempotency-Key: café\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(body.length(), body);
    assertThat(raw(request)).startsWith("HTTP/1.1 400").contains("other characters than ASCII");
    client.post(JOBS, "{\"type\": \"t\", \"in\": \"1h\", \"key\": \"café\"}").expect(201);
    client.get(JOBS + "/by-key/caf%C3%A9").expect(200);
  }

  @Test
  void twoKeysInTheHeaderAreRefused() throws Exception {
    String body = "{\"type\": \"t\", \"in\": \"1h\"}";
    String request =
        HEAD
            + "Idempotency-Key: a\r\nidempotency-key: b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(body.length(), body);
    assertThat(raw(request)).startsWith("HTTP/1.1 400").contains("Idempotency-Key: given more");
    assertThat(client.get(JOBS).expect(200).json().path("items")).isEmpty();
  }

  @Test
  void changesNeedJson() {
    Reply reply = client.post(JOBS, "type=t", "Content-Type", "application/x-www-form-urlencoded");
    assertThat(reply.expect(415).detail()).contains("application/json");
    client.send(client.request(JOBS).POST(BodyPublishers.noBody()).build()).expect(415);
  }

  @Test
  void largeBodiesAreRefused() {
    String large = "{\"type\": \"" + "x".repeat(2 << 20) + "\"}";
    assertThat(client.post(JOBS, large).expect(413).problem()).isEqualTo("too-large");
  }

  @Test
  void largeHeadersAreRefused() throws IOException {
    String answer =
        raw("GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: " + "y".repeat(9000) + "\r\n\r\n");
    assertThat(answer).startsWith("HTTP/1.1 431").contains("urn:carillon:problem:header-too-large");
  }

  @Test
  void whatIsNoHttpIsToldSoWithoutTheNameOfTheServer() throws IOException {
    assertThat(raw("HELO you\r\n\r\n")).startsWith("HTTP/1.1 400").doesNotContain("Jetty");
  }

  @Test
  void bodyThatDoesNotComeIsGivenUp() throws IOException {
    String head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".formatted(JOBS);
    assertThat(raw(head + "Content-Length: 100\r\n\r\n{\"type\""))
        .startsWith("HTTP/1.1 408")
        .contains("urn:carillon:problem:request-timeout");
  }

  @Test
  void slowBodiesKeepNobodyElseOutOfTheProbes() throws IOException {
    String head = HEAD + "Content-Length: 100\r\n\r\n";
    try (Socket a = socket();
        Socket b = socket();
        Socket c = socket();
        Socket d = socket()) {
      for (Socket each : List.of(a, b, c, d)) {
        send(each, head);
      }
      org.awaitility.Awaitility.await()
          .atMost(Duration.ofMillis(500))
          .pollInterval(Duration.ofMillis(5))
          .untilAsserted(() -> client.get(JOBS).expect(429));
      Reply refused = client.get("/health/ready");
      refused.expect(200);
      for (Socket each : List.of(a, b, c, d)) {
        assertThat(new String(each.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
            .startsWith("HTTP/1.1 408");
      }
    }
    client.get(JOBS).expect(200);
  }

  @Test
  void requestsFromPagesOfOtherSitesAreRefused() throws IOException {
    assertThat(raw("GET " + JOBS + " HTTP/1.1\r\nHost: evil.example\r\n\r\n"))
        .startsWith("HTTP/1.1 403");
    assertThat(raw("GET " + JOBS + " HTTP/1.1\r\nHost: [::1]:99\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 200");
    assertThat(
            client
                .post(JOBS, "{\"type\": \"t\"}", "Origin", "https://evil.example")
                .expect(403)
                .detail())
        .contains("Origin");
    client.post(JOBS, "{\"type\": \"t\"}", "Origin", "http://localhost:3000").expect(201);
  }

  @Test
  void onlyLoopbackWithoutAuthentication() throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getByName("0.0.0.0"), 0);
    assertThatThrownBy(() -> ServerOptions.standard().address(any))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("until authentication is configured");
  }

  @Test
  void bodyThatIsNoneIsToldSo() throws IOException {
    assertThat(raw(HEAD + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"))
        .startsWith("HTTP/1.1 400")
        .contains("urn:carillon:problem:invalid");
  }

  @Test
  void namesWithSlashesAndDotsAreOneSegment() {
    Reply reply = client.get("/v1/namespaces/a%2Fb/jobs").expect(200);
    assertThat(reply.json().path("items")).isEmpty();
    client.get("/v1/namespaces/%2E%2E/jobs").expect(200);
  }

  private Socket socket() throws IOException {
    Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), fixture.server.address().getPort());
    socket.setSoTimeout(20_000);
    return socket;
  }

  private static void send(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private String raw(String request) throws IOException {
    try (Socket socket = socket()) {
      send(socket, request);
      if (request.startsWith("GET") && !request.contains("Connection")) {
        socket.shutdownOutput();
      }
      InputStream in = socket.getInputStream();
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
