package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.fixture.PostgresServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** Workflows on three nodes that share a store, as their users and operators see them. */
@Timeout(180)
class WorkflowsOnThreeNodesTest {
  private static final JobType<String, String> ORDER =
      JobType.of("order", String.class, String.class);
  private static final JobType<String, String> PART =
      JobType.of("part", String.class, String.class);
  private static final SignalType<String> PAID = SignalType.of("paid", String.class);
  private static final Duration LONG = Duration.ofSeconds(90);
  private static final Duration MEMBER_TIMEOUT = Duration.ofSeconds(3);
  private static final AtomicInteger CLUSTERS = new AtomicInteger();

  private final String url =
      PostgresServer.shared().url() + "&carillon.cluster=three-nodes-" + CLUSTERS.incrementAndGet();
  private final List<Carillon> nodes = new ArrayList<>();

  /** Each step and child that ran, and where. */
  private final List<String> did = new CopyOnWriteArrayList<>();

  private final AtomicBoolean bankIsDown = new AtomicBoolean();

  @AfterEach
  void close() {
    nodes.forEach(Carillon::close);
  }

  private Carillon node(String id) {
    Carillon node =
        Carillon.builder()
            .url(url)
            .nodeId(id)
            .advanced(options -> options.memberTimeout(MEMBER_TIMEOUT))
            .daemon(true)
            .open();
    nodes.add(node);
    return node;
  }

  private Carillon nodeWithCode(String id) {
    Carillon node = node(id);
    node.handle(PART, (part, job) -> did("part", id));
    node.workflow(ORDER, (order, wf) -> order(order, wf, id));
    return node;
  }

  private String order(String order, Workflow wf, String node) {
    wf.step("reserve", () -> did("reserve", node));
    wf.sleep(Duration.ofMillis(50));
    if (order.equals("waits")) {
      wf.await(PAID);
    }
    wf.step(
        "charge",
        () -> {
          if (bankIsDown.get()) {
            throw new NotRetryableException("the bank is down");
          }
          did("charge", node);
        });
    return order + " " + wf.call(PART.job(order));
  }

  private String did(String what, String node) {
    did.add(what + " on " + node);
    return what;
  }

  private List<String> done() {
    return did.stream().map(each -> each.substring(0, each.indexOf(' '))).toList();
  }

  private void awaitThree() {
    Awaitility.await()
        .atMost(LONG)
        .until(() -> nodes.stream().allMatch(node -> node.node().members().size() == 3));
  }

  private static String result(Carillon node, JobId id) {
    return String.valueOf(node.result(id, TypeToken.of(String.class), LONG));
  }

  private void awaitState(Carillon node, JobId id, JobState state) {
    Awaitility.await()
        .atMost(LONG)
        .untilAsserted(() -> assertThat(node.get(id).orElseThrow().state()).isEqualTo(state));
  }

  private String run(String... args) {
    StringWriter out = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out));
    assertThat(commandLine.execute(args)).isZero();
    return out.toString();
  }

  @Test
  void nodeThatLacksTheCodePassesItsWorkflowsOn() {
    Carillon a = node("a");
    nodeWithCode("b");
    nodeWithCode("c");
    awaitThree();

    JobHandle<String> order = a.schedule(ORDER.job("waits"));
    awaitState(a, order.id(), JobState.WAITING);
    assertThat(a.signal(order.id(), PAID, "yes")).isEqualTo(SignalResult.DONE);

    assertThat(result(a, order.id())).isEqualTo("waits part");
    assertThat(done()).containsExactly("reserve", "charge", "part");
    assertThat(did).noneMatch(each -> each.endsWith(" on a"));
    assertThat(a.node().stats().shards()).isPositive();
  }

  @Test
  void workflowGoesOnElsewhereWhenItsNodeStops() {
    Carillon a = nodeWithCode("a");
    Carillon b = nodeWithCode("b");
    Carillon c = nodeWithCode("c");
    awaitThree();
    JobId order = a.schedule(ORDER.job("waits")).id();
    awaitState(c, order, JobState.WAITING);

    a.close();
    assertThat(b.signal(order, PAID, "yes")).isEqualTo(SignalResult.DONE);

    assertThat(result(c, order)).isEqualTo("waits part");
    assertThat(done()).containsExactly("reserve", "charge", "part");
    assertThat(did.getFirst()).isEqualTo("reserve on a");
    assertThat(did.getLast()).isNotEqualTo("part on a");
  }

  @Test
  void deadWorkflowIsListedAndReplayedFromAnyNodeWhereItFailed() {
    Carillon a = node("a");
    nodeWithCode("b");
    Carillon c = nodeWithCode("c");
    awaitThree();
    bankIsDown.set(true);
    JobId order = a.schedule(ORDER.job("fails")).id();
    awaitState(a, order, JobState.DEAD);
    assertThat(c.deadLetters().list(JobQuery.all()).items())
        .extracting(JobInfo::id)
        .containsExactly(order);

    bankIsDown.set(false);
    assertThat(c.deadLetters().replay(order)).isEqualTo(ControlResult.DONE);

    assertThat(result(c, order)).isEqualTo("fails part");
    assertThat(done()).containsExactly("reserve", "charge", "part");
  }

  @Test
  void recurringWorkflowRunsItsStepsAtEachOccurrence() {
    Carillon a = node("a");
    nodeWithCode("b");
    Carillon c = nodeWithCode("c");
    awaitThree();

    JobId nightly =
        a.recurring("nightly", ORDER.job("again"), Schedule.every(Duration.ofMillis(500))).id();

    Awaitility.await().atMost(LONG).until(() -> done().stream().filter("part"::equals).count() > 2);
    assertThat(c.cancel(nightly, "enough")).isNotNull();
    awaitState(c, nightly, JobState.CANCELLED);
    assertThat(done().subList(0, 6))
        .containsExactly("reserve", "charge", "part", "reserve", "charge", "part");
  }

  @Test
  void listExportQueryAndHistoryTellOfWorkflowsOfAllNodes() {
    Carillon a = nodeWithCode("a");
    Carillon b = nodeWithCode("b");
    Carillon c = nodeWithCode("c");
    awaitThree();
    List<JobId> orders = new ArrayList<>();
    for (Carillon node : List.of(a, b, c)) {
      orders.add(node.schedule(ORDER.job("waits")).id());
    }
    orders.forEach(order -> awaitState(c, order, JobState.WAITING));

    assertThat(b.list(JobQuery.all().type("order").states(JobState.WAITING)).items())
        .extracting(JobInfo::id)
        .containsExactlyInAnyOrderElementsOf(orders);
    assertThat(run("export", url).lines())
        .hasSize(3)
        .allSatisfy(
            line -> assertThat(line).contains("\"type\":\"order\"", "\"state\":\"WAITING\""));
    assertThat(run("query", url, "select step, outcome from steps").lines())
        .filteredOn(line -> line.startsWith("reserve  STEP_DONE"))
        .hasSize(3);
    assertThat(run("history", url, orders.getLast().value()))
        .contains("order WAITING", "STEP_DONE", "reserve");
    orders.forEach(order -> a.signal(order, PAID, "yes"));
    orders.forEach(order -> assertThat(result(b, order)).isEqualTo("waits part"));
  }
}
