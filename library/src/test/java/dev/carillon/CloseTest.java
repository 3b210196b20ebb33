package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.error.ClosedException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class CloseTest {
  @TempDir Path folder;

  private final BlockingQueue<String> notes = new LinkedBlockingQueue<>();

  @ParameterizedTest
  @EnumSource
  void runningHandlerMayFinishAndScheduleMeanwhile(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    Carillon carillon = place.open();
    Gate gate = new Gate();
    CompletableFuture<JobId> followUp = new CompletableFuture<>();
    carillon.handle(
        LENGTH,
        (text, job) -> {
          gate.pass();
          while (!job.pauseRequested()) {
            Thread.onSpinWait();
          }
          followUp.complete(carillon.schedule(NOTE.job("follow-up")).id());
          return text.length();
        });
    JobHandle<Integer> handle = carillon.schedule(LENGTH.job("abc"));
    gate.awaitReached();
    gate.open();

    carillon.close();

    try (Carillon again = place.open()) {
      assertThat(again.result(handle.id(), LENGTH.output(), LONG)).isEqualTo(3);
      assertThat(again.get(followUp.get()).orElseThrow().state().ended()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void handlerThatDoesNotFinishIsInterruptedAndItsJobGoesOnAtTheNextStart(Place.Kind kind)
      throws Exception {
    Place place = new Place(kind, folder);
    Carillon carillon = place.builder().closeGrace(Duration.ofMillis(50)).open();
    Gate gate = new Gate();
    carillon.handle(
        NOTE,
        (text, job) -> {
          try {
            gate.pass();
          } catch (InterruptedException e) {
            notes.add("asked " + job.cancellationRequested());
            throw new IllegalStateException(e);
          }
        });
    JobHandle<Void> handle = carillon.schedule(NOTE.job("x"));
    gate.awaitReached();

    carillon.close();

    assertThat(notes.poll(20, TimeUnit.SECONDS)).isEqualTo("asked true");
    try (Carillon again = place.open()) {
      again.handle(NOTE, (text, job) -> notes.add("attempt " + job.attempt()));
      assertThat(notes.poll(20, TimeUnit.SECONDS)).isEqualTo("attempt 1");
      again.result(handle.id(), TaskTypeResult.NONE, LONG);
      JobInfo info = again.get(handle.id()).orElseThrow();
      assertThat(info.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(info.lastError()).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void handlerThatIgnoresEverythingDoesNotKeepTheProcess(Place.Kind kind) throws Exception {
    Carillon carillon = new Place(kind, folder).builder().closeGrace(Duration.ofMillis(50)).open();
    Gate gate = new Gate();
    carillon.handle(
        NOTE,
        (text, job) -> {
          boolean passed = false;
          while (!passed) {
            try {
              gate.pass();
              passed = true;
            } catch (InterruptedException e) {
              notes.add("no");
            }
          }
        });
    carillon.schedule(NOTE.job("x"));
    gate.awaitReached();

    carillon.close();

    assertThat(notes.poll(20, TimeUnit.SECONDS)).isEqualTo("no");
    gate.open();
  }

  @ParameterizedTest
  @EnumSource
  void handlerMayCloseItsOwnCarillon(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    Carillon carillon = place.open();
    carillon.handle(
        NOTE,
        (text, job) -> {
          carillon.close();
          notes.add("closed");
        });
    JobId id = carillon.schedule(NOTE.job("x")).id();

    assertThat(notes.poll(20, TimeUnit.SECONDS)).isEqualTo("closed");
    carillon.close();
    assertThat(carillon.node().health().ready()).isFalse();
    try (Carillon again = place.open()) {
      assertThat(again.get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void afterwardsEveryCallSaysSo(Place.Kind kind) throws Exception {
    Carillon carillon = new Place(kind, folder).open();
    JobHandle<Integer> handle = carillon.schedule(LENGTH.job("x"));
    CompletableFuture<Integer> result = handle.resultAsync();

    carillon.close();
    carillon.close();

    assertThatThrownBy(() -> result.get(20, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(ClosedException.class);
    List<ThrowingCallable> calls =
        List.of(
            () -> carillon.schedule(NOTE.job("x")),
            () -> carillon.scheduleAsync(NOTE.job("x")),
            () -> carillon.scheduleAll(List.of(NOTE.job("x"))),
            () -> carillon.handle(NOTE, (text, job) -> {}),
            () -> carillon.cancel(handle.id(), ""),
            () -> carillon.get(handle.id()),
            () -> carillon.list(JobQuery.all()),
            () -> carillon.history(handle.id()),
            () -> carillon.watch(handle.id(), info -> {}),
            () -> carillon.node().stats(),
            () -> carillon.node().waiting(),
            () -> carillon.node().members(),
            () -> carillon.node().cluster(),
            () -> carillon.node().drain(),
            () -> handle.result(LONG),
            () -> handle.resultAsync());
    for (ThrowingCallable call : calls) {
      assertThatThrownBy(call).isInstanceOf(ClosedException.class);
    }
    assertThat(carillon.node().health().ready()).isFalse();
    assertThat(carillon.node().health().detail()).isEqualTo("closed");
    assertThat(carillon.node().figures().counts()).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void manyMayCloseAtOnceWhileOthersSchedule(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    Carillon carillon = place.open();
    BlockingQueue<JobId> scheduled = new LinkedBlockingQueue<>();
    List<Thread> producers =
        java.util.stream.IntStream.range(0, 4)
            .mapToObj(
                i ->
                    Thread.ofVirtual()
                        .start(
                            () -> {
                              try {
                                while (true) {
                                  scheduled.add(
                                      carillon.schedule(NOTE.job("x").in(Duration.ofDays(1))).id());
                                }
                              } catch (ClosedException e) {
                                notes.add("closed");
                              }
                            }))
            .toList();
    scheduled.poll(20, TimeUnit.SECONDS);
    List<Thread> closers =
        java.util.stream.IntStream.range(0, 3)
            .mapToObj(i -> Thread.ofPlatform().start(carillon::close))
            .toList();
    for (Thread thread : closers) {
      thread.join();
    }
    for (Thread thread : producers) {
      thread.join();
    }

    assertThat(notes).hasSize(4);
    try (Carillon again = place.open()) {
      for (JobId id : scheduled) {
        assertThat(again.get(id)).isPresent();
      }
    }
  }

  @Test
  void interruptOfOneCloserIsNotTheOthers() throws Exception {
    Gate gate = new Gate();
    Carillon carillon = new Place(Place.Kind.MEMORY, folder).open();
    carillon.handle(NOTE, (text, job) -> gate.pass());
    carillon.schedule(NOTE.job("x"));
    gate.awaitReached();
    AtomicBoolean flag = new AtomicBoolean();
    Thread impatient = Thread.ofPlatform().start(carillon::close);
    Thread patient =
        Thread.ofPlatform()
            .start(
                () -> {
                  carillon.close();
                  flag.set(Thread.currentThread().isInterrupted());
                });
    impatient.interrupt();
    impatient.join();
    gate.open();
    patient.join();
    assertThat(flag).isFalse();
    assertThatThrownBy(() -> carillon.schedule(NOTE.job("late"))).hasMessageContaining("closed");
  }
}
