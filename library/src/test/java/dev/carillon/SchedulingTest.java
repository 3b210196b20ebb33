package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static dev.carillon.Types.PING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.BlockReason;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.BatchTooLargeException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.JobTimeoutException;
import dev.carillon.api.error.NameTakenException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class SchedulingTest {
  @TempDir Path folder;

  private final BlockingQueue<String> notes = new LinkedBlockingQueue<>();

  private String nextNote() throws InterruptedException {
    return notes.poll(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @EnumSource
  void jobRunsAndGivesItsResult(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(LENGTH, (text, job) -> text.length());

      assertThat(carillon.schedule(LENGTH.job("four")).result(LONG)).isEqualTo(4);
      assertThat(carillon.scheduleAsync(LENGTH.job("async")).get().result(LONG)).isEqualTo(5);
      assertThat(carillon.schedule(LENGTH.job("later")).resultAsync().get(20, TimeUnit.SECONDS))
          .isEqualTo(5);
    }
  }

  @ParameterizedTest
  @EnumSource
  void jobDoesNotStartBeforeItsTime(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      BlockingQueue<Instant> starts = new LinkedBlockingQueue<>();
      carillon.handle(NOTE, (text, job) -> starts.add(Instant.now()));
      Instant due = Instant.now().plusMillis(300);

      carillon.schedule(NOTE.job("x").at(due));

      assertThat(starts.poll(LONG.toSeconds(), TimeUnit.SECONDS)).isAfterOrEqualTo(due);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatWasScheduledRunsAfterARestart(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    JobHandle<Void> handle;
    try (Carillon carillon = place.open()) {
      handle = carillon.schedule(NOTE.job("kept").meta("who", "me").in(Duration.ofMillis(1)));
    }
    try (Carillon carillon = place.open()) {
      carillon.handle(NOTE, (text, job) -> notes.add(text + " by " + job.metadata().get("who")));

      assertThat(nextNote()).isEqualTo("kept by me");
      carillon.result(handle.id(), TaskTypeResult.NONE, LONG);
      assertThat(carillon.get(handle.id()).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }
    try (Carillon carillon = place.open()) {
      JobInfo info = carillon.get(handle.id()).orElseThrow();
      assertThat(info.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(info.attempt()).isEqualTo(1);
      assertThat(carillon.list(JobQuery.all()).items()).containsExactly(info);
    }
  }

  @ParameterizedTest
  @EnumSource
  void jobWithoutHandlerWaitsAndGoesWhenThereIsOne(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      JobHandle<Integer> handle = carillon.schedule(LENGTH.job("abc"));

      Awaitility.await()
          .untilAsserted(
              () -> assertThat(handle.info().blockReason()).isEqualTo(BlockReason.NO_HANDLER));
      assertThat(handle.info().attempt()).isZero();
      assertThatThrownBy(() -> handle.result(Duration.ofMillis(10)))
          .isInstanceOf(JobTimeoutException.class);

      carillon.handle(LENGTH, (text, job) -> text.length());
      assertThat(handle.result(LONG)).isEqualTo(3);
    }
  }

  @ParameterizedTest
  @EnumSource
  void taskWithoutInputRuns(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(PING, (nothing, job) -> notes.add("pong"));

      JobHandle<Void> handle = carillon.schedule(PING.job(null));

      assertThat(nextNote()).isEqualTo("pong");
      assertThat(handle.result(LONG)).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void bytesAreKeptAsTheyAre(Place.Kind kind) throws Exception {
    TaskType<byte[]> raw = TaskType.of("raw", byte[].class);
    try (Carillon carillon = new Place(kind, folder).open()) {
      BlockingQueue<byte[]> seen = new LinkedBlockingQueue<>();
      carillon.handle(raw, (bytes, job) -> seen.add(bytes));

      carillon.schedule(raw.job(new byte[] {0, 1, 2, -1}));

      assertThat(seen.poll(LONG.toSeconds(), TimeUnit.SECONDS)).containsExactly(0, 1, 2, -1);
    }
  }

  // ---- names and keys

  @ParameterizedTest
  @EnumSource
  void takenNameIsRefusedKeptOrReplaced(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Job<Void> job = NOTE.job("first").named("report").in(Duration.ofHours(1));
      JobHandle<Void> first = carillon.schedule(job);
      assertThat(first.created()).isTrue();

      assertThatThrownBy(() -> carillon.schedule(job))
          .isInstanceOfSatisfying(
              NameTakenException.class,
              e -> {
                assertThat(e.name()).isEqualTo("report");
                assertThat(e.existing()).isEqualTo(first.id());
              });

      JobHandle<Void> kept = carillon.schedule(job.ifExists(IfExists.KEEP));
      assertThat(kept.created()).isFalse();
      assertThat(kept.id()).isEqualTo(first.id());

      carillon.handle(NOTE, (text, context) -> notes.add(text));
      JobHandle<Void> replaced =
          carillon.schedule(NOTE.job("second").named("report").ifExists(IfExists.REPLACE));
      assertThat(replaced.id()).isEqualTo(first.id());
      assertThat(replaced.created()).isFalse();
      assertThat(nextNote()).isEqualTo("second");
      replaced.result(LONG);

      JobHandle<Void> again = carillon.schedule(NOTE.job("third").named("report"));
      assertThat(again.created()).isTrue();
      assertThat(again.id()).isNotEqualTo(first.id());
      assertThat(nextNote()).isEqualTo("third");
    }
  }

  @ParameterizedTest
  @EnumSource
  void nameIsPerNamespaceAndSurvivesARestart(Place.Kind kind) {
    Place place = new Place(kind, folder);
    Job<Void> job = NOTE.job("x").named("once").in(Duration.ofHours(1));
    try (Carillon carillon = place.open()) {
      carillon.schedule(job);
      assertThat(carillon.schedule(job.namespace("other")).created()).isTrue();
    }
    try (Carillon carillon = place.open()) {
      assertThatThrownBy(() -> carillon.schedule(job)).isInstanceOf(NameTakenException.class);
      assertThatThrownBy(() -> carillon.schedule(job.namespace("other")))
          .isInstanceOf(NameTakenException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void keyGivesTheSameJobAlsoAfterItsEnd(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(NOTE, (text, job) -> notes.add(text));

      JobHandle<Void> first = carillon.schedule(NOTE.job("once").key("request-1"));
      first.result(LONG);
      JobHandle<Void> again = carillon.schedule(NOTE.job("twice").key("request-1"));

      assertThat(again.created()).isFalse();
      assertThat(again.id()).isEqualTo(first.id());
      assertThat(again.result(LONG)).isNull();
      assertThat(notes).containsExactly("once");
    }
  }

  @ParameterizedTest
  @EnumSource
  void keyOfAReplaceIsFoundAgain(Place.Kind kind) throws Exception {
    Gate gate = new Gate();
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            notes.add(text);
            gate.pass();
          });
      carillon.schedule(NOTE.job("never").named("n").key("k1").in(Duration.ofHours(1)));
      Job<Void> replacing = NOTE.job("replaced").named("n").key("k2").ifExists(IfExists.REPLACE);
      JobHandle<Void> second = carillon.schedule(replacing);
      gate.awaitReached();

      assertThat(carillon.schedule(replacing).id()).isEqualTo(second.id());
      gate.open();
      second.result(LONG);
      JobHandle<Void> late = carillon.schedule(NOTE.job("replaced").named("n").key("k2"));
      assertThat(late.id()).isEqualTo(second.id());
    }
    assertThat(notes).containsExactly("replaced");
  }

  // ---- batches

  @ParameterizedTest
  @EnumSource
  void batchIsScheduledTogether(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(LENGTH, (text, job) -> text.length());
      List<Job<Integer>> jobs =
          IntStream.range(0, 500)
              .mapToObj(i -> LENGTH.job("x".repeat(i)).in(Duration.ofMillis(i % 7)))
              .toList();

      List<JobHandle<?>> handles = carillon.scheduleAll(jobs);

      assertThat(handles).hasSize(500);
      for (int i = 0; i < 500; i++) {
        assertThat(handles.get(i).result(LONG)).isEqualTo(i);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void batchSpreadOverTimeIsStillOneBatch(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      List<Job<Void>> jobs =
          Stream.of(1, 60 * 24, 60 * 24 * 40)
              .map(minutes -> NOTE.job("m" + minutes).in(Duration.ofMinutes(minutes)))
              .toList();

      List<JobHandle<?>> handles = carillon.scheduleAll(jobs);

      for (JobHandle<?> handle : handles) {
        assertThat(handle.info().state()).isEqualTo(JobState.SCHEDULED);
      }
      assertThat(carillon.list(JobQuery.all()).items()).hasSize(3);
    }
  }

  @ParameterizedTest
  @EnumSource
  void batchWithATakenNameAddsNothing(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Job<Void> taken = NOTE.job("x").named("taken").in(Duration.ofHours(1));
      carillon.schedule(taken);

      assertThatThrownBy(
              () ->
                  carillon.scheduleAll(
                      List.of(
                          NOTE.job("a").in(Duration.ofHours(1)),
                          NOTE.job("b").named("free").in(Duration.ofHours(1)),
                          taken)))
          .isInstanceOf(NameTakenException.class);

      assertThat(carillon.list(JobQuery.all()).items()).hasSize(1);
      assertThat(carillon.schedule(NOTE.job("b").named("free")).created()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void batchThatCannotBeAtomicIsRefused(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Job<Void> job = NOTE.job("x").in(Duration.ofHours(1));

      assertThatThrownBy(() -> carillon.scheduleAll(Collections.nCopies(10_001, job)))
          .isInstanceOfSatisfying(
              BatchTooLargeException.class, e -> assertThat(e.limit()).isEqualTo(10_000));
      assertThatThrownBy(
              () -> carillon.scheduleAll(Collections.nCopies(100, NOTE.job("x".repeat(100_000)))))
          .isInstanceOf(BatchTooLargeException.class)
          .hasMessageContaining("bytes");
      assertThatThrownBy(() -> carillon.scheduleAll(List.of(job.named("n"), job.named("n"))))
          .isInstanceOf(InvalidJobException.class)
          .hasMessageContaining("twice");
      assertThatThrownBy(() -> carillon.scheduleAll(List.of(job.key("k"), job.key("k"))))
          .isInstanceOf(InvalidJobException.class)
          .hasMessageContaining("twice");
      assertThatThrownBy(
              () -> carillon.scheduleAll(List.of(job.named("n").ifExists(IfExists.REPLACE))))
          .isInstanceOf(InvalidJobException.class)
          .hasMessageContaining("REPLACE");

      assertThat(carillon.scheduleAll(List.of())).isEmpty();
      assertThat(carillon.list(JobQuery.all()).items()).isEmpty();
    }
  }

  // ---- what is known of a job

  @ParameterizedTest
  @EnumSource
  void jobIsShownAsItWasAskedFor(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Instant due = Instant.parse("2040-01-01T00:00:00Z");
      Job<Void> job =
          NOTE.job("x")
              .at(due)
              .named("näme/1")
              .key("k")
              .namespace("tenant")
              .queue("slow")
              .priority(-7)
              .metadata(Map.of("b", "2", "a", "1"))
              .timeout(Duration.ofSeconds(3))
              .deadline(due.plusSeconds(9));

      JobInfo info = carillon.schedule(job).info();

      assertThat(info.type()).isEqualTo("note");
      assertThat(info.dueAt()).isEqualTo(due);
      assertThat(info.name()).isEqualTo("näme/1");
      assertThat(info.key()).isEqualTo("k");
      assertThat(info.namespace()).isEqualTo("tenant");
      assertThat(info.queue()).isEqualTo("slow");
      assertThat(info.priority()).isEqualTo(-7);
      assertThat(info.metadata()).containsExactly(Map.entry("a", "1"), Map.entry("b", "2"));
      assertThat(info.timeout()).isEqualTo(Duration.ofSeconds(3));
      assertThat(info.deadline()).isEqualTo(due.plusSeconds(9));
      assertThat(info.state()).isEqualTo(JobState.SCHEDULED);
      assertThat(info.attempt()).isZero();
    }
  }
}
