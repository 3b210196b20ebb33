package dev.carillon;

import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.AttemptFailure;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a node measures of jobs by type, queue and namespace, and tells of each failure. */
@Timeout(60)
class JobFiguresTest {

  private static JobFigures of(Carillon carillon, String type) {
    return carillon.node().jobFigures().stream()
        .filter(each -> each.type().equals(type))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void latenessAndDurationAreHistogramsByTypeQueueAndNamespace() {
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(NOTE, (note, job) -> new CountDownLatch(1).await(30, MILLIS));
      Job<Void> overdue = NOTE.job("a").queue("mail").namespace("acme");
      carillon.scheduleAll(
          List.of(overdue.at(Instant.now().minusSeconds(60)), overdue.at(Instant.now())));
      Awaitility.await().until(() -> carillon.node().stats().endedTotal() == 2);
      JobFigures figures = of(carillon, "note");
      assertThat(figures.queue()).isEqualTo("mail");
      assertThat(figures.namespace()).isEqualTo("acme");
      assertThat(figures.lateness().count()).isEqualTo(2);
      assertThat(figures.lateness().quantile(0.5)).isLessThan(20_000_000_000L);
      assertThat(figures.lateness().quantile(1)).isEqualTo(100_000_000_000L);
      assertThat(figures.duration().count()).isEqualTo(2);
      assertThat(figures.duration().nanos()).isGreaterThan(50_000_000L);
      assertThat(figures.duration().quantile(0)).isEqualTo(Spread.bounds().getFirst());
      assertThat(figures.duration().quantile(0.5)).isGreaterThanOrEqualTo(50_000_000L);
    }
  }

  private static final java.util.concurrent.TimeUnit MILLIS =
      java.util.concurrent.TimeUnit.MILLISECONDS;

  @Test
  void typesBeyondTheLimitAreCountedTogether() {
    try (Carillon carillon = Carillon.inMemory()) {
      List<Job<?>> jobs = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        TaskType<String> type = TaskType.of("type-" + i, String.class);
        carillon.handle(type, (note, job) -> {});
        jobs.add(type.job("x"));
      }
      carillon.scheduleAll(jobs);
      Awaitility.await().until(() -> carillon.node().stats().endedTotal() == 300);
      assertThat(carillon.node().jobFigures()).hasSize(257);
      assertThat(of(carillon, "others").lateness().count()).isEqualTo(44);
    }
  }

  @Test
  void dueJobsThatDoNotRunAreCountedByReason() {
    CountDownLatch release = new CountDownLatch(1);
    TaskType<String> unknown = TaskType.of("unknown", String.class);
    try (Carillon carillon =
        Carillon.builder().inMemory().slots(1).closeGrace(Duration.ZERO).open()) {
      carillon.handle(NOTE, (note, job) -> release.await());
      carillon.queue("held").pause("");
      Instant due = Instant.now().minusSeconds(30);
      carillon.schedule(unknown.job("d").at(due));
      Awaitility.await().until(() -> carillon.node().stats().blocked() == 1);
      carillon.schedule(NOTE.job("runs"));
      Awaitility.await().until(() -> carillon.node().stats().running() == 1);
      carillon.scheduleAll(
          List.of(
              NOTE.job("a").at(due),
              NOTE.job("b").at(due.plusSeconds(10)),
              NOTE.job("c").queue("held").at(due),
              NOTE.job("not due").in(Duration.ofHours(1))));
      Awaitility.await().until(() -> carillon.node().waiting().size() == 3);
      assertThat(carillon.node().waiting())
          .extracting(WaitingFigures::type, WaitingFigures::reason, WaitingFigures::jobs)
          .containsExactlyInAnyOrder(
              org.assertj.core.groups.Tuple.tuple("note", "slot", 2L),
              org.assertj.core.groups.Tuple.tuple("note", "paused", 1L),
              org.assertj.core.groups.Tuple.tuple("unknown", "no_handler", 1L));
      assertThat(carillon.node().waiting())
          .allMatch(each -> Duration.between(due, each.oldestDue()).abs().toMillis() < 1);
    } finally {
      release.countDown();
    }
  }

  @Test
  void listenerSeesErrorStackNodeAndNextTimeOfEachFailure() {
    List<AttemptFailure> failures = new CopyOnWriteArrayList<>();
    List<JobInfo> ended = new CopyOnWriteArrayList<>();
    JobListener listener =
        new JobListener() {
          @Override
          public void failed(AttemptFailure failure) {
            failures.add(failure);
          }

          @Override
          public void ended(JobInfo job) {
            ended.add(job);
          }
        };
    try (Carillon carillon = Carillon.builder().inMemory().nodeId("here").listen(listener).open()) {
      carillon.handle(
          NOTE,
          (note, job) -> {
            throw new IllegalStateException(note);
          });
      FailurePolicy twice = FailurePolicy.constant(Duration.ofMillis(10), 1);
      JobId id = carillon.schedule(NOTE.job("no").onFailure(twice)).id();
      Awaitility.await().until(() -> failures.size() == 2 && ended.size() == 1);
      AttemptFailure first = failures.getFirst();
      AttemptFailure last = failures.getLast();
      assertThat(first.job().id()).isEqualTo(id);
      assertThat(first.attempt()).isEqualTo(1);
      assertThat(first.error().message()).isEqualTo("no");
      assertThat(first.error().node()).isEqualTo("here");
      assertThat(first.error().stack()).contains("JobFiguresTest");
      assertThat(first.nextAt()).isEqualTo(first.job().dueAt());
      assertThat(last.attempt()).isEqualTo(2);
      assertThat(last.nextAt()).isNull();
      assertThat(last.job().state()).isEqualTo(JobState.DEAD);
      assertThat(last.job()).isEqualTo(ended.getFirst());
    }
  }
}
