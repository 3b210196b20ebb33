package dev.carillon.server.http;

import dev.carillon.server.json.Json;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a handler answers. Immutable; the body is not to be changed.
 *
 * @param status the status
 * @param contentType the type of the body; empty where there is none
 * @param headers further headers
 * @param body the body, or the beginning of a stream
 * @param stream writes the rest, or null if the body is all
 */
public record Answer(
    int status,
    String contentType,
    Map<String, String> headers,
    byte[] body,
    @Nullable Stream stream) {
  private static final String JSON = "application/json";
  private static final byte[] NOTHING = {};

  /** Writes an answer that goes on. */
  @FunctionalInterface
  public interface Stream {
    /**
     * Writes until there is no more or the client is gone.
     *
     * @param out where to
     * @throws IOException if the client is gone or too slow
     */
    void write(Sink out) throws IOException;
  }

  /** Where a stream writes to. */
  @FunctionalInterface
  public interface Sink {
    /**
     * Writes and flushes; blocks while the client does not read, up to the limit of the server.
     *
     * @param bytes what
     * @throws IOException if the client is gone or too slow
     */
    void write(byte[] bytes) throws IOException;
  }

  /** An object of JSON. */
  public static Answer json(int status, Json.Body body) {
    return new Answer(status, JSON, Map.of(), Json.object(body), null);
  }

  /** An object of JSON, with status 200. */
  public static Answer json(Json.Body body) {
    return json(200, body);
  }

  /** Bytes. */
  public static Answer bytes(String contentType, byte[] bytes) {
    return new Answer(200, contentType, Map.of(), bytes, null);
  }

  /** A status without a body. */
  public static Answer empty(int status) {
    return new Answer(status, "", Map.of(), NOTHING, null);
  }

  /** A stream of unknown length. */
  public static Answer stream(String contentType, Stream stream) {
    return new Answer(200, contentType, Map.of(), NOTHING, stream);
  }

  /** With a header. */
  public Answer header(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new Answer(status, contentType, more, body, stream);
  }
}
