package dev.carillon.server.json;

import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/** The JSON of the API: strict, bounded, UTF-8. */
public final class Json {
  /** How deep a body may be nested. */
  public static final int MAX_DEPTH = 64;

  private static final int MAX_NAME_CHARS = 20_000;
  private static final int MAX_NUMBER_CHARS = 1_000;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNameLength(MAX_NAME_CHARS)
                  .maxNumberLength(MAX_NUMBER_CHARS)
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .disable(StreamWriteFeature.AUTO_CLOSE_CONTENT)
          .disable(TokenStreamFactory.Feature.CHARSET_DETECTION) // UTF-8, never guessed
          .build();

  private Json() {}

  static JsonParser parser(byte[] body) {
    return FACTORY.createParser(ObjectReadContext.empty(), body);
  }

  static JsonGenerator generator(Writer out) {
    return FACTORY.createGenerator(ObjectWriteContext.empty(), out);
  }

  /**
   * Whether bytes are one JSON value and nothing else, within the limits of the API.
   *
   * @param text the bytes
   * @return true if they are
   */
  public static boolean isValid(byte[] text) {
    try (JsonParser parser = parser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null;
    } catch (JacksonException e) {
      return false;
    }
  }

  /**
   * A value with the values of some fields left out, at any depth.
   *
   * @param text one JSON value
   * @param names the fields
   * @return the same with {@code "***"} there
   */
  public static byte[] masked(byte[] text, Set<String> names) {
    StringWriter out = new StringWriter(text.length);
    try (JsonParser parser = parser(text);
        JsonGenerator generator = generator(out)) {
      while (parser.nextToken() != null) {
        generator.copyCurrentEventExact(parser); // numbers as they are written
        if (parser.currentToken() == JsonToken.PROPERTY_NAME
            && names.contains(parser.currentName())) {
          parser.nextToken();
          parser.skipChildren();
          generator.writeString("***");
        }
      }
    }
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Writes one value. */
  @FunctionalInterface
  public interface Body {
    /**
     * Writes it.
     *
     * @param out where to
     */
    void write(JsonText out);
  }

  /**
   * One object as bytes.
   *
   * @param body writes the fields
   * @return UTF-8
   */
  public static byte[] object(Body body) {
    StringWriter text = new StringWriter(512);
    try (JsonGenerator generator = generator(text)) {
      generator.writeStartObject();
      body.write(new JsonText(generator));
      generator.writeEndObject();
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
