package dev.carillon.browser;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A proxy that serves a server of this machine below a prefix, and knows nothing else of it. */
final class PrefixProxy implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String prefix;
  private final int port;

  PrefixProxy(String prefix, int port) throws IOException {
    this.prefix = prefix;
    this.port = port;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(prefix, this::pass);
    server.start();
  }

  String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + prefix;
  }

  private void pass(HttpExchange exchange) throws IOException {
    URI asked = exchange.getRequestURI();
    String query = asked.getRawQuery() == null ? "" : "?" + asked.getRawQuery();
    String path = "/" + asked.getRawPath().substring(prefix.length()) + query;
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    String type = exchange.getRequestHeaders().getFirst("Content-Type");
    if (type != null) {
      request.header("Content-Type", type);
    }
    byte[] body = exchange.getRequestBody().readAllBytes();
    request.method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
    try (exchange) {
      HttpResponse<InputStream> response = http.send(request.build(), BodyHandlers.ofInputStream());
      response
          .headers()
          .map()
          .forEach(
              (name, values) -> {
                if (!name.equals("content-length") && !name.equals("transfer-encoding")) {
                  values.forEach(value -> exchange.getResponseHeaders().add(name, value));
                }
              });
      exchange.sendResponseHeaders(response.statusCode(), 0);
      try (InputStream in = response.body();
          OutputStream out = exchange.getResponseBody()) {
        in.transferTo(out);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    http.shutdownNow();
  }
}
