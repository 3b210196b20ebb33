package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.Job;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.NotRetryableException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ended jobs, in shards that are packed, are not, or grew since. */
@Timeout(120)
class HistoryTest extends HistoryWorld {
  private static final TaskType<Integer> RARE = TaskType.of("rare", Integer.class);
  private static final int JOBS = 1_200;
  private static final Duration APART = Duration.ofSeconds(12);

  private long packed() {
    return counts.getOrDefault("shards.packed", 0L);
  }

  /** Every fiftieth is dead, every hundredth of a rare type; the last are in an open shard. */
  private static List<JobId> fill(CarillonTest world) {
    handle(world.carillon());
    List<JobId> ids = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      Instant due = START.plus(APART.multipliedBy(i));
      TaskType<Integer> type = i % 100 == 3 ? RARE : COMMON;
      String namespace = i % 10 == 4 ? "acme" : "default";
      Job<Void> job =
          type.job(i)
              .at(due)
              .namespace(namespace)
              .meta("order", "order " + i / 2)
              .meta("region", i % 3 == 0 ? "eu" : "us");
      ids.add(world.carillon().schedule(job).id());
    }
    world.advance(APART.multipliedBy(JOBS).plusMinutes(1));
    return ids;
  }

  private static void handle(Carillon carillon) {
    carillon.handle(RARE, (number, job) -> {});
    carillon.handle(
        COMMON,
        (number, job) -> {
          if (number % 50 == 7) {
            throw new NotRetryableException("no " + number);
          }
        });
  }

  private static List<JobInfo> all(Carillon carillon, JobQuery query) {
    List<JobInfo> found = new ArrayList<>();
    String cursor = null;
    do {
      Page<JobInfo> page = carillon.list(query.cursor(cursor));
      found.addAll(page.items());
      cursor = page.next();
    } while (cursor != null);
    return found;
  }

  /** What a query must give: the same jobs as any list, by their end. */
  private static void check(Carillon carillon, JobQuery query, Predicate<JobInfo> condition) {
    List<JobId> expected =
        all(carillon, JobQuery.all().limit(1000)).stream()
            .filter(info -> info.state().ended() && condition.test(info))
            .sorted(
                Comparator.comparing(HistoryTest::ended)
                    .thenComparing(info -> info.id().value())
                    .reversed())
            .map(JobInfo::id)
            .toList();
    for (int limit : List.of(7, 50, 1000)) {
      assertThat(all(carillon, query.newestFirst().limit(limit)).stream().map(JobInfo::id))
          .isEqualTo(expected)
          .isNotEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void jobsAreFoundByTheirMetadataWhetherItIsIndexedOrNot(Kind kind) {
    try (var world = world(kind)) {
      List<JobId> ids = fill(world);
      for (int i : List.of(0, 8, JOBS - 2)) {
        JobQuery one = JobQuery.all().meta("order", "order " + i / 2);
        assertThat(all(world.carillon(), one).stream().map(JobInfo::id))
            .containsExactlyInAnyOrder(ids.get(i), ids.get(i + 1));
        check(
            world.carillon(), one, info -> ("order " + i / 2).equals(info.metadata().get("order")));
      }
      JobQuery both = JobQuery.all().meta("region", "eu").meta("order", "order 3");
      assertThat(all(world.carillon(), both).stream().map(JobInfo::id)).containsExactly(ids.get(6));
      check(
          world.carillon(),
          JobQuery.all().meta("region", "eu"),
          info -> "eu".equals(info.metadata().get("region")));
      assertThat(all(world.carillon(), JobQuery.all().meta("order", "none"))).isEmpty();
      assertThat(all(world.carillon(), JobQuery.all().meta("orders", "order 3"))).isEmpty();
    }
    assertThat(packed()).isPositive();
  }

  @ParameterizedTest
  @EnumSource
  void newestComeFirstByEveryCondition(Kind kind) {
    try (var world = world(kind)) {
      fill(world);
      assertThat(packed()).isGreaterThanOrEqualTo(3);
      checkAll(world.carillon());
      world.restart();
      checkAll(world.carillon());
    }
  }

  private static void checkAll(Carillon carillon) {
    JobQuery all = JobQuery.all();
    Instant from = START.plus(Duration.ofMinutes(70));
    Instant to = START.plus(Duration.ofMinutes(190));
    check(carillon, all, info -> true);
    check(carillon, all.type("rare"), info -> info.type().equals("rare"));
    check(carillon, all.states(JobState.DEAD), info -> info.state() == JobState.DEAD);
    check(carillon, all.namespace("acme"), info -> info.namespace().equals("acme"));
    check(
        carillon,
        all.endedFrom(from).endedTo(to),
        info -> !ended(info).isBefore(from) && ended(info).isBefore(to));
    check(carillon, all.dueFrom(from), info -> !info.dueAt().isBefore(from));
    assertThat(carillon.list(all.newestFirst().type("none")).items()).isEmpty();
    assertThat(carillon.list(all.newestFirst().states(JobState.SCHEDULED)).items()).isEmpty();
    assertThat(all(carillon, all.type("rare").limit(3))).hasSize(JOBS / 100);
    assertThat(all(carillon, all.type("none"))).isEmpty();
  }

  private static Instant ended(JobInfo info) {
    Instant at = info.endedAt();
    return at == null ? Instant.MAX : at;
  }

  @ParameterizedTest
  @EnumSource
  void jobsOfPackedShardsAreFoundReplayedAndDiscarded(Kind kind) {
    try (var world = world(kind)) {
      List<JobId> ids = fill(world);
      Carillon carillon = world.carillon();
      for (int i = 0; i < JOBS; i += 37) {
        boolean dead = i % 50 == 7;
        assertThat(carillon.get(ids.get(i)).orElseThrow().state())
            .isEqualTo(dead ? JobState.DEAD : JobState.SUCCEEDED);
        assertThat(carillon.history(ids.get(i)).orElseThrow().events())
            .extracting(JobEvent::kind)
            .containsExactly(
                JobEvent.Kind.SCHEDULED, dead ? JobEvent.Kind.DEAD : JobEvent.Kind.SUCCEEDED);
        assertThat(carillon.cancel(ids.get(i), "late")).isInstanceOf(CancelResult.Ended.class);
      }

      assertThat(carillon.deadLetters().replay(ids.get(7), COMMON.job(1)))
          .isEqualTo(ControlResult.DONE);
      assertThat(carillon.deadLetters().discard(ids.get(57))).isEqualTo(ControlResult.DONE);
      world.settle();

      assertThat(carillon.list(JobQuery.all().newestFirst().limit(1)).items())
          .extracting(JobInfo::id)
          .containsExactly(ids.get(7));
      assertThat(carillon.get(ids.get(57))).isEmpty();
      checkAll(carillon);
      world.advance(Duration.ofHours(3));
      world.restart();
      handle(world.carillon());
      checkAll(world.carillon());
    }
  }

  @ParameterizedTest
  @EnumSource
  void deadLettersOfPackedShardsStayWhenTheirRetentionIsOver(Kind kind) {
    try (var world = world(kind)) {
      List<JobId> ids = fill(world);

      world.advance(Duration.ofDays(8));

      Carillon carillon = world.carillon();
      assertThat(all(carillon, JobQuery.all().newestFirst()))
          .hasSize(JOBS / 50)
          .allMatch(info -> info.state() == JobState.DEAD);
      assertThat(carillon.get(ids.get(0))).isEmpty();
      assertThat(carillon.history(ids.get(7)).orElseThrow().events()).hasSize(2);
    }
  }

  @ParameterizedTest
  @EnumSource
  void oldestSuccessesGoFirstWhereThereIsNoRoomAndDeadLettersStay(Kind kind) {
    try (var world = world(kind, 50_000)) {
      List<JobId> ids = fill(world);

      world.advance(Duration.ofHours(2));

      Carillon carillon = world.carillon();
      List<JobInfo> kept = all(carillon, JobQuery.all().newestFirst().states(JobState.SUCCEEDED));
      assertThat(kept).hasSizeBetween(JOBS / 10, JOBS / 2);
      assertThat(kept.getFirst().id()).isEqualTo(ids.getLast());
      assertThat(carillon.get(ids.getFirst())).isEmpty();
      assertThat(all(carillon, JobQuery.all().states(JobState.DEAD))).hasSize(JOBS / 50);
      assertThat(carillon.get(ids.get(7)).orElseThrow().state()).isEqualTo(JobState.DEAD);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shorterRetentionIsKeptToAfterARestart(Kind kind) {
    AtomicReference<Duration> retention = new AtomicReference<>(Duration.ofDays(7));
    try (var world =
        CarillonTest.at(
            START,
            () -> open(kind),
            options ->
                options
                    .advanced(a -> a.loadHorizon(Duration.ofMinutes(10)))
                    .retention(retention.get(), Duration.ofDays(30)))) {
      List<JobId> ids = fill(world);
      world.advance(Duration.ofHours(2));
      assertThat(world.carillon().get(ids.getFirst())).isPresent();

      retention.set(Duration.ofHours(1));
      world.restart();
      world.settle();

      JobQuery successes = JobQuery.all().states(JobState.SUCCEEDED);
      assertThat(all(world.carillon(), successes.newestFirst())).isEmpty();
      assertThat(all(world.carillon(), successes)).isEmpty();
      assertThat(world.carillon().get(ids.getFirst())).isEmpty();
      assertThat(all(world.carillon(), JobQuery.all())).hasSize(JOBS / 50);
    }
  }

  @ParameterizedTest
  @EnumSource
  void keysThatStillCountAreNotTakenByTheLimitOfBytes(Kind kind) {
    try (var world = world(kind, 1)) {
      Carillon carillon = world.carillon();
      handle(carillon);
      JobId keyed = carillon.schedule(COMMON.job(1).key("k")).id();
      JobId other = carillon.schedule(COMMON.job(1).in(Duration.ofHours(1))).id();

      world.advance(Duration.ofHours(20));

      assertThat(carillon.schedule(COMMON.job(1).key("k")).id()).isEqualTo(keyed);
      assertThat(carillon.get(other)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void sleepingJobsOfPackedShardsAreCancelledAndRun(Kind kind) {
    try (var world = world(kind)) {
      Carillon carillon = world.carillon();
      handle(carillon);
      List<JobId> ids = new ArrayList<>();
      Instant due = START.plus(Duration.ofDays(3));
      for (int i = 0; i < JOBS; i++) {
        ids.add(carillon.schedule(COMMON.job(1).at(due.plus(APART.multipliedBy(i % 100)))).id());
      }
      world.advance(Duration.ofDays(1));
      assertThat(carillon.cancel(ids.get(5), "not needed")).isEqualTo(new CancelResult.Cancelled());
      assertThat(carillon.get(ids.get(5)).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
      assertThat(carillon.get(ids.get(6)).orElseThrow().state()).isEqualTo(JobState.SCHEDULED);
      check(carillon, JobQuery.all(), info -> true);

      world.advance(Duration.ofDays(4));

      assertThat(packed()).isPositive();
      check(carillon, JobQuery.all().states(JobState.SUCCEEDED), i -> i.attempt() == 1);
      assertThat(carillon.get(ids.get(5)).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
      assertThat(carillon.get(ids.get(6)).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void jobsThatEndedInAShardThatSleepsAgainAreListed(Kind kind) {
    try (var world = world(kind)) {
      Carillon carillon = world.carillon();
      handle(carillon);
      Instant near = START.plus(Duration.ofMinutes(90));
      JobId early = carillon.schedule(COMMON.job(1).at(near)).id();
      JobId moved = carillon.schedule(COMMON.job(1).at(near.plusSeconds(1))).id();
      assertThat(carillon.reschedule(moved, START.plus(Duration.ofDays(5))))
          .isEqualTo(ControlResult.DONE);

      world.advance(Duration.ofDays(1));

      assertThat(all(carillon, JobQuery.all().newestFirst()))
          .extracting(JobInfo::id)
          .containsExactly(early);
      assertThat(carillon.node().stats().loadedJobs()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void cursorOfAnotherOrderIsRefused(Kind kind) {
    try (var world = world(kind)) {
      JobQuery query = JobQuery.all().newestFirst();
      for (String cursor : List.of("", "e", "e-", "1-0000", "e1-0000000000000000000000000000")) {
        assertThatExceptionOfType(InvalidArgumentException.class)
            .isThrownBy(() -> world.carillon().list(query.cursor(cursor)))
            .withMessageContaining("cursor");
      }
    }
  }
}
