package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.Requester;
import dev.carillon.api.InvalidJobException;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.Schedule;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A job's history tells who asked for a pause, a cancel or a change. */
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
  void nameThatSaysNothingIsRefused() {
    assertThatThrownBy(() -> world.carillon().as(" "))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("who: \" \" (expected: a name)");
  }
}
