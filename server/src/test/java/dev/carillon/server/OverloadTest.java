package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.access.Access;
import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.HttpLimits;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that take too much, and a server that stops while they ask. */
@Timeout(120)
class OverloadTest {
  private static final String JOBS = "/v1/namespaces/default/jobs";
  private static final int REQUESTS = 6;
  private static final int CONNECTIONS = 20;
  private static final int BODIES = 1 << 20;

  private static final HttpLimits LIMITS =
      new HttpLimits(
          CONNECTIONS,
          REQUESTS,
          4,
          8 << 10,
          BODIES,
          Duration.ofMillis(1_500),
          Duration.ofSeconds(20));

  private final List<Socket> sockets = new ArrayList<>();
  private ServerFixture fixture;

  @BeforeEach
  void open() {
    fixture =
        ServerFixture.on(
            Carillon.builder().inMemory(),
            ServerFixture.OPTIONS
                .limits(LIMITS)
                .access(new ByHeader())
                .stopGrace(Duration.ofMillis(300)));
  }

  @AfterEach
  void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    fixture.close();
  }

  /** Whoever says a name is that one. */
  private static final class ByHeader implements Access {
    @Override
    public Caller identify(Arrival arrival) {
      String name = arrival.header("x-caller");
      return new Somebody(name == null ? "nobody" : name);
    }

    @Override
    public boolean authenticates() {
      return false;
    }
  }

  private record Somebody(String name) implements Caller {
    @Override
    public boolean has(Role role, @Nullable String namespace) {
      return true;
    }

    @Override
    public boolean mayUse(@Nullable String namespace, String queue) {
      return true;
    }
  }

  private Socket socket() throws IOException {
    Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), fixture.server.address().getPort());
    socket.setSoTimeout(20_000);
    sockets.add(socket);
    return socket;
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    socket.getOutputStream().flush();
  }

  /** A request whose body does not come. */
  private Socket slow(String caller) throws IOException {
    Socket socket = socket();
    send(
        socket,
        "POST %s HTTP/1.1\r\nHost: localhost\r\nX-Caller: %s\r\nContent-Type: application/json\r\n"
                .formatted(JOBS, caller)
            + "Content-Length: 100\r\n\r\n{");
    return socket;
  }

  private static String answer(Socket socket) throws IOException {
    InputStream in = socket.getInputStream();
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  private HttpResponse<byte[]> look(String caller) {
    return fixture
        .client
        .send(fixture.client.request(JOBS).header("X-Caller", caller).GET().build())
        .whole();
  }

  @Test
  void callerWithSlowBodiesHasHalfOfThePlacesAndDelaysNobody() throws IOException {
    for (int i = 0; i < REQUESTS / 2; i++) {
      slow("greedy");
    }
    Awaitility.await()
        .atMost(Duration.ofMillis(1_200))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> look("greedy").statusCode() == 429);
    HttpResponse<byte[]> other = look("modest");
    assertThat(other.statusCode()).isEqualTo(200);
    for (Socket socket : sockets) {
      assertThat(answer(socket)).startsWith("HTTP/1.1 408");
    }
    assertThat(look("greedy").statusCode()).isEqualTo(200);
  }

  @Test
  void refusalOfTooMuchSaysWhenToComeBack() throws IOException {
    for (int i = 0; i < REQUESTS / 2; i++) {
      slow("greedy");
    }
    HttpResponse<byte[]> refused =
        Awaitility.await()
            .atMost(Duration.ofMillis(1_200))
            .pollInterval(Duration.ofMillis(5))
            .until(() -> look("greedy"), response -> response.statusCode() == 429);
    assertThat(refused.headers().firstValue("retry-after")).hasValue("1");
  }

  /** What was announced takes nothing; what has come does. */
  @Test
  void bodiesOfOneCallerTakeHalfOfTheirRoom() throws IOException {
    String body = "{\"type\": \"t\", \"input\": \"" + "x".repeat(BODIES / 2) + "\"}";
    ApiClient.Reply refused = fixture.client.post(JOBS, body, "X-Caller", "greedy");
    assertThat(refused.expect(429).problem()).isEqualTo("overloaded");
    String half = "{\"type\": \"t\", \"input\": \"" + "x".repeat(BODIES / 8) + "\"}";
    fixture.client.post(JOBS, half, "X-Caller", "greedy").expect(201);
    Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> fixture.server.http().isIdle());
  }

  @Test
  void headThatComesByteByByteIsCutOff() throws Exception {
    Socket socket = socket();
    send(socket, "GET " + JOBS + " HTTP/1.1\r\nX: ");
    CountDownLatch over = new CountDownLatch(1);
    long begun = System.nanoTime();
    CompletableFuture<Void> trickle =
        CompletableFuture.runAsync(
            () -> {
              try {
                do {
                  send(socket, "y");
                } while (!over.await(50, TimeUnit.MILLISECONDS));
              } catch (IOException | InterruptedException e) {
                // cut off
              }
            });
    String answer;
    try {
      answer = answer(socket);
    } catch (SocketException e) {
      answer = "";
    }
    assertThat(answer).doesNotContain("200");
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
    over.countDown();
    trickle.get(20, TimeUnit.SECONDS);
  }

  @Test
  void addressHasHalfOfTheConnections() throws IOException {
    Awaitility.await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> fixture.server.http().connections() == 0);
    for (int i = 0; i < CONNECTIONS / 2; i++) {
      send(socket(), "");
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> fixture.server.http().connections() == CONNECTIONS / 2);
    Socket beyond = socket();
    assertThat(closed(beyond)).isTrue();
    sockets.getFirst().close();
    Awaitility.await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> fixture.server.http().connections() < CONNECTIONS / 2);
    Socket again = socket();
    send(again, "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertThat(answer(again)).startsWith("HTTP/1.1 200");
  }

  private static boolean closed(Socket socket) {
    try {
      return socket.getInputStream().read() < 0;
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void stopMakesTheServerUnreadyAndHasWaitingRequestsAnswerWhatTheyKnow() throws Exception {
    String id =
        fixture
            .client
            .post(JOBS, "{\"type\": \"t\", \"in\": \"1h\"}")
            .expect(201)
            .json()
            .path("id")
            .asString();
    Socket waiting = socket();
    send(
        waiting,
        "GET %s/%s/result?wait=30s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            .formatted(JOBS, id));
    Socket slow = slow("somebody");
    Socket probe = socket();
    Awaitility.await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> fixture.server.http().streams() == 1 && fixture.server.http().requests() == 1);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(fixture.server::close);
    Awaitility.await()
        .atMost(Duration.ofSeconds(1))
        .pollInterval(Duration.ofMillis(2))
        .until(() -> fixture.server.http().isStopping());
    send(probe, "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertThat(answer(probe)).startsWith("HTTP/1.1 503").contains("stopping");
    assertThat(answer(waiting)).startsWith("HTTP/1.1 503").contains("problem:stopping");
    assertThat(answer(slow)).startsWith("HTTP/1.1 503").contains("problem:stopping");
    closing.get(20, TimeUnit.SECONDS);
  }
}
