package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.CarillonBuilder;
import dev.carillon.HandlerOptions;
import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Pausing and moving jobs, in virtual time, in memory and on a file. */
@Timeout(60)
@ParameterizedClass
@EnumSource(ControlTest.Where.class)
class ControlTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final TaskType<String> GATE = TaskType.of("gate", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final Duration LONG = Duration.ofDays(2);
  private static final JobId NONE = new JobId("jnone");

  @Parameter Where where = Where.MEMORY;
  @TempDir Path folder = Path.of("");

  private @Nullable CarillonTest opened;
  private final List<String> starts = new CopyOnWriteArrayList<>();
  private final CountDownLatch gate = new CountDownLatch(1);

  enum Where {
    MEMORY,
    FILE,
    POSTGRES
  }

  @AfterEach
  void close() {
    gate.countDown();
    if (opened != null) {
      opened.close();
    }
  }

  private CarillonTest world() {
    return opened != null ? opened : open(options -> {});
  }

  private CarillonTest open(Consumer<CarillonBuilder> options) {
    MemoryStore memory = new MemoryStore();
    Path file = folder.resolve("jobs.db");
    PostgresPlace postgres = new PostgresPlace();
    Supplier<Store> store =
        switch (where) {
          case MEMORY -> () -> memory;
          case FILE -> () -> SqliteStore.open(file);
          case POSTGRES -> postgres::open;
        };
    CarillonTest made = CarillonTest.at(START, store, options);
    opened = made;
    return made;
  }

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }

  private static Instant at(long seconds) {
    return START.plusSeconds(seconds);
  }

  /** Notes the text and the seconds since the start. */
  private void noted(String text) {
    starts.add(text + " " + Duration.between(START, world().now()).toSeconds());
  }

  private void noteStarts() {
    world().carillon().handle(NOTE, (text, job) -> noted(text));
  }

  private void restart() {
    world().restart();
    noteStarts();
  }

  private JobId schedule(Job<Void> job) {
    return world().carillon().schedule(job).id();
  }

  private JobInfo info(JobId id) {
    return world().carillon().get(id).orElseThrow();
  }

  private JobInfo listed(JobId id) {
    return world().carillon().list(JobQuery.all()).items().stream()
        .filter(job -> job.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private List<JobEvent> events(JobId id) {
    return world().carillon().history(id).orElseThrow().events();
  }

  private void pause(JobId id) {
    assertThat(world().carillon().pause(id, "holiday")).isEqualTo(ControlResult.DONE);
  }

  private void resume(JobId id) {
    assertThat(world().carillon().resume(id)).isEqualTo(ControlResult.DONE);
  }

  private void reschedule(JobId id, long seconds) {
    assertThat(world().carillon().reschedule(id, at(seconds))).isEqualTo(ControlResult.DONE);
  }

  // ---- pausing a job that waits

  @Test
  void jobPausedBeforeItsTimeStartsOnceItIsResumed() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    pause(id);
    world().advance(seconds(600));
    assertThat(starts).isEmpty();
    resume(id);
    world().settle();
    assertThat(starts).containsExactly("x 600");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(id).attempt()).isEqualTo(1);
  }

  @Test
  void jobResumedBeforeItsTimeStartsAtItsTime() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    pause(id);
    world().advance(seconds(30));
    resume(id);
    assertThat(info(id).state()).isEqualTo(JobState.SCHEDULED);
    world().advance(seconds(29));
    assertThat(starts).isEmpty();
    world().advance(LONG);
    assertThat(starts).containsExactly("x 60");
  }

  /** One slot, taken by a job that waits for the gate. */
  private void oneSlotTaken() throws InterruptedException {
    CountDownLatch taken = new CountDownLatch(1);
    open(options -> options.slots(1));
    world()
        .carillon()
        .handle(
            GATE,
            (text, job) -> {
              taken.countDown();
              gate.await();
            });
    schedule(GATE.job("gate"));
    assertThat(taken.await(20, TimeUnit.SECONDS)).isTrue();
    noteStarts();
  }

  @Test
  void readyJobIsPausedAndOthersGo() throws InterruptedException {
    oneSlotTaken();
    JobId first = schedule(NOTE.job("first"));
    schedule(NOTE.job("second"));
    assertThat(info(first).state()).isEqualTo(JobState.READY);
    pause(first);
    assertThat(info(first).state()).isEqualTo(JobState.PAUSED);
    gate.countDown();
    world().settle();
    assertThat(starts).containsExactly("second 0");
    resume(first);
    world().settle();
    assertThat(starts).containsExactly("second 0", "first 0");
  }

  @Test
  void jobBlockedForWantOfAHandlerIsPaused() {
    JobId id = schedule(NOTE.job("x"));
    world().settle();
    assertThat(info(id).state()).isEqualTo(JobState.BLOCKED);
    pause(id);
    noteStarts();
    world().settle();
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(starts).isEmpty();
    resume(id);
    world().settle();
    assertThat(starts).containsExactly("x 0");
  }

  @Test
  void jobThatWaitsForItsHandlersLimitIsPaused() throws InterruptedException {
    CountDownLatch taken = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              noted(text);
              if (text.equals("gate")) {
                taken.countDown();
                gate.await();
              }
            },
            HandlerOptions.defaults().limit(1));
    schedule(NOTE.job("gate"));
    assertThat(taken.await(20, TimeUnit.SECONDS)).isTrue();
    JobId first = schedule(NOTE.job("first"));
    schedule(NOTE.job("second"));
    pause(first);
    gate.countDown();
    world().settle();
    assertThat(starts).containsExactly("gate 0", "second 0");
    resume(first);
    world().settle();
    assertThat(starts).containsExactly("gate 0", "second 0", "first 0");
  }

  @Test
  void pauseIsShownByGetListAndHistoryAndSurvivesARestart() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    pause(id);
    for (int i = 0; i < 2; i++) {
      assertThat(List.of(info(id), listed(id), history(id)))
          .extracting(JobInfo::state, JobInfo::reason, JobInfo::dueAt)
          .containsOnly(tuple(JobState.PAUSED, "holiday", at(60)));
      world().advance(seconds(300));
      restart();
    }
    assertThat(starts).isEmpty();
    resume(id);
    assertThat(info(id).reason()).isNull();
    world().settle();
    assertThat(starts).containsExactly("x 600");
    assertThat(events(id))
        .extracting(JobEvent::at, JobEvent::kind, JobEvent::detail)
        .contains(
            tuple(START, JobEvent.Kind.PAUSED, "holiday"),
            tuple(at(600), JobEvent.Kind.RESUMED, ""));
  }

  private JobInfo history(JobId id) {
    return world().carillon().history(id).orElseThrow().job();
  }

  @Test
  void resumedJobStaysSoAfterARestart() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    pause(id);
    resume(id);
    restart();
    world().advance(seconds(60));
    assertThat(starts).containsExactly("x 60");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void pausingAgainAndResumingWhatIsNotPausedAreSafe() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    resume(id);
    pause(id);
    assertThat(world().carillon().pause(id, "repairs")).isEqualTo(ControlResult.DONE);
    assertThat(info(id).reason()).isEqualTo("repairs");
    resume(id);
    resume(id);
    world().advance(LONG);
    assertThat(starts).containsExactly("x 60");
  }

  @Test
  void endedAndUnknownJobsAreNeitherPausedNorResumed() {
    noteStarts();
    JobId id = schedule(NOTE.job("x"));
    world().settle();
    assertThat(world().carillon().pause(id, "")).isEqualTo(ControlResult.ENDED);
    assertThat(world().carillon().resume(id)).isEqualTo(ControlResult.ENDED);
    assertThat(world().carillon().pause(NONE, "")).isEqualTo(ControlResult.NOT_FOUND);
    assertThat(world().carillon().resume(NONE)).isEqualTo(ControlResult.NOT_FOUND);
    assertThatThrownBy(() -> world().carillon().pause(id, "x".repeat(2000)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("reason");
  }

  @Test
  void stormOfPausesRunsTheJobOnce() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    for (int i = 0; i < 300; i++) {
      pause(id);
      resume(id);
    }
    world().advance(LONG);
    assertThat(starts).containsExactly("x 60");
    assertThat(events(id)).filteredOn(e -> e.kind() == JobEvent.Kind.RESUMED).hasSize(300);
  }

  @Test
  void stormOfPausesFromManyThreadsLeavesTheJobInOrder() throws InterruptedException {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    List<Thread> callers =
        List.of(
            Thread.ofVirtual().unstarted(() -> storm(id)),
            Thread.ofVirtual().unstarted(() -> storm(id)),
            Thread.ofVirtual().unstarted(() -> storm(id)),
            Thread.ofVirtual().unstarted(() -> storm(id)));
    callers.forEach(Thread::start);
    world().moveClock(seconds(60));
    for (Thread caller : callers) {
      caller.join();
    }
    assertThat(world().carillon().resume(id)).isIn(ControlResult.DONE, ControlResult.ENDED);
    world().advance(LONG);
    assertThat(starts).containsExactly("x 60");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(id).attempt()).isEqualTo(1);
  }

  private void storm(JobId id) {
    for (int i = 0; i < 50; i++) {
      world().carillon().pause(id, "storm");
      world().carillon().resume(id);
    }
  }

  @Test
  void pausedJobIsCancelled() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    pause(id);
    restart();
    assertThat(world().carillon().cancel(id, "enough")).isEqualTo(new CancelResult.Cancelled());
    assertThat(world().carillon().resume(id)).isEqualTo(ControlResult.ENDED);
    world().advance(LONG);
    assertThat(starts).isEmpty();
    assertThat(info(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(info(id).reason()).isEqualTo("enough");
  }

  @Test
  void pausedJobExpiresAtItsDeadline() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)).deadline(at(300)));
    pause(id);
    world().advance(seconds(120));
    restart();
    world().advance(seconds(179));
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    world().advance(seconds(1));
    assertThat(info(id).state()).isEqualTo(JobState.EXPIRED);
    assertThat(info(id).endedAt()).isEqualTo(at(300));
    assertThat(starts).isEmpty();
  }

  @Test
  void pausedRetryWaitsAndKeepsItsNumber() {
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              noted("attempt " + job.attempt());
              throw new IllegalStateException("no");
            });
    JobId id = schedule(NOTE.job("x").onFailure(FailurePolicy.constant(seconds(60), 1)));
    world().settle();
    pause(id);
    world().advance(seconds(600));
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(Objects.requireNonNull(info(id).lastError()).message()).isEqualTo("no");
    resume(id);
    world().settle();
    assertThat(starts).containsExactly("attempt 1 0", "attempt 2 600");
    assertThat(info(id).state()).isEqualTo(JobState.DEAD);
  }

  // ---- pausing a job that runs

  /** Counts to ten and saves each number; waits at three until somebody asks for a pause. */
  private void countToTen(CountDownLatch atThree) {
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              int from = job.saved(Integer.class).orElse(0);
              noted("attempt " + job.attempt() + " from " + from);
              for (int i = from + 1; i <= 10; i++) {
                job.save(i);
                if (i == 3) {
                  atThree.countDown();
                  awaitPause(job);
                }
                if (job.pauseRequested()) {
                  throw new InterruptedException();
                }
              }
            });
  }

  private static void awaitPause(JobContext job) {
    while (!job.pauseRequested()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void runningAttemptStopsForAPauseAndGoesOnFromItsSavedPosition() throws InterruptedException {
    CountDownLatch atThree = new CountDownLatch(1);
    countToTen(atThree);
    JobId id = schedule(NOTE.job("x").onFailure(FailurePolicy.drop()));
    atThree.await();
    pause(id);
    world().settle();
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(info(id).attempt()).isZero();

    world().restart();
    countToTen(atThree);
    world().advance(seconds(60));
    assertThat(starts).containsExactly("attempt 1 from 0 0");
    resume(id);
    world().settle();
    assertThat(starts).containsExactly("attempt 1 from 0 0", "attempt 1 from 3 60");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(id).attempt()).isEqualTo(1);
  }

  @Test
  void runningAttemptThatGoesOnToItsEndCounts() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              running.countDown();
              awaitPause(job);
              noted(text);
            });
    JobId id = schedule(NOTE.job("x"));
    running.await();
    pause(id);
    world().settle();
    assertThat(starts).containsExactly("x 0");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void runningAttemptThatFailsDuringAPauseIsRetriedAfterIt() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              noted("attempt " + job.attempt());
              if (job.attempt() == 1) {
                running.countDown();
                awaitPause(job);
                throw new IllegalStateException("no");
              }
            });
    JobId id = schedule(NOTE.job("x").onFailure(FailurePolicy.constant(seconds(60), 1)));
    running.await();
    pause(id);
    world().advance(seconds(600));
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(starts).containsExactly("attempt 1 0");
    resume(id);
    world().settle();
    assertThat(starts).containsExactly("attempt 1 0", "attempt 2 600");
  }

  @Test
  void runningOccurrenceStopsForAPauseAndTheScheduleStandsStill() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              noted(text + Objects.requireNonNull(job.occurrence()).number());
              if (starts.size() == 1) {
                running.countDown();
                awaitPause(job);
                throw new InterruptedException();
              }
            });
    JobId id = schedule(NOTE.job("x").on(Schedule.every(seconds(60)).times(3)));
    world().moveClock(seconds(60));
    running.await();
    pause(id);
    world().advance(seconds(150));
    assertThat(starts).containsExactly("x1 60");
    resume(id);
    world().advance(LONG);
    assertThat(starts).containsExactly("x1 60", "x1 210", "x2 240", "x3 300");
  }

  @Test
  void attemptThatStopsForAPauseThatIsOverIsMadeAgainAtOnce() throws InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch resumed = new CountDownLatch(1);
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              noted("attempt " + job.attempt());
              if (starts.size() == 1) {
                running.countDown();
                awaitPause(job);
                asked.countDown();
                resumed.await();
                throw new InterruptedException();
              }
            });
    JobId id = schedule(NOTE.job("x").onFailure(FailurePolicy.drop()));
    running.await();
    pause(id);
    asked.await();
    resume(id);
    resumed.countDown();
    world().settle();
    assertThat(starts).containsExactly("attempt 1 0", "attempt 1 0");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void resumeBeforeTheAttemptLooksIsAsIfNothingWasAsked() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              running.countDown();
              gate.await();
              noted("pause asked " + job.pauseRequested());
            });
    JobId id = schedule(NOTE.job("x"));
    running.await();
    pause(id);
    assertThat(info(id).state()).isEqualTo(JobState.RUNNING);
    resume(id);
    gate.countDown();
    world().settle();
    assertThat(starts).containsExactly("pause asked false 0");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void attemptAskedToPauseIsCancelled() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              noted(text);
              running.countDown();
              new CountDownLatch(1).await();
            });
    JobId id = schedule(NOTE.job("x"));
    running.await();
    pause(id);
    assertThat(world().carillon().cancel(id, "enough")).isEqualTo(new CancelResult.Stopping());
    world().advance(LONG);
    assertThat(starts).containsExactly("x 0");
    assertThat(info(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(info(id).reason()).isEqualTo("enough");
  }

  @Test
  void attemptAskedToPauseExpiresAtItsDeadline() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              running.countDown();
              new CountDownLatch(1).await();
            });
    JobId id = schedule(NOTE.job("x").deadline(at(300)));
    running.await();
    pause(id);
    world().moveClock(seconds(300));
    world().settle();
    assertThat(info(id).state()).isEqualTo(JobState.EXPIRED);
  }

  // ---- another time

  @Test
  void jobIsMovedToAnEarlierAndALaterTimeAndStaysSo() {
    noteStarts();
    JobId earlier = schedule(NOTE.job("earlier").in(Duration.ofDays(1)));
    JobId later = schedule(NOTE.job("later").in(seconds(60)));
    reschedule(earlier, 30);
    reschedule(later, 7200);
    restart();
    assertThat(info(earlier).dueAt()).isEqualTo(at(30));
    assertThat(listed(later).dueAt()).isEqualTo(at(7200));
    world().advance(LONG);
    assertThat(starts).containsExactly("earlier 30", "later 7200");
    assertThat(events(later))
        .extracting(JobEvent::kind, JobEvent::detail)
        .contains(tuple(JobEvent.Kind.CHANGED, "due at " + at(7200)));
  }

  @Test
  void jobMovedIntoThePastStartsAtOnce() {
    noteStarts();
    world().advance(seconds(600));
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    reschedule(id, 5);
    world().settle();
    assertThat(starts).containsExactly("x 600");
  }

  @Test
  void jobIsMovedManyTimesAndOnlyTheLastCounts() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    for (int i = 0; i < 200; i++) {
      reschedule(id, 10 + (i * 37 % 100));
    }
    reschedule(id, 50);
    world().advance(LONG);
    assertThat(starts).containsExactly("x 50");
  }

  @Test
  void readyJobIsMoved() throws InterruptedException {
    oneSlotTaken();
    JobId id = schedule(NOTE.job("x"));
    assertThat(info(id).state()).isEqualTo(JobState.READY);
    reschedule(id, 60);
    gate.countDown();
    world().settle();
    assertThat(starts).isEmpty();
    world().advance(LONG);
    assertThat(starts).containsExactly("x 60");
  }

  @Test
  void pausedJobIsMovedAndStaysPaused() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    pause(id);
    reschedule(id, 30);
    world().advance(seconds(45));
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(starts).isEmpty();
    resume(id);
    world().settle();
    assertThat(starts).containsExactly("x 45");
  }

  @Test
  void runningEndedAndUnknownJobsAreNotMoved() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world()
        .carillon()
        .handle(
            GATE,
            (text, job) -> {
              noted(text);
              running.countDown();
              gate.await();
            });
    JobId id = schedule(GATE.job("x"));
    running.await();
    assertThat(world().carillon().reschedule(id, at(60))).isEqualTo(ControlResult.RUNNING);
    assertThat(world().carillon().prioritise(id, 5)).isEqualTo(ControlResult.RUNNING);
    gate.countDown();
    world().advance(LONG);
    assertThat(starts).containsExactly("x 0");
    assertThat(world().carillon().reschedule(id, at(60))).isEqualTo(ControlResult.ENDED);
    assertThat(world().carillon().prioritise(id, 5)).isEqualTo(ControlResult.ENDED);
    assertThat(world().carillon().reschedule(NONE, at(60))).isEqualTo(ControlResult.NOT_FOUND);
    assertThat(world().carillon().prioritise(NONE, 5)).isEqualTo(ControlResult.NOT_FOUND);
  }

  @Test
  void retryIsMovedAndThoseAfterItFollowFromThere() {
    world()
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              noted("attempt " + job.attempt());
              throw new IllegalStateException("no");
            });
    JobId id = schedule(NOTE.job("x").onFailure(FailurePolicy.constant(seconds(600), 2)));
    world().settle();
    reschedule(id, 100);
    world().advance(LONG);
    assertThat(starts).containsExactly("attempt 1 0", "attempt 2 100", "attempt 3 700");
    assertThat(info(id).state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void movedOccurrenceLeavesTheRestOfTheSchedule() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").on(Schedule.every(seconds(60)).times(3)));
    reschedule(id, 15);
    world().advance(LONG);
    assertThat(starts).containsExactly("x 15", "x 120", "x 180");
  }

  @Test
  void jobMovedBeyondItsDeadlineExpiresThen() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").in(seconds(60)).deadline(at(300)));
    reschedule(id, 7200);
    world().advance(LONG);
    assertThat(starts).isEmpty();
    assertThat(info(id).state()).isEqualTo(JobState.EXPIRED);
    assertThat(info(id).endedAt()).isEqualTo(at(300));
  }

  @Test
  void timesOutOfRangeAreRefused() {
    JobId id = schedule(NOTE.job("x").in(seconds(60)));
    assertThatThrownBy(() -> world().carillon().reschedule(id, Instant.EPOCH.minusNanos(1)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("due");
    assertThatThrownBy(() -> world().carillon().prioritise(id, 101))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("priority: 101");
  }

  // ---- another schedule

  @Test
  void newScheduleSurvivesARestartAndNeedsATimeLeft() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").on(Schedule.every(seconds(60)).times(5)));
    world().advance(seconds(120));
    Schedule slower = Schedule.every(seconds(600)).times(3);
    assertThat(world().carillon().reschedule(id, slower)).isEqualTo(ControlResult.DONE);
    for (Schedule over : List.of(slower.times(2), slower.times(1), slower.until(at(60)))) {
      assertThat(world().carillon().reschedule(id, over)).isEqualTo(ControlResult.NO_TIME_LEFT);
    }
    restart();
    assertThat(Objects.requireNonNull(info(id).recurring()).schedule()).isEqualTo(slower);
    world().advance(LONG);
    assertThat(starts).containsExactly("x 60", "x 120", "x 720");
    JobId once = schedule(NOTE.job("once").in(seconds(60)));
    assertThat(world().carillon().reschedule(once, slower)).isEqualTo(ControlResult.NOT_RECURRING);
  }

  @Test
  void newScheduleBeginsWithAFirstAttemptAndNothingSaved() {
    Consumer<TaskType<String>> handler =
        type ->
            world()
                .carillon()
                .handle(
                    type,
                    (text, job) -> {
                      noted(job.attempt() + " from " + job.saved(Integer.class).orElse(0));
                      job.save(job.attempt());
                      throw new IllegalStateException("no");
                    });
    handler.accept(NOTE);
    JobId id =
        schedule(
            NOTE.job("x")
                .on(Schedule.every(seconds(600)).times(2))
                .onFailure(FailurePolicy.constant(seconds(60), 1)));
    world().advance(seconds(600));
    assertThat(starts).containsExactly("1 from 0 600");
    assertThat(world().carillon().reschedule(id, Schedule.every(seconds(1000)).times(1)))
        .isEqualTo(ControlResult.DONE);
    world().restart();
    handler.accept(NOTE);
    world().advance(seconds(1000));
    assertThat(starts).containsExactly("1 from 0 600", "1 from 0 1600");
    world().advance(seconds(60));
    assertThat(starts).containsExactly("1 from 0 600", "1 from 0 1600", "2 from 1 1660");
    assertThat(world().carillon().deadLetters().list(JobQuery.all()).items()).hasSize(1);
  }

  // ---- replacing

  @Test
  void replacedJobStandsWhereItsNewTimeAndPriorityPutIt() throws InterruptedException {
    oneSlotTaken();
    schedule(NOTE.job("a").named("a"));
    schedule(NOTE.job("b"));
    schedule(NOTE.job("c").named("c").priority(-1));
    schedule(NOTE.job("d"));
    Job<Void> last = NOTE.job("a, last").named("a").ifExists(IfExists.REPLACE).priority(-9);
    Job<Void> first = NOTE.job("c, first").named("c").ifExists(IfExists.REPLACE).priority(9);
    schedule(last);
    schedule(first);
    gate.countDown();
    world().settle();
    assertThat(starts).containsExactly("c, first 0", "b 0", "d 0", "a, last 0");
  }

  @Test
  void replacedJobStaysPaused() {
    noteStarts();
    JobId id = schedule(NOTE.job("x").named("x").in(seconds(60)));
    pause(id);
    JobId same = schedule(NOTE.job("y").named("x").ifExists(IfExists.REPLACE).in(seconds(30)));
    assertThat(same).isEqualTo(id);
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(info(id).reason()).isEqualTo("holiday");
    restart();
    world().advance(seconds(100));
    assertThat(starts).isEmpty();
    resume(id);
    world().settle();
    assertThat(starts).containsExactly("y 100");
  }

  // ---- priority

  @Test
  void priorityChangesTheOrderOfReadyJobs() throws InterruptedException {
    oneSlotTaken();
    JobId a = schedule(NOTE.job("a"));
    schedule(NOTE.job("b"));
    schedule(NOTE.job("c").priority(7));
    JobId d = schedule(NOTE.job("d"));
    JobId e = schedule(NOTE.job("e").priority(7));
    assertThat(world().carillon().prioritise(d, 9)).isEqualTo(ControlResult.DONE);
    assertThat(world().carillon().prioritise(a, -9)).isEqualTo(ControlResult.DONE);
    assertThat(world().carillon().prioritise(e, -1)).isEqualTo(ControlResult.DONE);
    gate.countDown();
    world().settle();
    assertThat(starts).containsExactly("d 0", "c 0", "b 0", "e 0", "a 0");
  }

  @Test
  void priorityIsShownAndSurvivesARestart() {
    open(options -> options.slots(1));
    JobId low = schedule(NOTE.job("low").in(seconds(60)));
    schedule(NOTE.job("normal").in(seconds(60)));
    JobId high = schedule(NOTE.job("high").in(seconds(60)));
    assertThat(world().carillon().prioritise(low, -5)).isEqualTo(ControlResult.DONE);
    assertThat(world().carillon().prioritise(high, 5)).isEqualTo(ControlResult.DONE);
    restart();
    assertThat(info(low).priority()).isEqualTo(-5);
    assertThat(listed(high).priority()).isEqualTo(5);
    assertThat(history(high).priority()).isEqualTo(5);
    world().advance(seconds(60));
    assertThat(starts).containsExactly("high 60", "normal 60", "low 60");
    assertThat(info(low).priority()).isEqualTo(-5);
    assertThat(events(high))
        .extracting(JobEvent::kind, JobEvent::detail)
        .contains(tuple(JobEvent.Kind.CHANGED, "priority 5"));
  }

  @Test
  void priorityOfARecurringJobIsThatOfItsOccurrences() {
    noteStarts();
    Schedule schedule = Schedule.every(seconds(60)).overlap(Overlap.ALLOW);
    JobId id = schedule(NOTE.job("x").on(schedule));
    assertThat(world().carillon().prioritise(id, 5)).isEqualTo(ControlResult.DONE);
    world().advance(seconds(60));
    JobId extra = world().carillon().trigger(id);
    assertThat(info(extra).priority()).isEqualTo(5);
    assertThat(world().carillon().list(JobQuery.all()).items())
        .extracting(JobInfo::priority)
        .containsOnly(5);
  }
}
