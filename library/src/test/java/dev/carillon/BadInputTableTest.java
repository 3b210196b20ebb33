package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Dependency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.Rate;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.RunAgainException;
import dev.carillon.api.schedule.Due;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.engine.job.Ticket;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Bad inputs in one table: each is refused at once with an exception of the one family, whose
 * message names the value and what is expected, and the same Carillon goes on.
 */
class BadInputTableTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
  private static final Schedule DAILY = Schedule.cron("@daily");
  private static final Job<Void> JOB = NOTE.job("x");
  private static final TypeToken<String> TEXT = TypeToken.of(String.class);
  private static final String LONG_TEXT = "x".repeat(1_025);

  private static Carillon carillon;
  private static JobId live;
  private static ExecutorService callers;

  @BeforeAll
  static void open() {
    carillon = Carillon.builder().inMemory().daemon(true).open();
    carillon.handle(LENGTH, (text, job) -> text.length());
    live = carillon.schedule(JOB.in(Duration.ofHours(1))).id();
    callers = Executors.newCachedThreadPool();
  }

  @AfterAll
  static void close() {
    callers.shutdownNow();
    assertThat(carillon.stream(JobQuery.all().type("note"))).hasSize(1);
    assertThat(carillon.node().stats().problems()).isZero();
    carillon.close();
  }

  private static Arguments row(String begins, Consumer<Carillon> call) {
    return arguments(begins, call);
  }

  private static Arguments option(String begins, Consumer<CarillonBuilder> call) {
    return row(begins, c -> call.accept(Carillon.builder()));
  }

  private static Arguments advanced(String begins, Consumer<AdvancedOptions> call) {
    return option(begins, b -> b.advanced(call));
  }

  static Stream<Arguments> options() {
    return Stream.of(
        option("url: null", b -> b.url(null)),
        option("url: jobs.db", b -> b.url("jobs.db").open()),
        option("url: \"\"", b -> b.url("")),
        option(
            "url: jdbc:oracle:thin:@localhost", b -> b.url("jdbc:oracle:thin:@localhost").open()),
        option("url: jdbc:sqlite::memory:", b -> b.url("jdbc:sqlite::memory:").open()),
        option("url: jdbc:sqlite:", b -> b.url("jdbc:sqlite:").open()),
        option("url: jdbc:sqlite:x?a=b", b -> b.url("jdbc:sqlite:x?a=b").open()),
        option("dataSource: null", b -> b.dataSource(null)),
        option("store: null", b -> b.store(null)),
        option("store: 0 of them", CarillonBuilder::open),
        option("store: 2 of them", b -> b.inMemory().url("jdbc:sqlite:x").open()),
        option("store options: [schema]", b -> b.inMemory().schema("x").open()),
        option("schema: null", b -> b.schema(null)),
        option("cluster: null", b -> b.cluster(null)),
        option("nodeId: null", b -> b.nodeId((String) null)),
        option("nodeId: \" \"", b -> b.nodeId(" ")),
        option("nodeId: \"a\\u000Ab\"", b -> b.nodeId("a\nb")),
        option("nodeId: \"xxx", b -> b.nodeId("x".repeat(201))),
        option("nodeIds: null", b -> b.nodeId((NodeIdProvider) null)),
        option("nodeId: \"\"", b -> b.inMemory().nodeId(() -> "").open()),
        option("clientOnly: true", b -> b.inMemory().clientOnly(true).open()),
        option("slots: 0", b -> b.slots(0)),
        option("slots: -7", b -> b.slots(-7)),
        option("successes: PT-1S", b -> b.retention(SECOND.negated(), SECOND)),
        option("failures: null", b -> b.retention(SECOND, null)),
        option("closeGrace: PT-1S", b -> b.closeGrace(SECOND.negated())),
        option("closeGrace: null", b -> b.closeGrace(null)),
        option("policy: null", b -> b.failurePolicy(null)),
        option("namespace: \"\"", b -> b.failurePolicy("", FailurePolicy.drop())),
        option("namespace: null", b -> b.failurePolicy(null, FailurePolicy.drop())),
        option("policy: null", b -> b.failurePolicy("tenant", null)),
        option("codec: null", b -> b.codec(null)),
        option("listener: null", b -> b.listen(null)),
        option("interceptor: null", b -> b.intercept(null)),
        option("metrics: null", b -> b.metrics(null)),
        option("queue: null", b -> b.limitQueue(null, 1)),
        option("queue: \" \"", b -> b.limitQueue(" ", 1)),
        option("limit: 0", b -> b.limitQueue("q", 0)),
        option("rate: null", b -> b.rateQueue("q", null)),
        option("change: null", b -> b.advanced(null)));
  }

  static Stream<Arguments> advancedOptions() {
    return Stream.of(
        advanced("store option: \"\"", a -> a.storeOption("", "x")),
        advanced("memberTimeout: PT0.099S", a -> a.memberTimeout(Duration.ofMillis(99))),
        advanced("memberTimeout: PT2H", a -> a.memberTimeout(Duration.ofHours(2))),
        advanced("forgetAfter: PT0S", a -> a.forgetAfter(Duration.ZERO)),
        advanced("clockLimit: null", a -> a.clockLimit(null)),
        advanced("time: null", a -> a.timeSource(null)),
        advanced("slowStart: PT-1S", a -> a.slowStart(SECOND.negated())),
        advanced("loadHorizon: PT0S", a -> a.loadHorizon(Duration.ZERO)),
        advanced("historyBytes: -1", a -> a.historyBytes(-1)),
        advanced("aloneTime: PT0S", a -> a.aloneTime(Duration.ZERO)),
        advanced("deadLetterRetention: null", a -> a.deadLetterRetention(null)),
        advanced("keyRetention: PT-1S", a -> a.keyRetention(SECOND.negated())),
        advanced("scheduleTimeout: PT0S", a -> a.scheduleTimeout(Duration.ZERO)),
        advanced("jobs: 0", a -> a.maxWaiting(0, 1)),
        advanced("jobs: 1000001", a -> a.maxWaiting(1_000_001, 1)),
        advanced("bytes: 0", a -> a.maxWaiting(1, 0)),
        advanced("parkedWorkflows: 0", a -> a.parkedWorkflows(0)),
        advanced("entries: 9", a -> a.workflowHistory(9, 1 << 20)),
        advanced("bytes: 9999", a -> a.workflowHistory(50_000, 9_999)),
        advanced("codec: null", a -> a.alsoRead(null)),
        advanced("metadata key: \"\"", a -> a.indexMetadata("")),
        advanced("metadata key: null", a -> a.indexMetadata((String) null)),
        advanced("keys: null", a -> a.indexMetadata((String[]) null)),
        advanced("namespace: \"\"", a -> a.limitNamespace("", 1)),
        advanced("limit: -1", a -> a.limitNamespace("n", -1)),
        advanced("rate: null", a -> a.rateNamespace("n", null)));
  }

  static Stream<Arguments> typesAndJobs() {
    return Stream.of(
        row("signal: \" \"", c -> SignalType.of(" ")),
        row("signal: \"xxx", c -> SignalType.of("x".repeat(201))),
        row("payload: null", c -> SignalType.of("s", (Class<String>) null)),
        row("policy: null", c -> StepOptions.retry(null)),
        row("timeout: PT0S", c -> StepOptions.defaults().timeout(Duration.ZERO)),
        row("type: null", c -> TaskType.of(null)),
        row("type: \"  \"", c -> TaskType.of("  ", String.class)),
        row("type: \"xxx", c -> TaskType.of("x".repeat(201), String.class)),
        row("input: null", c -> TaskType.of("t", (Class<String>) null)),
        row("output: null", c -> JobType.of("t", (Class<String>) null)),
        row("version: 0", c -> NOTE.version(0)),
        row("version: 65536", c -> NOTE.version(65_536)),
        row("type: T", BadInputTableTest::genericToken),
        row("type: null", c -> TypeToken.of(null)),
        row("input: null", c -> NOTE.job(null)),
        row("input: null", c -> NOTE.job()),
        row("queue: \"\"", c -> NOTE.queue("")),
        row("priority: 101", c -> NOTE.priority(101)),
        row("timeout: PT0S", c -> NOTE.timeout(Duration.ZERO)),
        row("policy: null", c -> NOTE.onFailure(null)),
        row("due: null", c -> JOB.at(null)),
        row("due: 1969-12-31T23:59:59Z", c -> JOB.at(Instant.EPOCH.minusSeconds(1))),
        row("due: +10000-01-01T00:00:00Z", c -> JOB.at(Limits.LATEST_DUE.plusSeconds(1))),
        row("due: null", c -> JOB.due(null)),
        row("delay: PT-1S", c -> JOB.in(SECOND.negated())),
        row("delay: null", c -> JOB.in(null)),
        row("due: ", c -> c.schedule(JOB.in(Duration.ofDays(365 * 8_000)))),
        row("name: null", c -> JOB.named(null)),
        row("name: \"\"", c -> JOB.named("")),
        row("name: \"xxx", c -> JOB.named(LONG_TEXT)),
        row("ifExists: null", c -> JOB.ifExists(null)),
        row("key: \"a\\u000Ab\"", c -> JOB.key("a\nb")),
        row("key: null", c -> JOB.key(null)),
        row("namespace: \" \"", c -> JOB.namespace(" ")),
        row("namespace: null", c -> JOB.namespace(null)),
        row("queue: \"\\uD800\"", c -> JOB.queue("\ud800")),
        row("queue: null", c -> JOB.queue(null)),
        row("priority: -101", c -> JOB.priority(-101)),
        row("metadata bytes: 16385", c -> JOB.meta("k", "v".repeat(16_384))),
        row("metadata value: \"vvv", c -> JOB.meta("k", "v".repeat(16_385))),
        row("metadata key: null", c -> JOB.meta(null, "v")),
        row("metadata value: null", c -> JOB.meta("k", null)),
        row("metadata: null", c -> JOB.metadata(null)),
        row("metadata entries: 65", c -> JOB.metadata(entries(65))),
        row("timeout: PT-1S", c -> JOB.timeout(SECOND.negated())),
        row("timeout: null", c -> JOB.timeout(null)),
        row("timeout: PT87672H1S", c -> JOB.timeout(Limits.TIMEOUT_MAX.plus(SECOND))),
        row("deadline: null", c -> JOB.deadline(null)),
        row("deadline: ", c -> c.schedule(JOB.in(SECOND.multipliedBy(9)).deadline(soon()))),
        row("deadline: ", c -> JOB.on(DAILY).deadline(NOON)),
        row("schedule: null", c -> JOB.on(null)),
        row("policy: null", c -> JOB.onFailure(null)),
        row("concurrency key: \"\"", c -> JOB.concurrency("")),
        row("concurrency limit: 0", c -> JOB.concurrency(Concurrency.of("k").limit(0))),
        row("concurrency: null", c -> JOB.concurrency((Concurrency) null)),
        row("job: null", c -> JOB.after((JobId) null)),
        row("dependency: null", c -> JOB.after((Dependency) null)),
        row("dependency: job nothing", c -> c.schedule(JOB.after(new JobId("nothing")))),
        row("job id: null", c -> new JobId(null)),
        row("job id: \" \"", c -> new JobId(" ")),
        row("job id: \"xxx", c -> new JobId("x".repeat(1_201))));
  }

  private static <T> void genericToken(Carillon c) {
    new TypeToken<T>() {};
  }

  private static Instant soon() {
    return Instant.now().plusSeconds(2);
  }

  private static Map<String, String> entries(int count) {
    Map<String, String> entries = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      entries.put("key" + i, "");
    }
    return entries;
  }

  static Stream<Arguments> schedulesAndPolicies() {
    FailurePolicy exponential = FailurePolicy.exponential();
    return Stream.of(
        row("schedule: null", c -> Schedule.cron(null)),
        row("hour: \"25\" at column 3", c -> Schedule.cron("0 25 * * *")),
        row("minute: \"x\" at column 1", c -> Schedule.cron("x * * * *")),
        row("cron: \"\" at column 1", c -> Schedule.cron("")),
        row("cron: \"\" at column 6 of \"* * *\"", c -> Schedule.cron("* * *")),
        row("zone: \"Mars/Olympus\"", c -> Schedule.cron("@daily", "Mars/Olympus")),
        row("zone: null", c -> Schedule.cron("@daily", (ZoneId) null)),
        row("period: PT0S", c -> Schedule.every(Duration.ZERO)),
        row("period: null", c -> Schedule.every(null)),
        row("delay: PT-1S", c -> Schedule.afterEach(SECOND.negated())),
        row("times: 0", c -> DAILY.times(0)),
        row("until: ", c -> DAILY.startingAt(NOON).until(NOON.minusSeconds(1))),
        row("jitter: PT-1S", c -> DAILY.jitter(SECOND.negated())),
        row("jitter: PT2S", c -> Schedule.every(SECOND).jitter(SECOND.multipliedBy(2))),
        row("overlap: null", c -> DAILY.overlap(null)),
        row("misfire: null", c -> DAILY.misfire(null)),
        row("misfire cap: 0", c -> Misfire.runAll(0)),
        row("grace: PT-1S", c -> DAILY.grace(SECOND.negated())),
        row("until: ", c -> c.schedule(JOB.on(DAILY.until(NOON.minusSeconds(86_400 * 365))))),
        row("n: -1", c -> DAILY.preview(-1, NOON)),
        row("n: 1001", c -> DAILY.preview(1_001, NOON)),
        row("from: null", c -> DAILY.preview(1, null)),
        row("due: \"yesterday\"", c -> Due.parse("yesterday")),
        row("due: \"\"", c -> Due.parse("")),
        row("due: null", c -> Due.parse(null)),
        row("due: \"-5s\"", c -> Due.parse("-5s")),
        row("interval: PT-1S", c -> FailurePolicy.constant(SECOND.negated(), 1)),
        row("maxRetries: -1", c -> FailurePolicy.constant(SECOND, -1)),
        row("schedule: EVERY", c -> FailurePolicy.cron(Schedule.every(SECOND), 1)),
        row("schedule: null", c -> FailurePolicy.cron(null, 1)),
        row("base: PT0S", c -> exponential.from(Duration.ZERO)),
        row("factor: 0.5", c -> exponential.factor(0.5)),
        row("factor: NaN", c -> exponential.factor(Double.NaN)),
        row("cap: PT0.001S", c -> exponential.cap(Duration.ofMillis(1))),
        row("jitter: 1.1", c -> exponential.jitter(1.1)),
        row("maxRetries: 1", c -> FailurePolicy.drop().maxRetries(1)),
        row("error: null", c -> exponential.except((Class<Throwable>) null)),
        row("errors: 33", c -> exponential.except(Collections.nCopies(33, "e"))),
        row("permits: 0", c -> Rate.perSecond(0)),
        row("permits: 1000001", c -> Rate.perMinute(1_000_001)),
        row("period: PT0S", c -> Rate.of(1, Duration.ZERO)),
        row("period: null", c -> Rate.of(1, null)),
        row("delay: PT-1S", c -> RunAgainException.in(SECOND.negated())),
        row("due: null", c -> RunAgainException.at(null)));
  }

  static Stream<Arguments> calls() {
    JobId none = new JobId("nothing");
    Connection connection = proxy(Connection.class);
    return Stream.of(
        row("job: null", c -> c.schedule(null)),
        row("job: null", c -> c.scheduleAsync(null).join()),
        row("payload bytes: 1048578", c -> c.schedule(NOTE.job("x".repeat(1 << 20)))),
        row("payload bytes: 1048578", c -> c.scheduleAsync(NOTE.job("x".repeat(1 << 20))).join()),
        row("key: ", c -> c.schedule(JOB.key(Ticket.of(1, 2)))),
        row("jobs: null", c -> c.scheduleAll(null)),
        row("job: null", c -> c.scheduleAll(Arrays.asList(JOB, null))),
        row("jobs in one batch: 10001", c -> c.scheduleAll(Collections.nCopies(10_001, JOB))),
        row("name: \"n\" twice", c -> c.scheduleAll(List.of(JOB.named("n"), JOB.named("n")))),
        row("key: \"k\" twice", c -> c.scheduleAll(List.of(JOB.key("k"), JOB.key("k")))),
        row(
            "ifExists: REPLACE",
            c -> c.scheduleAll(List.of(JOB.named("n").ifExists(IfExists.REPLACE)))),
        row("bytes in one batch: ", c -> c.scheduleAll(large(40))),
        row("members: null", c -> c.scheduleGroup(null, JOB)),
        row("members: none", c -> c.scheduleGroup(List.of(), JOB)),
        row("whenDone: null", c -> c.scheduleGroup(List.of(JOB), null)),
        row("whenDone: waits for 1", c -> c.scheduleGroup(List.of(JOB), JOB.after(live))),
        row("connection: null", c -> c.schedule((Connection) null, JOB)),
        row("job: null", c -> c.schedule(connection, null)),
        row("store: memory", c -> c.schedule(connection, JOB)),
        row("jobs: null", c -> c.scheduleAll(connection, null)),
        row("id: null", c -> c.cancel(null)),
        row("reason: null", c -> c.cancel(none, null)),
        row("reason: \"xxx", c -> c.cancel(none, LONG_TEXT)),
        row("query: null", c -> c.cancelAll(null, "")),
        row("reason: null", c -> c.cancelAll(JobQuery.all(), null)),
        row("reason: null", c -> c.cancelGroup(none, null)),
        row("id: null", c -> c.pause(null, "")),
        row("reason: \"xxx", c -> c.pause(none, LONG_TEXT)),
        row("id: null", c -> c.resume(null)),
        row("due: null", c -> c.reschedule(live, (Instant) null)),
        row("schedule: null", c -> c.reschedule(live, (Schedule) null)),
        row("priority: 101", c -> c.prioritise(live, 101)),
        row("id: null", c -> c.trigger(null)),
        row("to: ", c -> c.backfill(live, NOON, Instant.now().plusSeconds(60))),
        row("from: ", c -> c.backfill(live, NOON, NOON.minusSeconds(1))),
        row("id: null", c -> c.get((JobId) null)),
        row("namespace: null", c -> c.get(null, "n")),
        row("name: \"\"", c -> c.get("default", "")),
        row("mode: null", c -> c.pause(none, "", null)),
        row("type: null", c -> c.published(live, null)),
        row("id: null", c -> c.published(null, TEXT)),
        row("type: null", c -> c.input(live, (TypeToken<String>) null)),
        row("id: null", c -> c.input(null, TEXT)),
        row("id: null", c -> c.rawInput(null)),
        row("query: null", c -> c.list(null)),
        row("query: null", c -> c.stream(null)),
        row("limit: 0", c -> JobQuery.all().limit(0)),
        row("limit: 1001", c -> JobQuery.all().limit(1_001)),
        row("cursor: \"nonsense\"", c -> c.list(JobQuery.all().cursor("nonsense"))),
        row("cursor: \"\"", c -> c.list(JobQuery.all().newestFirst().cursor(""))),
        row("dueFrom: ", c -> JobQuery.all().dueTo(NOON).dueFrom(NOON.plusSeconds(1))),
        row("endedFrom: ", c -> JobQuery.all().endedTo(NOON).endedFrom(NOON.plusSeconds(1))),
        row("states: null", c -> JobQuery.all().states((JobState[]) null)),
        row("state: null", c -> JobQuery.all().states((JobState) null)),
        row("type: null", c -> JobQuery.all().type(null)),
        row("namespace: null", c -> JobQuery.all().namespace(null)),
        row("key: null", c -> JobQuery.all().meta(null, "v")),
        row("due: null", c -> c.upcoming(null, NOON, "default")),
        row("from: ", c -> c.upcoming(NOON, NOON.minusSeconds(1), "default")),
        row("namespace: \"\"", c -> c.upcoming(NOON, NOON, "")),
        row("id: null", c -> c.history(null)),
        row("cursor: \"x\"", c -> c.history(live, "x")),
        row("watcher: null", c -> c.watch(live, null)),
        row("id: null", c -> c.watch(null, info -> {})),
        row("type: null", c -> c.result(live, null, SECOND)),
        row("timeout: null", c -> c.result(live, TEXT, null)),
        row("id: null", c -> c.resultAsync(null, TEXT).join()),
        row("queue: \"\"", c -> c.queue("")),
        row("namespace: null", c -> c.namespace(null)),
        row("limit: 0", c -> c.queue("q").limit(0)),
        row("rate: null", c -> c.queue("q").rate(null)),
        row("reason: null", c -> c.namespace("n").pause(null)),
        row("query: null", c -> c.deadLetters().list(null)),
        row("query: null", c -> c.deadLetters().replayAll(null)),
        row("id: null", c -> c.deadLetters().replay(null)),
        row("job: null", c -> c.deadLetters().replay(live, (Job<?>) null)),
        row("id: null", c -> c.deadLetters().discard(null)),
        row("type: null", c -> c.handle((TaskType<String>) null, (text, job) -> {})),
        row("handler: null", c -> c.handle(NOTE, null)),
        row("options: null", c -> c.handle(NOTE, (text, job) -> {}, null)),
        row("type: \"length\"", c -> c.handle(LENGTH, (text, job) -> 0)),
        row("limit: 0", c -> HandlerOptions.defaults().limit(0)),
        row("timeout: PT0S", c -> HandlerOptions.defaults().timeout(Duration.ZERO)),
        row("executor: null", c -> HandlerOptions.defaults().executor(null)),
        row("upcaster: null", c -> HandlerOptions.defaults().upcaster(null)),
        row("policy: null", c -> HandlerOptions.defaults().failurePolicy(null)),
        row("rule: null", c -> HandlerOptions.defaults().retryRule(null)));
  }

  private static List<Job<?>> large(int count) {
    return Collections.nCopies(count, NOTE.job("x".repeat(1_000_000)));
  }

  private static <T> T proxy(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> null));
  }

  static Stream<Arguments> all() {
    return Stream.of(options(), advancedOptions(), typesAndJobs(), schedulesAndPolicies(), calls())
        .flatMap(rows -> rows);
  }

  @Test
  void tableHasAtLeastAHundredAndFiftyRows() {
    assertThat(all()).hasSizeGreaterThanOrEqualTo(150);
  }

  @ParameterizedTest(name = "{index} {0}")
  @MethodSource("all")
  void badInputIsRefusedAtOnceAndNothingElseHappens(String begins, Consumer<Carillon> call)
      throws Exception {
    Future<?> called = callers.submit(() -> call.accept(carillon));
    Throwable thrown = null;
    try {
      called.get(LONG.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      thrown = e.getCause();
    }
    assertThat(thrown).isInstanceOf(InvalidArgumentException.class);
    assertThat(thrown.getMessage())
        .startsWith(begins)
        .matches("(?s)[\\p{Alpha} ]+: .+ \\(expected: .+\\)");
    assertThat(carillon.schedule(LENGTH.job("abc")).result(LONG)).isEqualTo(3);
  }
}
