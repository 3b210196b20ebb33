package dev.carillon.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.JobId;
import dev.carillon.api.JobType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Three nodes on PostgreSQL, one of them with a server: its pages show and change all of them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ThreeNodesTest {
  private static final JobType<RawPayload, RawPayload> TASK =
      JobType.of("task", RawPayload.class, RawPayload.class);
  private static final RawPayload DONE = new RawPayload("json", new byte[] {'1'});
  private static final Duration SOON = Duration.ofSeconds(40);
  private static final double SLOWLY_MILLIS = 40_000;
  private static final int ROUNDS = 10;

  private final List<Carillon> nodes = new ArrayList<>();
  private Chromium chromium;
  private CarillonServer server;
  private Page page;

  @BeforeAll
  void start() throws Exception {
    chromium = Chromium.start();
    for (String id : List.of("north", "south", "west")) {
      Carillon node =
          Carillon.builder()
              .url(PostgresServer.shared().url() + "&carillon.schema=three_nodes")
              .nodeId(id)
              .closeGrace(Duration.ofMillis(500))
              .open();
      nodes.add(node);
      node.handle(TASK, (input, job) -> DONE);
    }
    Awaitility.await().atMost(SOON).until(() -> nodes.get(0).node().members().size() == 3);
    server =
        CarillonServer.start(
            nodes.get(0), ServerOptions.standard().port(0).stopGrace(Duration.ofMillis(300)));
    page = chromium.page();
  }

  @AfterAll
  void stop() {
    if (chromium != null) {
      chromium.close();
    }
    if (server != null) {
      server.close();
    }
    nodes.forEach(Carillon::close);
  }

  private void open(String place) {
    page.navigate("http://127.0.0.1:" + server.address().getPort() + "/ui/#/default/" + place);
  }

  private static LocatorAssertions.ContainsTextOptions slowly() {
    return new LocatorAssertions.ContainsTextOptions().setTimeout(SLOWLY_MILLIS);
  }

  @Test
  void nodeIsDrainedAndTakenBack() {
    nodes.get(2).schedule(TASK.job(DONE).in(Duration.ofHours(3)));
    open("nodes");
    Locator west = page.locator("tbody tr", new Page.LocatorOptions().setHasText("west"));
    west.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Drain")).click();
    page.getByRole(AriaRole.DIALOG)
        .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Drain"))
        .click();
    assertThat(west).containsText("draining", slowly());
    Awaitility.await().atMost(SOON).until(() -> nodes.get(2).node().stats().shards() == 0);
    open("map");
    Locator lane = page.locator(".lane", new Page.LocatorOptions().setHasText("west"));
    assertThat(lane).containsText("0 shards", slowly());
    open("nodes");
    west.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Undrain")).click();
    assertThat(west).containsText("there", slowly());
    nodes.get(2).schedule(TASK.job(DONE).in(Duration.ofMinutes(30)));
    Awaitility.await().atMost(SOON).until(() -> nodes.get(2).node().stats().shards() > 0);
    open("overview");
    assertThat(page.locator("main")).containsText("3 told", slowly());
    assertThat(page.locator(".verdict.good h2")).isVisible();
  }

  @Test
  void changesOfOwnAndOfOtherNodesJobsReachAnOpenPage() {
    open("overview"); // the stream begins
    assertThat(page.locator(".freshness.good")).hasText("live");
    long own = slowest("own node", nodes.get(0));
    long others = slowest("another node", nodes.get(1));
    assertThat(own).as("milliseconds").isLessThan((long) SLOWLY_MILLIS);
    assertThat(others).as("milliseconds").isLessThan((long) SLOWLY_MILLIS);
  }

  private long slowest(String what, Carillon owner) {
    List<Long> millis = new ArrayList<>();
    for (int i = 0; i < ROUNDS; i++) {
      JobId id = owner.schedule(TASK.job(DONE).in(Duration.ofHours(3))).id();
      open("jobs/" + id.value());
      assertThat(page.locator("h1 .state")).containsText("scheduled", slowly());
      long asked = System.nanoTime();
      owner.reschedule(id, Instant.now());
      assertThat(page.locator("h1 .state"))
          .hasText(
              Pattern.compile("succeeded"),
              new LocatorAssertions.HasTextOptions().setTimeout(SLOWLY_MILLIS));
      millis.add((System.nanoTime() - asked) / 1_000_000);
    }
    Collections.sort(millis);
    System.out.printf(
        "dashboard: a change of a job of %s was seen after %d ms (median of %d), %d ms (most)%n",
        what, millis.get(ROUNDS / 2), ROUNDS, millis.getLast());
    return millis.getLast();
  }
}
