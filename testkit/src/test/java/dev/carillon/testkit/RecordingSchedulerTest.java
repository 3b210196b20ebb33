package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobScheduler;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.NameTakenException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Application code that only schedules, with the real thing and with a fake. */
class RecordingSchedulerTest {
  private static final TaskType<String> REMIND = TaskType.of("remind", String.class);

  /** Application code. */
  private record Reminders(JobScheduler jobs) {
    JobId remind(String who) {
      return jobs.schedule(REMIND.job(who).named("remind " + who).in(Duration.ofHours(1))).id();
    }

    boolean forget(String who) {
      return jobs.get(Job.DEFAULT_NAMESPACE, "remind " + who)
          .map(job -> jobs.cancel(job.id()) instanceof CancelResult.Cancelled)
          .orElse(false);
    }
  }

  private static void remindAndForget(JobScheduler jobs) {
    Reminders reminders = new Reminders(jobs);
    JobId id = reminders.remind("ann");
    assertThat(jobs.get(id)).map(JobInfo::state).contains(JobState.SCHEDULED);
    assertThatThrownBy(() -> reminders.remind("ann")).isInstanceOf(NameTakenException.class);
    assertThat(reminders.forget("ann")).isTrue();
    assertThat(reminders.forget("ann")).isFalse();
    assertThat(jobs.get(id)).map(JobInfo::state).contains(JobState.CANCELLED);
    assertThat(jobs.cancel(id)).isEqualTo(new CancelResult.Ended(JobState.CANCELLED));
    assertThat(jobs.cancel(new JobId("nothing"))).isEqualTo(new CancelResult.NotFound());
    assertThat(reminders.remind("ann")).isNotEqualTo(id);
    JobHandle<Void> first = jobs.schedule(REMIND.job("x").key("k"));
    JobHandle<Void> again = jobs.schedule(REMIND.job("y").key("k"));
    assertThat(again.created()).isFalse();
    assertThat(again.id()).isEqualTo(first.id());
    Job<Void> kept = REMIND.job("z").named("remind ann").ifExists(IfExists.KEEP);
    assertThat(jobs.schedule(kept).created()).isFalse();
    assertThatThrownBy(() -> jobs.schedule(null)).isInstanceOf(InvalidArgumentException.class);
  }

  @Test
  void codeThatSchedulesSeesNoDifference() {
    remindAndForget(new RecordingScheduler());
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).open()) {
      remindAndForget(carillon);
    }
  }

  @Test
  void whatWasAskedForIsThereInOrder() {
    Instant noon = Instant.parse("2026-03-01T12:00:00Z");
    RecordingScheduler jobs = new RecordingScheduler(noon);
    JobId ann = new Reminders(jobs).remind("ann");
    jobs.scheduleAll(List.of(REMIND.job("bob"), REMIND.job("eve")));
    jobs.cancel(ann, "enough");

    assertThat(jobs.scheduled()).extracting(Job::input).containsExactly("ann", "bob", "eve");
    assertThat(jobs.cancelled()).extracting(Job::input).containsExactly("ann");
    JobInfo info = jobs.get(ann).orElseThrow();
    assertThat(info.dueAt()).isEqualTo(noon.plusSeconds(3600));
    assertThat(info.reason()).isEqualTo("enough");
  }

  @Test
  void resultsNeedTheRealThing() {
    JobHandle<Void> job = new RecordingScheduler().schedule(REMIND.job("x"));
    assertThatThrownBy(() -> job.result(Duration.ZERO))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("CarillonTest");
  }
}
