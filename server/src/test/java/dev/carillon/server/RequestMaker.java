package dev.carillon.server;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes requests out of the description, drawn from a seed: mostly as it says, then damaged now and
 * then. Not thread-safe.
 */
final class RequestMaker {
  private static final JsonMapper JSON = new JsonMapper();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final int DEEPEST = 5;
  private static final int DAMAGED_OF_TEN = 4;

  private static final List<String> TEXTS =
      List.of(
          "default",
          "other",
          "x",
          "",
          " ",
          ".",
          "..",
          "/",
          "a/b",
          "%",
          "\u0000",
          "\n",
          "é😀",
          "\ud800",
          "null",
          "0",
          "-1",
          "true",
          "x".repeat(300),
          "y".repeat(3_000),
          "carillon.bulk",
          "carillon.webhook",
          "<script>",
          "'; drop table jobs; --");

  private static final List<String> DURATIONS =
      List.of(
          "1h",
          "2h30m",
          "PT90S",
          "90s",
          "0s",
          "-1s",
          "PT-1S",
          "1ms",
          "P999999999D",
          "1y",
          "PT",
          "h");

  private static final List<String> TIMES =
      List.of(
          "2030-01-01T00:00:00Z",
          "2030-01-01T00:00:00+02:00",
          "1969-12-31T23:59:59Z",
          "9999-12-31T23:59:59Z",
          "+10000-01-01T00:00:00Z",
          "2030-02-30T00:00:00Z",
          "now",
          "2030-01-01");

  /** None is waited for. */
  private static final List<String> WAITS = List.of("0s", "5ms", "-1s", "31s", "1h", "x", "");

  private static final List<String> URLS =
      List.of(
          "http://127.0.0.1:1/",
          "https://name.invalid/",
          "http://169.254.169.254/latest",
          "ftp://x/",
          "http://",
          "x");

  private static final long[] NUMBERS = {
    0,
    1,
    -1,
    2,
    5,
    100,
    101,
    -101,
    1_000,
    1_001,
    65_536,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    1L << 40,
    Long.MAX_VALUE
  };

  private final ApiDescription description;
  private final Random random;
  private final List<String> ids;

  RequestMaker(ApiDescription description, long seed, List<String> ids) {
    this.description = description;
    this.random = new Random(seed);
    this.ids = ids;
  }

  /**
   * A request.
   *
   * @param headers name after value, in pairs
   */
  record Made(String method, String path, byte @Nullable [] body, List<String> headers) {}

  Made make(ApiDescription.Operation operation) {
    String path = operation.path();
    StringBuilder query = new StringBuilder();
    List<String> headers = new ArrayList<>();
    for (JsonNode parameter : operation.parameters()) {
      String name = parameter.path("name").asString();
      switch (parameter.path("in").asString()) {
        case "path" -> path = path.replace("{" + name + "}", encoded(segment(name)));
        case "query" -> addQuery(query, name, parameter.path("schema"));
        default -> addHeader(headers, name);
      }
    }
    if (random.nextInt(20) == 0) {
      query.append("&").append(encoded(text())).append('=').append(encoded(text()));
    }
    byte[] body = body(operation, headers);
    return new Made(
        operation.method(),
        query.isEmpty() ? path : path + "?" + query.substring(1),
        body,
        headers);
  }

  private byte @Nullable [] body(ApiDescription.Operation operation, List<String> headers) {
    boolean reads = operation.method().equals("GET") || operation.method().equals("DELETE");
    if (reads) {
      return random.nextInt(30) == 0 ? "{}".getBytes(StandardCharsets.UTF_8) : null;
    }
    headers.add("Content-Type");
    headers.add(random.nextInt(20) == 0 ? "text/plain" : "application/json");
    JsonNode schema =
        description
            .resolved(operation.node().path("requestBody"))
            .path("content")
            .path("application/json")
            .path("schema");
    String text = JSON.writeValueAsString(value(schema, 0));
    return damaged(text).getBytes(StandardCharsets.UTF_8);
  }

  // ---- values as the description says

  private JsonNode value(JsonNode given, int depth) {
    JsonNode schema = description.resolved(given);
    if (depth > DEEPEST) {
      return NODES.nullNode();
    }
    if (schema.has("enum")) {
      return schema.path("enum").get(random.nextInt(schema.path("enum").size()));
    }
    for (String several : List.of("oneOf", "anyOf")) {
      JsonNode options = schema.path(several);
      if (!options.isEmpty() && !schema.has("properties")) {
        return value(options.get(random.nextInt(options.size())), depth + 1);
      }
    }
    String type =
        schema.path("type").isArray()
            ? schema.path("type").get(0).asString()
            : schema.path("type").asString("");
    return switch (type) {
      case "object" -> object(schema, depth);
      case "array" -> array(schema, depth);
      case "string" -> NODES.stringNode(string(given, schema));
      case "integer", "number" -> NODES.numberNode(NUMBERS[random.nextInt(NUMBERS.length)]);
      case "boolean" -> NODES.booleanNode(random.nextBoolean());
      default -> anything(depth);
    };
  }

  private ObjectNode object(JsonNode schema, int depth) {
    ObjectNode object = NODES.objectNode();
    List<String> required = new ArrayList<>();
    schema.path("required").forEach(name -> required.add(name.asString()));
    for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
      boolean there =
          required.contains(property.getKey()) ? random.nextInt(12) != 0 : random.nextInt(6) == 0;
      if (there) {
        object.set(property.getKey(), value(property.getValue(), depth + 1));
      }
    }
    if (schema.path("additionalProperties").isObject() && random.nextBoolean()) {
      object.set(text(), value(schema.path("additionalProperties"), depth + 1));
    }
    return object;
  }

  private ArrayNode array(JsonNode schema, int depth) {
    ArrayNode array = NODES.arrayNode();
    int size = random.nextInt(4);
    for (int i = 0; i < size; i++) {
      array.add(value(schema.path("items"), depth + 1));
    }
    return array;
  }

  private String string(JsonNode given, JsonNode schema) {
    String reference = given.path("$ref").asString("");
    if (reference.endsWith("/Duration")) {
      return pick(DURATIONS);
    }
    return switch (schema.path("format").asString("")) {
      case "date-time" -> pick(TIMES);
      case "uri" -> pick(URLS);
      default -> text();
    };
  }

  private JsonNode anything(int depth) {
    return switch (random.nextInt(6)) {
      case 0 -> NODES.nullNode();
      case 1 -> NODES.numberNode(NUMBERS[random.nextInt(NUMBERS.length)]);
      case 2 -> NODES.stringNode(text());
      case 3 -> NODES.arrayNode().add(depth < DEEPEST ? anything(depth + 1) : NODES.nullNode());
      case 4 ->
          NODES.objectNode().set("k", depth < DEEPEST ? anything(depth + 1) : NODES.nullNode());
      default -> NODES.booleanNode(true);
    };
  }

  private String segment(String name) {
    if (name.equals("ns")) {
      return random.nextInt(4) == 0 ? text() : "default";
    }
    return random.nextInt(3) == 0 || ids.isEmpty() ? text() : pick(ids);
  }

  private void addQuery(StringBuilder query, String name, JsonNode schema) {
    if (random.nextInt(4) != 0) {
      return;
    }
    String text = name.equals("wait") ? pick(WAITS) : value(schema, DEEPEST).asString(text());
    String given = name.endsWith(".") ? name + "k" : name;
    query.append('&').append(encoded(given)).append('=').append(encoded(text));
  }

  private void addHeader(List<String> headers, String name) {
    if (random.nextInt(4) == 0) {
      headers.add(name);
      headers.add(random.nextBoolean() ? "\"1\"" : "key-" + random.nextInt(50));
    }
  }

  // ---- damage

  private String damaged(String text) {
    if (random.nextInt(10) >= DAMAGED_OF_TEN || text.isEmpty()) {
      return text;
    }
    int at = random.nextInt(text.length());
    return switch (random.nextInt(9)) {
      case 0 -> text.substring(0, at);
      case 1 -> text.substring(0, at) + (char) random.nextInt(0x500) + text.substring(at + 1);
      case 2 -> text.substring(0, at) + text.substring(at + 1);
      case 3 -> text + text;
      case 4 -> "[".repeat(10 + random.nextInt(200)) + text;
      case 5 -> "{\"unknown\": 1, " + text.substring(1);
      case 6 -> text.replaceFirst(":", ":1e999,\"\":");
      case 7 -> text.replaceFirst("\"[^\"]*\"(?=[,}])", "{\"a\":[1]}");
      default -> "";
    };
  }

  private String text() {
    return pick(TEXTS);
  }

  private String pick(List<String> of) {
    return of.get(random.nextInt(of.size()));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
