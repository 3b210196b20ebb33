package dev.carillon;

import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.CancelResult;
import dev.carillon.api.Job;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class CancelTest {
  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void waitingJobIsCancelledAndNeverRuns(Place.Kind kind) {
    Place place = new Place(kind, folder);
    JobId id;
    JobId other;
    try (Carillon carillon = place.open()) {
      JobHandle<Void> handle = carillon.schedule(NOTE.job("x").in(Duration.ofDays(2)));
      id = handle.id();
      other = carillon.schedule(NOTE.job("other").in(Duration.ofDays(2))).id();

      assertThat(handle.cancel("customer left")).isEqualTo(new CancelResult.Cancelled());
      assertThat(handle.cancel("again")).isEqualTo(new CancelResult.Ended(JobState.CANCELLED));

      assertThat(handle.info().state()).isEqualTo(JobState.CANCELLED);
      assertThat(handle.info().reason()).isEqualTo("customer left");
      assertThatThrownBy(() -> handle.result(LONG))
          .isInstanceOf(JobFailedException.class)
          .hasMessageContaining("customer left");
      assertThat(carillon.history(id).orElseThrow().events())
          .extracting(JobEvent::kind)
          .containsExactly(JobEvent.Kind.SCHEDULED, JobEvent.Kind.CANCELLED);
    }
    List<String> ran = new CopyOnWriteArrayList<>();
    TimeSource later = new Ahead(Duration.ofDays(3));
    try (Carillon carillon = place.builder().advanced(a -> a.timeSource(later)).open()) {
      carillon.handle(NOTE, (text, job) -> ran.add(text));
      assertThat(carillon.result(other, TypeToken.of(Void.class), LONG)).isNull();
      assertThat(carillon.cancel(id, "")).isEqualTo(new CancelResult.Ended(JobState.CANCELLED));
    }
    assertThat(ran).as("of two jobs that were due at the same time").containsExactly("other");
  }

  /** The clocks of this machine, but that the wall clock is ahead. */
  private record Ahead(Duration by) implements TimeSource {
    @Override
    public long wallMicros() {
      return TimeSource.system().wallMicros() + by.toNanos() / 1_000;
    }

    @Override
    public long monotonicNanos() {
      return TimeSource.system().monotonicNanos();
    }
  }

  @Test
  void jobsOfAShardThatIsNotLoadedAreReadTogether() throws Exception {
    int together = 200;
    int many = 1_000;
    AtomicInteger reads = new AtomicInteger();
    AtomicReference<CountDownLatch> gate = new AtomicReference<>(new CountDownLatch(0));
    ForwardingStore gated =
        new ForwardingStore(new MemoryStore()) {
          @Override
          protected <T> Outcome<T> around(Operation operation, Supplier<Outcome<T>> next) {
            if (operation == Operation.READ) {
              reads.incrementAndGet();
              pass(gate.get());
            }
            return next.get();
          }
        };
    try (Carillon carillon = Carillon.builder().store(gated).open()) {
      Duration far = Duration.ofDays(40);
      List<Job<?>> jobs = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        jobs.add(NOTE.job("x").queue("many").in(far));
      }
      List<JobId> ids = carillon.scheduleAll(jobs).stream().<JobId>map(JobHandle::id).toList();
      JobHandle<Void> first = carillon.schedule(NOTE.job("first").in(far));
      JobHandle<Void> next = carillon.schedule(NOTE.job("next").after(first.id()));
      JobHandle<Void> other = carillon.schedule(NOTE.job("other").in(far));

      int before = reads.get();
      CountDownLatch all = new CountDownLatch(1);
      gate.set(all);
      CompletableFuture<List<CancelResult>> results = new CompletableFuture<>();
      Thread caller =
          Thread.ofPlatform()
              .start(
                  () ->
                      results.complete(
                          carillon.as("ann").cancelAll(ids.subList(0, together), "enough")));
      Awaitility.await().until(() -> caller.getState() != Thread.State.RUNNABLE);
      var unused = carillon.node().members(); // the loop has taken what was asked before
      all.countDown();
      assertThat(results.get(40, TimeUnit.SECONDS))
          .hasSize(together)
          .containsOnly(new CancelResult.Cancelled());
      assertThat(reads.get() - before).as("one by one it would be " + together).isLessThan(20);

      assertThat(carillon.cancelAll(JobQuery.all().queue("many"), "enough"))
          .isEqualTo(many - together);
      JobQuery cancelled = JobQuery.all().states(JobState.CANCELLED).limit(many);
      assertThat(carillon.list(cancelled).items()).hasSize(many);
      assertThat(other.info().state()).isEqualTo(JobState.SCHEDULED);

      // Twice in one visit, and one that another job waits for.
      List<JobId> twice = List.of(other.id(), first.id(), other.id());
      assertThat(carillon.as("ann").cancelAll(twice, "enough"))
          .containsExactlyInAnyOrder(
              new CancelResult.Cancelled(),
              new CancelResult.Cancelled(),
              new CancelResult.Ended(JobState.CANCELLED));
      assertThatThrownBy(() -> next.result(LONG)).isInstanceOf(JobFailedException.class);
    }
  }

  private static void pass(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @ParameterizedTest
  @EnumSource
  void runningJobIsAskedToStopAndEndsCancelled(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Gate gate = new Gate();
      CompletableFuture<Boolean> asked = new CompletableFuture<>();
      carillon.handle(
          NOTE,
          (text, job) -> {
            try {
              gate.pass();
            } finally {
              asked.complete(job.cancellationRequested());
            }
          });
      JobHandle<Void> handle = carillon.schedule(NOTE.job("x"));
      gate.awaitReached();
      assertThat(handle.info().state()).isEqualTo(JobState.RUNNING);
      assertThat(handle.info().attempt()).isEqualTo(1);
      assertThat(carillon.list(JobQuery.all().states(JobState.RUNNING)).items())
          .containsExactly(handle.info());

      assertThat(handle.cancel("stop it")).isEqualTo(new CancelResult.Stopping());

      assertThatThrownBy(() -> handle.result(LONG))
          .isInstanceOfSatisfying(
              JobFailedException.class, e -> assertThat(e.state()).isEqualTo(JobState.CANCELLED));
      assertThat(asked.get(20, TimeUnit.SECONDS)).isTrue();
      assertThat(handle.info().attempt()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void jobThatFinishesInSpiteOfACancelHasSucceeded(Place.Kind kind) throws Exception {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Gate gate = new Gate();
      carillon.handle(
          NOTE,
          (text, job) -> {
            try {
              gate.pass();
            } catch (InterruptedException e) {
              // Done anyway.
            }
          });
      JobHandle<Void> handle = carillon.schedule(NOTE.job("x"));
      gate.awaitReached();

      assertThat(handle.cancel("too late")).isEqualTo(new CancelResult.Stopping());

      assertThat(handle.result(LONG)).isNull();
      assertThat(handle.cancel("")).isEqualTo(new CancelResult.Ended(JobState.SUCCEEDED));
    }
  }

  @ParameterizedTest
  @EnumSource
  void unknownJobIsNotFound(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      JobHandle<Void> handle = carillon.schedule(NOTE.job("x").in(Duration.ofDays(2)));
      String near = handle.id().value();
      JobId neverWas = new JobId(near.substring(0, near.length() - 1) + "v");

      assertThat(carillon.cancel(neverWas, "")).isEqualTo(new CancelResult.NotFound());
      assertThat(carillon.cancel(new JobId("garbage"), "")).isEqualTo(new CancelResult.NotFound());
      assertThat(carillon.get(new JobId("garbage"))).isEmpty();
      assertThat(carillon.get(neverWas)).isEmpty();
      assertThat(carillon.history(neverWas)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void jobsAreCancelledByQuery(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      Duration later = Duration.ofDays(2);
      for (int i = 0; i < 1200; i++) {
        carillon.scheduleAsync(NOTE.job("x").named("import-" + i).in(later)).join();
      }
      JobHandle<Void> other = carillon.schedule(NOTE.job("x").named("export-1").in(later));
      JobHandle<Void> unnamed = carillon.schedule(NOTE.job("x").in(later));
      carillon.schedule(NOTE.job("x").named("import-one-more").in(later)).cancel("before");

      JobQuery imports = JobQuery.all().namePrefix("import-");
      assertThat(carillon.cancelAll(imports, "no longer")).isEqualTo(1200);

      assertThat(carillon.cancelAll(imports, "again")).isZero();
      assertThat(other.info().state()).isEqualTo(JobState.SCHEDULED);
      assertThat(unnamed.info().state()).isEqualTo(JobState.SCHEDULED);
      assertThat(carillon.list(imports.states(JobState.CANCELLED).limit(1000)).items())
          .hasSize(1000);
    }
  }
}
