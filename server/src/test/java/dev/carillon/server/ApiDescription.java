package dev.carillon.server;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** {@code openapi.yaml} as a judge: what it describes, and whether an answer is as it says. */
final class ApiDescription {
  private static final JsonMapper JSON = new JsonMapper();

  private final JsonNode root;
  private final Map<String, Operation> operations = new TreeMap<>();
  private final Map<String, Schema> schemas = new ConcurrentHashMap<>();
  private final SchemaRegistry registry =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

  /** An operation, its references resolved. */
  record Operation(String method, String path, JsonNode node, List<JsonNode> parameters) {
    String role() {
      return node.path("x-role").asString();
    }
  }

  ApiDescription() throws IOException {
    try (InputStream in = CarillonServer.class.getResourceAsStream("openapi.yaml")) {
      root = new YAMLMapper().readTree(in);
    }
    for (Map.Entry<String, JsonNode> path : root.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> each : path.getValue().properties()) {
        if (!each.getKey().equals("parameters")) {
          List<JsonNode> parameters = new ArrayList<>();
          path.getValue().path("parameters").forEach(p -> parameters.add(resolved(p)));
          each.getValue().path("parameters").forEach(p -> parameters.add(resolved(p)));
          operations.put(
              each.getValue().path("operationId").asString(),
              new Operation(
                  each.getKey().toUpperCase(java.util.Locale.ROOT),
                  path.getKey(),
                  each.getValue(),
                  parameters));
        }
      }
    }
  }

  Map<String, Operation> operations() {
    return operations;
  }

  /** A schema of the components. */
  JsonNode schema(String name) {
    return root.path("components").path("schemas").path(name);
  }

  /** What a reference refers to; anything else itself. */
  JsonNode resolved(JsonNode node) {
    JsonNode ref = node.get("$ref");
    return ref == null ? node : root.at(ref.asString().substring(1));
  }

  /** What is wrong with an answer; empty if nothing is. */
  String faults(String operation, int status, String contentType, byte[] body) {
    JsonNode responses = operations.get(operation).node().path("responses");
    JsonNode response = responses.get(Integer.toString(status));
    if (response == null && status >= 400) {
      response = responses.get("default");
    }
    if (response == null) {
      return operation + ": status " + status + " is not described";
    }
    JsonNode content = resolved(response).path("content");
    if (content.isMissingNode()) {
      return body.length == 0 ? "" : operation + ": a body, and none is described";
    }
    String plain = contentType.split(";", 2)[0];
    JsonNode media = content.get(plain);
    if (media == null) {
      media = content.get("*/*");
    }
    if (media == null) {
      return operation + ": " + status + " of type " + plain + " is not described";
    }
    JsonNode schema = media.get("schema");
    return schema == null ? "" : faults(operation, schema, body);
  }

  private String faults(String operation, JsonNode schema, byte[] body) {
    JsonNode value;
    try {
      value = JSON.readTree(body);
    } catch (JacksonException e) {
      return operation + ": no JSON: " + e.getMessage();
    }
    List<Error> errors = compiled(schema).validate(value);
    return errors.isEmpty() ? "" : operation + ": " + errors + " in " + value;
  }

  /** Whether a request body is as the description says. */
  String requestFaults(String schemaName, byte[] body) {
    ObjectNode ref = JSON.createObjectNode();
    ref.put("$ref", "#/components/schemas/" + schemaName);
    return faults(schemaName, ref, body);
  }

  /** The schemas refer to each other: each is compiled with all components beside it. */
  private Schema compiled(JsonNode schema) {
    return schemas.computeIfAbsent(
        schema.toString(),
        text -> {
          ObjectNode whole = JSON.createObjectNode();
          whole.set("components", root.path("components"));
          schema.properties().forEach(e -> whole.set(e.getKey(), e.getValue()));
          return registry.getSchema(whole);
        });
  }
}
