package dev.carillon.cli.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Talks to one server, one request at a time. A problem that the server answers, and a server that
 * does not answer, is a {@link CommandFailure}. A change whose answer never came may have been
 * done; nothing is sent twice by itself.
 */
public final class ApiClient implements AutoCloseable {
  static final JsonMapper MAPPER = new JsonMapper();

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int SHOWN_CHARS = 2_000;

  private final Target target;
  private final @Nullable OwnNode node;
  private final HttpClient http;

  private ApiClient(Target target, @Nullable OwnNode node) {
    if (!target.token().isEmpty()) {
      ServerAddress.requirePrivate(target.server(), target.server().toString());
    }
    this.target = target;
    this.node = node;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER);
    if (target.trusted() != null) {
      builder.sslContext(TrustedCertificates.of(target.trusted()));
    }
    this.http = builder.build();
  }

  /** Finds the server of a command; where a store needs none, its node is opened here. */
  static ApiClient open(Surroundings surroundings, Targets.Wanted wanted) {
    Target found = Targets.find(surroundings, wanted);
    if (found != null) {
      return new ApiClient(found, null);
    }
    OwnNode node = OwnNode.open(wanted.store());
    try {
      String namespace =
          wanted.namespace().isEmpty()
              ? surroundings.variable("CARILLON_NAMESPACE")
              : wanted.namespace();
      return new ApiClient(node.target(namespace.isEmpty() ? "default" : namespace), node);
    } catch (RuntimeException e) {
      node.close();
      throw e;
    }
  }

  /** The namespace of the command. */
  public String namespace() {
    return target.namespace();
  }

  /** The server and what named it, for people. */
  public String server() {
    return target.toString();
  }

  /** Reads. */
  public Answer get(Address address) {
    return send("GET", address, null, Map.of());
  }

  /** Changes something. */
  public Answer post(Address address, JsonNode body) {
    return send("POST", address, body.toString(), Map.of());
  }

  /** Changes something, without a body. */
  public Answer post(Address address) {
    return send("POST", address, "{}", Map.of());
  }

  /** A request with a body and headers of its own. */
  public Answer send(
      String method, Address address, @Nullable String body, Map<String, String> headers) {
    HttpRequest.Builder request = request(address).timeout(TIMEOUT);
    headers.forEach(request::header);
    if (!method.equals("GET")) {
      request.header("Content-Type", "application/json");
    }
    request.method(
        method,
        body == null
            ? BodyPublishers.noBody()
            : BodyPublishers.ofString(body, StandardCharsets.UTF_8));
    HttpResponse<byte[]> response = exchange(request.build(), BodyHandlers.ofByteArray());
    if (response.statusCode() / 100 == 2) {
      return Answer.of(response);
    }
    throw problem(response.statusCode(), response.body());
  }

  /** A stream that goes on until it is closed. */
  public InputStream stream(Address address, String accepted, Map<String, String> headers) {
    HttpRequest.Builder request = request(address).header("Accept", accepted);
    headers.forEach(request::header);
    HttpResponse<InputStream> response = exchange(request.build(), BodyHandlers.ofInputStream());
    if (response.statusCode() / 100 == 2) {
      return response.body();
    }
    try (InputStream body = response.body()) {
      throw problem(response.statusCode(), body.readNBytes(SHOWN_CHARS));
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.AWAY, "the server broke off", e);
    }
  }

  /** A path of the server that is no part of the API, such as {@code /metrics}. */
  public String text(String path) {
    HttpRequest request = request(URI.create(target.server() + path)).timeout(TIMEOUT).build();
    HttpResponse<byte[]> response = exchange(request, BodyHandlers.ofByteArray());
    if (response.statusCode() != 200) {
      throw problem(response.statusCode(), response.body());
    }
    return new String(response.body(), StandardCharsets.UTF_8);
  }

  private HttpRequest.Builder request(Address address) {
    return request(URI.create(target.server() + address.text(target.namespace())));
  }

  private HttpRequest.Builder request(URI whole) {
    HttpRequest.Builder request = HttpRequest.newBuilder(whole);
    request.header("User-Agent", "carillon-cli");
    if (!target.token().isEmpty()) {
      request.header("Authorization", "Bearer " + target.token());
    }
    return request;
  }

  private <T> HttpResponse<T> exchange(HttpRequest request, BodyHandler<T> handler) {
    try {
      return http.send(request, handler);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(ExitCode.UNKNOWN, "interrupted while the server was asked", e);
    } catch (IllegalArgumentException e) {
      throw new CommandFailure(ExitCode.USAGE, "request: " + e.getMessage(), e);
    } catch (IOException e) {
      throw unanswered(request, e);
    }
  }

  private CommandFailure unanswered(HttpRequest request, IOException e) {
    if (e instanceof SSLException) {
      return new CommandFailure(
          ExitCode.DENIED, "server: %s is not trusted: %s".formatted(target, e.getMessage()), e);
    }
    boolean neverSent =
        e instanceof ConnectException
            || e instanceof HttpConnectTimeoutException
            || e.getCause() instanceof UnresolvedAddressException;
    if (neverSent || request.method().equals("GET")) {
      return new CommandFailure(
          ExitCode.AWAY,
          "server: %s does not answer (expected: a running one)".formatted(target),
          e);
    }
    return new CommandFailure(
        ExitCode.UNKNOWN,
        "server: %s gave no answer; it may or may not have been done. Look before asking again;"
                .formatted(target)
            + " a job with a name or a --key is never there twice",
        e);
  }

  private CommandFailure problem(int status, byte[] body) {
    JsonNode problem = null;
    try {
      problem = MAPPER.readTree(body);
    } catch (JacksonException e) {
      // not a problem of ours
    }
    if (problem == null || !problem.path("detail").isString()) {
      return new CommandFailure(
          ExitCode.of(status, ""),
          "server: %s answered %d (expected: an answer of Carillon's API)"
              .formatted(target, status));
    }
    ExitCode exitCode = ExitCode.of(status, problem.path("type").asString(""));
    StringBuilder words = new StringBuilder(problem.get("detail").asString());
    add(words, problem, "existing", "; it is that of job ");
    add(words, problem, "id", "; id ");
    if (status == 401 && target.token().isEmpty()) {
      words.append(" (expected: a token, in CARILLON_TOKEN or in a context)");
    }
    return new CommandFailure(exitCode, words.toString());
  }

  private static void add(StringBuilder words, JsonNode problem, String field, String before) {
    String value = problem.path(field).asString("");
    if (!value.isEmpty() && words.indexOf(value) < 0) {
      words.append(before).append(value);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
    if (node != null) {
      node.close();
    }
  }
}
