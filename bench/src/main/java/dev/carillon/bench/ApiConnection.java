package dev.carillon.bench;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * One connection to a server's API that costs a client as little as can be, so that the server is
 * what is measured. Not thread-safe.
 */
final class ApiConnection implements AutoCloseable {
  static final String JOBS = "/v1/namespaces/default/jobs";

  private static final String LENGTH = "content-length:";

  private final Socket socket;
  private final InputStream in;
  private final StringBuilder line = new StringBuilder(128);

  ApiConnection(InetSocketAddress server) throws IOException {
    this.socket = new Socket(server.getAddress(), server.getPort());
    socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(socket.getInputStream(), 64 << 10);
  }

  /** A request as it goes over the wire. */
  static byte[] post(String path, String body, String... headers) {
    StringBuilder text = new StringBuilder(256 + body.length());
    text.append("POST ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; i < headers.length; i += 2) {
      text.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
    }
    return text.append("Content-Type: application/json\r\nContent-Length: ")
        .append(body.getBytes(StandardCharsets.UTF_8).length)
        .append("\r\n\r\n")
        .append(body)
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }

  static byte[] get(String path) {
    return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Sends a request; the body of its answer, which must have that status. */
  byte[] send(byte[] request, int expected) throws IOException {
    socket.getOutputStream().write(request);
    int status = Integer.parseInt(line().substring(9, 12));
    int length = 0;
    for (String header = line(); !header.isEmpty(); header = line()) {
      if (header.regionMatches(true, 0, LENGTH, 0, LENGTH.length())) {
        length = Integer.parseInt(header.substring(LENGTH.length()).strip());
      }
    }
    byte[] body = in.readNBytes(length);
    if (status != expected) {
      throw new IOException(
          "status %d (expected: %d): %s"
              .formatted(status, expected, new String(body, StandardCharsets.UTF_8)));
    }
    return body;
  }

  private String line() throws IOException {
    line.setLength(0);
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the server is gone");
      }
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
