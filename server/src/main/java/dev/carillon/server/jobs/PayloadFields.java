package dev.carillon.server.jobs;

import dev.carillon.RawPayload;
import dev.carillon.server.json.InvalidBody;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A payload in a body: JSON as it stands there, or other bytes as base64 with the name of their
 * codec.
 *
 * @param name what the fields are called: NAME, NAMEBase64, NAMECodec
 */
public record PayloadFields(
    String name, @Nullable RawPayload json, @Nullable String base64, @Nullable String codec) {

  /** The payload; null where none is given. */
  public @Nullable RawPayload payload() {
    if (base64 == null) {
      if (codec != null) {
        throw new InvalidBody(
            "%sCodec: given (expected: none without %sBase64)".formatted(name, name));
      }
      return json;
    }
    if (json != null) {
      throw new InvalidBody(
          "%s: given with %sBase64 (expected: one of them)".formatted(name, name));
    }
    return new RawPayload(codec != null ? codec : "bytes", bytes(base64));
  }

  private byte[] bytes(String text) {
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new InvalidBody(
          name + "Base64: not base64 (expected: the alphabet of RFC 4648, padded)");
    }
  }
}
