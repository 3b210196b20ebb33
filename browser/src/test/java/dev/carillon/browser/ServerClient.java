package dev.carillon.browser;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

/** Asks a server of this machine over HTTP. */
final class ServerClient implements AutoCloseable {
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final int port;

  ServerClient(int port) {
    this.port = port;
  }

  String get(String path) {
    return send("GET", path, "");
  }

  /** Sends a request; what is not answered with success is thrown. */
  String send(String method, String path, String body) {
    HttpResponse<String> response = answer(method, path, body);
    if (response.statusCode() >= 400) {
      throw new IllegalStateException(
          "%s %s: %d %s".formatted(method, path, response.statusCode(), response.body()));
    }
    return response.body();
  }

  /** Whether a job is accepted. */
  boolean isTaken(String job) {
    return answer("POST", "/v1/namespaces/default/jobs", job).statusCode() < 400;
  }

  private HttpResponse<String> answer(String method, String path, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("Content-Type", "application/json")
            .method(
                method,
                method.equals("GET") ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    try {
      return http.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
