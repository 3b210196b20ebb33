package dev.carillon.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.RawPayload;
import dev.carillon.TimeSource;
import dev.carillon.api.JobType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.server.CarillonServer;
import dev.carillon.server.ServerOptions;
import dev.carillon.store.MemoryStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Ten broken set-ups: the overview names each, and its advice, followed, ends it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BrokenSetupsTest {
  private static final int PATIENCE_MILLIS = 40_000;
  private static final Duration PATIENCE = Duration.ofMillis(PATIENCE_MILLIS);
  private static final JobType<RawPayload, RawPayload> MAIL = type("mail.send");
  private static final RawPayload DONE = new RawPayload("json", new byte[] {'1'});

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private Chromium chromium;
  private Page page;

  private static JobType<RawPayload, RawPayload> type(String name) {
    return JobType.of(name, RawPayload.class, RawPayload.class);
  }

  @BeforeAll
  void start() {
    chromium = Chromium.start();
  }

  @AfterAll
  void stop() {
    if (chromium != null) {
      chromium.close();
    }
  }

  @AfterEach
  void end() throws Exception {
    if (page != null) {
      page.context().close();
      page = null;
    }
    while (!open.isEmpty()) {
      open.pop().close();
    }
    List<String> complaints = List.copyOf(chromium.complaints);
    chromium.complaints.clear();
    Assertions.assertEquals(List.of(), complaints);
  }

  // ---- what there is

  private Carillon node(UnaryOperator<CarillonBuilder> options) {
    Carillon carillon = options.apply(Carillon.builder().closeGrace(Duration.ofMillis(300))).open();
    open.push(carillon);
    return carillon;
  }

  /** One of several nodes in this process. */
  private Carillon member(MemoryStore store, String id) {
    return node(
        builder ->
            builder
                .store(store)
                .nodeId(id)
                .advanced(advanced -> advanced.memberTimeout(Duration.ofSeconds(2))));
  }

  private ServerClient serve(Carillon carillon) {
    try {
      CarillonServer server =
          CarillonServer.start(
              carillon, ServerOptions.standard().port(0).stopGrace(Duration.ofMillis(300)));
      open.push(server);
      ServerClient client = new ServerClient(server.address().getPort());
      open.push(client);
      page = chromium.page();
      page.navigate("http://127.0.0.1:" + server.address().getPort() + "/ui/");
      return client;
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void job(ServerClient client, String more) {
    client.send(
        "POST",
        "/v1/namespaces/default/jobs",
        "{\"type\": \"mail.send\", \"at\": \"2026-01-01T00:00:00Z\"" + more + "}");
  }

  private Locator named(String finding, String... words) {
    Locator found = page.locator("[data-finding=" + finding + "]").first();
    assertThat(found)
        .isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(PATIENCE_MILLIS));
    for (String word : words) {
      assertThat(found).containsText(word);
    }
    return found;
  }

  private void ended(String finding) {
    String overview = page.url().replaceAll("#.*", "") + "#/default/overview";
    page.navigate(overview);
    page.reload();
    assertThat(page.locator(".verdict h2 i")).isVisible();
    assertThat(page.locator("[data-finding=" + finding + "]"))
        .hasCount(0, new LocatorAssertions.HasCountOptions().setTimeout(PATIENCE_MILLIS));
  }

  private static void follow(Locator finding) {
    finding.getByRole(AriaRole.LINK).click();
  }

  private void button(String name) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true))
        .first()
        .click();
  }

  private void confirm(String verb) {
    page.getByRole(AriaRole.DIALOG)
        .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(verb).setExact(true))
        .click();
  }

  // ---- the ten

  @Test
  void noHandler() {
    Carillon carillon = node(CarillonBuilder::inMemory);
    ServerClient client = serve(carillon);
    job(client, "");
    named("no-handler", "mail.send", "Start a program that handles the type");
    carillon.handle(MAIL, (input, job) -> DONE);
    ended("no-handler");
  }

  @Test
  void wrongQueueName() {
    Carillon carillon = node(CarillonBuilder::inMemory);
    carillon.handle(MAIL, (input, job) -> DONE);
    ServerClient client = serve(carillon);
    client.send("POST", "/v1/queues/mail-old/pause", "{\"reason\": \"not used any more\"}");
    job(client, ", \"queue\": \"mail-old\"");
    follow(named("paused", "mail-old", "not used any more", "Resume"));
    assertThat(page.locator("h1")).containsText("mail-old");
    button("Resume");
    ended("paused");
  }

  @Test
  void pausedNamespace() {
    Carillon carillon = node(CarillonBuilder::inMemory);
    carillon.handle(MAIL, (input, job) -> DONE);
    ServerClient client = serve(carillon);
    client.send("POST", "/v1/namespaces/default/flow/pause", "{\"reason\": \"stocktaking\"}");
    job(client, "");
    named("paused", "namespace", "stocktaking", "Resume");
    page.navigate(page.url().replaceAll("#.*", "") + "#/default/settings");
    button("Resume");
    ended("paused");
  }

  @Test
  void forgottenKeyHolder() {
    Carillon carillon = node(CarillonBuilder::inMemory);
    CountDownLatch never = new CountDownLatch(1);
    carillon.handle(
        MAIL,
        (input, job) -> {
          if (input.bytes().length > 2) {
            never.await();
          }
          return DONE;
        });
    ServerClient client = serve(carillon);
    String key = ", \"concurrency\": {\"key\": \"customer 7\", \"limit\": 1}";
    job(client, key + ", \"name\": \"hangs\", \"input\": \"for ever\"");
    Awaitility.await()
        .atMost(PATIENCE)
        .until(() -> client.get("/v1/cluster/running").contains("mail.send"));
    job(client, key + ", \"input\": 1");
    follow(named("key", "customer 7"));
    Locator reason = page.locator("[data-reason=KEY]");
    assertThat(reason).isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(20_000));
    page.navigate(page.url().replaceAll("#.*", "") + "#/default/running");
    page.locator("tbody a.id").first().click();
    assertThat(page.locator("h1")).containsText("hangs");
    button("Cancel");
    confirm("Cancel the job");
    ended("key");
  }

  @Test
  void clockAhead() {
    AtomicLong aheadMicros = new AtomicLong(40_000_000);
    TimeSource clock =
        new TimeSource() {
          @Override
          public long wallMicros() {
            return TimeSource.system().wallMicros() + aheadMicros.get();
          }

          @Override
          public long monotonicNanos() {
            return TimeSource.system().monotonicNanos();
          }
        };
    Carillon carillon =
        node(
            builder ->
                builder
                    .store(new MemoryStore())
                    .nodeId("ahead")
                    .advanced(
                        advanced ->
                            advanced
                                .timeSource(clock)
                                .memberTimeout(Duration.ofSeconds(2))
                                .clockLimit(Duration.ofSeconds(30))));
    carillon.handle(MAIL, (input, job) -> DONE);
    job(serve(carillon), "");
    named("clock-off", "ahead", "40 s", "NTP");
    aheadMicros.set(0);
    ended("clock-off");
  }

  @Test
  void storeIsReadOnly() {
    PostgresServer postgres = PostgresServer.start("browser-read-only");
    open.push(postgres);
    Carillon carillon = node(builder -> builder.url(postgres.url()).nodeId("one"));
    carillon.handle(MAIL, (input, job) -> DONE);
    ServerClient client = serve(carillon);
    assertThat(page.locator(".verdict.good h2")).isVisible();
    try {
      readOnly(postgres, true);
      named("read-only", "read-only", "right to write");
    } finally {
      readOnly(postgres, false);
    }
    ended("read-only");
    job(client, "");
  }

  private static void readOnly(PostgresServer postgres, boolean on) {
    postgres.run("alter system set default_transaction_read_only = " + (on ? "on" : "off"));
    postgres.run("select pg_reload_conf()");
  }

  @Test
  void unownedShards() {
    MemoryStore store = new MemoryStore();
    Carillon one = member(store, "one");
    one.handle(MAIL, (input, job) -> DONE);
    ServerClient client = serve(one);
    Carillon two = member(store, "two");
    Awaitility.await().atMost(PATIENCE).until(() -> two.node().members().size() == 2);
    client.send("POST", "/v1/cluster/members/one/drain", "{}");
    Awaitility.await()
        .atMost(PATIENCE)
        .until(() -> one.node().members().getFirst().state().name().equals("DRAINING"));
    two.schedule(MAIL.job(DONE).in(Duration.ofSeconds(2)));
    two.close();
    follow(named("unowned", "no owner", "one", "drained"));
    button("Undrain");
    ended("unowned");
  }

  @Test
  void mixedVersions() {
    MemoryStore store = new MemoryStore();
    Carillon one = member(store, "one");
    Ghost newer = new Ghost(store, "two", 2);
    open.push(newer);
    serve(one);
    named("versions", "one reads format 1", "two reads format 2", "Restart the older");
    newer.leave();
    ended("versions");
  }

  @Test
  void deadWorker() {
    MemoryStore store = new MemoryStore();
    Carillon one = member(store, "one");
    Ghost worker = new Ghost(store, "worker", 1);
    open.push(worker);
    serve(one);
    Awaitility.await().atMost(PATIENCE).until(() -> one.node().members().size() == 2);
    worker.die();
    named("node-dead", "worker", "Start it again");
    member(store, "worker");
    ended("node-dead");
  }

  @Test
  void fullDisk(@TempDir Path folder) throws Exception {
    Assumptions.assumeTrue(
        mounted(folder) || mustMount(), "SKIPPED: a small file system cannot be mounted");
    open.push(() -> run("umount", folder.toString()));
    Carillon carillon = node(builder -> builder.url("jdbc:sqlite:" + folder.resolve("jobs.db")));
    ServerClient client = serve(carillon);
    assertThat(page.locator(".verdict.good h2")).isVisible();
    Path ballast = folder.resolve("ballast");
    fill(ballast);
    Awaitility.await()
        .atMost(PATIENCE)
        .until(
            () ->
                !client.isTaken(
                    "{\"type\": \"t\", \"in\": \"1h\", \"input\": \""
                        + "x".repeat(50_000)
                        + "\"}"));
    named("full", "Free space");
    Files.delete(ballast);
    ended("full");
  }

  private static void fill(Path ballast) {
    try (var out = Files.newOutputStream(ballast)) {
      byte[] some = new byte[64 << 10];
      while (true) {
        out.write(some);
      }
    } catch (IOException e) {
      // it is full
    }
  }

  private static boolean mounted(Path folder) throws Exception {
    return run("mount", "-t", "tmpfs", "-o", "size=128m", "tmpfs", folder.toString());
  }

  private static boolean mustMount() {
    if (List.of("all", "browser").contains(System.getProperty("it.require", ""))) {
      Assertions.fail("cannot mount a small file system");
    }
    return false;
  }

  private static boolean run(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
  }
}
