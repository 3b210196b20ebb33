package dev.carillon.server.webhook;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A receiver of webhooks on the loopback interface that does what its script says. */
final class Receiver implements AutoCloseable {
  private final ServerSocket listener;
  private final Script script;
  private final Consumer<Socket> greeting;
  private final List<Socket> open = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final LinkedBlockingQueue<Got> got = new LinkedBlockingQueue<>();

  /** What it does with a connection. */
  @FunctionalInterface
  interface Script {
    void serve(Receiver receiver, InputStream in, OutputStream out) throws Exception;
  }

  /** A request that it got. */
  record Got(String line, Map<String, String> headers, byte[] body) {
    String header(String name) {
      return headers.get(name);
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    Map<String, List<String>> lists() {
      Map<String, List<String>> lists = new LinkedHashMap<>();
      headers.forEach((name, value) -> lists.put(name, List.of(value)));
      return lists;
    }
  }

  Receiver(ServerSocket listener, Script script) {
    this(listener, script, socket -> {});
  }

  /** With something that is done to each connection before it is served. */
  Receiver(ServerSocket listener, Script script, Consumer<Socket> greeting) {
    this.greeting = greeting;
    this.listener = listener;
    this.script = script;
    Thread.ofVirtual().start(this::accept);
  }

  static Receiver of(Script script) {
    try {
      return new Receiver(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), script);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a request and gives the same answer to each; the last one goes on. */
  static Receiver answering(String... answers) {
    AtomicInteger next = new AtomicInteger();
    return of(
        (receiver, in, out) -> {
          receiver.got.add(read(in));
          String answer = answers[Math.min(next.getAndIncrement(), answers.length - 1)];
          out.write(answer.getBytes(StandardCharsets.UTF_8));
        });
  }

  static String ok(String type, String body) {
    return "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(type, body.getBytes(StandardCharsets.UTF_8).length, body);
  }

  static String status(int status, String... headers) {
    StringBuilder text = new StringBuilder("HTTP/1.1 " + status + " X\r\nContent-Length: 0\r\n");
    for (String header : headers) {
      text.append(header).append("\r\n");
    }
    return text.append("\r\n").toString();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        connections.incrementAndGet();
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      greeting.accept(socket);
      script.serve(
          this, new BufferedInputStream(socket.getInputStream()), socket.getOutputStream());
    } catch (Exception e) {
      // The other side went away, or this one is closed.
    }
  }

  static Got read(InputStream in) throws IOException {
    String line = line(in);
    Map<String, String> headers = new LinkedHashMap<>();
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      int colon = header.indexOf(':');
      headers.put(
          header.substring(0, colon).toLowerCase(Locale.ROOT), header.substring(colon + 1).strip());
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    return new Got(line, headers, in.readNBytes(length));
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new IOException("ended");
      }
      line.write(b);
    }
    return line.toString(StandardCharsets.ISO_8859_1).strip();
  }

  void add(Got request) {
    got.add(request);
  }

  int port() {
    return listener.getLocalPort();
  }

  String url(String path) {
    return "http://127.0.0.1:" + port() + path;
  }

  int connections() {
    return connections.get();
  }

  Got next() throws InterruptedException {
    Got request = got.poll(20, TimeUnit.SECONDS);
    if (request == null) {
      throw new AssertionError("no request came");
    }
    return request;
  }

  List<Got> all() {
    List<Got> all = new ArrayList<>();
    got.drainTo(all);
    return all;
  }

  @Override
  public void close() {
    try {
      listener.close();
      for (Socket socket : open) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
