package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Router;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A client that holds every answer against the description. */
final class ApiClient implements AutoCloseable {
  static final JsonMapper JSON = new JsonMapper();

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ApiDescription description;
  private final Router router;
  private final String base;
  private final @Nullable String token;

  ApiClient(CarillonServer server, ApiDescription description) {
    this(
        description,
        new Router(server.routes()),
        "http://127.0.0.1:" + server.address().getPort(),
        null);
  }

  private ApiClient(
      ApiDescription description, Router router, String base, @Nullable String token) {
    this.description = description;
    this.router = router;
    this.base = base;
    this.token = token;
  }

  /** The same with a token; closed by itself. */
  ApiClient as(@Nullable String bearer) {
    return new ApiClient(description, router, base, bearer);
  }

  /** An answer. */
  record Reply(int status, String contentType, byte[] body, HttpResponse<byte[]> whole) {
    JsonNode json() {
      return JSON.readTree(body);
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    /** The type of the problem, without what all begin with. */
    String problem() {
      return json().path("type").asString().replace(Problem.TYPE_PREFIX, "");
    }

    String detail() {
      return json().path("detail").asString();
    }

    Reply expect(int expected) {
      assertThat(status).as("%s %s", whole.uri(), text()).isEqualTo(expected);
      return this;
    }
  }

  URI uri(String path) {
    return URI.create(base + path);
  }

  HttpRequest.Builder request(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri(path)).timeout(Duration.ofSeconds(40));
    return token != null ? request.header("Authorization", "Bearer " + token) : request;
  }

  Reply get(String path) {
    return send(request(path).GET().build());
  }

  Reply post(String path, String body, String... headers) {
    return send(with("POST", path, body, headers));
  }

  Reply put(String path, String body, String... headers) {
    return send(with("PUT", path, body, headers));
  }

  Reply delete(String path, String... headers) {
    HttpRequest.Builder request = request(path).DELETE();
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return send(request.build());
  }

  private HttpRequest with(String method, String path, String body, String... headers) {
    HttpRequest.Builder request =
        request(path)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.setHeader(headers[i], headers[i + 1]);
    }
    return request.build();
  }

  Reply send(HttpRequest request) {
    try {
      HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
      String type = response.headers().firstValue("content-type").orElse("");
      Reply reply = new Reply(response.statusCode(), type, response.body(), response);
      judge(request, reply);
      return reply;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void judge(HttpRequest request, Reply reply) {
    String operation;
    try {
      operation = router.match(request.method(), request.uri().getRawPath()).route().operation();
    } catch (Problem.Refusal e) {
      operation = "getLiveness"; // any: its problems are those of all
    }
    assertThat(description.faults(operation, reply.status(), reply.contentType(), reply.body()))
        .isEmpty();
    assertThat(reply.status()).as("%s %s", request.uri(), reply.text()).isNotEqualTo(500);
  }

  @Override
  public void close() {
    http.close();
  }
}
