package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.Page;
import dev.carillon.api.TaskType;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each occurrence of a recurring job counts as a job that ended, whoever ran it. */
class OccurrenceTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final Schedule EVERY_MINUTE = Schedule.every(Duration.ofMinutes(1));

  private final List<JobInfo> ended = new CopyOnWriteArrayList<>();
  private final CarillonTest world =
      CarillonTest.at(
          START,
          options ->
              options.listen(
                  new JobListener() {
                    @Override
                    public void ended(JobInfo job) {
                      ended.add(job);
                    }
                  }));

  @AfterEach
  void close() {
    world.close();
  }

  private static OccurrenceInfo occurrence(JobInfo info) {
    return Objects.requireNonNull(info.occurrence());
  }

  // ---- as they end

  @ParameterizedTest
  @EnumSource(Overlap.class)
  void endOfEachOccurrenceIsCountedAndToldToListeners(Overlap overlap) {
    world.carillon().handle(NOTE, (text, job) -> {});
    JobId id = world.carillon().schedule(NOTE.job("x").on(EVERY_MINUTE.overlap(overlap))).id();
    world.advance(Duration.ofMinutes(3));
    assertThat(ended)
        .extracting(
            JobInfo::state,
            info -> occurrence(info).schedule(),
            info -> occurrence(info).number(),
            info -> occurrence(info).time(),
            JobInfo::endedAt)
        .containsExactly(
            tuple(JobState.SUCCEEDED, id, 1L, START.plusSeconds(60), START.plusSeconds(60)),
            tuple(JobState.SUCCEEDED, id, 2L, START.plusSeconds(120), START.plusSeconds(120)),
            tuple(JobState.SUCCEEDED, id, 3L, START.plusSeconds(180), START.plusSeconds(180)));
    assertThat(world.carillon().node().stats().endedTotal()).isEqualTo(3);
    assertThat(world.carillon().node().figures().count("jobs.ended")).isEqualTo(3);
    assertThat(world.carillon().node().figures().count("jobs.succeeded")).isEqualTo(3);
  }

  @Test
  void failedAndDeadOccurrencesAreCountedOnceEach() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              throw new IllegalStateException("no");
            });
    world.carillon().schedule(NOTE.job("x").onFailure(FailurePolicy.drop()).on(EVERY_MINUTE));
    world
        .carillon()
        .schedule(
            NOTE.job("y")
                .onFailure(FailurePolicy.constant(Duration.ofSeconds(1), 1))
                .on(EVERY_MINUTE));
    world.advance(Duration.ofSeconds(70));
    assertThat(ended)
        .extracting(JobInfo::state, JobInfo::attempt, info -> occurrence(info).number())
        .containsExactlyInAnyOrder(tuple(JobState.FAILED, 1, 1L), tuple(JobState.DEAD, 2, 1L));
    assertThat(ended).allSatisfy(info -> assertThat(info.lastError()).isNotNull());
    assertThat(world.carillon().node().stats().endedTotal()).isEqualTo(2);
  }

  @Test
  void lastOccurrenceAndTheRecurringJobItselfAreToldApart() {
    world.carillon().handle(NOTE, (text, job) -> {});
    world.carillon().schedule(NOTE.job("x").on(EVERY_MINUTE.times(1)));
    world.advance(Duration.ofMinutes(2));
    assertThat(ended).hasSize(2);
    assertThat(occurrence(ended.getFirst()).number()).isEqualTo(1);
    assertThat(ended.getFirst().recurring()).isNull();
    assertThat(ended.getLast().occurrence()).isNull();
    assertThat(Objects.requireNonNull(ended.getLast().recurring()).count()).isEqualTo(1);
  }

  // ---- in lists

  private List<JobInfo> newest(JobQuery query) {
    List<JobInfo> all = new ArrayList<>();
    Page<JobInfo> page = world.carillon().list(query.newestFirst().limit(2));
    all.addAll(page.items());
    while (page.next() != null) {
      page = world.carillon().list(query.newestFirst().limit(2).cursor(page.next()));
      all.addAll(page.items());
    }
    return all;
  }

  @ParameterizedTest
  @EnumSource(Overlap.class)
  void historyOfATaskAndOfATenantHasEachOccurrence(Overlap overlap) {
    world.carillon().handle(NOTE, (text, job) -> {});
    JobId id =
        world
            .carillon()
            .schedule(NOTE.job("x").namespace("acme").on(EVERY_MINUTE.overlap(overlap)))
            .id();
    world.carillon().schedule(NOTE.job("y").on(EVERY_MINUTE));
    world.carillon().schedule(NOTE.job("z").namespace("acme").in(Duration.ofSeconds(90)));
    world.advance(Duration.ofSeconds(210));
    List<JobInfo> task = newest(JobQuery.all().occurrencesOf(id));
    assertThat(task)
        .extracting(
            info -> occurrence(info).number(),
            JobInfo::dueAt,
            JobInfo::startedAt,
            JobInfo::endedAt,
            JobInfo::state)
        .containsExactly(of(3), of(2), of(1));
    assertThat(task).allSatisfy(info -> assertThat(info.node()).isNotEmpty());
    assertThat(newest(JobQuery.all().namespace("acme")))
        .extracting(JobInfo::endedAt)
        .containsExactly(minute(3), minute(2), START.plusSeconds(90), minute(1));
    assertThat(newest(JobQuery.all())).hasSize(7);
    assertThat(newest(JobQuery.all().states(JobState.FAILED))).isEmpty();
    world.restart();
    assertThat(newest(JobQuery.all().occurrencesOf(id))).isEqualTo(task);
  }

  private static Tuple of(int number) {
    Instant time = minute(number);
    return tuple((long) number, time, time, time, JobState.SUCCEEDED);
  }

  private static Instant minute(int number) {
    return START.plusSeconds(60L * number);
  }

  @Test
  void occurrencesThatEndAtTheSameMomentAreOnOnePageEach() {
    JobId id =
        world.carillon().schedule(NOTE.job("x").on(EVERY_MINUTE.misfire(Misfire.runAll(9)))).id();
    world.moveClock(Duration.ofMinutes(5));
    world.carillon().handle(NOTE, (text, job) -> {});
    world.settle();
    assertThat(newest(JobQuery.all().occurrencesOf(id)))
        .extracting(info -> occurrence(info).number())
        .containsExactly(5L, 4L, 3L, 2L, 1L);
  }
}
