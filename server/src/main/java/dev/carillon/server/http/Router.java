package dev.carillon.server.http;

import dev.carillon.server.http.Problem.Kind;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the route of a path and a method. Segments are compared after decoding, each by itself: a
 * name may have a slash in it, as {@code %2F}. A fixed segment goes before a variable one.
 */
public final class Router {
  private final List<Route> routes;
  private final Node root = new Node();

  /** A route and what stands in its variable segments. */
  public record Match(Route route, Map<String, String> variables) {}

  private static final class Node {
    final Map<String, Node> fixed = new HashMap<>();
    @Nullable Node variable;
    @Nullable String variableName;
    final Map<Method, Route> routes = new EnumMap<>(Method.class);
  }

  /**
   * A router of a table.
   *
   * @param routes the table
   * @throws IllegalStateException if two routes have the same operation, or method and path
   */
  public Router(List<Route> routes) {
    this.routes = List.copyOf(routes);
    Set<String> operations = new HashSet<>();
    for (Route route : this.routes) {
      if (!operations.add(route.operation())) {
        throw new IllegalStateException("operation " + route.operation() + " twice");
      }
      add(route);
    }
  }

  /** The table. */
  public List<Route> routes() {
    return routes;
  }

  private void add(Route route) {
    Node node = root;
    for (String segment : route.path().substring(1).split("/", -1)) {
      node = segment.startsWith("{") ? variable(node, segment, route) : fixed(node, segment);
    }
    if (node.routes.put(route.method(), route) != null) {
      throw new IllegalStateException(route.method() + " " + route.path() + " twice");
    }
  }

  private static Node fixed(Node node, String segment) {
    return node.fixed.computeIfAbsent(segment, s -> new Node());
  }

  private static Node variable(Node node, String segment, Route route) {
    String name = segment.substring(1, segment.length() - 1);
    Node next = node.variable;
    if (next == null) {
      next = new Node();
      node.variable = next;
      node.variableName = name;
    } else if (!name.equals(node.variableName)) {
      throw new IllegalStateException(
          "%s: {%s} (expected: {%s})".formatted(route.path(), name, node.variableName));
    }
    return next;
  }

  /**
   * The route of a request.
   *
   * @param method its method
   * @param rawPath its path, not decoded
   * @return the route
   * @throws Problem.Refusal if there is none
   */
  public Match match(String method, String rawPath) {
    Map<String, String> variables = new LinkedHashMap<>();
    Node node = rawPath.startsWith("/") ? find(rawPath, variables) : null;
    if (node == null || node.routes.isEmpty()) {
      throw Problem.of(Kind.NOT_FOUND, "path: no such one (expected: see /openapi.yaml)").refusal();
    }
    for (Map.Entry<Method, Route> each : node.routes.entrySet()) {
      if (each.getKey().name().equals(method)) {
        return new Match(each.getValue(), variables);
      }
    }
    throw Problem.of(Kind.METHOD, "method: not one of this path (expected: " + allow(node) + ")")
        .with("allow", allow(node))
        .refusal();
  }

  private static String allow(Node node) {
    return String.join(", ", node.routes.keySet().stream().map(Enum::name).toList());
  }

  private @Nullable Node find(String rawPath, Map<String, String> variables) {
    Node node = root;
    int start = 1;
    while (true) {
      int end = rawPath.indexOf('/', start);
      String segment = decoded(rawPath.substring(start, end < 0 ? rawPath.length() : end), false);
      Node next = node.fixed.get(segment);
      if (next == null && node.variable != null && !segment.isEmpty()) {
        next = node.variable;
        variables.put(String.valueOf(node.variableName), segment);
      }
      if (next == null || end < 0) {
        return next;
      }
      node = next;
      start = end + 1;
    }
  }

  // ---- decoding

  /**
   * The parameters of a query, in the order in which they came.
   *
   * @param rawQuery the query, not decoded; null for none
   * @param known what the route knows
   * @throws Problem.Refusal if there is one that it does not know
   */
  static Map<String, List<String>> query(@Nullable String rawQuery, Set<String> known) {
    Map<String, List<String>> query = new LinkedHashMap<>();
    if (rawQuery == null || rawQuery.isEmpty()) {
      return query;
    }
    for (String part : rawQuery.split("&", -1)) {
      int equals = part.indexOf('=');
      String name = decoded(equals < 0 ? part : part.substring(0, equals), true);
      String value = equals < 0 ? "" : decoded(part.substring(equals + 1), true);
      if (!isKnown(name, known)) {
        List<String> expected = new ArrayList<>(known);
        expected.sort(null);
        throw invalid("query: unknown parameter " + quoted(name), "one of " + expected);
      }
      query.computeIfAbsent(name, n -> new ArrayList<>()).add(value);
    }
    return query;
  }

  private static boolean isKnown(String name, Set<String> known) {
    int dot = name.indexOf('.');
    return known.contains(name) || (dot > 0 && known.contains(name.substring(0, dot + 1)));
  }

  private static String decoded(String raw, boolean plusIsBlank) {
    if (raw.indexOf('%') < 0 && (!plusIsBlank || raw.indexOf('+') < 0)) {
      return raw;
    }
    byte[] text = raw.getBytes(StandardCharsets.UTF_8);
    byte[] bytes = new byte[text.length];
    int length = 0;
    for (int i = 0; i < text.length; i++) {
      if (text[i] == '%') {
        int high = i + 2 <= text.length - 1 ? Character.digit(text[i + 1], 16) : -1;
        int low = i + 2 < text.length ? Character.digit(text[i + 2], 16) : -1;
        if (high < 0 || low < 0) {
          throw invalid("address: " + quoted(raw), "two hexadecimal digits behind each %");
        }
        bytes[length++] = (byte) (high << 4 | low);
        i += 2;
      } else {
        bytes[length++] = plusIsBlank && text[i] == '+' ? (byte) ' ' : text[i];
      }
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes, 0, length))
          .toString();
    } catch (CharacterCodingException e) {
      throw invalid("address: " + quoted(raw), "UTF-8");
    }
  }

  private static String quoted(String text) {
    return dev.carillon.server.json.Shape.quoted(text);
  }

  private static Problem.Refusal invalid(String what, String expected) {
    return Problem.of(Kind.INVALID, what + " (expected: " + expected + ")").refusal();
  }
}
