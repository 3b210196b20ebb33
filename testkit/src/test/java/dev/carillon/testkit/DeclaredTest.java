package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.Concurrency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.RecurringInfo;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Recurring jobs that a program declares at each start. */
@Timeout(60)
class DeclaredTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final Schedule DAILY = Schedule.every(Duration.ofHours(24));

  private final CarillonTest world = CarillonTest.at(START);
  private final List<String> ran = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    world.close();
  }

  private void handle() {
    world.carillon().handle(NOTE, (text, job) -> ran.add(text + " " + hours(world.now())));
  }

  private static String hours(Instant time) {
    return Duration.between(START, time).toHours() + "h";
  }

  private JobHandle<Void> declare(String input, Schedule schedule) {
    return world.carillon().recurring("daily", NOTE.job(input), schedule);
  }

  private JobInfo info(JobId id) {
    return world.carillon().get(id).orElseThrow();
  }

  private RecurringInfo recurring(JobId id) {
    return Objects.requireNonNull(info(id).recurring());
  }

  private List<JobEvent.Kind> kinds(JobId id) {
    return world.carillon().history(id).orElseThrow().events().stream()
        .map(JobEvent::kind)
        .toList();
  }

  private void deploy() {
    world.restart();
    handle();
  }

  @Test
  void jobRunsHoweverOftenItsProgramIsDeployed() {
    handle();
    JobId id = declare("x", DAILY).id();
    for (int i = 0; i < 8; i++) {
      world.advance(Duration.ofHours(12));
      deploy();
      JobHandle<Void> again = declare("x", DAILY);
      assertThat(again.id()).isEqualTo(id);
      assertThat(again.created()).isFalse();
    }
    assertThat(ran).containsExactly("x 24h", "x 48h", "x 72h", "x 96h");
    assertThat(recurring(id).count()).isEqualTo(4);
  }

  @Test
  void nothingIsWrittenWhereNothingDiffers() {
    handle();
    Job<Void> job =
        NOTE.job("x")
            .meta("a", "b")
            .priority(3)
            .timeout(Duration.ofMinutes(1))
            .concurrency(Concurrency.of("k"))
            .onFailure(FailurePolicy.constant(Duration.ofSeconds(1), 2));
    JobId id = world.carillon().recurring("daily", job, DAILY).id();
    world.advance(Duration.ofHours(30));
    long commits = world.carillon().node().figures().count("commits");
    world.carillon().recurring("daily", job, DAILY);
    assertThat(world.carillon().node().figures().count("commits")).isEqualTo(commits);
    assertThat(kinds(id)).doesNotContain(JobEvent.Kind.CHANGED);
  }

  @Test
  void differencesAreTakenOverAndTheRestIsKept() {
    handle();
    JobId id = declare("x", DAILY).id();
    world.advance(Duration.ofHours(30));
    world
        .carillon()
        .recurring("daily", NOTE.job("y").meta("a", "b").queue("other").priority(5), DAILY);
    assertThat(info(id).metadata()).containsEntry("a", "b");
    assertThat(info(id).queue()).isEqualTo("other");
    assertThat(info(id).priority()).isEqualTo(5);
    assertThat(recurring(id).count()).isEqualTo(1);
    assertThat(recurring(id).nextTime()).isEqualTo(START.plus(Duration.ofDays(2)));
    assertThat(kinds(id)).containsOnlyOnce(JobEvent.Kind.CHANGED);
    deploy();
    world.advance(Duration.ofHours(20));
    assertThat(ran).containsExactly("x 24h", "y 48h");
  }

  @Test
  void runThatWasMissedWhileNothingWasUpTakesPlace() {
    handle();
    JobId id = declare("x", DAILY.misfire(Misfire.runAll(10))).id();
    world.advance(Duration.ofHours(30));
    world.restart();
    world.moveClock(Duration.ofHours(50));
    declare("y", DAILY.misfire(Misfire.runAll(10)));
    handle();
    world.settle();
    assertThat(ran).containsExactly("x 24h", "y 80h", "y 80h");
    assertThat(recurring(id).nextTime()).isEqualTo(START.plus(Duration.ofDays(4)));
  }

  @Test
  void missedRunTakesPlaceAlsoIfTheScheduleIsAnother() {
    handle();
    JobId id = declare("x", DAILY).id();
    world.restart();
    world.moveClock(Duration.ofHours(30));
    declare("x", Schedule.cron("0 0 4 * *"));
    handle();
    world.settle();
    assertThat(ran).containsExactly("x 30h");
    assertThat(recurring(id).nextTime()).isEqualTo(Instant.parse("2026-03-04T00:00:00Z"));
  }

  @Test
  void pausedJobStaysPausedAndKeepsAPriorityThatSomebodyGaveIt() {
    handle();
    JobId id = declare("x", DAILY).id();
    world.carillon().pause(id, "maintenance");
    world.carillon().prioritise(id, 7);
    declare("y", DAILY);
    assertThat(info(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(info(id).reason()).isEqualTo("maintenance");
    assertThat(info(id).priority()).isEqualTo(7);
    world.carillon().resume(id);
    world.advance(Duration.ofHours(24));
    assertThat(ran).containsExactly("y 24h");
  }

  @Test
  void newPeriodIsCountedFromTheLastOccurrence() {
    handle();
    JobId id = declare("x", DAILY).id();
    world.advance(Duration.ofHours(30));
    declare("x", Schedule.every(Duration.ofHours(10)));
    assertThat(recurring(id).nextTime()).isEqualTo(START.plus(Duration.ofHours(34)));
    declare("x", Schedule.every(Duration.ofHours(2)));
    world.settle();
    assertThat(ran).containsExactly("x 24h", "x 30h");
  }

  @Test
  void periodsThatChangeWithEachDeploymentPutNothingOffForEver() {
    handle();
    JobId id = declare("x", DAILY).id();
    for (int i = 1; i <= 10; i++) {
      world.advance(Duration.ofHours(5));
      declare("x", Schedule.every(Duration.ofHours(24 + i % 2)));
    }
    assertThat(recurring(id).count()).isEqualTo(2);
  }

  @Test
  void newCronCountsFromNow() {
    handle();
    JobId id = declare("x", Schedule.cron("0 2 * * *")).id();
    world.advance(Duration.ofHours(10));
    declare("x", Schedule.cron("0 5 * * *"));
    assertThat(recurring(id).nextTime()).isEqualTo(Instant.parse("2026-03-02T05:00:00Z"));
    assertThat(recurring(id).count()).isEqualTo(1);
  }

  @Test
  void retriesOfAnOccurrenceGoOnWithTheNewInput() {
    List<String> attempts = new CopyOnWriteArrayList<>();
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              attempts.add(text + job.attempt());
              if (job.attempt() < 3) {
                throw new IllegalStateException("no");
              }
            });
    Job<Void> job = NOTE.job("x").onFailure(FailurePolicy.constant(Duration.ofHours(1), 5));
    JobId id = world.carillon().recurring("daily", job, DAILY).id();
    world.advance(Duration.ofHours(24));
    world
        .carillon()
        .recurring(
            "daily",
            NOTE.job("y").onFailure(FailurePolicy.constant(Duration.ofHours(1), 5)),
            Schedule.every(Duration.ofHours(30)));
    world.advance(Duration.ofHours(4));
    assertThat(attempts).containsExactly("x1", "y2", "y3");
    assertThat(recurring(id).nextTime()).isEqualTo(START.plus(Duration.ofHours(54)));
  }

  @Test
  void runningOccurrenceIsNotRunAgain() {
    world
        .carillon()
        .handle(
            NOTE,
            (text, job) -> {
              ran.add(text);
              if (text.equals("x")) {
                declare("y", Schedule.every(Duration.ofHours(1)));
              }
            });
    JobId id = declare("x", DAILY).id();
    world.advance(Duration.ofHours(24));
    assertThat(ran).containsExactly("x");
    assertThat(recurring(id).count()).isEqualTo(1);
    assertThat(recurring(id).nextTime()).isEqualTo(START.plus(Duration.ofHours(25)));
    world.advance(Duration.ofHours(1));
    assertThat(ran).containsExactly("x", "y");
  }

  @Test
  void badDeclarationsAreRefusedAndChangeNothing() {
    JobId id = declare("x", DAILY).id();
    assertThatThrownBy(
            () -> world.carillon().schedule(NOTE.job("x").named("a").ifExists(IfExists.UPDATE)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("ifExists: UPDATE (expected: a job with a schedule)");
    TaskType<String> other = TaskType.of("other", String.class);
    assertThatThrownBy(() -> world.carillon().recurring("daily", other.job("x"), DAILY))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("type: other (expected: note");
    handle();
    world.advance(Duration.ofHours(50));
    assertThatThrownBy(() -> declare("x", DAILY.times(2)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("a time left after 2 occurrences");
    assertThat(kinds(id)).doesNotContain(JobEvent.Kind.CHANGED);
  }
}
