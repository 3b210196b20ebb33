package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.CarillonBuilder;
import dev.carillon.FlowControl;
import dev.carillon.api.BlockReason;
import dev.carillon.api.Concurrency;
import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Rate;
import dev.carillon.api.Subscription;
import dev.carillon.api.TaskType;
import dev.carillon.api.WhenFull;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Concurrency keys, rates and pauses, in virtual time, in memory and on a file. */
@Timeout(60)
@ParameterizedClass
@EnumSource(FlowControlTest.Where.class)
class FlowControlTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final TaskType<String> HOLD = TaskType.of("hold", String.class);
  private static final TaskType<String> DEAF = TaskType.of("deaf", String.class);
  private static final TaskType<String> ORPHAN = TaskType.of("orphan", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");

  @Parameter Where where = Where.MEMORY;
  @TempDir Path folder = Path.of("");

  private @Nullable CarillonTest opened;
  private final MemoryStore memory = new MemoryStore();
  private final PostgresPlace postgres = new PostgresPlace();
  private final List<String> starts = new CopyOnWriteArrayList<>();
  private final Map<String, CountDownLatch> begun = new ConcurrentHashMap<>();
  private final Map<String, CountDownLatch> running = new ConcurrentHashMap<>();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  enum Where {
    MEMORY,
    FILE,
    POSTGRES
  }

  @AfterEach
  void close() {
    running.values().forEach(CountDownLatch::countDown);
    if (opened != null) {
      opened.close();
    }
  }

  private CarillonTest world() {
    return opened != null ? opened : open(options -> {});
  }

  private Store store() {
    return switch (where) {
      case MEMORY -> memory;
      case FILE -> SqliteStore.open(folder.resolve("jobs.db"));
      case POSTGRES -> postgres.open();
    };
  }

  private CarillonTest open(Consumer<CarillonBuilder> options) {
    CarillonTest made = CarillonTest.at(START, this::store, options);
    opened = made;
    handle();
    return made;
  }

  /** NOTE notes its start; HOLD runs until {@link #finish}. */
  private void handle() {
    world().carillon().handle(NOTE, (text, job) -> noted(text));
    world()
        .carillon()
        .handle(
            HOLD,
            (text, job) -> {
              most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
              noted(text);
              CountDownLatch end = latch(running, text); // before anybody may look for it
              latch(begun, text).countDown();
              try {
                end.await();
              } finally {
                atOnce.decrementAndGet();
              }
            });
  }

  private void noted(String text) {
    starts.add(text + " " + Duration.between(START, world().now()).toSeconds());
  }

  private void restart() {
    world().restart();
    handle();
  }

  private JobId schedule(Job<Void> job) {
    return world().carillon().schedule(job).id();
  }

  private JobInfo info(JobId id) {
    return world().carillon().get(id).orElseThrow();
  }

  private void awaitState(JobId id, JobState state) throws InterruptedException {
    CountDownLatch reached = new CountDownLatch(1);
    Subscription watch =
        world()
            .carillon()
            .watch(
                id,
                info -> {
                  if (info.state() == state) {
                    reached.countDown();
                  }
                });
    try {
      reached.await();
    } finally {
      watch.close();
    }
  }

  private void awaitRunning(String text) throws InterruptedException {
    latch(begun, text).await();
  }

  private static CountDownLatch latch(Map<String, CountDownLatch> latches, String text) {
    return latches.computeIfAbsent(text, each -> new CountDownLatch(1));
  }

  private void finish(String text) {
    latch(running, text).countDown();
  }

  private static Concurrency one(WhenFull rule) {
    return Concurrency.of("k").whenFull(rule);
  }

  // ---- keys

  @Test
  void oneAtATimeInTheOrderOfTheirTimesWhateverTheirQueues() throws InterruptedException {
    JobId first = schedule(HOLD.job("a").concurrency("k"));
    awaitRunning("a");
    JobId third = schedule(HOLD.job("c").concurrency("k").queue("other").in(seconds(20)));
    JobId second = schedule(HOLD.job("b").concurrency("k").in(seconds(10)));
    JobId elsewhere = schedule(NOTE.job("free").concurrency("k").namespace("tenant"));
    awaitState(elsewhere, JobState.SUCCEEDED);
    world().moveClock(seconds(30));
    awaitState(third, JobState.BLOCKED);
    assertThat(info(second).blockReason()).isEqualTo(BlockReason.LIMIT);
    assertThat(listed(third).blockReason()).isEqualTo(BlockReason.LIMIT);
    finish("a");
    awaitState(first, JobState.SUCCEEDED);
    awaitRunning("b");
    assertThat(info(third).state()).isEqualTo(JobState.BLOCKED);
    finish("b");
    awaitRunning("c");
    finish("c");
    awaitState(third, JobState.SUCCEEDED);
    assertThat(starts).containsExactly("a 0", "free 0", "b 30", "c 30");
    assertThat(most).hasValue(1);
  }

  private JobInfo listed(JobId id) {
    return world().carillon().list(JobQuery.all()).items().stream()
        .filter(info -> info.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  @Test
  void asManyAsTheLimitSays() throws InterruptedException {
    Concurrency two = Concurrency.of("k").limit(2);
    List<JobId> ids =
        List.of("a", "b", "c", "d").stream()
            .map(text -> schedule(HOLD.job(text).concurrency(two)))
            .toList();
    awaitRunning("a");
    awaitRunning("b");
    awaitState(ids.get(3), JobState.BLOCKED);
    finish("b");
    awaitRunning("c");
    finish("a");
    finish("c");
    awaitRunning("d");
    finish("d");
    awaitState(ids.get(3), JobState.SUCCEEDED);
    assertThat(most).hasValue(2);
  }

  @Test
  void afterARestartTheOneDueFirstGoesFirst() {
    world().carillon().queue("late").pause("");
    // In shards of their own: months, days and hours ahead.
    schedule(NOTE.job("month").concurrency("k").at(START.plus(Duration.ofDays(70))));
    schedule(NOTE.job("day").concurrency("k").at(START.plus(Duration.ofDays(20))));
    schedule(NOTE.job("hour").concurrency("k").at(START.plus(Duration.ofHours(5))));
    world().carillon().queue("default").pause("until all are overdue");
    world().advance(Duration.ofDays(80));
    assertThat(starts).isEmpty();
    world().carillon().queue("default").resume();
    // The restart comes before any of them may start.
    restart();
    world().settle();
    assertThat(starts)
        .extracting(start -> start.substring(0, start.indexOf(' ')))
        .containsExactly("hour", "day", "month");
  }

  @Test
  void aFullKeyRejects() throws InterruptedException {
    schedule(HOLD.job("a").concurrency("k"));
    awaitRunning("a");
    JobId rejected = schedule(NOTE.job("b").concurrency(one(WhenFull.REJECT)));
    awaitState(rejected, JobState.FAILED);
    assertThat(info(rejected).reason()).isEqualTo("concurrency key k: 1 at once");
    assertThat(info(rejected).attempt()).isZero();
    finish("a");
    world().settle();
    JobId later = schedule(NOTE.job("c").concurrency(one(WhenFull.REJECT)));
    awaitState(later, JobState.SUCCEEDED);
  }

  @Test
  void theNewestIsCancelledOrCancelsTheOthers() throws InterruptedException {
    JobId a = schedule(HOLD.job("a").concurrency("k"));
    awaitRunning("a");
    JobId newest = schedule(NOTE.job("n").concurrency(one(WhenFull.CANCEL_NEWEST)));
    awaitState(newest, JobState.CANCELLED);
    JobId waits = schedule(NOTE.job("w").concurrency("k"));
    awaitState(waits, JobState.BLOCKED);
    JobId b = schedule(HOLD.job("b").concurrency(one(WhenFull.CANCEL_RUNNING)));
    awaitState(a, JobState.CANCELLED);
    awaitState(waits, JobState.SUCCEEDED);
    awaitRunning("b");
    JobId c = schedule(HOLD.job("c").concurrency(one(WhenFull.CANCEL_RUNNING)));
    awaitState(b, JobState.CANCELLED);
    awaitRunning("c");
    finish("c");
    awaitState(c, JobState.SUCCEEDED);
    assertThat(info(a).reason()).contains("a newer job is due", "key k");
    assertThat(most).hasValue(1);
  }

  @Test
  void theNewestCancelsAnOccurrenceAndNotItsSchedule() throws InterruptedException {
    JobId nightly = schedule(HOLD.job("s").on(Schedule.every(seconds(60))).concurrency("k"));
    world().moveClock(seconds(60));
    awaitRunning("s");
    JobId newest = schedule(NOTE.job("n").concurrency(one(WhenFull.CANCEL_RUNNING)));
    awaitState(newest, JobState.SUCCEEDED);
    finish("s");
    world().advance(seconds(120));
    assertThat(starts).containsSubsequence("s 60", "n 60", "s 120", "s 180");
    assertThat(info(nightly).state()).isEqualTo(JobState.SCHEDULED);
    assertThat(world().carillon().history(nightly).orElseThrow().events())
        .extracting(JobEvent::kind)
        .contains(JobEvent.Kind.OCCURRENCE_FAILED)
        .doesNotContain(JobEvent.Kind.CANCEL_REQUESTED);
  }

  @Test
  void aRetryWaitsWhateverTheRule() throws InterruptedException {
    world()
        .carillon()
        .handle(
            DEAF,
            (text, job) -> {
              noted(text);
              if (job.attempt() == 1) {
                throw new IllegalStateException("once");
              }
            });
    JobId flaky =
        schedule(
            DEAF.job("f")
                .concurrency(one(WhenFull.REJECT))
                .onFailure(FailurePolicy.constant(seconds(60), 3)));
    world().settle();
    schedule(HOLD.job("h").concurrency("k"));
    awaitRunning("h");
    world().moveClock(seconds(60));
    awaitState(flaky, JobState.BLOCKED);
    finish("h");
    awaitState(flaky, JobState.SUCCEEDED);
  }

  @ParameterizedTest
  @EnumSource(WhenFull.class)
  void aReplayedDeadLetterWaitsForItsOwnHandler(WhenFull rule) throws InterruptedException {
    CountDownLatch given = new CountDownLatch(1);
    world().carillon().handle(DEAF, (text, job) -> waitDeaf(text, given));
    JobId id =
        schedule(
            DEAF.job("a")
                .concurrency(one(rule))
                .timeout(Duration.ofSeconds(1))
                .onFailure(FailurePolicy.constant(Duration.ZERO, 0)));
    awaitRunning("a");
    world().moveClock(Duration.ofSeconds(1));
    awaitState(id, JobState.DEAD);

    assertThat(world().carillon().deadLetters().replay(id)).isEqualTo(ControlResult.DONE);
    awaitState(id, JobState.BLOCKED);
    given.countDown();
    awaitState(id, JobState.SUCCEEDED);
    assertThat(most).hasValue(1);
  }

  /** Goes on when it is interrupted. */
  private void waitDeaf(String text, CountDownLatch given) {
    most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    latch(begun, text).countDown();
    boolean interrupted = true;
    while (interrupted) {
      try {
        given.await();
        interrupted = false;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    atOnce.decrementAndGet();
  }

  @Test
  void aRecurringJobThatIsRejectedSkipsThatTime() throws InterruptedException {
    JobId every =
        schedule(
            NOTE.job("tick").on(Schedule.every(seconds(10))).concurrency(one(WhenFull.REJECT)));
    world().advance(seconds(15));
    schedule(HOLD.job("a").concurrency("k"));
    awaitRunning("a");
    world().moveClock(seconds(10));
    Awaitility.await()
        .until(() -> !info(every).recurring().nextTime().equals(START.plusSeconds(20)));
    finish("a");
    world().settle();
    world().advance(seconds(10));
    assertThat(starts).containsExactly("tick 10", "a 15", "tick 30");
    assertThat(info(every).recurring().count()).isEqualTo(2);
  }

  @Test
  void aJobWithoutAHandlerLeavesItsKeyToOthers() {
    JobId orphan = schedule(ORPHAN.job("o").concurrency("k"));
    world().settle();
    schedule(NOTE.job("a").concurrency("k"));
    world().settle();
    assertThat(info(orphan).blockReason()).isEqualTo(BlockReason.NO_HANDLER);
    assertThat(world().carillon().node().stats().blocked()).isEqualTo(1);
    assertThat(starts).containsExactly("a 0");
    world().carillon().handle(ORPHAN, (text, job) -> noted(text));
    world().settle();
    assertThat(starts).containsExactly("a 0", "o 0");
  }

  @Test
  void aPausedQueueLeavesItsKeysToOthers() throws InterruptedException {
    schedule(HOLD.job("a").concurrency("k"));
    awaitRunning("a");
    JobId paused = schedule(NOTE.job("p").concurrency("k").queue("q"));
    awaitState(paused, JobState.BLOCKED);
    world().carillon().queue("q").pause("");
    JobId other = schedule(NOTE.job("b").concurrency("k"));
    finish("a");
    awaitState(other, JobState.SUCCEEDED);
    assertThat(info(paused).state()).isEqualTo(JobState.PAUSED);
    world().carillon().queue("q").resume();
    awaitState(paused, JobState.SUCCEEDED);
    assertThat(starts).containsExactly("a 0", "b 0", "p 0");
  }

  // ---- rates

  @Test
  void attemptsStartAsOftenAsTheRateOfTheirQueueSays() {
    open(options -> options.rateQueue("slow", Rate.of(1, seconds(10))));
    for (int i = 0; i < 4; i++) {
      schedule(NOTE.job("n").queue("slow"));
    }
    schedule(NOTE.job("other"));
    world().advance(seconds(60));
    assertThat(starts).containsExactlyInAnyOrder("n 0", "other 0", "n 10", "n 20", "n 30");
  }

  @Test
  void aRateThatIsRaisedCountsAtOnce() {
    world().carillon().queue("slow").rate(Rate.of(1, Duration.ofHours(10)));
    for (int i = 0; i < 3; i++) {
      schedule(NOTE.job("q").queue("slow"));
    }
    world().advance(seconds(10));
    assertThat(starts).containsExactly("q 0");
    world().carillon().queue("slow").rate(Rate.perSecond(1));
    world().advance(seconds(10));
    assertThat(starts).containsExactly("q 0", "q 11", "q 12");
  }

  @Test
  void aBurstMayStartAtOnceAfterAQuietTime() {
    world().carillon().namespace("t").rate(Rate.of(1, seconds(10)).burst(3));
    for (int i = 0; i < 5; i++) {
      schedule(NOTE.job("n").namespace("t"));
    }
    world().advance(seconds(100));
    schedule(NOTE.job("m").namespace("t"));
    schedule(NOTE.job("m").namespace("t"));
    world().settle();
    assertThat(starts).containsExactly("n 0", "n 0", "n 0", "n 10", "n 20", "m 100", "m 100");
  }

  @Test
  void whatARateHasUsedUpIsKnownAfterARestart() {
    world().carillon().queue("slow").rate(Rate.of(1, Duration.ofHours(1)));
    schedule(NOTE.job("a").queue("slow"));
    world().settle();
    world().advance(seconds(60));
    restart();
    schedule(NOTE.job("b").queue("slow"));
    world().advance(Duration.ofMinutes(58));
    assertThat(starts).containsExactly("a 0");
    world().advance(Duration.ofMinutes(2));
    assertThat(starts).hasSize(2);
    int second = Integer.parseInt(starts.get(1).substring(2));
    assertThat(second).isBetween(3600, 3602);
  }

  @Test
  void aRatePerKey() {
    Concurrency slow = Concurrency.of("k").limit(9).rate(Rate.of(1, seconds(10)));
    Concurrency other = Concurrency.of("l").limit(9).rate(Rate.of(1, seconds(10)));
    for (int i = 0; i < 3; i++) {
      schedule(NOTE.job("k").concurrency(slow));
    }
    schedule(NOTE.job("l").concurrency(other));
    world().advance(seconds(10));
    restart();
    world().advance(seconds(15));
    assertThat(starts).contains("k 0", "l 0", "k 10").hasSize(4);
    assertThat(starts.getLast()).isIn("k 20", "k 21", "k 22");
  }

  private static Concurrency rated(Rate rate) {
    return Concurrency.of("k").limit(9).rate(rate);
  }

  /** Schedules jobs that are due one after the other within some milliseconds. */
  private void scheduleInOrder(Map<String, Concurrency> kinds, String... jobs) {
    for (int i = 0; i < jobs.length; i++) {
      Concurrency kind = kinds.get(jobs[i]);
      schedule(NOTE.job(jobs[i]).in(Duration.ofMillis(i)).concurrency(kind));
    }
  }

  @Test
  void eachJobOfAKeyGoesByItsOwnRate() {
    Map<String, Concurrency> kinds =
        Map.of("slow", rated(Rate.of(1, seconds(60))), "fast", rated(Rate.of(1, seconds(5))));
    scheduleInOrder(kinds, "slow", "fast", "fast", "slow", "fast", "slow", "slow");
    world().advance(seconds(600));
    assertThat(starts)
        .as("as long after the start before it as its own rate says")
        .containsExactly(
            "slow 0", "fast 5", "fast 10", "slow 70", "fast 75", "slow 135", "slow 195");
  }

  @Test
  void aLookAtAFasterJobDoesNotLetTheSlowOneStart() {
    Concurrency slow = rated(Rate.of(1, seconds(60)));
    Concurrency fast = rated(Rate.perSecond(10));
    schedule(NOTE.job("slow").concurrency(slow));
    world().settle();
    schedule(NOTE.job("slow").concurrency(slow));
    for (int i = 0; i < 5; i++) {
      world().advance(seconds(5));
      schedule(NOTE.job("fast").concurrency(fast));
    }
    world().advance(seconds(34));
    assertThat(starts).containsExactly("slow 0");
    world().advance(seconds(2));
    assertThat(starts).hasSize(7).startsWith("slow 0", "slow 60", "fast 60");
  }

  @Test
  void aBurstIsUsedUpByAStartOfAnotherRate() {
    Map<String, Concurrency> kinds =
        Map.of(
            "burst", rated(Rate.of(1, seconds(10)).burst(3)),
            "other", rated(Rate.of(1, seconds(4))));
    scheduleInOrder(kinds, "burst", "burst", "burst", "other", "burst", "burst");
    world().advance(seconds(60));
    assertThat(starts)
        .containsExactly("burst 0", "burst 0", "burst 0", "other 4", "burst 14", "burst 24");
  }

  @Test
  void aJobOfAnotherRateKnowsTheLastStartAfterARestart() {
    schedule(NOTE.job("fast").concurrency(rated(Rate.of(1, seconds(20)))));
    world().advance(seconds(5));
    restart();
    schedule(NOTE.job("slow").concurrency(rated(Rate.of(1, seconds(60)))));
    world().advance(seconds(54));
    assertThat(starts).containsExactly("fast 0");
    world().advance(seconds(10));
    assertThat(starts).hasSize(2);
    assertThat(starts.getLast()).isIn("slow 60", "slow 61", "slow 62");
  }

  @Test
  void jobsOfManyRatesInManyQueuesAllStart() {
    for (int i = 0; i < 60; i++) {
      Concurrency rate = rated(Rate.of(1, seconds(1 + i % 4)));
      schedule(NOTE.job("n").queue("q" + i % 3).priority(i % 5).concurrency(rate));
    }
    world().advance(seconds(241));
    assertThat(starts).hasSize(60);
  }

  // ---- pauses and limits of queues and namespaces

  @Test
  void aPausedQueueStaysPausedAcrossARestart() {
    FlowControl queue = world().carillon().queue("q");
    queue.pause("the mail server is down");
    JobId id = schedule(NOTE.job("a").queue("q").namespace("t"));
    schedule(NOTE.job("b"));
    JobId expired = schedule(NOTE.job("c").queue("q").deadline(START.plusSeconds(60)));
    world().advance(seconds(30));
    assertThat(starts).containsExactly("b 0");
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(info(id).reason()).isEqualTo("the mail server is down");
    assertThat(listed(id).state()).isEqualTo(JobState.PAUSED);
    restart();
    world().advance(seconds(60));
    assertThat(starts).containsExactly("b 0");
    assertThat(world().carillon().queue("q").get().pauseReason())
        .isEqualTo("the mail server is down");
    assertThat(info(expired).state()).isEqualTo(JobState.EXPIRED);
    world().carillon().queue("q").resume();
    world().settle();
    assertThat(starts).containsExactly("b 0", "a 90");
    restart();
    assertThat(world().carillon().queue("q").get().paused()).isFalse();
  }

  @Test
  void aPausedNamespaceIsIndependentOfItsQueue() {
    world().carillon().namespace("t").pause("");
    world().carillon().queue("q").pause("");
    schedule(NOTE.job("a").queue("q").namespace("t"));
    world().carillon().queue("q").resume();
    world().settle();
    assertThat(starts).isEmpty();
    world().carillon().namespace("t").resume();
    world().settle();
    assertThat(starts).containsExactly("a 0");
  }

  @Test
  void aLimitThatWasSetCountsAfterARestartAndTheProgramsWhenItIsTakenBack()
      throws InterruptedException {
    open(options -> options.limitQueue("q", 3));
    world().carillon().queue("q").limit(1);
    restart();
    assertThat(world().carillon().queue("q").get().limit()).isEqualTo(1);
    schedule(HOLD.job("a").queue("q"));
    JobId second = schedule(HOLD.job("b").queue("q"));
    awaitRunning("a");
    assertThat(info(second).state()).isEqualTo(JobState.READY);
    world().carillon().queue("q").clearLimit();
    assertThat(world().carillon().queue("q").get().limit()).isEqualTo(3);
    awaitRunning("b");
    assertThat(most).hasValue(2);
  }

  @Test
  void aSettingThatCannotBeReadHoldsItsQueueBackAndNoOther() {
    try (Store store = store()) {
      Records.Stamp stamp = new Records.Stamp(99, 1);
      byte[] ofTheFuture = {9, 1, 2};
      store
          .records()
          .apply(
              List.of(new Records.Change("f\0q\0odd", Records.Stamp.ABSENT, ofTheFuture, stamp)));
    }
    JobId odd = schedule(NOTE.job("odd").queue("odd"));
    schedule(NOTE.job("other"));
    world().settle();
    assertThat(starts).containsExactly("other 0");
    assertThat(info(odd).state()).isEqualTo(JobState.PAUSED);
    assertThat(info(odd).reason()).contains("cannot be read", "version 9");
    world().carillon().queue("odd").resume();
    world().settle();
    assertThat(starts).containsExactly("other 0", "odd 0");
  }

  @Test
  void whatTheRatesOfKeysLeftBehindGoesWithTheNextStart() {
    schedule(NOTE.job("a").concurrency(Concurrency.of("k").rate(Rate.of(1, seconds(10)))));
    world().settle();
    assertThat(rateRecords()).isEqualTo(1);
    restart();
    world().settle();
    assertThat(rateRecords()).as("not all of it is there again").isEqualTo(1);
    world().advance(seconds(60));
    restart();
    world().settle();
    assertThat(rateRecords()).isZero();
  }

  private int rateRecords() {
    if (where == Where.MEMORY) {
      return records(memory);
    }
    world().carillon().close();
    try (Store store = store()) {
      return records(store);
    } finally {
      restart();
    }
  }

  private static int records(Store store) {
    return store.records().list("r\0c\0", null, 10)
            instanceof Outcome.Ok<List<Records.Stored>>(var page)
        ? page.size()
        : -1;
  }

  // ---- bad input

  @Test
  void badInputIsRefusedWithItsValue() {
    assertThatThrownBy(() -> NOTE.job("x").concurrency(" "))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("concurrency key");
    assertThatThrownBy(() -> Concurrency.of("k").limit(0))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("concurrency limit: 0 (expected: 1 to");
    assertThatThrownBy(() -> Rate.of(0, seconds(1)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("permits: 0");
    assertThatThrownBy(() -> Rate.of(1, Duration.ZERO))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("period: PT0S");
    assertThatThrownBy(() -> Rate.perSecond(1).burst(0))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("burst: 0");
    assertThatThrownBy(() -> Rate.of(1, Duration.ofDays(1)).burst(200_000))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("burst: 200000 (expected: at most what the rate gives in PT87600H)");
    assertThatThrownBy(() -> world().carillon().queue("q").limit(0))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("limit: 0");
  }
}
