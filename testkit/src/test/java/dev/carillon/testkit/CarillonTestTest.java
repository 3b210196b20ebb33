package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class CarillonTestTest {
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);

  private final List<String> notes = new CopyOnWriteArrayList<>();

  @Test
  void jobRunsWhenTheClockReachesItAndNotBefore() {
    try (var world = CarillonTest.at("2026-03-29T00:00:00Z")) {
      world.carillon().handle(NOTE, (text, job) -> notes.add(text));
      world.carillon().schedule(NOTE.job("later").in(Duration.ofDays(3)));

      world.advance(Duration.ofDays(3).minusNanos(1_000));
      assertThat(notes).isEmpty();

      world.advance(Duration.ofNanos(1_000));
      assertThat(notes).containsExactly("later");
      assertThat(world.now()).isEqualTo(Instant.parse("2026-04-01T00:00:00Z"));
    }
  }

  @Test
  void jobsRunInTheOrderOfTheirDueTimesHoweverFarTheClockGoes() {
    try (var world = CarillonTest.at("2026-03-29T00:00:00Z")) {
      world.carillon().handle(NOTE, (text, job) -> notes.add(text + " at " + world.now()));
      world.carillon().schedule(NOTE.job("third").in(Duration.ofDays(400)));
      world.carillon().schedule(NOTE.job("first").in(Duration.ofSeconds(1)));
      world.carillon().schedule(NOTE.job("second").in(Duration.ofDays(30)));

      world.advanceTo(Instant.parse("2030-01-01T00:00:00Z"));

      assertThat(notes)
          .containsExactly(
              "first at 2026-03-29T00:00:01Z",
              "second at 2026-04-28T00:00:00Z",
              "third at 2027-05-03T00:00:00Z");
    }
  }

  @Test
  void whatAHandlerSchedulesRunsInTheSameAdvance() {
    try (var world = CarillonTest.at("2026-03-29T00:00:00Z")) {
      world
          .carillon()
          .handle(
              NOTE,
              (text, job) -> {
                notes.add(text);
                if (text.length() < 4) {
                  world.carillon().schedule(NOTE.job(text + "x").in(Duration.ofHours(1)));
                }
              });
      world.carillon().schedule(NOTE.job("x"));

      world.advance(Duration.ofHours(2));

      assertThat(notes).containsExactly("x", "xx", "xxx");
    }
  }

  @Test
  void failingJobIsRetriedUntilItIsDead() {
    try (var world = CarillonTest.at("2026-03-29T00:00:00Z")) {
      world
          .carillon()
          .handle(
              NOTE,
              (text, job) -> {
                notes.add(text + job.attempt());
                throw new IllegalStateException("no " + job.attempt());
              });
      FailurePolicy policy = FailurePolicy.exponential().maxRetries(4);
      JobHandle<Void> job = world.carillon().schedule(NOTE.job("try").onFailure(policy));

      world.advance(Duration.ofHours(1));

      assertThat(notes).containsExactly("try1", "try2", "try3", "try4", "try5");
      assertThat(job.info().state()).isEqualTo(JobState.DEAD);
      assertThat(job.info().lastError().message()).isEqualTo("no 5");
    }
  }

  @Test
  void restartKeepsWhatWasScheduled() {
    try (var world = CarillonTest.at("2026-03-29T00:00:00Z")) {
      world.carillon().schedule(NOTE.job("kept").in(Duration.ofDays(1)));
      world.restart();
      world.carillon().handle(NOTE, (text, job) -> notes.add(text));

      world.advance(Duration.ofDays(1));

      assertThat(notes).containsExactly("kept");
    }
  }

  @Test
  void timeDoesNotGoBack() {
    try (var world = CarillonTest.at("2026-03-29T00:00:00Z")) {
      assertThatThrownBy(() -> world.advanceTo(Instant.parse("2026-03-28T00:00:00Z")))
          .isInstanceOf(InvalidArgumentException.class);
    }
  }
}
