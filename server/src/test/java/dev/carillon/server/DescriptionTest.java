package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Route;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The table of routes and {@code openapi.yaml} say the same, both ways. */
class DescriptionTest {
  private static final Pattern VARIABLE = Pattern.compile("\\{([^}]+)}");

  private final ApiDescription description;
  private final List<Route> routes;

  DescriptionTest() throws Exception {
    description = new ApiDescription();
    try (Carillon carillon = Carillon.inMemory();
        CarillonServer server = CarillonServer.start(carillon, ServerFixture.OPTIONS)) {
      routes = server.routes();
    }
  }

  /** What both say of an operation. */
  private record Said(
      String method, String path, String role, Set<String> query, Set<String> variables) {}

  @Test
  void tableAndDescriptionAgreeBothWays() {
    Map<String, Said> table = new TreeMap<>();
    for (Route route : routes) {
      Set<String> variables = new TreeSet<>();
      Matcher matcher = VARIABLE.matcher(route.path());
      while (matcher.find()) {
        variables.add(matcher.group(1));
      }
      table.put(
          route.operation(),
          new Said(
              route.method().name(),
              route.path(),
              route.role().name(),
              new TreeSet<>(route.query()),
              variables));
    }
    Map<String, Said> described = new TreeMap<>();
    description
        .operations()
        .forEach(
            (name, operation) ->
                described.put(
                    name,
                    new Said(
                        operation.method(),
                        operation.path(),
                        operation.role(),
                        names(operation.parameters(), "query"),
                        names(operation.parameters(), "path"))));
    assertThat(table).isEqualTo(described);
  }

  private static Set<String> names(List<JsonNode> parameters, String in) {
    Set<String> names = new TreeSet<>();
    for (JsonNode parameter : parameters) {
      if (parameter.path("in").asString().equals(in)) {
        names.add(parameter.path("name").asString());
      }
    }
    return names;
  }

  @Test
  void everyOperationDescribesItsProblemsAndItsBody() {
    for (Route route : routes) {
      JsonNode node = description.operations().get(route.operation()).node();
      assertThat(node.path("responses").has("default")).as(route.operation()).isTrue();
      assertThat(node.path("summary").asString()).as(route.operation()).endsWith(".");
      if (node.has("requestBody")) {
        assertThat(route.body()).as(route.operation()).isNotEqualTo(Route.Body.NONE);
      }
    }
  }

  @Test
  void everyKindOfProblemIsDescribed() {
    Set<String> described = new TreeSet<>();
    description
        .schema("Problem")
        .path("properties")
        .path("type")
        .path("enum")
        .forEach(each -> described.add(each.asString()));
    Set<String> kinds = new TreeSet<>();
    for (Problem.Kind kind : Problem.Kind.values()) {
      kinds.add(kind.type());
    }
    assertThat(kinds).isEqualTo(described);
  }

  @Test
  void namespaceIsWhatTheRouterAsksTheCallerAbout() {
    for (Route route : routes) {
      assertThat(route.isOfNamespace())
          .as(route.operation())
          .isEqualTo(route.path().startsWith("/v1/namespaces/"));
    }
    assertThat(Call.notFound().problem().kind()).isEqualTo(Problem.Kind.NOT_FOUND);
  }
}
