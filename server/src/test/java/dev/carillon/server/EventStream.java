package dev.carillon.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** A client of server-sent events that reads only when it is asked to. */
final class EventStream implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 20_000;
  private static final int SMALL_BUFFER = 4_096;

  private final Socket socket;
  private final BufferedReader in;

  /** An event, or a comment, whose name is then empty. */
  record Event(String name, String id, JsonNode data) {
    String type() {
      return data.path("job").path("type").asString();
    }
  }

  EventStream(CarillonServer server, String path) {
    try {
      socket = new Socket();
      socket.setReceiveBufferSize(SMALL_BUFFER);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), server.address().getPort()));
      String request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      String status = in.readLine();
      if (status == null || !status.contains(" 200 ")) {
        throw new IllegalStateException("answered " + status);
      }
      while (!in.readLine().isEmpty()) {
        // headers
      }
      if (!next().name().equals("begun")) {
        throw new IllegalStateException("the first event is another one");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next event; null at the end. */
  Event next() {
    try {
      String name = "";
      String id = "";
      JsonNode data = ApiClient.JSON.createObjectNode();
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.isEmpty()) {
          return new Event(name, id, data);
        } else if (line.startsWith("event: ")) {
          name = line.substring("event: ".length());
        } else if (line.startsWith("id: ")) {
          id = line.substring("id: ".length());
        } else if (line.startsWith("data: ")) {
          data = ApiClient.JSON.readTree(line.substring("data: ".length()));
        }
      }
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next events that are no comments. */
  List<Event> next(int count) {
    List<Event> events = new ArrayList<>();
    while (events.size() < count) {
      Event event = next();
      if (event == null) {
        throw new IllegalStateException("the stream ends after " + events);
      }
      if (!event.name().isEmpty()) {
        events.add(event);
      }
    }
    return events;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
