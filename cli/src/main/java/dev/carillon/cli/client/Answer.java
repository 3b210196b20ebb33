package dev.carillon.cli.client;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * What a server answered that is no problem.
 *
 * @param status from 200 to 299
 * @param body as it came
 * @param type its content type; empty for none
 * @param etag the version of what it shows; empty for none
 * @param codec what wrote a payload; empty for JSON
 */
public record Answer(int status, byte[] body, String type, String etag, String codec) {

  static Answer of(java.net.http.HttpResponse<byte[]> response) {
    return new Answer(
        response.statusCode(),
        response.body(),
        header(response, "Content-Type"),
        header(response, "ETag"),
        header(response, "Carillon-Codec"));
  }

  private static String header(java.net.http.HttpResponse<byte[]> response, String name) {
    Optional<String> value = response.headers().firstValue(name);
    return value.orElse("");
  }

  /** The body as JSON. */
  public JsonNode json() {
    try {
      return ApiClient.MAPPER.readTree(body);
    } catch (JacksonException e) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "the server answered %d with %s (expected: JSON); is it a server of Carillon?"
              .formatted(status, type.isEmpty() ? "nothing" : type),
          e);
    }
  }

  /** The body as text. */
  public String text() {
    return new String(body, StandardCharsets.UTF_8);
  }
}
