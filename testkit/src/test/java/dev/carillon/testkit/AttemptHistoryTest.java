package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.Head;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What stays of attempts and occurrences when their shards are compacted or let go. */
@Timeout(120)
class AttemptHistoryTest extends HistoryWorld {
  @ParameterizedTest
  @EnumSource
  void attemptsBeforeACompactionStayForTheirRetention(Kind kind) {
    try (var world = world(kind)) {
      Carillon carillon = world.carillon();
      carillon.handle(COMMON, (number, job) -> job.save(new byte[400_000]));
      Schedule schedule = Schedule.every(Duration.ofMinutes(1));
      JobId id = carillon.schedule(COMMON.job(1).on(schedule)).id();
      world.advance(Duration.ofMinutes(100));
      assertThat(counts.getOrDefault("shards.compacted", 0L)).isGreaterThanOrEqualTo(3);
      int occurred = occurred(carillon, id);
      assertThat(occurred).isBetween(99, 102);
      assertThat(carillon.pause(id, "enough")).isEqualTo(ControlResult.DONE);

      world.restart();
      world.advance(Duration.ofDays(6));
      assertThat(occurred(world.carillon(), id)).isEqualTo(occurred);
      world.restart();
      world.advance(Duration.ofDays(2));

      assertThat(occurred(world.carillon(), id)).isLessThan(occurred / 2);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 365})
  void retentionAlsoHoldsBesideAJobThatLives(int days) {
    try (var world = world(Kind.SQLITE)) {
      Carillon carillon = world.carillon();
      carillon.handle(
          COMMON,
          (number, job) -> {
            if (number == 2) {
              throw new IllegalStateException("no");
            }
          });
      Instant soon = world.now().plus(Duration.ofMinutes(20));
      JobId living =
          carillon
              .schedule(COMMON.job(0).on(Schedule.every(Duration.ofDays(days)).startingAt(soon)))
              .id();
      JobId succeeded = carillon.schedule(COMMON.job(1)).id();
      JobId keyed = carillon.schedule(COMMON.job(3).key("once")).id();
      JobId failed = carillon.schedule(COMMON.job(2).onFailure(FailurePolicy.drop())).id();
      assertThat(List.of(succeeded, keyed, failed))
          .allMatch(id -> id.toString().startsWith(living.toString().substring(0, 20)));

      world.advance(Duration.ofDays(7));
      assertThat(carillon.get(succeeded)).isPresent();
      assertThat(carillon.get(keyed)).isPresent();
      world.restart();
      world.carillon().handle(COMMON, (number, job) -> {});
      world.advance(Duration.ofDays(8));
      assertThat(world.carillon().get(succeeded)).isEmpty();
      assertThat(world.carillon().get(keyed)).isEmpty();
      assertThat(world.carillon().get(failed)).isPresent();
      world.advance(Duration.ofDays(15 + 8));

      assertThat(world.carillon().get(failed)).isEmpty();
      assertThat(world.carillon().get(living).orElseThrow().state()).isEqualTo(JobState.SCHEDULED);
      assertThat(world.carillon().schedule(COMMON.job(3).key("once")).created()).isTrue();
      long compactions = counts.getOrDefault("shards.compacted", 0L);
      assertThat(compactions).isBetween(2L, 6L);
    }
  }

  /** Every attempt saves more than its shard may hold, so that it is compacted, and then fails. */
  private void handleInVain(Carillon carillon) {
    carillon.handle(
        COMMON,
        (number, job) -> {
          for (int i = 0; i < 30; i++) {
            job.save(new byte[400_000]);
          }
          throw new IllegalStateException("no " + job.attempt());
        });
  }

  /** All events of a job, oldest first, read page by page. */
  private static List<JobEvent> pages(Carillon carillon, JobId id) {
    List<JobEvent> all = new ArrayList<>();
    String cursor = null;
    do {
      JobHistory page = carillon.history(id, cursor).orElseThrow();
      assertThat(page.events()).hasSizeBetween(1, Limits.HISTORY_MAX_EVENTS);
      all.addAll(0, page.events());
      cursor = page.next();
    } while (cursor != null);
    return all;
  }

  @ParameterizedTest
  @EnumSource
  void historyOfManyOccurrencesComesInPages(Kind kind) {
    try (var world = world(kind)) {
      world.carillon().handle(COMMON, (number, job) -> {});
      Schedule schedule = Schedule.every(Duration.ofSeconds(10)).times(2_500);
      JobId id = world.carillon().schedule(COMMON.job(1).on(schedule)).id();
      world.advance(Duration.ofSeconds(10).multipliedBy(1_200));
      JobHistory newest = world.carillon().history(id).orElseThrow();
      assertThat(newest.events()).hasSize(1_000);
      assertThat(newest.events().getLast().at()).isEqualTo(world.now());
      JobHistory older = world.carillon().history(id, newest.next()).orElseThrow();
      assertThat(older.events()).hasSize(201);
      assertThat(older.events().getFirst().kind()).isEqualTo(JobEvent.Kind.SCHEDULED);
      assertThat(older.next()).isNull();

      world.advance(Duration.ofSeconds(10).multipliedBy(1_300));
      assertThat(world.carillon().history(id, newest.next()))
          .as("more have come")
          .contains(new JobHistory(world.carillon().get(id).orElseThrow(), older.events(), null));
      List<JobEvent> all = pages(world.carillon(), id);
      assertThat(all).hasSize(2_502);
      assertThat(all.subList(1, 2_501))
          .extracting(JobEvent::at)
          .isEqualTo(
              LongStream.rangeClosed(1, 2_500).mapToObj(i -> START.plusSeconds(10 * i)).toList());
      world.advance(Duration.ofHours(3));
      world.restart();
      assertThat(pages(world.carillon(), id)).isEqualTo(all);
    }
  }

  @Test
  void cursorsThatNoPageGaveAreRefused() {
    try (var world = world(Kind.MEMORY)) {
      JobId id = world.carillon().schedule(COMMON.job(1)).id();
      for (String cursor : List.of("", "x", "-1", "99999999999")) {
        assertThatThrownBy(() -> world.carillon().history(id, cursor))
            .isInstanceOf(InvalidArgumentException.class)
            .hasMessage("cursor: \"" + cursor + "\" (expected: what JobHistory.next() gave)");
      }
    }
  }

  @Test
  void deadOccurrenceTellsItsAttemptsBehindThousandsOfEvents() {
    try (var world = world(Kind.MEMORY)) {
      world
          .carillon()
          .handle(
              COMMON,
              (number, job) -> {
                if (Objects.requireNonNull(job.occurrence()).number() > 1_500) {
                  throw new IllegalStateException("no " + job.attempt());
                }
              });
      Schedule schedule = Schedule.every(Duration.ofSeconds(100)).times(1_501);
      FailurePolicy policy = FailurePolicy.constant(Duration.ofSeconds(1), 2);
      world.carillon().schedule(COMMON.job(1).on(schedule).onFailure(policy));
      world.advance(Duration.ofSeconds(100).multipliedBy(1_502));
      JobId dead = world.carillon().deadLetters().list(JobQuery.all()).items().getFirst().id();
      assertThat(errors(world.carillon(), dead)).containsExactly("no 1", "no 2", "no 3");
    }
  }

  private static List<String> errors(Carillon carillon, JobId id) {
    return carillon.history(id).orElseThrow().events().stream()
        .map(JobEvent::error)
        .filter(Objects::nonNull)
        .map(JobError::message)
        .toList();
  }

  @ParameterizedTest
  @EnumSource
  void deadLetterTellsEveryAttemptAlsoOfGenerationsThatAreGone(Kind kind) {
    try (var world = world(kind)) {
      handleInVain(world.carillon());
      FailurePolicy policy = FailurePolicy.constant(Duration.ofDays(5), 3);
      JobId id = world.carillon().schedule(COMMON.job(1).onFailure(policy)).id();
      world.advance(Duration.ofDays(6));
      assertThat(errors(world.carillon(), id)).containsExactly("no 1", "no 2");
      assertThat(counts.getOrDefault("shards.compacted", 0L)).isPositive();
      world.advance(Duration.ofDays(7));
      world.restart();
      handleInVain(world.carillon());
      assertThat(errors(world.carillon(), id)).containsExactly("no 1", "no 2", "no 3");
      assertThat(world.carillon().history(id).orElseThrow().events().getFirst().kind())
          .isEqualTo(JobEvent.Kind.RETRIED); // how it was scheduled went with its generation

      world.advance(Duration.ofDays(3));

      assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.DEAD);
      assertThat(errors(world.carillon(), id)).containsExactly("no 1", "no 2", "no 3", "no 4");
      world.advance(Duration.ofDays(40));
      assertThat(errors(world.carillon(), id)).containsExactly("no 1", "no 2", "no 3", "no 4");
    }
  }

  @ParameterizedTest
  @EnumSource
  void deadOccurrenceTellsEveryAttemptAlsoOfGenerationsThatAreGone(Kind kind) {
    try (var world = world(kind)) {
      handleInVain(world.carillon());
      FailurePolicy policy = FailurePolicy.constant(Duration.ofDays(5), 3);
      Schedule schedule = Schedule.every(Duration.ofDays(60));
      world.carillon().schedule(COMMON.job(1).on(schedule).onFailure(policy));

      world.advance(Duration.ofDays(76));

      assertThat(counts.getOrDefault("shards.compacted", 0L)).isGreaterThanOrEqualTo(3);
      for (int i = 0; i < 2; i++) {
        JobInfo dead = world.carillon().deadLetters().list(JobQuery.all()).items().getFirst();
        assertThat(errors(world.carillon(), dead.id()))
            .containsExactly("no 1", "no 2", "no 3", "no 4");
        world.advance(Duration.ofDays(10));
        world.restart();
      }
    }
  }

  private static int occurred(Carillon carillon, JobId id) {
    return (int)
        carillon.history(id).orElseThrow().events().stream()
            .filter(event -> event.kind() == JobEvent.Kind.OCCURRED)
            .count();
  }

  @Test
  void whatARecurringJobLeavesBehindTakesNoMoreThanItsBytes() {
    TaskType<Integer> saver = TaskType.of("saver", Integer.class);
    try (var world = world(Kind.MEMORY, 20L << 20)) {
      TaskHandler<Integer> handler =
          (input, job) -> {
            job.save("x".repeat(400_000));
            if (input == 1) {
              throw new NotRetryableException("no");
            }
          };
      world.carillon().handle(saver, handler);
      world.carillon().schedule(saver.job(0).on(Schedule.every(Duration.ofMinutes(5))));
      JobId dead = world.carillon().schedule(saver.job(1)).id();
      for (int i = 0; i < 4; i++) {
        world.advance(Duration.ofHours(6));
        assertThat(journalBytes()).isBetween(5L << 20, 60L << 20);
      }
      assertThat(world.carillon().get(dead)).map(JobInfo::state).contains(JobState.DEAD);
    }
  }

  /** What all generations that are there take. */
  private long journalBytes() {
    long bytes = 0;
    for (Head head : memory.journals().listById(null, 1000).orThrow()) {
      for (int i = head.oldestGeneration(); i <= head.generation(); i++) {
        var read = memory.journals().read(head.shard(), i, 1, Integer.MAX_VALUE).orThrow();
        bytes += read.entries().stream().mapToLong(entry -> entry.data().length).sum();
      }
    }
    return bytes;
  }
}
