package dev.carillon.prove;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Requests of a client that does as the API says: where there was no answer, or one that says so,
 * it asks again in the same words. Thread-safe.
 */
final class ApiRequests implements AutoCloseable {
  static final String JOBS = "/v1/namespaces/default/jobs";

  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final long AGAIN_MILLIS = 20;

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final String base;

  ApiRequests(int port) {
    this.base = "http://127.0.0.1:" + port;
  }

  /**
   * What was answered in the end.
   *
   * @param times how often it was asked
   */
  record Reply(int status, JsonNode body, int times) {}

  /** Asks until there is an answer; a body makes it a POST. */
  Reply ask(String path, @Nullable String body, String... headers) throws InterruptedException {
    for (int times = 1; ; times++) {
      try {
        HttpResponse<String> response =
            client.send(request(path, body, headers), BodyHandlers.ofString());
        if (!isToBeAskedAgain(response.statusCode())) {
          return new Reply(response.statusCode(), JSON.readTree(response.body()), times);
        }
      } catch (IOException e) {
        // The server is gone, before it began or before it answered: nobody knows.
      }
      TimeUnit.MILLISECONDS.sleep(AGAIN_MILLIS);
    }
  }

  /** Whether it is ready, asked once. */
  boolean isReady() throws InterruptedException {
    try {
      return client.send(request("/health/ready", null), BodyHandlers.discarding()).statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** Too much at once, the store away, stopping, unknown. */
  private static boolean isToBeAskedAgain(int status) {
    return status == 429 || status == 503 || status == 504;
  }

  private HttpRequest request(String path, @Nullable String body, String... headers) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path)).timeout(PATIENCE);
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return body == null
        ? request.build()
        : request
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
