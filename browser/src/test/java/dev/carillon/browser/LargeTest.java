package dev.carillon.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Much of everything: pages stay small and say that there is more. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LargeTest {
  private static final int QUEUES = 10_000;
  private static final int MEMBERS = 200;
  private static final int SHARDS = 20_000;
  private static final int PAUSES = 550;
  private static final int MOST_ELEMENTS = 12_000;

  @TempDir static Path folder;
  private Chromium chromium;
  private DemoServer demo;
  private Page page;

  @BeforeAll
  void start() {
    chromium = Chromium.start();
    demo = new DemoServer(folder.resolve("jobs.db"));
  }

  @AfterAll
  void stop() {
    if (demo != null) {
      demo.close();
    }
    if (chromium != null) {
      chromium.close();
    }
  }

  @AfterEach
  void pageIsSmallAndNothingIsComplainedOf() {
    Object elements = page.evaluate("document.querySelectorAll('*').length");
    assertThat(((Number) elements).intValue()).isLessThan(MOST_ELEMENTS);
    Object over = page.evaluate("document.documentElement.scrollWidth - innerWidth");
    assertThat(((Number) over).intValue()).isLessThanOrEqualTo(0);
    page.context().close();
    assertThat(chromium.complaints).isEmpty();
  }

  private void open(String place) {
    page = chromium.page();
    page.navigate(demo.pages() + "#/default/" + place);
    assertThat(page.locator("h1")).isVisible();
  }

  /** 1 MiB of input, 64 entries of metadata, a queue name of 200 bytes. */
  @Test
  void jobWithMuchOfEverything() {
    String queue = "<b>\"'\u202e\ud83d\udd14" + "\u05d0".repeat(94);
    assertThat(queue.getBytes(StandardCharsets.UTF_8)).hasSize(200);
    String metadata =
        IntStream.range(0, 64)
            .mapToObj(
                i ->
                    HostileTexts.json("k" + i)
                        + ": "
                        + HostileTexts.json("<i>\u202e" + "v".repeat(180)))
            .collect(Collectors.joining(", "));
    String id =
        demo.job(
            "{\"type\": \"mail.send\", \"queue\": %s, \"in\": \"PT3H\", \"metadata\": {%s}, \"input\": \"%s\"}"
                .formatted(HostileTexts.json(queue), metadata, "x".repeat((1 << 20) - 100)));
    open("jobs/" + id);
    assertThat(page.locator("main")).containsText(queue);
    assertThat(page.locator("main")).containsText("k63");
    assertThat(page.getByText(Pattern.compile("Show all 1,0\\d\\d,\\d\\d\\d characters")))
        .isVisible();
    page.navigate(
        demo.pages() + "#/default/queues/" + URLEncoder.encode(queue, StandardCharsets.UTF_8));
    assertThat(page.locator("h1")).containsText(queue);
  }

  /** More events than one answer has: the older ones are asked for. */
  @Test
  void jobWithMoreEventsThanAPage() {
    String id = demo.job("{\"type\": \"mail.send\", \"in\": \"PT3H\"}");
    for (int i = 0; i < PAUSES; i++) {
      demo.send("POST", "/v1/namespaces/default/jobs/" + id + "/pause", "{}");
      demo.send("POST", "/v1/namespaces/default/jobs/" + id + "/resume", "{}");
    }
    open("jobs/" + id);
    assertThat(page.locator("main [aria-busy=true]")).hasCount(0);
    assertThat(page.getByText(Pattern.compile("[Oo]lder")).first()).isVisible();
  }

  @Test
  void tenThousandQueues() {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < QUEUES; i++) {
      jobs.add("{\"type\": \"nobody\", \"queue\": \"queue-%d\"}".formatted(i));
    }
    demo.send(
        "POST",
        "/v1/namespaces/default/jobs/batch",
        "{\"jobs\": [" + String.join(", ", jobs) + "]}");
    open("queues");
    assertThat(page.getByText(Pattern.compile("The 50 that wait longest, of [0-9,]+\\.")))
        .isVisible();
    assertThat(page.locator("tbody tr")).hasCount(50);
    page.navigate(demo.pages() + "#/default/overview");
    assertThat(page.locator("[data-finding=no-handler]")).isVisible();
    page.navigate(demo.pages() + "#/default/queues/queue-9999");
    assertThat(page.locator("h1")).containsText("queue-9999");
  }

  private void answers(String path, String body) {
    page.route(
        "**/" + path,
        route ->
            route.fulfill(
                new Route.FulfillOptions().setContentType("application/json").setBody(body)));
  }

  /** As the API has them; so many nodes do not fit on one machine. */
  @Test
  void twoHundredMembersWithTwentyThousandShards() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.HOURS);
    String members =
        IntStream.range(0, MEMBERS)
            .mapToObj(
                i ->
                    """
                    {"node": "node-%1$d", "incarnation": "%1$d", "state": "THERE", "owned": 100, "home": 100,
                     "standsIn": 0, "standInOf": {}, "format": 1, "clockOffset": "PT0S"}"""
                        .formatted(i))
            .collect(Collectors.joining(","));
    String nodes =
        IntStream.range(0, MEMBERS)
            .mapToObj(i -> "\"node-" + i + "\"")
            .collect(Collectors.joining(","));
    String items =
        IntStream.range(0, MEMBERS)
            .boxed()
            .flatMap(
                node ->
                    IntStream.range(0, SHARDS / MEMBERS / 5)
                        .mapToObj(
                            i ->
                                """
                                {"node": "node-%d", "start": "%s", "width": "PT1H", "shards": 5, "loaded": 1,
                                 "coming": 0, "going": 0, "jobs": 100}"""
                                    .formatted(node, now.plus(i, ChronoUnit.HOURS))))
            .collect(Collectors.joining(","));
    page = chromium.page();
    answers(
        "v1/cluster",
        "{\"asked\": \"node-0\", \"members\": [%s], \"slices\": [], \"complete\": false}"
            .formatted(members));
    answers(
        "v1/cluster/map",
        "{\"items\": [%s], \"nodes\": [%s], \"silent\": []}".formatted(items, nodes));
    page.navigate(demo.pages() + "#/default/nodes");
    assertThat(page.locator("tbody tr")).hasCount(MEMBERS);
    page.navigate(demo.pages() + "#/default/map");
    assertThat(page.locator(".lane")).hasCount(MEMBERS);
    assertThat(page.locator(".lane").last()).containsText("100 shards");
  }
}
