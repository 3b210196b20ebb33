package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.carillon.api.ControlResult;
import dev.carillon.api.DeadLetterGroup;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Jobs that were given up: how they are kept, seen, tried again and let go. */
class DeadLetterTest {
  private static final TaskType<String> SEND = TaskType.of("send", String.class);
  private static final TaskType<Integer> COUNT = TaskType.of("count", Integer.class);
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final FailurePolicy ONCE = FailurePolicy.constant(Duration.ofSeconds(1), 0);

  private final Store store = new MemoryStore();
  private final CarillonTest world =
      CarillonTest.at(
          START,
          () -> store,
          options ->
              options
                  .retention(Duration.ofDays(1), Duration.ofDays(2))
                  .advanced(
                      a ->
                          a.loadHorizon(Duration.ofHours(8)) // retention is looked after as often
                              .deadLetterRetention(Duration.ofDays(10))));
  private final List<String> sent = new CopyOnWriteArrayList<>();
  private volatile boolean broken = true;

  @AfterEach
  void close() {
    world.close();
  }

  private void handle() {
    world
        .carillon()
        .handle(
            SEND,
            (text, job) -> {
              if (broken) {
                throw new IllegalStateException("no route to host " + text);
              }
              sent.add(text);
            });
  }

  private JobId dead(String text) {
    JobId id =
        world
            .carillon()
            .schedule(SEND.job(text).named(text).key(text).meta("to", text).onFailure(ONCE))
            .id();
    world.settle();
    return id;
  }

  private List<JobInfo> deadLetters() {
    return world.carillon().deadLetters().list(JobQuery.all()).items();
  }

  @Test
  void deadLetterIsReplayedAsItWasWithItsHistory() {
    handle();
    JobId id = dead("a");
    assertThat(deadLetters()).extracting(JobInfo::id).containsExactly(id);
    broken = false;
    world.restart();
    handle();

    assertThat(world.carillon().deadLetters().replay(id)).isEqualTo(ControlResult.DONE);
    world.settle();

    assertThat(sent).containsExactly("a");
    JobHistory history = world.carillon().history(id).orElseThrow();
    assertThat(history.job().state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(history.job().metadata()).containsEntry("to", "a");
    assertThat(history.events())
        .extracting(JobEvent::kind)
        .containsExactly(
            JobEvent.Kind.SCHEDULED,
            JobEvent.Kind.DEAD,
            JobEvent.Kind.REPLAYED,
            JobEvent.Kind.SUCCEEDED);
    assertThat(deadLetters()).isEmpty();
    assertThat(world.carillon().deadLetters().replay(id)).isEqualTo(ControlResult.NOT_DEAD);
  }

  @Test
  void everyFailedAttemptNamesItsErrorAndItsNode() {
    try (CarillonTest other =
        CarillonTest.at(Instant.parse("2026-03-01T00:00:00Z"), options -> options.nodeId("left"))) {
      int[] failures = {0};
      other
          .carillon()
          .handle(
              SEND,
              (text, job) -> {
                throw new IllegalStateException("no " + ++failures[0]);
              });
      JobId id =
          other
              .carillon()
              .schedule(SEND.job("a").onFailure(FailurePolicy.constant(Duration.ofSeconds(10), 2)))
              .id();
      other.advance(Duration.ofMinutes(1));
      assertThat(other.carillon().history(id).orElseThrow().events())
          .extracting(JobEvent::error)
          .filteredOn(error -> error != null)
          .extracting(JobError::message, JobError::node)
          .containsExactly(tuple("no 1", "left"), tuple("no 2", "left"), tuple("no 3", "left"));
    }
  }

  @Test
  void replayTakesAnotherInputOfTheSameType() {
    handle();
    JobId id = dead("a");
    broken = false;
    assertThat(world.carillon().deadLetters().replay(id, COUNT.job(7)))
        .isEqualTo(ControlResult.OTHER_TYPE);
    assertThat(world.carillon().deadLetters().replay(id, SEND.job("b")))
        .isEqualTo(ControlResult.DONE);
    world.settle();
    assertThat(sent).containsExactly("b");
  }

  @Test
  void replayThatFailsIsADeadLetterAgain() {
    handle();
    JobId id = dead("a");
    assertThat(world.carillon().deadLetters().replay(id)).isEqualTo(ControlResult.DONE);
    world.settle();
    assertThat(deadLetters()).extracting(JobInfo::id).containsExactly(id);
    assertThat(world.carillon().history(id).orElseThrow().events())
        .filteredOn(event -> event.kind() == JobEvent.Kind.DEAD)
        .hasSize(2);
  }

  @Test
  void allAreReplayedOrDiscardedByQuery() {
    handle();
    for (int i = 0; i < 250; i++) {
      dead("job " + i);
    }
    JobQuery some = JobQuery.all().namePrefix("job 1").limit(10);
    assertThat(world.carillon().deadLetters().discardAll(some)).isEqualTo(111);
    assertThat(world.carillon().deadLetters().discardAll(some)).isZero();
    broken = false;
    assertThat(world.carillon().deadLetters().replayAll(JobQuery.all())).isEqualTo(139);
    world.settle();
    assertThat(sent).hasSize(139);
    assertThat(deadLetters()).isEmpty();
  }

  @Test
  void discardedOneIsNotFoundAnyMoreAlsoAfterARestart() {
    handle();
    JobId id = dead("a");
    JobId other = dead("b");
    assertThat(world.carillon().deadLetters().discard(id)).isEqualTo(ControlResult.DONE);
    assertThat(world.carillon().deadLetters().discard(id)).isEqualTo(ControlResult.NOT_FOUND);
    world.restart();
    assertThat(world.carillon().get(id)).isEmpty();
    assertThat(deadLetters()).extracting(JobInfo::id).containsExactly(other);
    assertThat(world.carillon().deadLetters().discard(new JobId("jx")))
        .isEqualTo(ControlResult.NOT_FOUND);
  }

  @Test
  void lettersThatFailedAlikeAreOneGroup() {
    handle();
    for (int i = 0; i < 3; i++) {
      dead(Integer.toString(i));
    }
    world
        .carillon()
        .handle(
            COUNT,
            (number, job) -> {
              throw new UnsupportedOperationException("counting");
            });
    world.carillon().schedule(COUNT.job(1).onFailure(ONCE));
    world.settle();

    List<DeadLetterGroup> groups = world.carillon().deadLetters().groups(JobQuery.all());

    assertThat(groups).extracting(DeadLetterGroup::count).containsExactly(3L, 1L);
    assertThat(groups.getFirst().fingerprint())
        .startsWith("java.lang.IllegalStateException: no route to host #");
    assertThat(groups.getFirst().type()).isEqualTo("send");
  }

  @Test
  void deadLetterOutlivesSuccessesAndFailuresAndThenGoes() {
    handle();
    JobId id = dead("a");
    JobId other = dead("b");
    world.advance(Duration.ofDays(5));
    world.restart();
    handle();
    assertThat(deadLetters()).extracting(JobInfo::id).containsExactly(id, other);
    broken = false;
    assertThat(world.carillon().deadLetters().replay(id)).isEqualTo(ControlResult.DONE);
    world.settle();
    assertThat(sent).containsExactly("a");
    world.advance(Duration.ofDays(4));
    assertThat(world.carillon().get(id)).as("a success of four days ago").isEmpty();
    assertThat(deadLetters()).extracting(JobInfo::id).containsExactly(other);
    world.advance(Duration.ofDays(10));
    assertThat(deadLetters()).isEmpty();
  }

  @Test
  void deadLetterPastItsRetentionIsGoneForEverybodyBesideAJobThatLivesOn() {
    handle();
    JobId recurring =
        world.carillon().schedule(COUNT.job(1).on(Schedule.every(Duration.ofHours(1)))).id();
    JobId bad = dead("b1");
    world.advance(Duration.ofDays(9));
    assertThat(deadLetters()).extracting(JobInfo::id).containsExactly(bad);
    world.advance(Duration.ofHours(25));

    assertGone(bad);
    for (int day = 0; day < 5; day++) {
      world.advance(Duration.ofDays(1)); // meanwhile it leaves the shard's current generation
      assertGone(bad);
    }
    assertThat(world.carillon().get(recurring)).isPresent();
  }

  private void assertGone(JobId id) {
    assertThat(deadLetters()).isEmpty();
    assertThat(world.carillon().list(JobQuery.all().newestFirst().states(JobState.DEAD)).items())
        .isEmpty();
    assertThat(world.carillon().get(id)).isEmpty();
    assertThat(world.carillon().history(id)).isEmpty();
    assertThat(world.carillon().deadLetters().replayAll(JobQuery.all())).isZero();
  }

  @Test
  void deadLetterThatLeftItsShardIsNotFoundByReplayAndDiscard() {
    handle();
    world.carillon().schedule(COUNT.job(1).on(Schedule.every(Duration.ofHours(1))));
    JobId bad = dead("b1");
    world.advance(Duration.ofDays(15));

    assertThat(world.carillon().deadLetters().replay(bad)).isEqualTo(ControlResult.NOT_FOUND);
    assertThat(world.carillon().deadLetters().discard(bad)).isEqualTo(ControlResult.NOT_FOUND);
  }

  @Test
  void deadOccurrenceIsReplayedBesideItsSchedule() {
    handle();
    JobId schedule =
        world
            .carillon()
            .schedule(
                SEND.job("tick").on(Schedule.every(Duration.ofHours(1)).times(30)).onFailure(ONCE))
            .id();
    world.advance(Duration.ofHours(1));
    JobId id = deadLetters().getFirst().id();
    assertThat(id).isNotEqualTo(schedule);
    broken = false;
    assertThat(world.carillon().deadLetters().replay(id)).isEqualTo(ControlResult.DONE);
    world.settle();
    assertThat(sent).containsExactly("tick");
    world.advance(Duration.ofHours(40));
    assertThat(sent).hasSize(30);
    assertThat(deadLetters()).isEmpty();
  }
}
