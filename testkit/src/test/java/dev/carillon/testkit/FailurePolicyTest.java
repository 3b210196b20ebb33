package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.HandlerOptions;
import dev.carillon.api.CancelResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.RetryRule;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.RetryAfterException;
import dev.carillon.api.error.RunAgainException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What follows a failed attempt, and when, in virtual time. Times are seconds after the start. */
@Timeout(60)
class FailurePolicyTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final TaskType<String> OTHER = TaskType.of("other", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final Duration LONG = Duration.ofDays(2);

  private CarillonTest world = CarillonTest.at(START);
  private final List<Double> starts = new CopyOnWriteArrayList<>();
  private final List<Integer> numbers = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    world.close();
  }

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  private static Instant at(long seconds) {
    return START.plusSeconds(seconds);
  }

  private double now() {
    return Duration.between(START, world.now()).toNanos() / 1e9;
  }

  private void started(JobContext job) {
    starts.add(now());
    numbers.add(job.attempt());
  }

  /** The first attempts fail, one after the other with an error of its own. */
  private void fail(int failures) {
    fail(failures, HandlerOptions.defaults());
  }

  private void fail(int failures, HandlerOptions options) {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              if (starts.size() <= failures) {
                throw new IllegalStateException("failure " + starts.size());
              }
            },
            options);
  }

  private void failAlways() {
    fail(Integer.MAX_VALUE);
  }

  private JobHandle<Void> schedule(FailurePolicy policy) {
    return world.carillon().schedule(NOTE.job("x").onFailure(policy));
  }

  private List<JobEvent> events(JobId id) {
    return world.carillon().history(id).orElseThrow().events();
  }

  // ---- drop

  @Test
  void droppedJobIsNeverRetriedAndHasFailed() {
    failAlways();
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0);
    assertThat(job.info().state()).isEqualTo(JobState.FAILED);
    assertThat(job.info().reason()).isEqualTo("dropped by its policy");
    assertThat(Objects.requireNonNull(job.info().lastError()).message()).isEqualTo("failure 1");
    assertThat(events(job.id()))
        .extracting(JobEvent::kind)
        .containsExactly(JobEvent.Kind.SCHEDULED, JobEvent.Kind.FAILED);
  }

  @Test
  void droppedOccurrenceIsNoDeadLetterAndTheScheduleGoesOn() {
    fail(1);
    JobId id =
        world
            .carillon()
            .schedule(
                NOTE.job("x")
                    .on(Schedule.every(seconds(60)).times(2))
                    .onFailure(FailurePolicy.drop()))
            .id();
    world.advance(LONG);
    assertThat(starts).containsExactly(60.0, 120.0);
    assertThat(events(id))
        .extracting(JobEvent::kind)
        .containsExactly(
            JobEvent.Kind.SCHEDULED,
            JobEvent.Kind.OCCURRENCE_FAILED,
            JobEvent.Kind.OCCURRED,
            JobEvent.Kind.SUCCEEDED);
    assertThat(world.carillon().list(JobQuery.all()).items())
        .extracting(JobInfo::id)
        .containsExactly(id);
  }

  // ---- constant

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void constantPolicyHasOneAttemptMoreThanRetriesAtExactTimes(int retries) {
    failAlways();
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(10), retries));
    world.advance(LONG);
    assertThat(starts)
        .containsExactlyElementsOf(
            LongStream.rangeClosed(0, retries).mapToObj(i -> 10.0 * i).toList());
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(job.info().attempt()).isEqualTo(retries + 1);
    assertThat(job.info().reason()).isEqualTo("failed " + (retries + 1) + " times");
  }

  /** One that throws {@link RetryAfterException} with the given seconds. */
  private void failWithAdvice(long seconds) {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              throw new RetryAfterException(seconds(seconds), "busy");
            });
  }

  @Test
  void adviceToComeBackLaterDelaysTheRetriesOfThePolicyAndAddsNone() {
    failWithAdvice(60);
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(10), 2));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 60.0, 120.0);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(job.info().reason()).isEqualTo("failed 3 times");
  }

  @Test
  void adviceToComeBackSoonDoesNotHurryThePolicy() {
    failWithAdvice(1);
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(10), 1));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 10.0);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void adviceToComeBackAfterTheDeadlineLetsTheJobExpireThere() {
    failWithAdvice(3_600);
    JobHandle<Void> job =
        world
            .carillon()
            .schedule(
                NOTE.job("x").deadline(at(100)).onFailure(FailurePolicy.constant(seconds(10), 5)));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0);
    assertThat(job.info().state()).isEqualTo(JobState.EXPIRED);
    assertThat(job.info().endedAt()).isEqualTo(at(100));
  }

  @Test
  void adviceUnderADropPolicyIsNoRetry() {
    failWithAdvice(5);
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0);
    assertThat(job.info().reason()).isEqualTo("dropped by its policy");
  }

  @Test
  void onlyFailuresAreRetried() {
    fail(1);
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(10), 5));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 10.0);
    assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void intervalOfZeroRetriesWithoutTimePassing() {
    failAlways();
    JobHandle<Void> job = schedule(FailurePolicy.constant(Duration.ZERO, 4));
    world.settle();
    assertThat(starts).containsExactly(0.0, 0.0, 0.0, 0.0, 0.0);
    assertThat(numbers).containsExactly(1, 2, 3, 4, 5);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void unlimitedRetriesGoOnUntilOneSucceeds() {
    fail(500);
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(60), FailurePolicy.UNLIMITED));
    world.advance(seconds(60 * 499));
    assertThat(starts).hasSize(500);
    assertThat(job.info().state()).isEqualTo(JobState.SCHEDULED);
    world.advance(LONG);
    assertThat(starts).hasSize(501).last().isEqualTo(60.0 * 500);
    assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job.info().attempt()).isEqualTo(501);
  }

  // ---- cron and exponential

  @Test
  void cronPolicyRetriesAtItsOccurrences() {
    failAlways();
    JobHandle<Void> job =
        world
            .carillon()
            .schedule(
                NOTE.job("x")
                    .in(Duration.ofMinutes(7))
                    .onFailure(FailurePolicy.cron(Schedule.cron("*/15 * * * *"), 2)));
    world.advance(LONG);
    assertThat(starts).containsExactly(7 * 60.0, 15 * 60.0, 30 * 60.0);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void cronPolicyPassesOverOccurrencesDuringALongAttempt() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              world.moveClock(Duration.ofMinutes(20));
              throw new IllegalStateException("slow");
            });
    schedule(FailurePolicy.cron(Schedule.cron("*/15 * * * *"), 2));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 30 * 60.0, 60 * 60.0);
  }

  @Test
  void exponentialWaitsGrowUpToTheirCap() {
    failAlways();
    JobHandle<Void> job = schedule(FailurePolicy.exponential(seconds(1), 3, seconds(20), 5, 0));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 1.0, 4.0, 13.0, 33.0, 53.0);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void jitterIsWithinItsPartAndDoesNotAddUp() {
    List<Instant> times = new CopyOnWriteArrayList<>();
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              times.add(job.scheduledTime());
              throw new IllegalStateException("no");
            });
    schedule(FailurePolicy.exponential(seconds(100), 1, seconds(100), 40, 0.5));
    world.advance(LONG);
    assertThat(starts).hasSize(41);
    for (int i = 0; i <= 40; i++) {
      assertThat(times.get(i)).isEqualTo(at(100L * i));
      assertThat(starts.get(i) - 100.0 * i).isBetween(0.0, i == 0 ? 0.0 : 50.0);
    }
    assertThat(starts.stream().map(start -> start % 100).distinct().count()).isGreaterThan(10);
    assertThat(starts).anyMatch(start -> start % 100 > 25);
  }

  // ---- whose policy

  @ParameterizedTest
  @ValueSource(strings = {"node", "namespace", "handler", "job"})
  void nearestPolicyCounts(String whose) {
    world.close();
    world =
        CarillonTest.at(
            START,
            options ->
                options
                    .failurePolicy(FailurePolicy.constant(seconds(1), 1))
                    .failurePolicy("acme", FailurePolicy.constant(seconds(2), 1)));
    HandlerOptions own =
        HandlerOptions.defaults().failurePolicy(FailurePolicy.constant(seconds(3), 1));
    fail(9, own);
    world
        .carillon()
        .handle(
            OTHER,
            (text, job) -> {
              started(job);
              throw new IllegalStateException("no");
            });
    Job<Void> ofOther = OTHER.job("x");
    Job<Void> ofHandler = NOTE.job("x").namespace("acme");
    world
        .carillon()
        .schedule(
            switch (whose) {
              case "node" -> ofOther;
              case "namespace" -> ofOther.namespace("acme");
              case "handler" -> ofHandler;
              default -> ofHandler.onFailure(FailurePolicy.constant(seconds(4), 1));
            });
    world.advance(LONG);
    double wait = 1 + List.of("node", "namespace", "handler", "job").indexOf(whose);
    assertThat(starts).containsExactly(0.0, wait);
  }

  // ---- what is not retried

  private JobHandle<Void> throwing(RuntimeException thrown, FailurePolicy policy) {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              throw thrown;
            });
    JobHandle<Void> job = schedule(policy);
    world.advance(LONG);
    return job;
  }

  @Test
  void exceptedErrorsAndTheirSubclassesEndTheJobAtOnce() {
    JobHandle<Void> job =
        throwing(
            new NumberFormatException("seven"),
            FailurePolicy.constant(seconds(1), FailurePolicy.UNLIMITED)
                .except(IllegalArgumentException.class));
    assertThat(starts).containsExactly(0.0);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(job.info().reason()).isEqualTo("not retryable");
    assertThat(Objects.requireNonNull(job.info().lastError()).message()).isEqualTo("seven");
  }

  @Test
  void errorsThatAreNotExceptedAreRetried() {
    JobHandle<Void> job =
        throwing(
            new IllegalStateException("seven"),
            FailurePolicy.constant(seconds(1), 2)
                .except(List.of("java.lang.IllegalArgumentException", "com.example.Unknown")));
    assertThat(starts).hasSize(3);
    assertThat(job.info().reason()).isEqualTo("failed 3 times");
  }

  @Test
  void notRetryableExceptionEndsTheJobAtOnceWhateverThePolicy() {
    JobHandle<Void> job =
        throwing(
            new NotRetryableException("never"),
            FailurePolicy.constant(seconds(1), FailurePolicy.UNLIMITED));
    assertThat(starts).containsExactly(0.0);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(job.info().reason()).isEqualTo("not retryable");
  }

  // ---- recurring jobs

  private JobId recurring(FailurePolicy policy, long times) {
    Job<Void> job = NOTE.job("x").on(Schedule.every(seconds(60)).times(times)).onFailure(policy);
    return world.carillon().schedule(job).id();
  }

  /** Fails the attempts with these places among all. */
  private void failAt(Integer... places) {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              if (List.of(places).contains(starts.size())) {
                throw new IllegalStateException("failure " + starts.size());
              }
            });
  }

  @Test
  void attemptsAreCountedAnewAfterASuccessAndTheScheduleIsNotShifted() {
    failAt(1, 2, 4);
    recurring(FailurePolicy.constant(seconds(5), 2), 3);
    world.advance(LONG);
    assertThat(starts).containsExactly(60.0, 65.0, 70.0, 120.0, 125.0, 180.0);
    assertThat(numbers).containsExactly(1, 2, 3, 1, 2, 1);
  }

  @Test
  void attemptsAreCountedAnewAfterAnExhaustedOccurrence() {
    failAt(1, 2, 3, 4);
    JobId id = recurring(FailurePolicy.constant(seconds(5), 1), 3);
    world.advance(LONG);
    assertThat(starts).containsExactly(60.0, 65.0, 120.0, 125.0, 180.0);
    assertThat(numbers).containsExactly(1, 2, 1, 2, 1);
    assertThat(world.carillon().list(JobQuery.all().states(JobState.DEAD)).items())
        .extracting(dead -> Objects.requireNonNull(dead.occurrence()).number())
        .containsExactlyInAnyOrder(1L, 2L);
    assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void retriesThatLastBeyondTheNextTickSkipItAndKeepTheRest() {
    failAt(1, 2, 3);
    recurring(FailurePolicy.constant(seconds(25), 3), 2);
    world.advance(LONG);
    assertThat(starts).containsExactly(60.0, 85.0, 110.0, 135.0, 180.0);
  }

  // ---- restarts, late and long attempts

  static Stream<Named<Boolean>> places() {
    return Stream.of(Named.of("memory", false), Named.of("file", true));
  }

  private void openOn(boolean file, Path folder) {
    world.close();
    MemoryStore memory = new MemoryStore();
    Path path = folder.resolve("jobs.db");
    Supplier<Store> store = file ? () -> SqliteStore.open(path) : () -> memory;
    world = CarillonTest.at(START, store, options -> {});
  }

  @ParameterizedTest
  @MethodSource("places")
  void waitForARetryAndItsPolicySurviveARestart(boolean file, @TempDir Path folder) {
    openOn(file, folder);
    failAlways();
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(600), 2));
    world.advance(seconds(240));
    JobId id = job.id();
    world.restart();
    failAlways();
    world.advance(seconds(600));
    assertThat(starts).containsExactly(0.0, 600.0);
    world.restart();
    failAlways();
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 600.0, 1200.0);
    assertThat(numbers).containsExactly(1, 2, 3);
    assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void jitterOfARetrySurvivesARestart() {
    failAlways();
    JobHandle<Void> job =
        schedule(FailurePolicy.exponential(seconds(100), 1, seconds(100), 1, 1.0));
    world.settle();
    Instant due = job.info().dueAt();
    JobId id = job.id();
    world.restart();
    assertThat(world.carillon().get(id).orElseThrow().dueAt()).isEqualTo(due);
    List<Instant> times = new CopyOnWriteArrayList<>();
    world.carillon().handle(NOTE, (text, again) -> times.add(again.scheduledTime()));
    world.advanceTo(due);
    assertThat(times).containsExactly(at(100));
  }

  @Test
  void lateAttemptDoesNotShiftThoseAfterIt() {
    failAlways();
    schedule(FailurePolicy.constant(seconds(600), 3));
    world.settle();
    world.restart();
    world.moveClock(seconds(840));
    failAlways();
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 840.0, 1200.0, 1800.0);
  }

  @Test
  void retriesOfAJobThatIsVeryLateKeepTheirDistance() {
    failAlways();
    schedule(FailurePolicy.constant(seconds(600), 3));
    world.settle();
    world.restart();
    world.moveClock(seconds(3700));
    failAlways();
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 3700.0, 4200.0, 4800.0);
  }

  @Test
  void attemptLongerThanItsWaitPushesTheRest() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              world.moveClock(seconds(starts.size() == 1 ? 25 : 4));
              throw new IllegalStateException("slow");
            });
    schedule(FailurePolicy.constant(seconds(10), 3));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 35.0, 45.0, 55.0);
  }

  // ---- a handler's own rule

  @Test
  void ruleSaysWhenToTryAgainAndWhenToGiveUp() {
    List<String> asked = new CopyOnWriteArrayList<>();
    RetryRule rule =
        (job, error) -> {
          asked.add(job.attempt() + " " + error.getMessage());
          return job.attempt() == 1 ? Optional.of(at(3600)) : Optional.empty();
        };
    fail(9, HandlerOptions.defaults().retryRule(rule));
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 3600.0);
    assertThat(asked).containsExactly("1 failure 1", "2 failure 2");
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(job.info().reason()).isEqualTo("given up by its handler's rule");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2026-02-28T00:00:00Z", "1970-01-01T00:00:00Z", "-1000-01-01T00:00:00Z"})
  void ruleThatNamesAPastTimeMeansAtOnce(Instant past) {
    fail(2, HandlerOptions.defaults().retryRule((job, error) -> Optional.of(past)));
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    world.settle();
    assertThat(starts).containsExactly(0.0, 0.0, 0.0);
    assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void ruleIsNotAskedAboutWhatIsNotRetryable() {
    List<Throwable> asked = new CopyOnWriteArrayList<>();
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              throw new NotRetryableException("never");
            },
            HandlerOptions.defaults()
                .retryRule(
                    (job, error) -> {
                      asked.add(error);
                      return Optional.of(at(60));
                    }));
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(1), 3));
    world.advance(LONG);
    assertThat(asked).isEmpty();
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
  }

  @SuppressWarnings("NullAway") // the rule breaks its contract
  static Stream<Named<RetryRule>> brokenRules() {
    return Stream.of(
        Named.of(
            "throws",
            (job, error) -> {
              throw new IllegalStateException("broken rule");
            }),
        Named.of(
            "throws an error",
            (job, error) -> {
              throw new AssertionError("broken rule");
            }),
        Named.of("answers null", (job, error) -> null),
        Named.of("names no time there is", (job, error) -> Optional.of(Instant.MAX)),
        Named.of(
            "names a time beyond all due times",
            (job, error) -> Optional.of(Instant.parse("+12000-01-01T00:00:00Z"))));
  }

  @ParameterizedTest
  @MethodSource("brokenRules")
  void policyDecidesWhereTheRuleIsBroken(RetryRule rule) {
    fail(9, HandlerOptions.defaults().retryRule(rule));
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(7), 1));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 7.0);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(Objects.requireNonNull(job.info().lastError()).message()).isEqualTo("failure 2");
  }

  // ---- running again by its own wish

  @ParameterizedTest
  @MethodSource("places")
  void handlerThatAsksToRunAgainHasNotFailed(boolean file, @TempDir Path folder) {
    openOn(file, folder);
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    handlePolling(3);
    world.advance(seconds(29));
    assertThat(job.info().state()).isEqualTo(JobState.SCHEDULED);
    assertThat(job.info().dueAt()).isEqualTo(at(30));
    assertThat(job.info().attempt()).isZero();
    assertThat(job.info().lastError()).isNull();
    JobId id = job.id();

    world.restart();
    handlePolling(3);
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 30.0, 60.0);
    assertThat(numbers).containsExactly(1, 1, 1);
    assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(events(id))
        .filteredOn(event -> event.kind() != JobEvent.Kind.SAVED)
        .extracting(JobEvent::kind, JobEvent::detail, JobEvent::error)
        .containsExactly(
            tuple(JobEvent.Kind.SCHEDULED, events(id).getFirst().detail(), null),
            tuple(JobEvent.Kind.POSTPONED, "again at " + at(30) + ": after 1 looks", null),
            tuple(JobEvent.Kind.POSTPONED, "again at " + at(60) + ": after 2 looks", null),
            tuple(JobEvent.Kind.SUCCEEDED, "", null));
  }

  /** Looks again every 30 seconds, and counts its looks in what it saves. */
  private void handlePolling(int looks) {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              int looked = job.saved(Integer.class).orElse(0) + 1;
              job.save(looked);
              if (looked < looks) {
                throw RunAgainException.in(seconds(30), "after " + looked + " looks");
              }
            });
  }

  @Test
  void delayOfRunningAgainIsCountedFromTheReturn() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              world.moveClock(seconds(5));
              if (starts.size() == 1) {
                throw RunAgainException.in(seconds(30));
              } else if (starts.size() == 2) {
                throw RunAgainException.at(START);
              }
            });
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 35.0, 40.0);
    assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void longNoteOfRunningAgainIsNoFailure() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              if (starts.size() == 1) {
                throw RunAgainException.in(seconds(30), "x".repeat(5_000));
              }
            });
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 30.0);
    assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(events(job.id()))
        .filteredOn(event -> event.kind() == JobEvent.Kind.POSTPONED)
        .extracting(JobEvent::detail)
        .containsExactly("again at " + at(30) + ": " + "x".repeat(1_024));
  }

  @Test
  void retriesAreCountedAcrossRunningAgain() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              if (starts.size() % 2 == 0) {
                throw new IllegalStateException("failure");
              }
              throw RunAgainException.in(seconds(1));
            });
    JobHandle<Void> job = schedule(FailurePolicy.constant(seconds(10), 1));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 1.0, 11.0, 12.0);
    assertThat(numbers).containsExactly(1, 1, 2, 2);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void occurrenceThatRunsAgainDoesNotShiftTheSchedule() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              if (starts.size() == 1) {
                throw RunAgainException.in(seconds(10));
              }
            });
    JobId id = recurring(FailurePolicy.drop(), 2);
    world.advance(LONG);
    assertThat(starts).containsExactly(60.0, 70.0, 120.0);
    assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void jobThatWaitsToRunAgainIsCancelled() {
    handlePolling(9);
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    world.advance(seconds(10));
    assertThat(world.carillon().cancel(job.id(), "enough")).isEqualTo(new CancelResult.Cancelled());
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0);
    assertThat(job.info().state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void cancelledAttemptThatAsksToRunAgainEndsCancelled() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              running.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                throw RunAgainException.in(seconds(30));
              }
            });
    JobHandle<Void> job = schedule(FailurePolicy.drop());
    running.await();
    assertThat(world.carillon().cancel(job.id(), "enough")).isEqualTo(new CancelResult.Stopping());
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0);
    assertThat(job.info().state()).isEqualTo(JobState.CANCELLED);
    assertThat(job.info().reason()).isEqualTo("enough");
  }

  @Test
  void jobThatWaitsToRunAgainExpiresAtItsDeadline() {
    handlePolling(9);
    JobHandle<Void> job = world.carillon().schedule(NOTE.job("x").deadline(at(45)));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 30.0);
    assertThat(job.info().state()).isEqualTo(JobState.EXPIRED);
    assertThat(job.info().endedAt()).isEqualTo(at(45));
  }

  // ---- timeouts and ends

  /** Attempts go on until they are interrupted; each releases one when it runs. */
  private Semaphore hang(HandlerOptions options) {
    Semaphore running = new Semaphore(0);
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started(job);
              running.release();
              new CountDownLatch(1).await();
            },
            options);
    return running;
  }

  @Test
  void timeoutIsAFailureLikeAnyOther() throws InterruptedException {
    Semaphore running = hang(HandlerOptions.defaults());
    JobHandle<Void> job =
        world
            .carillon()
            .schedule(
                NOTE.job("x")
                    .timeout(seconds(300))
                    .onFailure(FailurePolicy.constant(seconds(600), 1)));
    running.acquire();
    world.moveClock(seconds(300));
    world.settle();
    assertThat(job.info().dueAt()).isEqualTo(at(600));
    world.moveClock(seconds(300));
    running.acquire();
    world.moveClock(seconds(300));
    world.settle();

    assertThat(numbers).containsExactly(1, 2);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(events(job.id()))
        .extracting(JobEvent::error)
        .filteredOn(Objects::nonNull)
        .extracting(JobError::type)
        .containsExactly("timeout", "timeout");
  }

  @Test
  void ruleIsAskedAboutATimeoutWhileTheHandlerRuns() throws InterruptedException {
    List<Throwable> errors = new CopyOnWriteArrayList<>();
    RetryRule rule =
        (job, error) -> {
          errors.add(error);
          return job.attempt() < 2 ? Optional.of(at(1000)) : Optional.empty();
        };
    Semaphore running = hang(HandlerOptions.defaults().retryRule(rule));
    JobHandle<Void> job = world.carillon().schedule(NOTE.job("x").timeout(seconds(300)));
    running.acquire();
    world.moveClock(seconds(300));
    world.settle();
    assertThat(job.info().dueAt()).isEqualTo(at(1000));
    world.moveClock(seconds(700));
    running.acquire();
    world.moveClock(seconds(300));
    world.settle();

    assertThat(errors).hasSize(2).hasOnlyElementsOfType(TimeoutException.class);
    assertThat(job.info().state()).isEqualTo(JobState.DEAD);
    assertThat(job.info().reason()).isEqualTo("given up by its handler's rule");
  }

  @Test
  void ruleThatDoesNotAnswerLeavesATimeoutToThePolicy() throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch answer = new CountDownLatch(1);
    RetryRule rule =
        (job, error) -> {
          asked.countDown();
          awaitQuietly(answer);
          return Optional.empty();
        };
    Semaphore running = hang(HandlerOptions.defaults().retryRule(rule));
    JobHandle<Void> job =
        world
            .carillon()
            .schedule(
                NOTE.job("x")
                    .timeout(seconds(300))
                    .onFailure(FailurePolicy.constant(seconds(600), 1)));
    running.acquire();
    world.moveClock(seconds(300));
    asked.await();
    world.moveClock(seconds(10));
    Awaitility.await().until(() -> job.info().dueAt().equals(at(600)));
    answer.countDown();
    world.settle();
    assertThat(job.info().state()).isEqualTo(JobState.SCHEDULED);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void deadlineEndsTheWaitingForARetry() {
    failAlways();
    JobHandle<Void> job =
        world
            .carillon()
            .schedule(
                NOTE.job("x")
                    .deadline(at(90))
                    .onFailure(FailurePolicy.constant(seconds(60), FailurePolicy.UNLIMITED)));
    world.advance(LONG);
    assertThat(starts).containsExactly(0.0, 60.0);
    assertThat(job.info().state()).isEqualTo(JobState.EXPIRED);
    assertThat(job.info().endedAt()).isEqualTo(at(90));
  }

  @ParameterizedTest
  @MethodSource("places")
  void exhaustedJobIsKeptWithEveryErrorAndNeverDeleted(boolean file, @TempDir Path folder) {
    openOn(file, folder);
    failAlways();
    JobId id = schedule(FailurePolicy.constant(seconds(1), 3)).id();
    world.advance(Duration.ofDays(400));
    world.restart();
    assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.DEAD);
    assertThat(events(id))
        .extracting(JobEvent::kind, event -> message(event))
        .containsExactly(
            tuple(JobEvent.Kind.SCHEDULED, ""),
            tuple(JobEvent.Kind.RETRIED, "failure 1"),
            tuple(JobEvent.Kind.RETRIED, "failure 2"),
            tuple(JobEvent.Kind.RETRIED, "failure 3"),
            tuple(JobEvent.Kind.DEAD, "failure 4"));
  }

  private static String message(JobEvent event) {
    JobError error = event.error();
    return error != null ? error.message() : "";
  }
}
