package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.InvalidArgumentException;
import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.Metrics;
import dev.carillon.api.NotRetryableException;
import dev.carillon.api.Page;
import dev.carillon.api.Schedule;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ended jobs, in shards that are packed, are not, or grew since. */
@Timeout(120)
class HistoryTest {
  private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
  private static final TaskType<Integer> COMMON = TaskType.of("common", Integer.class);
  private static final TaskType<Integer> RARE = TaskType.of("rare", Integer.class);
  private static final int JOBS = 1_200;
  private static final Duration APART = Duration.ofSeconds(12);

  @TempDir Path folder;

  private final MemoryStore memory = new MemoryStore();
  private final Map<String, Long> counts = new ConcurrentHashMap<>();

  enum Kind {
    MEMORY,
    SQLITE
  }

  private CarillonTest world(Kind kind) {
    return world(kind, 0);
  }

  private CarillonTest world(Kind kind, long historyBytes) {
    Metrics metrics = new Counting(counts);
    return CarillonTest.at(
        START,
        () -> open(kind),
        options ->
            options
                .advanced(
                    a ->
                        a.loadHorizon(Duration.ofMinutes(10))
                            .historyBytes(historyBytes)
                            .indexMetadata("order"))
                .metrics(metrics));
  }

  private Store open(Kind kind) {
    return kind == Kind.MEMORY ? memory : SqliteStore.open(folder.resolve("jobs.db"));
  }

  private record Counting(Map<String, Long> counts) implements Metrics {
    @Override
    public void count(String name, long delta) {
      counts.merge(name, delta, Long::sum);
    }

    @Override
    public void time(String name, long nanos) {}

    @Override
    public void gauge(String name, long value) {}
  }

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
