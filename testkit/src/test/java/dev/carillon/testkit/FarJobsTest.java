package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jobs that are not due soon and do not fit in memory with all that was asked for. */
@Timeout(120)
class FarJobsTest {
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final TaskType<byte[]> LARGE = TaskType.of("large", byte[].class);
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);

  /** More than is kept in memory of jobs that are not due soon. */
  private static final int LARGE_JOBS = 280;

  @Test
  void theyArePausedMovedAndExpireLikeOthers() {
    List<String> starts = new CopyOnWriteArrayList<>();
    Instant due = START.plusSeconds(2400);
    try (var world =
        CarillonTest.at(
            START, options -> options.advanced(a -> a.loadHorizon(Duration.ofMinutes(1))))) {
      Carillon carillon = world.carillon();
      carillon.handle(NOTE, (text, job) -> starts.add(job.metadata().get("is")));
      Job<Void> large = LARGE.job(new byte[Limits.PAYLOAD_MAX_BYTES - 100]);
      Job<Void> note = NOTE.job("x".repeat(200_000)).at(due).deadline(due.plusSeconds(600));
      List<JobId> notes = new ArrayList<>();
      for (int i = 0; i < LARGE_JOBS; i += 7) {
        carillon.scheduleAll(Collections.nCopies(7, large.at(START.plusSeconds(100 + 8 * i))));
        notes.add(carillon.schedule(note.meta("is", "note " + notes.size())).id());
      }
      int last = notes.size() - 1;
      for (JobId id : notes) {
        assertThat(carillon.pause(id, "")).isEqualTo(ControlResult.DONE);
      }
      assertThat(carillon.resume(notes.get(last))).isEqualTo(ControlResult.DONE);
      assertThat(carillon.resume(notes.get(last - 1))).isEqualTo(ControlResult.DONE);
      assertThat(carillon.reschedule(notes.get(last - 1), START.plusSeconds(1800)))
          .isEqualTo(ControlResult.DONE);
      world.advance(Duration.ofMinutes(30));
      assertThat(starts).containsExactly("note " + (last - 1));
      world.advanceTo(due);
      assertThat(starts).containsExactly("note " + (last - 1), "note " + last);
      world.advanceTo(due.plusSeconds(599));
      for (int i = 0; i < last - 1; i++) {
        assertThat(carillon.get(notes.get(i)).orElseThrow().state()).isEqualTo(JobState.PAUSED);
      }
      world.advanceTo(due.plusSeconds(600));
      for (int i = 0; i < last - 1; i++) {
        assertThat(carillon.get(notes.get(i)).orElseThrow().state()).isEqualTo(JobState.EXPIRED);
      }
    }
  }

  private static void noteAndFailFirst(CarillonTest world, List<String> starts) {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              long day = Duration.between(START, world.now()).toDays();
              starts.add(text + " " + job.attempt() + " on day " + day);
              if (job.attempt() == 1 && text.equals("retried")) {
                throw new IllegalStateException("not yet");
              }
            });
  }

  private static void assertSucceeded(CarillonTest world, JobId id) {
    assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void theyAreRetriedAndMovedMonthsAheadAndRunThen() {
    List<String> starts = new CopyOnWriteArrayList<>();
    try (var world = CarillonTest.at(START)) {
      noteAndFailFirst(world, starts);
      FailurePolicy rare = FailurePolicy.constant(Duration.ofDays(61), 1);
      JobId retried = world.carillon().schedule(NOTE.job("retried").onFailure(rare)).id();
      JobId moved = world.carillon().schedule(NOTE.job("moved").in(Duration.ofHours(1))).id();
      assertThat(world.carillon().reschedule(moved, START.plus(Duration.ofDays(90))))
          .isEqualTo(ControlResult.DONE);
      world.advance(Duration.ofDays(30));
      world.restart();
      noteAndFailFirst(world, starts);
      world.advance(Duration.ofDays(30));
      assertThat(starts).containsExactly("retried 1 on day 0");
      world.advance(Duration.ofDays(1));
      assertThat(starts).last().isEqualTo("retried 2 on day 61");
      assertSucceeded(world, retried);
      world.restart();
      noteAndFailFirst(world, starts);
      world.advance(Duration.ofDays(29).minusSeconds(1));
      assertThat(starts).hasSize(2);
      world.advance(Duration.ofSeconds(1));
      assertThat(starts).hasSize(3).last().isEqualTo("moved 1 on day 90");
      assertSucceeded(world, moved);
      world.advance(Duration.ofDays(100));
      assertThat(starts).hasSize(3);
    }
  }
}
