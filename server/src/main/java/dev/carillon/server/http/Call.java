package dev.carillon.server.http;

import dev.carillon.server.access.Arrival;
import dev.carillon.server.access.Caller;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request that was let in, with its body read. Immutable.
 *
 * @param route the route that it takes
 * @param caller who asks
 * @param arrival how it came
 * @param variables the variable segments of the path, decoded
 * @param query the query parameters, decoded, in the order in which they came
 * @param body the body; empty where there is none
 */
public record Call(
    Route route,
    Caller caller,
    Arrival arrival,
    Map<String, String> variables,
    Map<String, List<String>> query,
    byte[] body) {
  static final String NAMESPACE = "ns";
  static final String IDEMPOTENCY_KEY = "idempotency-key";

  private static final byte[] EMPTY_OBJECT = {'{', '}'};
  private static final char LAST_OF_ASCII = 0x7f;

  /** The namespace that the request is about. */
  public String namespace() {
    return variable(NAMESPACE);
  }

  /** A variable segment of the path. */
  public String variable(String name) {
    String value = variables.get(name);
    if (value == null) {
      throw new IllegalStateException(route.operation() + " has no {" + name + "}");
    }
    return value;
  }

  /** A header, or null. */
  public @Nullable String header(String lowerCaseName) {
    return arrival.header(lowerCaseName);
  }

  /**
   * What asking again repeats ({@code Idempotency-Key}), or null. Clients send other characters
   * than those of ASCII each in their own encoding, so that one key would be two.
   */
  public @Nullable String idempotencyKey() {
    String key = header(IDEMPOTENCY_KEY);
    if (key != null && key.chars().anyMatch(c -> c > LAST_OF_ASCII)) {
      throw new InvalidBody(
          "Idempotency-Key: other characters than ASCII (expected: none; the field key of a job"
              + " may have them)");
    }
    return key;
  }

  /** The body; a missing one is an empty object. */
  public <T> T read(Shape<T> shape) {
    return shape.read(body.length == 0 ? EMPTY_OBJECT : body);
  }

  // ---- query parameters

  /** A query parameter, or null. */
  public @Nullable String parameter(String name) {
    List<String> values = query.get(name);
    if (values == null) {
      return null;
    }
    if (values.size() > 1) {
      throw new InvalidBody(name + ": given " + values.size() + " times (expected: once)");
    }
    return values.getFirst();
  }

  /** A query parameter that has to be there. */
  public String required(String name) {
    String value = parameter(name);
    if (value == null) {
      throw new InvalidBody(name + ": missing (expected: a query parameter)");
    }
    return value;
  }

  /** The values of a query parameter that may come several times. */
  public List<String> parameters(String name) {
    return query.getOrDefault(name, List.of());
  }

  /** A time, or null. */
  public @Nullable Instant time(String name) {
    String value = parameter(name);
    return value != null ? Shape.time(name, value) : null;
  }

  /** A duration, or the default. */
  public Duration duration(String name, Duration standard) {
    String value = parameter(name);
    return value != null ? Shape.duration(name, value) : standard;
  }

  /** True or false; the default is false. */
  public boolean flag(String name) {
    String value = parameter(name);
    return switch (value) {
      case null -> false;
      case "true" -> true;
      case "false" -> false;
      default -> throw Shape.invalid(name, Shape.quoted(value), "true or false");
    };
  }

  /** A whole number, or the default. */
  public int integer(String name, int standard) {
    String value = parameter(name);
    if (value == null) {
      return standard;
    }
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw Shape.invalid(name, Shape.quoted(value), "a whole number");
    }
  }

  /**
   * What the client expects to overwrite: the tags of {@code If-Match}, as they stand between their
   * quotes; empty where it says nothing, or anything that is there. A weak tag fits nothing.
   */
  public Set<String> ifMatch() {
    String match = header("if-match");
    Set<String> tags = new LinkedHashSet<>();
    for (String each : match == null ? new String[0] : match.split(",", -1)) {
      String tag = each.strip();
      if (tag.equals("*")) {
        return Set.of();
      }
      boolean quoted = tag.length() > 1 && tag.startsWith("\"") && tag.endsWith("\"");
      tags.add(quoted ? tag.substring(1, tag.length() - 1) : tag);
    }
    return tags;
  }

  /** The answer for what is not here, or not for this caller. */
  public static Problem.Refusal notFound() {
    return Problems.notFound().refusal();
  }

  /** The answer for something else than a job that is not here. */
  public static Problem.Refusal notFound(String detail) {
    return Problem.of(Kind.NOT_FOUND, detail).refusal();
  }

  /** The answer for what does not fit the state of things. */
  public static Problem.Refusal conflict(String detail) {
    return Problem.of(Kind.CONFLICT, detail).refusal();
  }
}
