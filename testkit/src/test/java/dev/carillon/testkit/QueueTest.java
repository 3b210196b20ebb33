package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.CarillonBuilder;
import dev.carillon.api.AttemptToken;
import dev.carillon.api.CancelResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** From due to started: order, waking, slots, and jobs that wait for their handler. */
@Timeout(120)
class QueueTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final TaskType<String> OTHER = TaskType.of("other", String.class);
  private static final TaskType<Integer> NUMBER = TaskType.of("number", Integer.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");

  private CarillonTest world = CarillonTest.at(START);
  private final List<String> starts = new CopyOnWriteArrayList<>();
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void close() {
    gate.countDown();
    world.close();
  }

  private void reopen(Consumer<CarillonBuilder> options) {
    world.close();
    world = CarillonTest.at(START, options);
  }

  private void noteStarts() {
    world.carillon().handle(NOTE, (text, job) -> starts.add(text));
  }

  private JobId schedule(Job<Void> job) {
    return world.carillon().schedule(job).id();
  }

  private JobInfo info(JobId id) {
    return world.carillon().get(id).orElseThrow();
  }

  // ---- waking and order

  @Test
  void sleepingNodeIsWokenByEarlierAndDueJobsWithoutTheClockMoving() {
    noteStarts();
    schedule(NOTE.job("tomorrow").in(Duration.ofDays(1)));
    world.settle();
    schedule(NOTE.job("soon").in(Duration.ofMinutes(1)));
    schedule(NOTE.job("now"));
    world.settle();
    assertThat(starts).containsExactly("now");
    world.advance(Duration.ofMinutes(1));
    assertThat(starts).containsExactly("now", "soon");
  }

  @Test
  void nodeThatSleepsInRealTimeIsWokenByADueJob() {
    List<Duration> lateness = new ArrayList<>();
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      List<Instant> started = new CopyOnWriteArrayList<>();
      carillon.handle(NOTE, (text, job) -> started.add(Instant.now()));
      carillon.schedule(NOTE.job("tomorrow").in(Duration.ofDays(1)));
      for (int i = 0; i < 5; i++) {
        Instant due = Instant.now().plusMillis(100);
        JobHandle<Void> soon = carillon.schedule(NOTE.job("soon").at(due));
        assertThat(soon.result(Duration.ofSeconds(30))).isNull();
        lateness.add(Duration.between(due, started.getLast()));
      }
      assertThat(started).hasSize(5);
    }
    lateness.sort(Comparator.naturalOrder());
    assertThat(lateness.getFirst()).isGreaterThanOrEqualTo(Duration.ZERO);
    // A node that slept on would start each of them at its next look, a second after the last.
    assertThat(lateness.get(2)).as("the median of " + lateness).isLessThan(Duration.ofMillis(500));
  }

  @Test
  void timesWhoseJobsAreAllCancelledArePassedOver() {
    noteStarts();
    for (int i = 0; i < 100; i++) {
      JobId id = schedule(NOTE.job("cancelled").in(Duration.ofMinutes(1 + i % 3)));
      assertThat(world.carillon().cancel(id, "")).isEqualTo(new CancelResult.Cancelled());
    }
    schedule(NOTE.job("left").in(Duration.ofMinutes(4)));
    world.advance(Duration.ofMinutes(5));
    assertThat(starts).containsExactly("left");
  }

  @Test
  void jobsAddedForTheTimeThatIsBeingStartedAllRun() {
    Instant due = START.plusSeconds(60);
    Set<Integer> ran = ConcurrentHashMap.newKeySet();
    world
        .carillon()
        .handle(
            NUMBER,
            (number, job) -> {
              if (!ran.add(number)) {
                starts.add("twice " + number);
              }
              if (number < 300) {
                world.carillon().schedule(NUMBER.job(number + 300).at(due));
              }
            });
    List<Job<Void>> jobs = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      jobs.add(NUMBER.job(i).at(due));
    }
    world.carillon().scheduleAll(jobs);
    world.advanceTo(due);
    assertThat(ran).hasSize(600);
    assertThat(starts).isEmpty();
  }

  @Test
  void aMillionJobsOfOneInstantRunOnceEach() {
    Instant due = START.plusSeconds(60);
    Set<Integer> ran = ConcurrentHashMap.newKeySet();
    Semaphore twice = new Semaphore(0);
    world
        .carillon()
        .handle(
            NUMBER,
            (number, job) -> {
              if (!ran.add(number)) {
                twice.release();
              }
            });
    for (int batch = 0; batch < 100; batch++) {
      List<Job<Void>> jobs = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) {
        jobs.add(NUMBER.job(10_000 * batch + i).at(due));
      }
      world.carillon().scheduleAll(jobs);
    }
    world.advanceTo(due.minusMillis(1));
    assertThat(ran).isEmpty();
    world.advanceTo(due);
    assertThat(ran).hasSize(1_000_000);
    assertThat(twice.availablePermits()).isZero();
  }

  @Test
  void thirtyThousandJobsOverMinutesRunOnceEachInOrder() {
    reopen(options -> options.slots(1));
    Random random = new Random(5);
    List<Integer> ran = new ArrayList<>();
    world
        .carillon()
        .handle(
            NUMBER,
            (second, job) -> {
              synchronized (ran) {
                ran.add(second);
              }
            });
    for (int batch = 0; batch < 6; batch++) {
      List<Job<Void>> jobs = new ArrayList<>();
      for (int i = 0; i < 5_000; i++) {
        int second = 1 + random.nextInt(600);
        jobs.add(NUMBER.job(second).at(START.plusSeconds(second)));
      }
      world.carillon().scheduleAll(jobs);
    }
    world.advance(Duration.ofMinutes(10));
    synchronized (ran) {
      assertThat(ran).hasSize(30_000).isSorted();
    }
  }

  @Test
  void everyAttemptHasATokenOfItsOwn() {
    Set<AttemptToken> tokens = ConcurrentHashMap.newKeySet();
    Set<JobId> ids = ConcurrentHashMap.newKeySet();
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              tokens.add(job.token());
              ids.add(job.id());
              throw new IllegalStateException("no");
            });
    for (int i = 0; i < 50; i++) {
      schedule(NOTE.job("x").onFailure(FailurePolicy.constant(Duration.ZERO, 3)));
    }
    world.settle();
    assertThat(ids).hasSize(50);
    assertThat(tokens).hasSize(200);
  }

  // ---- slots

  private void handleAtTheGate(Semaphore started) {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              started.release();
              gate.await();
            });
  }

  @Test
  void aHundredJobsAreInFlightAtOnceAndNoMoreThanThereAreSlots() throws InterruptedException {
    reopen(options -> options.slots(100));
    Semaphore started = new Semaphore(0);
    handleAtTheGate(started);
    for (int i = 0; i < 150; i++) {
      schedule(NOTE.job("x"));
    }
    assertThat(started.tryAcquire(100, 30, TimeUnit.SECONDS)).isTrue();
    assertThat(world.carillon().node().stats().running()).isEqualTo(100);
    assertThat(world.carillon().node().stats().ready()).isEqualTo(50);
    assertThat(started.availablePermits()).isZero();
    gate.countDown();
    world.settle();
    assertThat(started.availablePermits()).isEqualTo(50);
  }

  @Test
  void slotsDoubleFromSixtyFourAfterAStart() throws InterruptedException {
    Duration slowStart = Duration.ofSeconds(10);
    reopen(options -> options.slots(200).advanced(a -> a.slowStart(slowStart)));
    Semaphore started = new Semaphore(0);
    handleAtTheGate(started);
    for (int i = 0; i < 300; i++) {
      schedule(NOTE.job("x"));
    }
    for (int more : List.of(64, 64, 72)) {
      assertThat(started.tryAcquire(more, 30, TimeUnit.SECONDS)).isTrue();
      assertThat(started.availablePermits()).isZero();
      world.moveClock(slowStart);
    }
    assertThat(world.carillon().node().stats().running()).isEqualTo(200);
    assertThat(world.carillon().node().stats().ready()).isEqualTo(100);
  }

  @Test
  void attemptWithoutATimeoutTakesAsLongAsItTakes() throws InterruptedException {
    Semaphore started = new Semaphore(0);
    handleAtTheGate(started);
    JobId id = schedule(NOTE.job("x"));
    started.acquire();
    for (int day = 0; day < 30; day++) {
      world.moveClock(Duration.ofDays(1));
      assertThat(info(id).state()).isEqualTo(JobState.RUNNING);
    }
    assertThat(world.carillon().list(JobQuery.all()).items())
        .extracting(JobInfo::state, JobInfo::attempt)
        .containsExactly(org.assertj.core.api.Assertions.tuple(JobState.RUNNING, 1));
    gate.countDown();
    world.settle();
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(started.availablePermits()).isZero();
  }

  @Test
  void tenThousandJobsLeaveNoThreadBehind() {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    try (CarillonTest other = CarillonTest.at(START)) {
      other.carillon().handle(NOTE, (text, job) -> {});
      List<Job<Void>> jobs = new ArrayList<>();
      for (int i = 0; i < 10_000; i++) {
        jobs.add(NOTE.job("x"));
      }
      other.carillon().scheduleAll(jobs);
      other.settle();
      assertThat(other.carillon().node().stats().running()).isZero();
      assertThat(oursSince(before)).as("threads of an open node").isNotEmpty();
    }
    Awaitility.await().untilAsserted(() -> assertThat(oursSince(before)).isEmpty());
  }

  private static List<String> oursSince(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .map(Thread::getName)
        .filter(name -> name.startsWith("carillon"))
        .toList();
  }

  // ---- names

  @Test
  void nameOfACancelledJobIsFree() {
    noteStarts();
    Job<Void> named = NOTE.job("first").named("test |@ 1").in(Duration.ofMinutes(1));
    JobId first = schedule(named);
    JobId near = schedule(NOTE.job("near").named("test |@ 1-1").in(Duration.ofMinutes(1)));
    world.carillon().cancel(first, "");
    JobHandle<Void> second =
        world.carillon().schedule(NOTE.job("second").named("test |@ 1").in(Duration.ofMinutes(1)));
    assertThat(second.created()).isTrue();
    assertThat(second.id()).isNotIn(first, near);
    world.advance(Duration.ofMinutes(1));
    assertThat(starts).containsExactlyInAnyOrder("near", "second");
  }

  @Test
  void jobReplacedWhileItRunsRunsAgainAsItIsNow() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              starts.add(text + " " + job.attempt());
              if (text.equals("old")) {
                running.countDown();
                gate.await();
                throw new IllegalStateException("the old one's failure");
              }
            });
    JobId id = schedule(NOTE.job("old").named("n"));
    running.await();
    JobHandle<Void> replaced =
        world
            .carillon()
            .schedule(
                NOTE.job("new").named("n").ifExists(IfExists.REPLACE).in(Duration.ofMinutes(1)));
    assertThat(replaced.id()).isEqualTo(id);
    gate.countDown();
    world.settle();
    assertThat(info(id).state()).isEqualTo(JobState.SCHEDULED);
    assertThat(info(id).lastError()).isNull();
    world.advance(Duration.ofMinutes(1));
    assertThat(starts).containsExactly("old 1", "new 1");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  // ---- without a handler

  @Test
  void jobsWithoutAHandlerWaitAcrossRestartsAndGoWithTheirsOnly() {
    JobId note = schedule(NOTE.job("note"));
    JobId other = schedule(OTHER.job("other"));
    world.advance(Duration.ofDays(1));
    world.restart();
    world.advance(Duration.ofDays(1));
    assertThat(info(note).state()).isEqualTo(JobState.BLOCKED);
    assertThat(info(note).attempt()).isZero();
    noteStarts();
    world.settle();
    assertThat(starts).containsExactly("note");
    assertThat(info(note).attempt()).isEqualTo(1);
    assertThat(info(other).state()).isEqualTo(JobState.BLOCKED);
  }

  @Test
  void jobWithoutAHandlerIsCancelledOrReplaced() {
    JobId cancelled = schedule(NOTE.job("cancelled"));
    JobId replaced = schedule(NOTE.job("old").named("n"));
    world.settle();
    assertThat(world.carillon().cancel(cancelled, "")).isEqualTo(new CancelResult.Cancelled());
    schedule(NOTE.job("new").named("n").ifExists(IfExists.REPLACE));
    noteStarts();
    world.settle();
    assertThat(starts).containsExactly("new");
    assertThat(info(replaced).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(cancelled).state()).isEqualTo(JobState.CANCELLED);
  }
}
