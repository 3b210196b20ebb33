package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What takes time: retries, retention, timeouts, deadlines. */
@Timeout(60)
class LifeOfAJobTest {
  private static final Instant START = Instant.parse("2026-03-29T00:00:00Z");
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);

  private final List<String> notes = new CopyOnWriteArrayList<>();

  private void fail(String text, dev.carillon.api.JobContext job) {
    notes.add(text + job.attempt());
    throw new IllegalStateException("no");
  }

  @Test
  void retriesWaitLongerEachTimeAndEndWithTheWholeHistory() {
    try (var world = CarillonTest.at(START)) {
      world.carillon().handle(NOTE, this::fail);
      JobHandle<Void> job = world.carillon().schedule(NOTE.job("x"));

      world.advance(Duration.ofHours(25));
      assertThat(job.info().state()).isEqualTo(JobState.SCHEDULED); // a day is not too long
      world.advance(Duration.ofHours(1));

      List<JobEvent> events = world.carillon().history(job.id()).orElseThrow().events();
      assertThat(events).hasSize(62);
      assertThat(events.subList(1, 61))
          .extracting(JobEvent::kind)
          .containsOnly(JobEvent.Kind.RETRIED);
      assertThat(events.getLast().kind()).isEqualTo(JobEvent.Kind.DEAD);
      List<Long> millis = new ArrayList<>();
      for (int i = 2; i < events.size(); i++) {
        millis.add(Duration.between(events.get(1).at(), events.get(i).at()).toMillis());
      }
      // Each is later by up to a fifth of its own wait, which those after it do not inherit.
      assertThat(millis.get(0)).isBetween(1_000L, 1_200L);
      assertThat(millis.get(1)).isBetween(3_000L, 3_400L);
      assertThat(millis.get(2)).isBetween(7_000L, 7_800L);
      assertThat(millis.get(10)).isBetween(2_047_000L, 2_251_800L);
      assertThat(millis.get(59)).isBetween(90_247_000L, 90_607_000L);
      assertThat(events.getLast().error().stack()).contains("LifeOfAJobTest.fail");
      assertThat(job.info().reason()).isEqualTo("failed 61 times");
    }
  }

  @Test
  void jobsDueTogetherGoByPriority() {
    try (var world = CarillonTest.at(START, options -> options.slots(1))) {
      world.carillon().handle(NOTE, (text, job) -> notes.add(text));
      Job<Void> base = NOTE.job("normal").in(Duration.ofMinutes(1));
      world.carillon().schedule(base);
      world.carillon().schedule(NOTE.job("low").in(Duration.ofMinutes(1)).priority(-5));
      world.carillon().schedule(NOTE.job("high").in(Duration.ofMinutes(1)).priority(5));

      world.advance(Duration.ofMinutes(1));

      assertThat(notes).containsExactly("high", "normal", "low");
    }
  }

  @Test
  void keyIsForgottenWhenItsRetentionIsOver() {
    try (var world = CarillonTest.at(START)) {
      Carillon carillon = world.carillon();
      carillon.handle(NOTE, (text, job) -> notes.add(text));
      JobId first = carillon.schedule(NOTE.job("1").key("k")).id();
      world.advance(Duration.ofHours(23));
      assertThat(carillon.schedule(NOTE.job("2").key("k")).id()).isEqualTo(first);

      world.advance(Duration.ofHours(2));

      assertThat(carillon.schedule(NOTE.job("3").key("k")).created()).isTrue();
      world.settle();
      assertThat(notes).containsExactly("1", "3");
    }
  }

  @Test
  void endedJobsGoAfterTheirRetentionAndDeadLettersStay() {
    try (var world =
        CarillonTest.at(
            START, options -> options.advanced(a -> a.loadHorizon(Duration.ofDays(8))))) {
      Carillon carillon = world.carillon();
      carillon.handle(
          NOTE,
          (text, job) -> {
            if (text.equals("bad")) {
              throw new dev.carillon.api.error.NotRetryableException("bad");
            }
          });
      JobId good = carillon.schedule(NOTE.job("good")).id();
      JobId bad = carillon.schedule(NOTE.job("bad")).id();
      world.advance(Duration.ofDays(6));
      assertThat(carillon.get(good)).isPresent();

      world.advance(Duration.ofDays(60));

      assertThat(carillon.get(good)).isEmpty();
      assertThat(carillon.get(bad).orElseThrow().state()).isEqualTo(JobState.DEAD);
      assertThat(carillon.list(JobQuery.all()).items())
          .extracting(JobInfo::id)
          .containsExactly(bad);
    }
  }

  @Test
  void hungAttemptRunsIntoItsTimeout() throws Exception {
    try (var world = CarillonTest.at(START)) {
      CountDownLatch started = new CountDownLatch(1);
      world
          .carillon()
          .handle(
              NOTE,
              (text, job) -> {
                notes.add("attempt " + job.attempt());
                if (job.attempt() == 1) {
                  started.countDown();
                  new CountDownLatch(1).await();
                }
              });
      JobHandle<Void> job = world.carillon().schedule(NOTE.job("x").timeout(Duration.ofMinutes(5)));
      started.await();

      world.moveClock(Duration.ofMinutes(5));
      world.settle();
      assertThat(job.info().state()).isEqualTo(JobState.SCHEDULED);
      assertThat(job.info().lastError().type()).isEqualTo("timeout");

      world.advance(Duration.ofSeconds(2));
      assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(notes).containsExactly("attempt 1", "attempt 2");
    }
  }

  @Test
  void jobThatWaitsForARetryExpiresAtItsDeadline() {
    try (var world = CarillonTest.at(START)) {
      world.carillon().handle(NOTE, this::fail);
      JobHandle<Void> job = world.carillon().schedule(NOTE.job("x").deadline(START.plusSeconds(3)));

      world.advance(Duration.ofMinutes(1));

      assertThat(job.info().state()).isEqualTo(JobState.EXPIRED);
      assertThat(job.info().endedAt()).isBetween(START.plusSeconds(3), START.plusSeconds(4));
      assertThat(notes).containsExactly("x1", "x2");
    }
  }

  @Test
  void monthsOnAFileTakeSecondsAndSurviveARestart(@TempDir Path folder) {
    Path file = folder.resolve("jobs.db");
    try (var world = CarillonTest.at(START, () -> SqliteStore.open(file), options -> {})) {
      for (int month = 1; month <= 12; month++) {
        Instant due = START.plus(Duration.ofDays(30L * month));
        world.carillon().schedule(NOTE.job("month " + month).at(due).named("m" + month));
      }
      for (int month = 1; month <= 12; month++) {
        if (month % 3 == 1) {
          world.restart();
          world.carillon().handle(NOTE, (text, job) -> notes.add(text));
        }
        world.advance(Duration.ofDays(30));
        assertThat(notes).hasSize(month).last().isEqualTo("month " + month);
      }
    }
  }
}
