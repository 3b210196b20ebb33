package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.Requester;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A job's history tells who asked for a pause, a cancel, a change, a replace or a replay. */
class RequesterTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");

  private final CarillonTest world = CarillonTest.at(START, options -> options.nodeId("here"));

  @AfterEach
  void close() {
    world.close();
  }

  private JobId later() {
    return world.carillon().schedule(NOTE.job("x").in(Duration.ofHours(1))).id();
  }

  private List<JobEvent> asked(JobId id) {
    return world.carillon().history(id).orElseThrow().events().stream()
        .filter(event -> event.kind() != JobEvent.Kind.SCHEDULED)
        .toList();
  }

  @Test
  void everyChangeIsToldWithWhoAskedForIt() {
    JobId id = later();
    Requester alice = world.carillon().as("alice");
    alice.pause(id, "audit");
    alice.resume(id);
    alice.reschedule(id, START.plusSeconds(60));
    alice.prioritise(id, 3);
    alice.cancel(id, "not wanted");
    world.restart();
    assertThat(asked(id))
        .extracting(JobEvent::kind, JobEvent::by)
        .containsExactly(
            tuple(JobEvent.Kind.PAUSED, "alice"),
            tuple(JobEvent.Kind.RESUMED, "alice"),
            tuple(JobEvent.Kind.CHANGED, "alice"),
            tuple(JobEvent.Kind.CHANGED, "alice"),
            tuple(JobEvent.Kind.CANCELLED, "alice"));
    assertThat(asked(id).getFirst().detail()).isEqualTo("audit");
    assertThat(asked(id).getLast().detail()).isEqualTo("not wanted");
  }

  @Test
  void withoutANameItIsTheNode() {
    JobId id = later();
    world.carillon().pause(id, "audit");
    world.carillon().cancel(id, "not wanted");
    assertThat(asked(id)).extracting(JobEvent::by).containsExactly("here", "here");
  }

  @Test
  void cancelOfARunningJobIsToldWithWhoAskedForIt() {
    JobId id = later();
    world
        .carillon()
        .handle(NOTE, (text, job) -> world.carillon().as("alice").cancel(id, "not wanted"));
    world.advance(Duration.ofHours(1));
    assertThat(asked(id))
        .filteredOn(event -> event.kind() == JobEvent.Kind.CANCEL_REQUESTED)
        .extracting(JobEvent::by)
        .containsExactly("alice");
  }

  @Test
  void newScheduleIsToldWithWhoAskedForIt() {
    JobId id =
        world.carillon().schedule(NOTE.job("x").on(Schedule.every(Duration.ofHours(1)))).id();
    world.carillon().as("alice").reschedule(id, Schedule.every(Duration.ofHours(2)));
    assertThat(asked(id)).extracting(JobEvent::by).containsExactly("alice");
  }

  @Test
  void replacesUpdatesAndReplaysAreToldWithWhoAskedForThem() {
    Requester alice = world.carillon().as("alice");
    JobId once = alice.schedule(NOTE.job("x").named("once").in(Duration.ofHours(1))).id();
    alice.schedule(NOTE.job("y").named("once").ifExists(IfExists.REPLACE).in(Duration.ofHours(2)));
    assertThat(asked(once))
        .extracting(JobEvent::kind, JobEvent::by)
        .containsExactly(tuple(JobEvent.Kind.REPLACED, "alice"));

    Job<Void> hourly = NOTE.job("x").named("hourly").ifExists(IfExists.UPDATE);
    JobId recurring = alice.schedule(hourly.on(Schedule.every(Duration.ofHours(1)))).id();
    world.carillon().schedule(hourly.on(Schedule.every(Duration.ofHours(2))));
    alice.schedule(hourly.on(Schedule.every(Duration.ofHours(3))));
    world.restart();
    assertThat(asked(recurring)).extracting(JobEvent::by).containsExactly("here", "alice");

    JobId dead = dead();
    world.carillon().as("bob").replay(dead);
    assertThat(asked(dead))
        .filteredOn(event -> event.kind() == JobEvent.Kind.REPLAYED)
        .extracting(JobEvent::by)
        .containsExactly("bob");
  }

  private JobId dead() {
    TaskType<String> bad = TaskType.of("bad", String.class);
    world
        .carillon()
        .handle(
            bad,
            (text, job) -> {
              throw new IllegalStateException("bad");
            });
    JobId id =
        world
            .carillon()
            .schedule(bad.job("x").onFailure(FailurePolicy.constant(Duration.ofSeconds(1), 0)))
            .id();
    world.advance(Duration.ofSeconds(10));
    return id;
  }

  @Test
  void ofTwoWhoSawTheSameVersionTheSecondIsRefused() {
    Job<Void> hourly = NOTE.job("x").named("hourly");
    Requester alice = world.carillon().as("alice");
    JobId id = alice.schedule(hourly.on(Schedule.every(Duration.ofHours(1)))).id();
    world.advance(Duration.ofHours(3)); // occurrences change no version
    alice.pause(id, "a while");
    alice.update(hourly.on(Schedule.every(Duration.ofHours(2))), id, version(id));
    assertThat(version(id)).isEqualTo(1);
    world.restart();
    Requester bob = world.carillon().as("bob");
    assertThatThrownBy(() -> bob.update(hourly.on(Schedule.every(Duration.ofHours(4))), id, 0))
        .isInstanceOf(ChangedMeanwhileException.class);
    bob.prioritise(id, 5);
    bob.reschedule(id, Schedule.every(Duration.ofHours(3)));
    assertThat(version(id)).isEqualTo(3);
    bob.cancel(id, "");
    assertThatThrownBy(() -> bob.update(hourly.on(Schedule.every(Duration.ofHours(4))), id, 3))
        .isInstanceOf(ChangedMeanwhileException.class);
    assertThat(world.carillon().get("default", "hourly")).isEmpty();
  }

  private int version(JobId id) {
    return Objects.requireNonNull(world.carillon().get(id).orElseThrow().recurring()).version();
  }

  @Test
  void nameThatSaysNothingIsRefused() {
    assertThatThrownBy(() -> world.carillon().as(" "))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("who: \" \" (expected: a name)");
  }
}
