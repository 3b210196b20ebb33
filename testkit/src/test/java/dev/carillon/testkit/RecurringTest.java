package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.RecurringInfo;
import dev.carillon.api.TaskType;
import dev.carillon.api.UpcomingJob;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.InvalidScheduleException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Recurring jobs in virtual time: when occurrences are, and what happens around them. */
class RecurringTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final Schedule EVERY_MINUTE = Schedule.every(Duration.ofMinutes(1));

  private final CarillonTest world = CarillonTest.at(START);
  private final List<String> starts = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    world.close();
  }

  private static String clock(Instant time) {
    return time.toString().substring(11, 19);
  }

  private void noteStarts() {
    world.carillon().handle(NOTE, (text, job) -> starts.add(clock(world.now())));
  }

  private JobId schedule(Schedule schedule) {
    return world.carillon().schedule(NOTE.job("tick").on(schedule)).id();
  }

  private JobInfo info(JobId id) {
    return world.carillon().get(id).orElseThrow();
  }

  private RecurringInfo recurring(JobId id) {
    return Objects.requireNonNull(info(id).recurring());
  }

  private List<JobInfo> jobs(JobState state) {
    return world.carillon().list(JobQuery.all().states(state)).items();
  }

  // ---- when

  @Test
  void firstOccurrenceOfAFixedRateIsOnePeriodAway() {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE);
    world.advance(Duration.ofSeconds(59));
    assertThat(starts).isEmpty();
    world.advance(Duration.ofSeconds(181));
    assertThat(starts).containsExactly("00:01:00", "00:02:00", "00:03:00", "00:04:00");
    assertThat(recurring(id).count()).isEqualTo(4);
    assertThat(recurring(id).nextTime()).isEqualTo(START.plusSeconds(300));
    assertThat(info(id).state()).isEqualTo(JobState.SCHEDULED);
  }

  @ParameterizedTest
  @EnumSource(Overlap.class)
  void allTimesOfAScheduleThatIsOverAreCounted(Overlap overlap) {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE.times(5).overlap(overlap));
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).hasSize(5);
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(id).reason()).isEqualTo("the schedule is over");
    assertThat(recurring(id).count()).isEqualTo(5);
    assertThat(recurring(id).nextTime()).isEqualTo(START.plusSeconds(300));
  }

  @Test
  void scheduleThatIsOverSaysSoWhateverBecameOfItsLastTime() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              throw new IllegalStateException("failure");
            });
    JobId id =
        world
            .carillon()
            .schedule(NOTE.job("tick").onFailure(FailurePolicy.drop()).on(EVERY_MINUTE.times(2)))
            .id();
    world.advance(Duration.ofMinutes(10));
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(id).reason()).isEqualTo("the schedule is over");
    assertThat(recurring(id).count()).isEqualTo(2);
    assertThat(world.carillon().history(id).orElseThrow().events())
        .filteredOn(event -> event.kind() == JobEvent.Kind.OCCURRENCE_FAILED)
        .last()
        .extracting(JobEvent::detail)
        .asString()
        .contains("dropped");
  }

  @Test
  void timeThatWasTooLateIsNotCountedWhenTheScheduleIsOver() {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE.grace(Duration.ofSeconds(10)).until(START.plusSeconds(150)));
    world.advance(Duration.ofSeconds(90));
    world.moveClock(Duration.ofMinutes(10));
    world.settle();
    assertThat(starts).hasSize(1);
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(info(id).reason()).isEqualTo("the schedule is over");
    assertThat(recurring(id).count()).isEqualTo(1);
  }

  @Test
  void withADueTimeTheFirstOccurrenceIsThenAndTheScheduleFollows() {
    noteStarts();
    world.carillon().schedule(NOTE.job("tick").at(START).on(Schedule.every(Duration.ofHours(1))));
    world.settle();
    assertThat(starts).containsExactly("00:00:00");
    world.advance(Duration.ofHours(2));
    assertThat(starts).containsExactly("00:00:00", "01:00:00", "02:00:00");
  }

  @Test
  void repeatsAreCountedAndThenTheJobIsOver() {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE.times(3));
    world.advance(Duration.ofHours(1));
    assertThat(starts).hasSize(3);
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    world.restart();
    noteStarts();
    world.advance(Duration.ofHours(1));
    assertThat(starts).hasSize(3);
  }

  @Test
  void tickExactlyAtTheEndStillFires() {
    noteStarts();
    JobId id = schedule(Schedule.every(Duration.ofSeconds(1)).until(START.plusSeconds(3)));
    world.advance(Duration.ofMinutes(1));
    assertThat(starts).containsExactly("00:00:01", "00:00:02", "00:00:03");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void countSurvivesARestart() {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE.times(5));
    world.advance(Duration.ofMinutes(2));
    world.restart();
    noteStarts();
    assertThat(recurring(id).count()).isEqualTo(2);
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).hasSize(5);
  }

  @Test
  void shortPeriodsAreExact() {
    noteStarts();
    JobId id = schedule(Schedule.every(Duration.ofMillis(100)).times(50));
    world.advance(Duration.ofSeconds(5));
    assertThat(starts).hasSize(50);
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void cronFollowsTheClockOnTheWallOverAGap() {
    List<String> times = new CopyOnWriteArrayList<>();
    world.carillon().handle(NOTE, (text, job) -> times.add(world.now().toString()));
    world.advanceTo(Instant.parse("2026-03-28T00:00:00Z"));
    schedule(Schedule.cron("30 2 * * *", "Europe/Berlin"));
    world.advance(Duration.ofDays(3));
    assertThat(times)
        .containsExactly("2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z");
  }

  @Test
  void fixedDelayIsCountedFromTheEnd() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              starts.add(clock(world.now()));
              world.moveClock(Duration.ofSeconds(20));
            });
    schedule(Schedule.afterEach(Duration.ofMinutes(1)).times(3));
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).containsExactly("00:01:00", "00:02:20", "00:03:40");
  }

  @Test
  void jitterDelaysTheStartAndNotTheSchedule() {
    List<OccurrenceInfo> seen = new CopyOnWriteArrayList<>();
    List<Duration> late = new CopyOnWriteArrayList<>();
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              seen.add(Objects.requireNonNull(job.occurrence()));
              late.add(Duration.between(job.scheduledTime(), world.now()));
            });
    JobId id = schedule(EVERY_MINUTE.jitter(Duration.ofSeconds(30)).times(20));
    world.advance(Duration.ofMinutes(21));
    assertThat(seen).hasSize(20);
    for (int i = 0; i < 20; i++) {
      assertThat(seen.get(i))
          .isEqualTo(new OccurrenceInfo(id, i + 1, START.plusSeconds(60L * (i + 1))));
    }
    assertThat(late)
        .allSatisfy(d -> assertThat(d).isBetween(Duration.ZERO, Duration.ofSeconds(30)));
    assertThat(late.stream().distinct().count()).isGreaterThan(5);
  }

  @Test
  void whatRunsTonightIsKnown() {
    schedule(Schedule.cron("0 22 * * *"));
    schedule(Schedule.every(Duration.ofHours(10)).times(3));
    JobId paused = schedule(EVERY_MINUTE);
    world.carillon().pause(paused, "");
    Instant evening = START.plus(Duration.ofHours(20));
    world.carillon().schedule(NOTE.job("once").at(evening.plusSeconds(60)));
    world.carillon().schedule(NOTE.job("elsewhere").namespace("other").at(evening));

    List<UpcomingJob> tonight =
        world.carillon().upcoming(evening, evening.plus(Duration.ofDays(1)), "default");

    assertThat(tonight)
        .extracting(UpcomingJob::time)
        .containsExactly(
            evening,
            evening.plusSeconds(60),
            evening.plus(Duration.ofHours(2)),
            evening.plus(Duration.ofHours(10)));
  }

  @Test
  void upcomingTimeWithJitterIsWhenItIsDue() {
    JobId id = schedule(Schedule.every(Duration.ofMinutes(10)).jitter(Duration.ofMinutes(9)));
    Instant due = info(id).dueAt();

    assertThat(upcoming(due, due.plusNanos(1_000))).containsExactly(due);
    assertThat(upcoming(START, due)).isEmpty();
    assertThat(upcoming(START, START.plus(Duration.ofMinutes(31))))
        .as("the later ones have no jitter yet")
        .containsExactly(
            due, START.plus(Duration.ofMinutes(20)), START.plus(Duration.ofMinutes(30)));
  }

  @Test
  void upcomingTimeOfAMovedJobIsWhereItWasMoved() {
    noteStarts();
    JobId id = schedule(Schedule.cron("0 3 * * *"));

    world.carillon().reschedule(id, hour(1));
    assertThat(upcoming(START, hour(2))).containsExactly(hour(1));
    assertThat(upcoming(START, hour(6))).containsExactly(hour(1));
    assertThat(upcoming(START, hour(28))).containsExactly(hour(1), hour(27));
    world.advance(Duration.ofHours(6));

    world.carillon().reschedule(id, hour(29));
    assertThat(upcoming(hour(6), hour(28))).isEmpty();
    assertThat(upcoming(hour(6), hour(52))).containsExactly(hour(29), hour(51));
    world.advance(Duration.ofHours(24));
    assertThat(starts).containsExactly("01:00:00", "05:00:00");
  }

  @Test
  void timesThatPassBeforeAMovedJobAreNotUpcoming() {
    noteStarts();
    JobId id = schedule(Schedule.every(Duration.ofHours(1)).times(3));
    world.carillon().reschedule(id, hour(3).plusSeconds(60));
    assertThat(upcoming(START, hour(9))).containsExactly(hour(3).plusSeconds(60), hour(4), hour(5));
    world.advance(Duration.ofHours(9));
    assertThat(starts).containsExactly("03:01:00", "04:00:00", "05:00:00");
  }

  @Test
  void retryOfAnOccurrenceIsUpcoming() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              starts.add(clock(world.now()));
              if (job.attempt() == 1) {
                throw new IllegalStateException("failure");
              }
            });
    world
        .carillon()
        .schedule(
            NOTE.job("tick")
                .onFailure(FailurePolicy.constant(Duration.ofHours(2), 3))
                .on(Schedule.cron("0 3 * * *")));
    world.advance(Duration.ofHours(4));
    assertThat(upcoming(hour(4), hour(28))).containsExactly(hour(5), hour(27));
    world.advance(Duration.ofHours(2));
    assertThat(starts).containsExactly("03:00:00", "05:00:00");
  }

  private static Instant hour(long hours) {
    return START.plus(Duration.ofHours(hours));
  }

  private List<Instant> upcoming(Instant from, Instant to) {
    return world.carillon().upcoming(from, to, "default").stream().map(UpcomingJob::time).toList();
  }

  @Test
  void farTimesOfALimitedScheduleAreExact() {
    schedule(Schedule.every(Duration.ofMillis(10)).times(200_000_000));
    Instant last = START.plus(Duration.ofMillis(10).multipliedBy(200_000_000));
    Instant before = last.minusMillis(25);

    assertThat(world.carillon().upcoming(before, last.plusSeconds(9), "default"))
        .extracting(UpcomingJob::time)
        .containsExactly(last.minusMillis(20), last.minusMillis(10), last);
    assertThat(world.carillon().upcoming(last.plusMillis(1), last.plusSeconds(9), "default"))
        .isEmpty();
  }

  @Test
  void timesOfALimitedCronAreCountedOffAndNeverSilentlyGivenUp() {
    JobId id = schedule(Schedule.cron("* * * * * *").times(1_000_100));
    Instant last = START.plusSeconds(1_000_100);

    assertThat(world.carillon().upcoming(last.minusSeconds(110), last, "default"))
        .as("a million passed")
        .hasSize(110);
    assertThat(world.carillon().upcoming(last.minusSeconds(100), last.plusSeconds(9), "default"))
        .extracting(UpcomingJob::time)
        .endsWith(last)
        .hasSize(101);
    world.carillon().reschedule(id, Schedule.cron("* * * * * *").times(1_005_000));
    Instant far = last.plusSeconds(100);
    assertThatThrownBy(() -> world.carillon().upcoming(far, far.plusSeconds(2), "default"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("more than 1000000 times of job " + id);
    world.carillon().reschedule(id, Schedule.cron("* * * * * *").times(9_000_000));
    assertThat(world.carillon().upcoming(far, far.plusSeconds(2), "default"))
        .as("many more are left than can have passed")
        .hasSize(2);
  }

  // ---- overlap

  /** Handler that takes 150 seconds of virtual time for its first occurrence. */
  private void slowFirst() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              starts.add(clock(world.now()));
              if (starts.size() == 1) {
                world.moveClock(Duration.ofSeconds(150));
              }
            });
  }

  @Test
  void occurrencesDueWhileTheLastRunsAreSkipped() {
    slowFirst();
    schedule(EVERY_MINUTE.times(3));
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).containsExactly("00:01:00", "00:04:00", "00:05:00");
  }

  @Test
  void bufferOneRunsOneOfThemWhenTheLastHasEnded() {
    slowFirst();
    schedule(EVERY_MINUTE.overlap(Overlap.BUFFER_ONE).times(3));
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).containsExactly("00:01:00", "00:03:30", "00:04:00");
  }

  @Test
  void allowedOverlapRunsThemSideBySide() throws InterruptedException {
    CountDownLatch both = new CountDownLatch(2);
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              both.countDown();
              both.await();
              starts.add(clock(job.scheduledTime()));
            });
    JobId id = schedule(EVERY_MINUTE.overlap(Overlap.ALLOW).times(2));
    world.moveClock(Duration.ofMinutes(1));
    while (both.getCount() == 2) {
      Thread.onSpinWait();
    }
    world.moveClock(Duration.ofMinutes(1));
    both.await();
    world.settle();
    assertThat(starts).containsExactlyInAnyOrder("00:01:00", "00:02:00");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(jobs(JobState.SUCCEEDED))
        .filteredOn(job -> job.occurrence() != null)
        .extracting(job -> Objects.requireNonNull(job.occurrence()).number())
        .containsExactlyInAnyOrder(1L, 2L);
  }

  @Test
  void bufferedOccurrencesRunOneByOneInOrder() {
    List<String> order = new CopyOnWriteArrayList<>();
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              order.add("start " + clock(job.scheduledTime()));
              if (order.size() == 1) {
                world.moveClock(Duration.ofSeconds(150));
              }
              order.add("end " + clock(job.scheduledTime()));
            });
    schedule(EVERY_MINUTE.overlap(Overlap.BUFFER_ALL).misfire(Misfire.runAll(100)).times(4));
    world.advance(Duration.ofMinutes(10));
    assertThat(order)
        .containsExactly(
            "start 00:01:00",
            "end 00:01:00",
            "start 00:02:00",
            "end 00:02:00",
            "start 00:03:00",
            "end 00:03:00",
            "start 00:04:00",
            "end 00:04:00");
  }

  @Test
  void newerOccurrenceCancelsTheRunningOne() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              starts.add(clock(job.scheduledTime()));
              if (starts.size() == 1) {
                running.countDown();
                new CountDownLatch(1).await();
              }
            });
    schedule(EVERY_MINUTE.overlap(Overlap.CANCEL_RUNNING).times(2));
    world.moveClock(Duration.ofMinutes(1));
    running.await();
    world.moveClock(Duration.ofMinutes(1));
    world.settle();
    assertThat(starts).containsExactly("00:01:00", "00:02:00");
    assertThat(jobs(JobState.CANCELLED)).hasSize(1);
    assertThat(jobs(JobState.CANCELLED).getFirst().reason()).contains("newer");
  }

  // ---- missed

  private void downFor(Duration down) {
    world.restart();
    world.moveClock(down);
    noteStarts();
  }

  @Test
  void oneOccurrenceMakesUpForAllThatWereMissed() {
    schedule(EVERY_MINUTE.times(3));
    downFor(Duration.ofSeconds(210));
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).containsExactly("00:03:30", "00:04:00", "00:05:00");
  }

  @Test
  void missedOccurrencesAreAllMadeUpForUpToTheCap() {
    schedule(EVERY_MINUTE.misfire(Misfire.runAll(2)).times(4));
    downFor(Duration.ofSeconds(210));
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).containsExactly("00:03:30", "00:03:30", "00:04:00", "00:05:00");
  }

  @Test
  void missedOccurrencesAreSkipped() {
    JobId id = schedule(EVERY_MINUTE.misfire(Misfire.skip()).times(2));
    downFor(Duration.ofSeconds(210));
    world.advance(Duration.ofMinutes(10));
    // That of 00:03:00 is within the grace of a minute.
    assertThat(starts).containsExactly("00:03:30", "00:04:00");
    assertThat(world.carillon().history(id).orElseThrow().events())
        .extracting(JobEvent::kind)
        .containsExactly(
            JobEvent.Kind.SCHEDULED,
            JobEvent.Kind.OCCURRENCE_SKIPPED,
            JobEvent.Kind.OCCURRED,
            JobEvent.Kind.OCCURRED,
            JobEvent.Kind.SUCCEEDED);
  }

  @Test
  void occurrenceLaterThanItsGraceDoesNotTakePlace() {
    schedule(EVERY_MINUTE.grace(Duration.ofSeconds(10)).times(2));
    downFor(Duration.ofSeconds(210));
    world.advance(Duration.ofMinutes(10));
    assertThat(starts).containsExactly("00:04:00", "00:05:00");
  }

  // ---- failures

  @Test
  void exhaustedOccurrenceBecomesADeadLetterAndTheScheduleGoesOn() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              starts.add(clock(world.now()));
              if (starts.size() <= 3) {
                throw new IllegalStateException("failure " + starts.size());
              }
            });
    JobId id =
        world
            .carillon()
            .schedule(
                NOTE.job("tick")
                    .meta("team", "blue")
                    .on(EVERY_MINUTE.times(2))
                    .onFailure(FailurePolicy.constant(Duration.ofSeconds(5), 2)))
            .id();
    world.advance(Duration.ofMinutes(10));

    assertThat(starts).containsExactly("00:01:00", "00:01:05", "00:01:10", "00:02:00");
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
    JobInfo dead = jobs(JobState.DEAD).getFirst();
    assertThat(dead.metadata()).containsEntry("team", "blue");
    assertThat(dead.attempt()).isEqualTo(3);
    assertThat(dead.occurrence()).isEqualTo(new OccurrenceInfo(id, 1, START.plusSeconds(60)));
    assertThat(dead.lastError()).isNotNull();
    assertThat(world.carillon().history(dead.id()).orElseThrow().events())
        .extracting(JobEvent::kind, JobEvent::attempt)
        .containsExactly(
            org.assertj.core.api.Assertions.tuple(JobEvent.Kind.SCHEDULED, 0),
            org.assertj.core.api.Assertions.tuple(JobEvent.Kind.RETRIED, 1),
            org.assertj.core.api.Assertions.tuple(JobEvent.Kind.RETRIED, 2),
            org.assertj.core.api.Assertions.tuple(JobEvent.Kind.DEAD, 3));
    world.restart();
    assertThat(jobs(JobState.DEAD)).hasSize(1);
  }

  // ---- control

  @Test
  void pausedScheduleHasNoOccurrencesUntilItIsResumed() {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE);
    world.advance(Duration.ofMinutes(1));
    assertThat(world.carillon().pause(id, "holiday")).isEqualTo(ControlResult.DONE);
    world.restart();
    noteStarts();
    world.advance(Duration.ofMinutes(5));
    assertThat(starts).hasSize(1);
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(info(id).reason()).isEqualTo("holiday");
    assertThat(world.carillon().resume(id)).isEqualTo(ControlResult.DONE);
    world.advance(Duration.ofSeconds(90));
    assertThat(starts).containsExactly("00:01:00", "00:06:00", "00:07:00");
  }

  @Test
  void triggeredOccurrenceRunsBesideTheSchedule() {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE);
    world.advance(Duration.ofSeconds(30));
    JobId extra = world.carillon().trigger(id);
    world.settle();
    assertThat(starts).containsExactly("00:00:30");
    assertThat(info(extra).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(Objects.requireNonNull(info(extra).occurrence()).schedule()).isEqualTo(id);
    world.advance(Duration.ofSeconds(30));
    assertThat(starts).containsExactly("00:00:30", "00:01:00");
    assertThat(recurring(id).count()).isEqualTo(1);
  }

  @Test
  void rangeOfThePastIsBackfilled() {
    List<Instant> seen = new CopyOnWriteArrayList<>();
    world
        .carillon()
        .handle(NOTE, (text, job) -> seen.add(Objects.requireNonNull(job.occurrence()).time()));
    JobId id = schedule(Schedule.cron("0 * * * *"));
    Instant from = Instant.parse("2026-02-27T10:00:00Z");
    List<JobId> added = world.carillon().backfill(id, from, from.plus(Duration.ofHours(2)));
    world.settle();
    assertThat(added).hasSize(3);
    assertThat(seen)
        .containsExactlyInAnyOrder(
            from, from.plus(Duration.ofHours(1)), from.plus(Duration.ofHours(2)));
    Instant later = world.now().plusSeconds(1);
    assertThatThrownBy(() -> world.carillon().backfill(id, from, later))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("to: " + later + " (expected: not after now");
    assertThatThrownBy(() -> world.carillon().backfill(id, Instant.EPOCH, from))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("too many");
  }

  @Test
  void newScheduleKeepsTheCountAndAReplaceDoesNot() {
    noteStarts();
    JobId id =
        world.carillon().schedule(NOTE.job("tick").named("t").on(EVERY_MINUTE.times(4))).id();
    world.advance(Duration.ofMinutes(2));
    Schedule hourly = Schedule.every(Duration.ofHours(1)).times(4);
    assertThat(world.carillon().reschedule(id, hourly)).isEqualTo(ControlResult.DONE);
    assertThat(recurring(id).count()).isEqualTo(2);
    world.advance(Duration.ofHours(1));
    assertThat(starts).containsExactly("00:01:00", "00:02:00", "01:02:00");

    assertThatThrownBy(
            () -> world.carillon().schedule(NOTE.job("tick").named("t").on(EVERY_MINUTE)))
        .isInstanceOf(NameTakenException.class);
    world
        .carillon()
        .schedule(NOTE.job("tick").named("t").on(EVERY_MINUTE.times(4)).ifExists(IfExists.REPLACE));
    assertThat(recurring(id).count()).isZero();
    world.advance(Duration.ofHours(1));
    assertThat(starts).hasSize(7);
    assertThat(info(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void cancelledScheduleIsOver() {
    noteStarts();
    JobId id = schedule(EVERY_MINUTE);
    world.advance(Duration.ofMinutes(1));
    world.carillon().cancel(id, "enough");
    world.advance(Duration.ofMinutes(5));
    assertThat(starts).hasSize(1);
    assertThat(info(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(world.carillon().pause(id, "")).isEqualTo(ControlResult.ENDED);
    assertThat(world.carillon().resume(new JobId("jnone"))).isEqualTo(ControlResult.NOT_FOUND);
  }

  @Test
  void scheduleWithoutATimeLeftIsRefused() {
    assertThatThrownBy(() -> schedule(EVERY_MINUTE.until(START.plusSeconds(30))))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessageContaining("until");
    assertThatThrownBy(() -> NOTE.job("x").deadline(START.plusSeconds(9)).on(EVERY_MINUTE))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("deadline");
  }
}
