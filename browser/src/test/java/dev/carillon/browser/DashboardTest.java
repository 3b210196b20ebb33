package dev.carillon.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.microsoft.playwright.Clock;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The dashboard of a real server in a real browser: seen, clicked through, and by keyboard. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DashboardTest {
  private static final Path SCREENSHOTS = Path.of("target", "screenshots");
  private static final LocatorAssertions.IsVisibleOptions SLOWLY =
      new LocatorAssertions.IsVisibleOptions().setTimeout(20_000);

  private static final List<String> PICTURES =
      List.of(
          "overview", "dead-job", "schedule", "dead-letters", "queue", "map", "lateness", "tokens");

  @TempDir static Path folder;
  private Chromium chromium;
  private DemoServer demo;
  private Page page;

  @BeforeAll
  void start() {
    chromium = Chromium.start();
    demo = new DemoServer(folder.resolve("jobs.db"));
    demo.fill();
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> demo.get("/v1/namespaces/default/jobs?state=DEAD").contains("invoice-3"));
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
  void nothingIsComplainedOf() {
    if (page != null) {
      page.context().close();
    }
    List<String> complaints = List.copyOf(chromium.complaints);
    chromium.complaints.clear();
    assertThat(complaints).isEmpty();
  }

  private void open(String place) {
    page = chromium.page();
    page.navigate(demo.pages() + "#/default/" + place);
  }

  private void button(String name) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true))
        .click();
  }

  /** In the dialog that asks. */
  private void confirm(String verb) {
    page.getByRole(AriaRole.DIALOG)
        .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(verb).setExact(true))
        .click();
  }

  private void told(String text) {
    assertThat(page.locator(".toast", new Page.LocatorOptions().setHasText(text)))
        .isVisible(SLOWLY);
  }

  private void stateIs(String state) {
    assertThat(page.locator("h1 .state").first())
        .hasText(Pattern.compile(state), new LocatorAssertions.HasTextOptions().setTimeout(20_000));
  }

  private String idOf(String query) {
    return demo.get("/v1/namespaces/default/jobs?limit=1&" + query)
        .replaceAll("(?s).*?\"id\"\\s*:\\s*\"([^\"]+)\".*", "$1");
  }

  private Map<String, String> places() {
    Map<String, String> places = new LinkedHashMap<>();
    places.put("overview", "overview");
    places.put("jobs", "jobs");
    places.put("dead-job", "jobs/" + idOf("state=DEAD"));
    places.put("workflow", "jobs/" + idOf("type=order.fulfil"));
    places.put("blocked-job", "jobs/" + idOf("state=BLOCKED"));
    places.put("running", "running");
    places.put("schedules", "schedules");
    places.put("schedule", "schedules/nightly-report");
    places.put("dead-letters", "dead-letters");
    places.put("queues", "queues");
    places.put("queue", "queues/images");
    places.put("nodes", "nodes");
    places.put("map", "map");
    places.put("lateness", "lateness");
    places.put("audit", "audit");
    places.put("tokens", "tokens");
    places.put("settings", "settings");
    return places;
  }

  @Test
  void everyPageFitsAndIsAccessibleLightDarkAndNarrow() {
    List<String> findings = new ArrayList<>();
    for (String kind : List.of("light", "dark", "narrow")) {
      Page shown =
          chromium.page(
              kind.equals("narrow") ? 400 : 1280,
              kind.equals("dark") ? ColorScheme.DARK : ColorScheme.LIGHT);
      for (Map.Entry<String, String> place : places().entrySet()) {
        shown.navigate(demo.pages() + "#/default/" + place.getValue());
        assertThat(shown.locator("h1")).isVisible();
        assertThat(shown.locator("main [aria-busy=true]")).hasCount(0);
        shown.screenshot(
            new Page.ScreenshotOptions()
                .setPath(SCREENSHOTS.resolve(place.getKey() + "-" + kind + ".png"))
                .setFullPage(true));
        Object over = shown.evaluate("document.documentElement.scrollWidth - innerWidth");
        if (((Number) over).intValue() > 0) {
          findings.add(place.getKey() + " " + kind + ": wider than the window by " + over);
        }
        if (kind.equals("light")) {
          continue; // the narrow one has the same colours
        }
        new AxeBuilder(shown)
            .analyze().getViolations().stream()
                .filter(each -> List.of("serious", "critical").contains(each.getImpact()))
                .forEach(
                    each ->
                        findings.add(
                            "%s %s: %s %s"
                                .formatted(
                                    place.getKey(),
                                    kind,
                                    each.getId(),
                                    each.getNodes().getFirst().getHtml())));
      }
      shown.context().close();
    }
    assertThat(findings).isEmpty();
  }

  /** One for each section of the guide; those in docs/guides/dashboard are copies of them. */
  @Test
  void picturesOfTheGuideAreMade() throws IOException {
    String guide = Files.readString(Path.of("..", "docs", "guides", "dashboard.md"));
    page = chromium.page(1000, ColorScheme.LIGHT);
    page.setViewportSize(1000, 640);
    long bytes = 0;
    for (String name : PICTURES) {
      page.navigate(demo.pages() + "#/default/" + places().get(name));
      assertThat(page.locator("main [aria-busy=true]")).hasCount(0);
      page.screenshot(
          new Page.ScreenshotOptions().setPath(Path.of("target", "guide", name + ".png")));
    }
    for (String name : PICTURES) {
      assertThat(guide).contains("(dashboard/" + name + ".png)");
      bytes += Files.size(Path.of("..", "docs", "guides", "dashboard", name + ".png"));
    }
    assertThat(bytes).isLessThan(1_000_000);
    assertThat(guide.split("\\]\\(dashboard/", -1)).hasSize(PICTURES.size() + 1);
  }

  @Test
  void overviewNamesWhatIsWrongAndGoesQuietWhenItIsDone() {
    demo.job("{\"type\": \"mail.send\", \"queue\": \"letters\"}");
    open("queues/letters");
    button("Pause");
    page.getByLabel("Reason, for the history").fill("printer is out of paper");
    confirm("Pause");
    told("Paused.");
    assertThat(page.getByText("Reason: printer is out of paper")).isVisible(SLOWLY);
    demo.job("{\"type\": \"mail.send\", \"queue\": \"letters\"}");
    page.navigate(demo.pages() + "#/default/overview");
    Locator paused = page.locator("[data-finding=paused]");
    assertThat(paused).isVisible(SLOWLY);
    assertThat(page.locator("[data-finding=no-handler]")).containsText("thumbnail.make");
    paused.getByRole(AriaRole.LINK).click();
    assertThat(page.locator("h1")).containsText("letters");
    button("Resume");
    told("Resumed.");
    page.navigate(demo.pages() + "#/default/overview");
    assertThat(page.locator("[data-finding=no-handler]")).isVisible(SLOWLY);
    assertThat(page.locator("[data-finding=paused]"))
        .hasCount(0, new LocatorAssertions.HasCountOptions().setTimeout(20_000));
  }

  @Test
  void jobIsPausedResumedRunNowAndCancelled() {
    String id = demo.job("{\"type\": \"mail.send\", \"name\": \"click-me\", \"in\": \"PT3H\"}");
    open("jobs/" + id);
    button("Pause");
    confirm("Pause");
    stateIs("paused");
    button("Resume");
    stateIs("scheduled");
    button("Run now");
    confirm("Run now");
    stateIs("succeeded");
    assertThat(page.locator("pre.payload").last()).containsText("\"delivered\": true");
    String other = demo.job("{\"type\": \"mail.send\", \"in\": \"PT3H\"}");
    page.navigate(demo.pages() + "#/default/jobs/" + other);
    button("Cancel");
    page.getByLabel("Reason, for the history").fill("sent twice");
    confirm("Cancel the job");
    stateIs("cancelled");
    assertThat(page.locator("main")).containsText("sent twice");
  }

  @Test
  void allJobsOfAQueryAreCountedAndCancelledNotOnlyThoseOfThePage() {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < 120; i++) {
      jobs.add("{\"type\": \"mail.send\", \"queue\": \"bulky\", \"in\": \"PT5H\"}");
    }
    demo.send(
        "POST",
        "/v1/namespaces/default/jobs/batch",
        "{\"jobs\": [" + String.join(", ", jobs) + "]}");
    open("jobs");
    page.getByLabel("Query", new Page.GetByLabelOptions().setExact(true)).fill("queue=bulky");
    page.keyboard().press("Escape");
    button("Ask");
    assertThat(page).hasURL(Pattern.compile(".*queue=bulky.*"));
    assertThat(page.locator("tbody tr")).hasCount(50);
    button("Act on all that fit…");
    assertThat(page.locator("[data-count='120']")).isVisible(SLOWLY);
    confirm("Cancel 120 jobs");
    assertThat(page.locator("[data-bulk=SUCCEEDED]")).containsText("120 cancelled");
  }

  @Test
  void scheduleIsMadeAndEditedWithAPreviewOverAClockChange() {
    open("schedules");
    button("New schedule…");
    page.getByLabel("Name", new Page.GetByLabelOptions().setExact(true)).fill("spring");
    page.getByLabel("Type").fill("mail.send");
    page.getByLabel("Cron", new Page.GetByLabelOptions().setExact(true)).fill("30 2 * * *");
    page.getByLabel("Zone").fill("Europe/Berlin");
    assertThat(page.locator("dialog .times li").first()).isVisible(SLOWLY);
    confirm("Create it");
    assertThat(page.locator("h1")).containsText("spring");
    button("Edit…");
    page.getByLabel("Cron", new Page.GetByLabelOptions().setExact(true)).fill("30 2 28 3 *");
    assertThat(page.locator("dialog .note").first()).isVisible(SLOWLY); // 2027-03-28 has no 02:30
    confirm("Change it");
    assertThat(page.locator(".times .note").first()).isVisible(SLOWLY);
    button("Pause");
    confirm("Pause");
    stateIs("paused");
    button("Resume");
    stateIs("scheduled");
    button("Edit…");
    page.getByLabel("Cron", new Page.GetByLabelOptions().setExact(true)).fill("0 7 * * *");
    confirm("Change it");
    assertThat(page.locator(".title p")).containsText("07:00");
    button("Trigger");
    confirm("Trigger");
    assertThat(page.locator(".strip a.succeeded")).isVisible(SLOWLY);
    button("Delete");
    confirm("Delete");
    assertThat(page.locator("h1")).hasText("Schedules");
  }

  @Test
  void groupOfDeadLettersIsDiscardedAndOneReplayedWithAnotherInput() {
    for (int i = 1; i <= 3; i++) {
      demo.job(
          """
          {"type": "billing.charge", "input": "bad number %d", "name": "again-%d",
           "onFailure": {"kind": "CONSTANT", "interval": "10ms", "maxRetries": 0}}"""
              .formatted(i, i));
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> demo.get("/v1/namespaces/default/jobs?state=DEAD").contains("again-3"));
    open("jobs/" + idOf("state=DEAD&namePrefix=again-1"));
    button("Replay with another input…");
    page.getByLabel("Input (JSON)").fill("\"a good number\"");
    confirm("Replay");
    stateIs("succeeded");
    page.navigate(demo.pages() + "#/default/dead-letters");
    Locator group = page.locator(".group", new Page.LocatorOptions().setHasText("bad number"));
    group.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Discard…")).click();
    confirm("Discard 2");
    assertThat(page.locator("[data-done='2']")).isVisible(SLOWLY);
    confirm("Close");
    assertThat(group).hasCount(0);
  }

  @Test
  void groupOfDeadLettersIsReplayedWithAnotherInput() {
    for (int i = 1; i <= 3; i++) {
      demo.job(
          """
          {"type": "billing.charge", "input": "wrong currency %d", "name": "together-%d",
           "onFailure": {"kind": "CONSTANT", "interval": "10ms", "maxRetries": 0}}"""
              .formatted(i, i));
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> demo.get("/v1/namespaces/default/jobs?state=DEAD").contains("together-3"));
    List<String> ids = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      ids.add(idOf("state=DEAD&namePrefix=together-" + i));
    }
    open("dead-letters");
    Locator group = page.locator(".group", new Page.LocatorOptions().setHasText("wrong currency"));
    assertThat(group.locator("svg.trend"))
        .hasAttribute("aria-label", Pattern.compile("3 in the last 24 hours.*"));
    group.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Replay…")).click();
    Locator input = page.getByLabel("Another input (JSON)");
    input.fill("a good one");
    confirm("Replay 3");
    assertThat(page.getByRole(AriaRole.DIALOG)).containsText("not JSON");
    input.fill("\"a good one\"");
    confirm("Replay 3");
    assertThat(page.locator("[data-done='3']")).isVisible(SLOWLY);
    confirm("Close");
    assertThat(group).hasCount(0);
    for (String id : ids) {
      page.navigate(demo.pages() + "#/default/jobs/" + id);
      stateIs("succeeded");
      assertThat(page.locator("main")).containsText("a good one");
    }
  }

  /** Groups of what was read so far say since when, and the rest is read when it is asked for. */
  @Test
  void groupsThatAreNotCompleteAreReadOn() {
    page = chromium.page();
    page.route(
        "**/dead-letters/groups?*",
        route -> {
          boolean first = !route.request().url().contains("cursor=");
          route.fulfill(
              new Route.FulfillOptions()
                  .setContentType("application/json")
                  .setBody(groups(first ? 7 : 5, first ? "later" : null)));
        });
    page.navigate(demo.pages() + "#/default/dead-letters");
    assertThat(page.locator(".many")).hasText("≥ 7");
    assertThat(page.locator("footer.pages")).containsText("Counted is what ended since");
    button("Go on reading");
    assertThat(page.locator(".many")).hasText("12");
    assertThat(page.locator(".group")).hasCount(1);
    button("Read anew");
    assertThat(page.locator(".many")).hasText("≥ 7");
  }

  private static String groups(int count, String next) {
    Instant at = Instant.now().minus(Duration.ofHours(next != null ? 1 : 3));
    return """
    {"items": [{"fingerprint": "E: x", "type": "t", "count": %1$d, "earliestAt": "%2$s",
      "latest": "j1", "latestAt": "%2$s", "byHour": [{"from": "%3$s", "count": %1$d}],
      "error": {"type": "E", "message": "x", "stack": ""}}]%4$s}"""
        .formatted(
            count,
            at,
            at.truncatedTo(ChronoUnit.HOURS),
            next != null ? ", \"next\": \"" + next + "\"" : "");
  }

  /** The page goes by the server's clock. */
  @Test
  void browserWhoseClockIsAnHourOffShowsTheTimesOfTheServer() {
    String id = demo.job("{\"type\": \"mail.send\", \"in\": \"PT3H\"}");
    for (Duration off : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
      page = chromium.page();
      page.clock()
          .install(new Clock.InstallOptions().setTime(Instant.now().plus(off).toEpochMilli()));
      page.navigate(demo.pages() + "#/default/jobs/" + id);
      stateIs("scheduled");
      assertThat(page.locator("main .facts").first())
          .containsText(Pattern.compile("in (3 h|2 h 5\\d min)"));
      page.navigate(demo.pages() + "#/default/overview");
      assertThat(page.locator(".freshness.good")).hasText("live");
      assertThat(page.locator("[data-finding=no-handler]")).isVisible(SLOWLY);
      for (String wrong : List.of("late", "silent", "stalled", "clock-off")) {
        assertThat(page.locator("[data-finding=" + wrong + "]")).hasCount(0);
      }
      page.context().close();
    }
  }

  @Test
  void whatIsNotKnownIsSaidAndComesBackByItself() {
    open("jobs");
    assertThat(page.locator("tbody tr").first()).isVisible();
    demo.stop();
    assertThat(page.getByText("Not of now.")).isVisible(SLOWLY);
    assertThat(page.locator(".freshness.bad")).containsText("no answer for");
    assertThat(page.locator(".dimmed tbody tr").first()).isVisible();
    demo.startAgain();
    assertThat(page.locator(".dimmed"))
        .hasCount(0, new LocatorAssertions.HasCountOptions().setTimeout(30_000));
    assertThat(page.getByText("Not of now.")).hasCount(0);
  }

  @Test
  void changeReachesAnOpenPageByTheStream() {
    String id = demo.job("{\"type\": \"mail.send\", \"in\": \"PT3H\"}");
    open("jobs/" + id);
    assertThat(page.locator(".freshness.good")).hasText("live");
    stateIs("scheduled");
    long asked = System.nanoTime();
    demo.send("POST", "/v1/namespaces/default/jobs/" + id + "/reschedule", "{\"in\": \"PT0S\"}");
    stateIs("succeeded");
    System.out.printf(
        "dashboard: a change was seen after %d ms%n", (System.nanoTime() - asked) / 1_000_000);
  }

  @Test
  void cellsOfTheMapsLeadToTheirJobs() {
    open("lateness");
    button("10 min");
    demo.job("{\"type\": \"mail.send\", \"queue\": \"mail\"}");
    Locator cell = page.locator(".heat td a").first();
    assertThat(cell).isVisible(SLOWLY);
    cell.focus();
    page.keyboard().press("Enter");
    assertThat(page.locator("h1")).hasText("Jobs");
    assertThat(page).hasURL(Pattern.compile(".*dueFrom=.*dueTo=.*"));
    assertThat(page.locator("tbody tr").first()).isVisible(SLOWLY);
    page.keyboard().press("g");
    page.keyboard().press("m");
    assertThat(page.locator("h1")).hasText("Time map");
    Locator lane = page.locator(".lane", new Page.LocatorOptions().setHasText("shop-1"));
    assertThat(lane.locator(".axis a.lit").first()).isVisible(SLOWLY);
    lane.locator(".axis a.lit").last().press("Enter");
    assertThat(page.locator("h1")).hasText("Jobs");
  }

  @Test
  void workflowShowsItsStepsAndGetsItsSignal() {
    open("jobs/" + demo.job("{\"type\": \"order.fulfil\", \"name\": \"order-78\", \"input\": 78}"));
    assertThat(page.locator(".steps")).containsText("charge card");
    button("Signal approved…");
    page.getByLabel("Payload (JSON), or nothing").fill("{\"by\": \"Ann\"}");
    confirm("Send");
    stateIs("succeeded");
    assertThat(page.locator(".steps")).containsText("ship");
    assertThat(page.locator(".steps li", new Page.LocatorOptions().setHasText("signal")))
        .not()
        .hasCount(0);
  }

  @Test
  void tokenIsMadeShownOnceAndRevoked() {
    open("tokens");
    button("New token…");
    page.getByLabel("Name", new Page.GetByLabelOptions().setExact(true)).fill("deploy-bot");
    confirm("Make it");
    assertThat(page.locator("dialog pre.payload")).containsText("crl_");
    confirm("Close");
    Locator row = page.locator("tbody tr", new Page.LocatorOptions().setHasText("deploy-bot"));
    row.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Revoke")).click();
    confirm("Revoke");
    assertThat(row).containsText("revoked");
    assertThat(row.getByRole(AriaRole.BUTTON)).hasCount(0);
    page.keyboard().press("g");
    page.keyboard().press("a");
    assertThat(page.locator("h1")).hasText("Audit");
    Locator entry = page.locator("tbody tr", new Page.LocatorOptions().setHasText("revokeToken"));
    assertThat(entry.first()).containsText("local");
    button("denied");
    assertThat(entry).hasCount(0);
    button("all");
    entry.first().locator("a.id").click();
    assertThat(page.locator("h1")).containsText("carillon.audit");
  }

  @Test
  void namespaceIsPausedAndTimesAreInUtc() {
    page = chromium.page();
    page.navigate(demo.pages() + "#/spare/settings");
    button("Pause");
    page.getByLabel("Reason, for the history").fill("stocktaking");
    confirm("Pause");
    assertThat(page.locator("main .facts")).containsText("stocktaking");
    button("Resume");
    assertThat(page.locator("main .facts")).containsText("open");
    page.locator("main select").first().selectOption("utc");
    page.navigate(demo.pages() + "#/default/jobs");
    assertThat(page.locator("main time").first()).containsText("UTC");
  }

  @Test
  void withoutAStreamThePageAsksAndWorksBelowAPrefix() throws Exception {
    try (PrefixProxy proxy = new PrefixProxy("/ops/carillon/", demo.port())) {
      page = chromium.page();
      page.route("**/events", route -> route.abort());
      String id = demo.job("{\"type\": \"mail.send\", \"in\": \"PT3H\"}");
      page.navigate(proxy.address() + "ui/#/default/jobs/" + id);
      stateIs("scheduled");
      assertThat(page.locator(".freshness.calm")).hasText("every 5 s");
      demo.send("POST", "/v1/namespaces/default/jobs/" + id + "/reschedule", "{\"in\": \"PT0S\"}");
      stateIs("succeeded");
    }
  }

  private void hide(boolean hidden) {
    page.evaluate(
        "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});"
            + " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden);
  }

  @Test
  void pageThatNobodySeesAsksForNothing() {
    page = chromium.page();
    page.clock().install();
    page.navigate(demo.pages() + "#/default/overview");
    assertThat(page.locator(".freshness.good")).hasText("live");
    AtomicInteger asked = new AtomicInteger();
    hide(true);
    page.onRequest(request -> asked.incrementAndGet());
    page.clock().fastForward(60_000);
    assertThat(page.evaluate("document.hidden")).isEqualTo(true);
    assertThat(asked).hasValue(0);
    page.waitForRequest("**/v1/cluster/health", () -> hide(false));
    assertThat(page.locator(".freshness.good")).hasText("live");
  }

  @Test
  void everythingIsReachedByKeyboard() {
    String id = demo.job("{\"type\": \"mail.send\", \"name\": \"by-key\", \"in\": \"PT3H\"}");
    open("overview");
    assertThat(page.locator("h1")).hasText("Overview");
    page.keyboard().press("g");
    page.keyboard().press("d");
    assertThat(page.locator("h1")).hasText("Dead letters");
    page.keyboard().press("/");
    assertThat(page.locator("input:focus")).hasCount(1); // else the first keys go to the page
    page.keyboard().type(id);
    page.keyboard().press("Enter");
    assertThat(page.locator("h1")).containsText("by-key");
    assertThat(page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Cancel")))
        .isVisible();
    tabTo("Cancel");
    page.keyboard().press("Enter");
    tabTo("Cancel the job");
    page.keyboard().press("Enter");
    stateIs("cancelled");
  }

  private void tabTo(String name) {
    for (int i = 0; i < 60; i++) {
      page.keyboard().press("Tab");
      Object at = page.evaluate("document.activeElement.textContent.trim()");
      if (name.equals(at)) {
        return;
      }
    }
    throw new AssertionError(name + " is not reached by Tab");
  }
}
