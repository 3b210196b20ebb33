package dev.carillon.server.webhook;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Reads one answer by HTTP/1.1 from a receiver that nobody trusts: the head within {@link
 * #HEAD_MAX_BYTES}, of the body no more than asked for. Not thread-safe.
 */
final class ReplyReader {
  static final int HEAD_MAX_BYTES = 32 << 10;
  private static final int HEADERS_MAX = 256;
  private static final int INTERIM_MAX = 8;
  private static final int CHUNK_LINE_MAX_BYTES = 1 << 10;

  private final InputStream in;
  private int headLeft = HEAD_MAX_BYTES;

  ReplyReader(InputStream in) {
    this.in = in;
  }

  private record Head(int status, Map<String, String> headers) {}

  /**
   * Reads an answer.
   *
   * @param toHead whether the request was a HEAD: then there is no body
   * @param mostBody how much of a body to read
   * @return the answer; one whose body broke off or was longer is not whole
   * @throws IOException if there is no head of an answer
   */
  HttpReply read(boolean toHead, int mostBody) throws IOException {
    Head head = head();
    for (int i = 0; head.status() < 200; i++) {
      if (head.status() == 101 || i == INTERIM_MAX) {
        throw new ProtocolException("no answer but " + head.status());
      }
      head = head();
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    boolean whole = true;
    if (!toHead && head.status() != 204 && head.status() != 304) {
      try {
        whole = body(head, body, mostBody);
      } catch (IOException e) { // the status has been said
        whole = false;
      }
    }
    return new HttpReply(head.status(), head.headers(), body.toByteArray(), whole);
  }

  // ---- the head

  private Head head() throws IOException {
    String line = line();
    if (!line.matches("HTTP/1\\.[01] [1-5]\\d\\d( .*)?")) {
      throw new ProtocolException("no status line of HTTP/1.1");
    }
    int status = Integer.parseInt(line.substring(9, 12));
    Map<String, String> headers = new HashMap<>();
    for (int i = 0; ; i++) {
      line = line();
      if (line.isEmpty()) {
        return new Head(status, headers);
      }
      int colon = line.indexOf(':');
      if (colon <= 0 || i == HEADERS_MAX) {
        throw new ProtocolException("headers that are none, or too many");
      }
      String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
      String value = line.substring(colon + 1).strip();
      String before = headers.putIfAbsent(name, value);
      if (before != null && name.equals("content-length") && !before.equals(value)) {
        throw new ProtocolException("two lengths");
      }
    }
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(80);
    while (true) {
      int b = in.read();
      if (b < 0) {
        throw new EOFException("the connection ended within the head of the answer");
      }
      if (--headLeft < 0) {
        throw new ProtocolException("a head of more than " + HEAD_MAX_BYTES + " bytes");
      }
      if (b == '\n') {
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
      }
      line.write(b);
    }
  }

  // ---- the body

  /** Whether it was read to its end. */
  private boolean body(Head head, ByteArrayOutputStream body, int most) throws IOException {
    String encoding = head.headers().get("transfer-encoding");
    if (encoding != null) {
      return encoding.equalsIgnoreCase("chunked") && chunks(body, most);
    }
    String length = head.headers().get("content-length");
    if (length == null) {
      copy(body, Long.MAX_VALUE, most);
      return body.size() < most || in.read() < 0;
    }
    if (!length.matches("\\d{1,18}")) {
      return false;
    }
    long said = Long.parseLong(length);
    return copy(body, said, most) == said;
  }

  /** Copies bytes until there are {@code length} of them, or {@code most} in all; how many. */
  private long copy(ByteArrayOutputStream body, long length, int most) throws IOException {
    byte[] part = new byte[8 << 10];
    long copied = 0;
    while (copied < length && body.size() < most) {
      int wanted = (int) Math.min(Math.min(part.length, length - copied), most - body.size());
      int read = in.read(part, 0, wanted);
      if (read < 0) {
        return copied;
      }
      body.write(part, 0, read);
      copied += read;
    }
    return copied;
  }

  private boolean chunks(ByteArrayOutputStream body, int most) throws IOException {
    while (true) {
      long size = chunkSize();
      if (size == 0) {
        return true; // trailers are of no use here
      }
      if (copy(body, size, most) < size || in.read() != '\r' || in.read() != '\n') {
        return false;
      }
    }
  }

  private long chunkSize() throws IOException {
    StringBuilder line = new StringBuilder(16);
    while (true) {
      int b = in.read();
      if (b < 0 || line.length() == CHUNK_LINE_MAX_BYTES) {
        throw new ProtocolException("a chunk without a size");
      }
      if (b == '\n') {
        String size = line.toString().split(";", 2)[0].strip();
        if (!size.matches("[0-9a-fA-F]{1,15}")) {
          throw new ProtocolException("a chunk without a size");
        }
        return Long.parseLong(size, 16);
      }
      line.append((char) b);
    }
  }
}
