package dev.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.HandlerOptions;
import dev.carillon.RawPayload;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.server.http.Method;
import dev.carillon.server.http.Route;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Two servers on one store: an answer does not depend on which one was asked. */
@Timeout(400)
class TwoServersTest {
  private static final String NAMESPACE = "/v1/namespaces/default";
  private static final String JOBS = NAMESPACE + "/jobs";
  private static final Duration SOON = Duration.ofMinutes(2);

  private static final TaskType<RawPayload> HOLD = TaskType.of("hold", RawPayload.class);
  private static final TaskType<RawPayload> FAIL = TaskType.of("fail", RawPayload.class);
  private static final JobType<RawPayload, RawPayload> ECHO =
      JobType.of("echo", RawPayload.class, RawPayload.class);
  private static final JobType<RawPayload, RawPayload> ASK =
      JobType.of("ask", RawPayload.class, RawPayload.class);
  private static final SignalType<RawPayload> ANSWER = SignalType.of("answer", RawPayload.class);

  /** What is of the node that is asked, grows from look to look, or goes on for ever. */
  private static final Set<String> OTHERWISE =
      Set.of(
          "getMetrics",
          "getNodeHealth",
          "getFigures",
          "getLateness",
          "listWorkers",
          "streamEvents",
          "streamAllEvents");

  /** Fields that are of the node that was asked, or another one at each look. */
  private static final Set<String> OF_THE_LOOK =
      Set.of("asked", "clockOffset", "inClaim", "pending", "uncounted");

  private static final String WHY = "getJobWhy ";

  private final CountDownLatch over = new CountDownLatch(1);

  private static CarillonBuilder node(String id) {
    return Carillon.builder()
        .url(PostgresServer.shared().url() + "&carillon.schema=two_servers")
        .nodeId(id)
        .closeGrace(Duration.ofSeconds(2));
  }

  private void handle(Carillon carillon) {
    HandlerOptions once =
        HandlerOptions.defaults().failurePolicy(FailurePolicy.constant(Duration.ofMillis(1), 0));
    carillon.handle(HOLD, (input, job) -> over.await());
    carillon.handle(ECHO, (input, job) -> input);
    carillon.handle(
        FAIL,
        (input, job) -> {
          throw new IllegalStateException("no such order");
        },
        once);
    carillon.workflow(
        ASK,
        (input, wf) -> {
          wf.publish(new RawPayload("json", "\"asked\"".getBytes(StandardCharsets.UTF_8)));
          return wf.await(ANSWER, Duration.ofDays(7)).orElseThrow();
        });
  }

  /** What jobs there are, by what they are to be. */
  private static Map<String, String> fill(ApiClient one, ApiClient two) {
    one.post("/v1/queues/slow/pause", "{\"reason\": \"moving\"}").expect(200);
    two.put(NAMESPACE + "/flow/limit", "{\"limit\": 1000}").expect(200);
    Map<String, String> ids = new LinkedHashMap<>();
    ids.put("SCHEDULED", id(one, "{\"type\": \"echo\", \"in\": \"1000h\", \"name\": \"far\"}"));
    ids.put("PAUSED", id(two, "{\"type\": \"echo\", \"queue\": \"slow\", \"key\": \"k\"}"));
    ids.put("RUNNING", id(two, "{\"type\": \"hold\"}"));
    ids.put("SUCCEEDED", id(one, "{\"type\": \"echo\", \"input\": {\"a\":  1.50}}"));
    ids.put("DEAD", id(two, "{\"type\": \"fail\"}"));
    ids.put("WAITING", id(one, "{\"type\": \"ask\"}"));
    ids.put("BLOCKED", id(two, "{\"type\": \"nobodys\"}"));
    String schedule = "{\"type\": \"echo\", \"schedule\": {\"cron\": \"0 3 1 1 *\"}}";
    one.put(NAMESPACE + "/schedules/yearly", schedule).expect(201);
    String bulk = "{\"action\": \"PRIORITISE\", \"priority\": 3, \"query\": {\"type\": \"none\"}}";
    ids.put("bulk", two.post(NAMESPACE + "/bulk", bulk).expect(202).json().path("id").asString());
    return ids;
  }

  private static String id(ApiClient client, String job) {
    return client.post(JOBS, job).expect(201).json().path("id").asString();
  }

  @Test
  void everyAnswerIsTheSameWhicheverServerIsAsked() {
    try (ServerFixture one = ServerFixture.on(node("one"));
        ServerFixture two = ServerFixture.on(node("two"))) {
      try {
        for (ServerFixture each : List.of(one, two)) {
          Awaitility.await().atMost(SOON).until(() -> each.carillon.node().members().size() == 2);
          handle(each.carillon);
        }
        Map<String, String> ids = fill(one.client, two.client);
        Map<String, String> addresses = addresses(one.server.routes(), ids);
        assertThat(addresses).hasSizeGreaterThan(60);
        Awaitility.await()
            .atMost(SOON)
            .untilAsserted(() -> assertThat(states(one.client, ids)).isEqualTo(wanted(ids)));
        Awaitility.await()
            .atMost(SOON)
            .untilAsserted(
                () -> assertThat(answers(two, addresses)).isEqualTo(answers(one, addresses)));
        System.out.printf("two servers: %d answers are the same%n", addresses.size());
      } finally {
        over.countDown();
      }
    }
  }

  private static Map<String, String> wanted(Map<String, String> ids) {
    Map<String, String> wanted = new TreeMap<>();
    ids.keySet().forEach(state -> wanted.put(state, state.equals("bulk") ? "SUCCEEDED" : state));
    return wanted;
  }

  private static Map<String, String> states(ApiClient client, Map<String, String> ids) {
    Map<String, String> states = new TreeMap<>();
    ids.forEach(
        (name, id) -> {
          String path = name.equals("bulk") ? NAMESPACE + "/bulk/" : JOBS + "/";
          states.put(name, client.get(path + id).expect(200).json().path("state").asString());
        });
    return states;
  }

  /** Of each operation that looks, and of each job. */
  private static Map<String, String> addresses(List<Route> routes, Map<String, String> ids) {
    Map<String, String> addresses = new TreeMap<>();
    for (Route route : routes) {
      if (route.method() != Method.GET
          || !route.path().startsWith("/v1/")
          || route.path().startsWith("/v1/login")
          || OTHERWISE.contains(route.operation())) {
        continue;
      }
      String path =
          route
              .path()
              .replace("{ns}", "default")
              .replace("{queue}", "slow")
              .replace("{key}", "k")
              .replace("{name}", route.path().contains("/schedules/") ? "yearly" : "far");
      if (route.operation().equals("listUpcoming")) {
        path += "?from=2031-01-01T00:00:00Z&to=2031-02-01T00:00:00Z";
      } else if (route.operation().equals("previewSchedule")) {
        path += "?from=2031-01-01T00:00:00Z";
      }
      for (Map.Entry<String, String> id : ids.entrySet()) {
        addresses.put(
            route.operation() + (path.contains("{id}") ? " " + id.getKey() : ""),
            path.replace("{id}", id.getValue()));
      }
    }
    return addresses;
  }

  private static Map<String, String> answers(ServerFixture asked, Map<String, String> addresses) {
    Map<String, String> answers = new TreeMap<>();
    addresses.forEach(
        (name, path) -> {
          ApiClient.Reply reply = asked.client.get(path);
          boolean json = reply.contentType().contains("json") && reply.body().length > 0;
          String body = json ? plain(reply.json()) : reply.text();
          answers.put(name, reply.status() + " " + (name.startsWith(WHY) ? timeless(body) : body));
        });
    return answers;
  }

  /** Without the time of the look. */
  private static String timeless(String body) {
    return body.replaceFirst("^\\{at=[^,]*, ", "{");
  }

  /** JSON without the order of lists, which begin with the node that was asked. */
  private static String plain(JsonNode node) {
    if (node.isArray()) {
      List<String> items = new ArrayList<>();
      node.forEach(each -> items.add(plain(each)));
      items.sort(null);
      return items.toString();
    }
    if (node.isObject()) {
      Map<String, String> fields = new TreeMap<>();
      for (String name : new TreeSet<>(node.propertyNames())) {
        if (!OF_THE_LOOK.contains(name)) {
          fields.put(name, plain(node.get(name)));
        }
      }
      return fields.toString();
    }
    return node.toString();
  }
}
