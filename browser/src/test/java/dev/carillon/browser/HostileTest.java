package dev.carillon.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dev.carillon.RawPayload;
import dev.carillon.api.JobType;
import dev.carillon.api.workflow.SignalType;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * A hundred texts that want to run, in every field that a user, a handler or an error can set, on
 * every page: none runs, no policy is violated, and each stands there as it was typed.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileTest {
  private static final int LOOKS = 300;
  private static final double LOOK_MILLIS = 100;
  private static final String ID = "(?s).*\"id\"\\s*:\\s*\"([^\"]+)\".*";

  @TempDir static Path folder;
  private final List<String> texts = HostileTexts.all();
  private final CountDownLatch over = new CountDownLatch(1);

  /** The namespace is one of them too. */
  private final String namespace = texts.get(56);

  private Chromium chromium;
  private DemoServer demo;
  private Page page;

  @BeforeAll
  void start() {
    assertThat(texts).hasSizeGreaterThanOrEqualTo(100).doesNotHaveDuplicates();
    chromium = Chromium.start();
    demo = new DemoServer(folder.resolve("jobs.db"));
    page = chromium.page();
  }

  @AfterAll
  void stop() {
    over.countDown();
    if (demo != null) {
      demo.close();
    }
    if (chromium != null) {
      chromium.close();
    }
  }

  @AfterEach
  void nothingRanOrIsComplainedOf() {
    assertThat(page.evaluate("window.ran")).isNull();
    assertThat(chromium.complaints).isEmpty();
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String json(String text) {
    return HostileTexts.json(text);
  }

  private String in(String rest) {
    return "/v1/namespaces/" + encoded(namespace) + "/" + rest;
  }

  private String job(String body) {
    return demo.send("POST", in("jobs"), body).replaceAll(ID, "$1");
  }

  /** Opens a page and looks until each text stands there, alone in an element or in a field. */
  private void shows(String place, List<String> wanted) {
    page.navigate(demo.pages() + "#/" + encoded(namespace) + "/" + place);
    looks(place, wanted);
  }

  private void looks(String place, List<String> wanted) {
    Set<String> missing = new LinkedHashSet<>(wanted);
    for (int i = 0; i < LOOKS && !missing.isEmpty(); i++) {
      List<?> shown =
          (List<?>)
              page.evaluate(
                  "[...document.querySelectorAll('main *')].flatMap((e) => [e.textContent, e.value ?? ''])");
      missing.removeIf(shown::contains);
      if (!missing.isEmpty()) {
        page.waitForTimeout(LOOK_MILLIS);
      }
    }
    assertThat(missing).as("not shown as typed on " + place).isEmpty();
    assertThat(page.locator("main [aria-busy=true]")).hasCount(0);
  }

  @Test
  void jobs() {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i + 5 <= texts.size(); i += 5) {
      String id =
          job(
              """
              {"type": %s, "queue": %s, "name": %s, "metadata": {%s: %s}, "in": "PT%dH"}"""
                  .formatted(
                      json(texts.get(i)),
                      json(texts.get(i + 1)),
                      json(texts.get(i + 2)),
                      json(texts.get(i + 3)),
                      json(texts.get(i + 4)),
                      i % 2));
      String reason = "{\"reason\": %s}".formatted(json(texts.get((i + 7) % 100)));
      demo.send("POST", in("jobs/" + id + (i % 2 == 0 ? "/pause" : "/cancel")), reason);
      ids.add(id);
    }
    for (int i = 0; i < ids.size(); i++) {
      List<String> wanted = new ArrayList<>(texts.subList(5 * i, 5 * i + 5));
      wanted.add(texts.get((5 * i + 7) % 100));
      shows("jobs/" + ids.get(i), wanted);
    }
    String asked = texts.get(12);
    shows("jobs?type=" + encoded(texts.get(10)), List.of(texts.get(10), texts.get(11), asked));
    shows("jobs?namePrefix=" + encoded(asked), List.of(asked));
    shows("jobs?state=PAUSED", List.of(texts.get(90), texts.get(92)));
  }

  @Test
  void whatRunsAndItsProgressAndResult() {
    JobType<RawPayload, RawPayload> type =
        JobType.of(texts.get(0), RawPayload.class, RawPayload.class);
    demo.carillon()
        .handle(
            type,
            (input, job) -> {
              job.progress(1, 3, texts.get(1));
              over.await();
              return input;
            });
    String id =
        job("{\"type\": %s, \"queue\": %s}".formatted(json(texts.get(0)), json(texts.get(2))));
    shows("running", List.of(texts.get(0), texts.get(2)));
    shows("jobs/" + id, List.of(texts.get(0), texts.get(1)));
    String mailed = job("{\"type\": \"mail.send\", \"input\": %s}".formatted(json(texts.get(3))));
    shows("jobs/" + mailed, List.of(json(texts.get(3))));
    shows("lateness?queue=" + encoded(texts.get(2)), List.of(texts.get(2)));
    shows("map", List.of());
    shows("nodes", List.of());
  }

  @Test
  void errors() {
    for (String text : texts) {
      job(
          "{\"type\": \"billing.charge\", \"queue\": %1$s, \"input\": %1$s, \"onFailure\": {\"kind\": \"CONSTANT\", \"interval\": \"1ms\", \"maxRetries\": 0}}"
              .formatted(json(text)));
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> demo.get(in("jobs?state=DEAD&limit=200")).split("\"DEAD\"", -1).length > 100);
    page.navigate(demo.pages() + "#/" + encoded(namespace) + "/dead-letters");
    assertThat(page.locator(".group").first()).isVisible();
    Locator more = page.getByText("Go on reading");
    while (more.count() > 0) {
      more.click();
      assertThat(page.locator("footer button[disabled]")).hasCount(0);
    }
    looks("dead-letters", texts.stream().map(HostileTexts::json).toList());
    shows("jobs?state=DEAD", List.of(texts.get(0), texts.get(1)));
  }

  @Test
  void schedules() {
    List<String> names = texts.subList(0, 40).stream().map(text -> "s" + text).toList();
    for (int i = 0; i < names.size(); i++) {
      demo.send(
          "PUT",
          in("schedules/" + encoded(names.get(i))),
          "{\"type\": %s, \"queue\": %s, \"schedule\": {\"cron\": \"0 7 * * *\", \"zone\": \"UTC\"}}"
              .formatted(json(texts.get(i + 20)), json(texts.get(i + 40))));
    }
    shows("schedules", names);
    for (int i = 0; i < names.size(); i += 8) {
      shows(
          "schedules/" + encoded(names.get(i)),
          List.of(names.get(i), texts.get(i + 20), texts.get(i + 40)));
    }
  }

  @Test
  void queuesAndTheOverview() {
    for (int i = 0; i < 40; i++) {
      job(
          "{\"type\": %s, \"queue\": %s}"
              .formatted(json("nobody" + texts.get(i)), json("q" + texts.get(i))));
    }
    shows("queues", texts.subList(0, 5).stream().map(text -> "q" + text).toList());
    for (int i = 0; i < 40; i += 8) {
      String queue = "q" + texts.get(i);
      demo.send(
          "POST",
          "/v1/queues/" + encoded(queue) + "/pause",
          "{\"reason\": %s}".formatted(json(texts.get(i + 1))));
      shows("queues/" + encoded(queue), List.of(queue, texts.get(i + 1)));
    }
    String paused = "q" + texts.get(0);
    job("{\"type\": \"mail.send\", \"queue\": %s}".formatted(json(paused)));
    page.navigate(demo.pages() + "#/" + encoded(namespace) + "/overview");
    assertThat(page.locator("[data-finding=no-handler]")).isVisible();
    assertThat(page.locator("[data-finding=paused]")).containsText(paused);
    for (int i = 0; i < 40; i += 8) {
      demo.send("POST", "/v1/queues/" + encoded("q" + texts.get(i)) + "/resume", "{}");
    }
  }

  @Test
  void workflows() {
    JobType<RawPayload, RawPayload> type =
        JobType.of("hostile.flow", RawPayload.class, RawPayload.class);
    demo.carillon()
        .workflow(
            type,
            (input, wf) -> {
              int first = Integer.parseInt(new String(input.bytes(), StandardCharsets.UTF_8));
              for (String text : texts.subList(first, first + 10)) {
                byte[] result = json(text).getBytes(StandardCharsets.UTF_8);
                wf.step(text, RawPayload.class, () -> new RawPayload("json", result));
              }
              byte[] news = json(texts.get(first + 11)).getBytes(StandardCharsets.UTF_8);
              wf.publish(new RawPayload("json", news));
              return wf.await(SignalType.of(texts.get(first + 10), RawPayload.class));
            });
    for (int i = 0; i < 80; i += 20) {
      String id = job("{\"type\": \"hostile.flow\", \"input\": %d}".formatted(i));
      List<String> wanted = new ArrayList<>(texts.subList(i, i + 11));
      texts.subList(i, i + 10).forEach(text -> wanted.add(json(text)));
      wanted.add(json(texts.get(i + 11)));
      shows("jobs/" + id, wanted);
    }
  }

  @Test
  void tokensAuditAndSettings() {
    for (int i = 0; i < 20; i++) {
      demo.send(
          "POST",
          "/v1/tokens",
          "{\"name\": \"token-%d\", \"role\": \"viewer\", \"namespaces\": [%s], \"queues\": [%s]}"
              .formatted(i, json(texts.get(i + 20)), json(texts.get(i + 40))));
    }
    shows("tokens", List.of("token-7"));
    String shown = page.locator("main").textContent();
    for (String scope : texts.subList(20, 60)) {
      assertThat(shown).contains(scope);
    }
    demo.send("POST", in("flow/pause"), "{\"reason\": %s}".formatted(json(texts.get(5))));
    shows("settings", List.of(texts.get(5)));
    demo.send("POST", in("flow/resume"), "{}");
    shows("audit", List.of("createToken"));
    assertThat(page.locator("tbody tr").first()).isVisible();
  }
}
