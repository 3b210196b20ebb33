package dev.carillon.server.json;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.Due;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * The fields that an object may have, and where their values go. A body that has any other field, a
 * field twice or a value of another type is refused with {@link InvalidBody}; null is as if the
 * field were not there. What a setter refuses ({@link CarillonException}) is refused with the path
 * of the field before it.
 *
 * <p>Built once, read from any thread.
 *
 * @param <T> what is made of an object
 */
public final class Shape<T> {
  private static final int SHOWN_CHARS = 80;
  private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private final Supplier<T> maker;
  private final Map<String, Field<T>> fields = new LinkedHashMap<>();

  private Shape(Supplier<T> maker) {
    this.maker = maker;
  }

  /** Reads one value, the parser standing on its first token. */
  private interface Field<T> {
    void read(Cursor in, T target, String path);
  }

  /** A parser and the bytes that it reads. */
  private record Cursor(JsonParser parser, byte[] body) {}

  /**
   * A shape without fields.
   *
   * @param maker makes what the fields are put into
   * @param <T> what is made
   * @return the shape
   */
  public static <T> Shape<T> of(Supplier<T> maker) {
    return new Shape<>(maker);
  }

  /** The names of the fields. */
  public Set<String> fields() {
    return fields.keySet();
  }

  // ---- fields

  private Shape<T> with(String name, Field<T> field) {
    if (fields.put(name, field) != null) {
      throw new IllegalStateException("field " + name + " twice");
    }
    return this;
  }

  /** A text. */
  public Shape<T> text(String name, BiConsumer<T, String> set) {
    return with(name, (in, target, path) -> set.accept(target, string(in, path)));
  }

  /** A whole number. */
  public Shape<T> integer(String name, ObjIntConsumer<T> set) {
    return with(
        name,
        (in, target, path) -> {
          set.accept(target, int32(path, integer(in, path)));
        });
  }

  private static int int32(String path, long value) {
    if (value != (int) value) {
      throw invalid(path, Long.toString(value), "a whole number of 32 bits");
    }
    return (int) value;
  }

  /** A whole number of 64 bits. */
  public Shape<T> longInteger(String name, BiConsumer<T, Long> set) {
    return with(name, (in, target, path) -> set.accept(target, integer(in, path)));
  }

  /** A number. */
  public Shape<T> number(String name, BiConsumer<T, Double> set) {
    return with(
        name,
        (in, target, path) -> {
          if (!in.parser().currentToken().isNumeric()) {
            throw other(in, path, "a number");
          }
          set.accept(target, in.parser().getDoubleValue());
        });
  }

  /** True or false. */
  public Shape<T> flag(String name, BiConsumer<T, Boolean> set) {
    return with(
        name,
        (in, target, path) -> {
          if (!in.parser().currentToken().isBoolean()) {
            throw other(in, path, "true or false");
          }
          set.accept(target, in.parser().getBooleanValue());
        });
  }

  /** A time by RFC 3339. */
  public Shape<T> time(String name, BiConsumer<T, Instant> set) {
    return with(name, (in, target, path) -> set.accept(target, time(path, string(in, path))));
  }

  /** A duration, such as 90s, 1h30m or PT90S. */
  public Shape<T> duration(String name, BiConsumer<T, Duration> set) {
    return with(name, (in, target, path) -> set.accept(target, duration(path, string(in, path))));
  }

  /** One of the constants of an enum, by its name. */
  public <E extends Enum<E>> Shape<T> constant(String name, Class<E> type, BiConsumer<T, E> set) {
    return with(
        name, (in, target, path) -> set.accept(target, constant(path, type, string(in, path))));
  }

  /** A list of constants of an enum. */
  public <E extends Enum<E>> Shape<T> constants(
      String name, Class<E> type, BiConsumer<T, List<E>> set) {
    return with(
        name,
        (in, target, path) -> {
          List<E> values = new ArrayList<>();
          elements(in, path, (each, at) -> values.add(constant(at, type, string(each, at))));
          set.accept(target, values);
        });
  }

  /** A list of whole numbers. */
  public Shape<T> integers(String name, BiConsumer<T, List<Integer>> set) {
    return with(
        name,
        (in, target, path) -> {
          List<Integer> values = new ArrayList<>();
          elements(in, path, (each, at) -> values.add(int32(at, integer(each, at))));
          set.accept(target, values);
        });
  }

  /** A list of texts. */
  public Shape<T> texts(String name, BiConsumer<T, List<String>> set) {
    return with(
        name,
        (in, target, path) -> {
          List<String> values = new ArrayList<>();
          elements(in, path, (each, at) -> values.add(string(each, at)));
          set.accept(target, values);
        });
  }

  /** Texts by name. */
  public Shape<T> map(String name, BiConsumer<T, Map<String, String>> set) {
    return with(
        name,
        (in, target, path) -> {
          Map<String, String> values = new LinkedHashMap<>();
          members(in, path, (field, at) -> values.put(field, string(in, at)));
          set.accept(target, values);
        });
  }

  /** Any value, as its bytes stand in the body. */
  public Shape<T> raw(String name, BiConsumer<T, byte[]> set) {
    return with(
        name,
        (in, target, path) -> {
          int start = Math.toIntExact(in.parser().currentTokenLocation().getByteOffset());
          in.parser().skipChildren();
          if (in.parser().currentToken() == JsonToken.VALUE_STRING) {
            var unused = in.parser().getString(); // read to its end
          }
          int end = Math.toIntExact(in.parser().currentLocation().getByteOffset());
          set.accept(target, trimmed(in.body(), start, end));
        });
  }

  /** An object. */
  public <U> Shape<T> object(String name, Shape<U> shape, BiConsumer<T, U> set) {
    return with(name, (in, target, path) -> set.accept(target, shape.object(in, path)));
  }

  /** A list of objects. */
  public <U> Shape<T> list(String name, Shape<U> shape, int most, BiConsumer<T, List<U>> set) {
    return with(
        name,
        (in, target, path) -> {
          List<U> values = new ArrayList<>();
          elements(
              in,
              path,
              (each, at) -> {
                if (values.size() == most) {
                  throw new InvalidBody(path + ": more than " + most + " (expected: at most that)");
                }
                values.add(shape.object(each, at));
              });
          set.accept(target, values);
        });
  }

  // ---- reading

  /**
   * Reads a body.
   *
   * @param body UTF-8
   * @return what was made of it
   * @throws InvalidBody if it does not fit
   */
  public T read(byte[] body) {
    return readText(isMarked(body) ? Arrays.copyOfRange(body, MARK.length, body.length) : body);
  }

  /** Some editors and shells write a mark before UTF-8; it is no part of the text. */
  private static boolean isMarked(byte[] body) {
    return body.length >= MARK.length && Arrays.equals(MARK, 0, MARK.length, body, 0, MARK.length);
  }

  private T readText(byte[] body) {
    try (JsonParser parser = Json.parser(body)) {
      if (parser.nextToken() == null) {
        throw new InvalidBody("body: empty (expected: a JSON object)");
      }
      T made = object(new Cursor(parser, body), "");
      if (parser.nextToken() != null) {
        throw new InvalidBody("body: more than one value (expected: one JSON object)");
      }
      return made;
    } catch (JacksonException e) {
      throw new InvalidBody(
          "body: %s at byte %d (expected: JSON in UTF-8, nested up to %d deep, no field twice)"
              .formatted(
                  firstLine(e.getOriginalMessage()),
                  e.getLocation() != null ? e.getLocation().getByteOffset() : -1,
                  Json.MAX_DEPTH));
    }
  }

  private T object(Cursor in, String path) {
    T made = maker.get();
    members(
        in,
        path,
        (name, at) -> {
          Field<T> field = fields.get(name);
          if (field == null) {
            throw invalid(at, "unknown field", "one of " + fields.keySet());
          }
          if (in.parser().currentToken() == JsonToken.VALUE_NULL) {
            return;
          }
          try {
            field.read(in, made, at);
          } catch (CarillonException e) {
            throw new InvalidBody(under(path, e));
          }
        });
    return made;
  }

  private static String under(String path, CarillonException e) {
    return path.isEmpty() ? String.valueOf(e.getMessage()) : path + ": " + e.getMessage();
  }

  private interface Member {
    void read(String name, String path);
  }

  private static void members(Cursor in, String path, Member member) {
    if (in.parser().currentToken() != JsonToken.START_OBJECT) {
      throw other(in, path.isEmpty() ? "body" : path, "an object");
    }
    while (in.parser().nextToken() != JsonToken.END_OBJECT) {
      String name = in.parser().currentName();
      in.parser().nextToken();
      String shown = cut(name);
      member.read(name, path.isEmpty() ? shown : path + "." + shown);
    }
  }

  private interface Element {
    void read(Cursor in, String path);
  }

  private static void elements(Cursor in, String path, Element element) {
    if (in.parser().currentToken() != JsonToken.START_ARRAY) {
      throw other(in, path, "a list");
    }
    int index = 0;
    while (in.parser().nextToken() != JsonToken.END_ARRAY) {
      element.read(in, path + "[" + index++ + "]");
    }
  }

  private static String string(Cursor in, String path) {
    if (in.parser().currentToken() != JsonToken.VALUE_STRING) {
      throw other(in, path, "a text");
    }
    String text = in.parser().getString();
    if (!isWellFormed(text)) {
      throw invalid(path, quoted(text), "no unpaired surrogates");
    }
    return text;
  }

  /** Whether it can be written as UTF-8 and read again: an escape may name half a character. */
  private static boolean isWellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))
          && !Character.isSupplementaryCodePoint(text.codePointAt(i++))) {
        return false;
      }
    }
    return true;
  }

  private static long integer(Cursor in, String path) {
    if (in.parser().currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw other(in, path, "a whole number");
    }
    return in.parser().getLongValue();
  }

  private static byte[] trimmed(byte[] body, int from, int to) {
    int start = from;
    int end = to;
    while (start < end && isBlank(body[start])) {
      start++;
    }
    while (end > start && isBlank(body[end - 1])) {
      end--;
    }
    return Arrays.copyOfRange(body, start, end);
  }

  private static boolean isBlank(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  // ---- values, also of query parameters

  /** A time by RFC 3339. */
  public static Instant time(String path, String text) {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      throw invalid(path, quoted(text), "a time by RFC 3339, such as 2026-03-01T08:00:00Z");
    }
  }

  /** A duration, such as 90s, 1h30m or PT90S. */
  public static Duration duration(String path, String text) {
    try {
      if (Due.parse(text) instanceof Due.In in) {
        return in.delay();
      }
    } catch (CarillonException e) {
      // said below, in words that fit
    }
    throw invalid(path, quoted(text), "a duration such as 90s, 1h30m, 250ms or PT90S");
  }

  /** A constant of an enum. */
  public static <E extends Enum<E>> E constant(String path, Class<E> type, String text) {
    for (E each : type.getEnumConstants()) {
      if (each.name().equals(text)) {
        return each;
      }
    }
    throw invalid(path, quoted(text), "one of " + Arrays.toString(type.getEnumConstants()));
  }

  private static InvalidBody other(Cursor in, String path, String expected) {
    @Nullable JsonToken token = in.parser().currentToken();
    String shown =
        switch (token) {
          case START_OBJECT -> "an object";
          case START_ARRAY -> "a list";
          case VALUE_STRING -> quoted(in.parser().getString());
          case null -> "nothing";
          default -> in.parser().getString();
        };
    return invalid(path, shown, expected);
  }

  /**
   * A refusal.
   *
   * @param path what was looked at
   * @param shown what it was
   * @param expected what was expected
   * @return to be thrown
   */
  public static InvalidBody invalid(String path, String shown, String expected) {
    return new InvalidBody(path + ": " + cut(shown) + " (expected: " + expected + ")");
  }

  /** A text in quotes, cut where it is long. */
  public static String quoted(String text) {
    return '"' + cut(text).replace("\"", "\\\"") + '"';
  }

  private static String cut(String text) {
    if (text.length() <= SHOWN_CHARS) {
      return text;
    }
    boolean half = Character.isHighSurrogate(text.charAt(SHOWN_CHARS - 1));
    return text.substring(0, half ? SHOWN_CHARS - 1 : SHOWN_CHARS) + "…";
  }

  private static String firstLine(@Nullable String text) {
    return text == null ? "not JSON" : cut(text.lines().findFirst().orElse("not JSON"));
  }
}
