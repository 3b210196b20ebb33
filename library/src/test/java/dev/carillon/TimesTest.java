package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.TaskType;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each time that is told of a job is the time that its documentation says. */
@Timeout(60)
class TimesTest {
  private static final TaskType<Integer> COUNT = TaskType.of("count", Integer.class);

  /** A clock that moves on by a millisecond with each look at it. */
  private static class TickingTime implements TimeSource {
    private final AtomicLong micros = new AtomicLong(1_900_000_000_000_000L);

    @Override
    public long wallMicros() {
      return micros.addAndGet(1000);
    }

    @Override
    public long monotonicNanos() {
      return System.nanoTime();
    }

    Instant now() {
      long at = wallMicros();
      return Instant.ofEpochSecond(at / 1_000_000, at % 1_000_000 * 1000);
    }
  }

  /**
   * One whose next look by the loop takes place before the handler's thread looks at it, and lasts
   * until that thread is over: a long round of the loop.
   */
  private static final class LongRound extends TickingTime {
    private final CountDownLatch looked = new CountDownLatch(1);
    private volatile @Nullable Thread handler;

    @Override
    public long wallMicros() {
      Thread self = Thread.currentThread();
      try {
        if (self.isVirtual() && handler == null) {
          handler = self;
          looked.await();
        }
        long before = super.wallMicros();
        Thread awaited = handler;
        if (!self.isVirtual() && awaited != null && self.getName().equals("carillon-loop")) {
          looked.countDown();
          awaited.join();
        }
        return before;
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private TickingTime time = new TickingTime();

  private Carillon open() {
    return open(new MemoryStore());
  }

  private Carillon open(Store store) {
    return Carillon.builder()
        .store(store)
        .nodeId("here")
        .advanced(advanced -> advanced.timeSource(time))
        .daemon(true)
        .open();
  }

  @Test
  void jobEndsAfterItsHandlerStartedAndReturned() {
    Map<Integer, Instant> started = new ConcurrentHashMap<>();
    Map<Integer, Instant> returned = new ConcurrentHashMap<>();
    try (Carillon carillon = open()) {
      carillon.handle(
          COUNT,
          (number, job) -> {
            started.put(number, time.now());
            returned.put(number, time.now());
          });
      List<JobHandle<Void>> jobs = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        jobs.add(carillon.schedule(COUNT.job(i)));
      }
      for (int i = 0; i < 50; i++) {
        var unused = jobs.get(i).result(Duration.ofSeconds(30));
        JobInfo info = carillon.get(jobs.get(i).id()).orElseThrow();
        assertThat(info.startedAt()).isBefore(started.get(i));
        assertThat(info.endedAt()).isAfter(returned.get(i));
        assertThat(info.node()).isEqualTo("here");
      }
    }
  }

  @Test
  void jobDoesNotEndBeforeItsHandlerStartedHoweverLongTheLoopIsBusy() {
    time = new LongRound();
    AtomicReference<Instant> started = new AtomicReference<>();
    try (Carillon carillon = open()) {
      carillon.handle(COUNT, (number, job) -> started.set(time.now()));
      JobHandle<Void> job = carillon.schedule(COUNT.job(1));
      var unused = job.result(Duration.ofSeconds(30));
      assertThat(carillon.get(job.id()).orElseThrow().endedAt()).isAfter(started.get());
    }
  }

  @Test
  void everyAttemptIsInTheHistoryWithItsStartItsDurationAndItsNode() {
    try (Carillon carillon = open()) {
      carillon.handle(
          COUNT,
          (number, job) -> {
            if (job.attempt() < 3) {
              throw new IllegalStateException("no");
            }
          });
      JobHandle<Void> job =
          carillon.schedule(
              COUNT.job(1).onFailure(FailurePolicy.constant(Duration.ofMillis(1), 5)));
      var unused = job.result(Duration.ofSeconds(30));
      List<JobEvent> attempts =
          carillon.history(job.id()).orElseThrow().events().stream()
              .filter(event -> event.attempt() > 0)
              .toList();
      assertThat(attempts)
          .extracting(JobEvent::kind)
          .containsExactly(JobEvent.Kind.RETRIED, JobEvent.Kind.RETRIED, JobEvent.Kind.SUCCEEDED);
      for (JobEvent attempt : attempts) {
        assertThat(attempt.node()).isEqualTo("here");
        assertThat(attempt.startedAt()).isBefore(attempt.at());
        assertThat(attempt.duration()).isPositive();
      }
    }
  }

  @Test
  void jobIsScheduledWhenItIsSentToTheStoreAndNotWhenItsCallerBeganToWait() {
    AtomicInteger failures = new AtomicInteger(3);
    AtomicReference<Instant> lastFailure = new AtomicReference<>();
    FaultyStore.Faults faults =
        operation -> {
          if (operation != ForwardingStore.Operation.APPEND || failures.getAndDecrement() <= 0) {
            return FaultyStore.Fault.NONE;
          }
          lastFailure.set(time.now());
          return FaultyStore.Fault.FAIL_BEFORE;
        };
    try (Carillon carillon = open(new FaultyStore(new MemoryStore(), faults))) {
      JobHandle<Void> job = carillon.schedule(COUNT.job(1).in(Duration.ofDays(1)));
      assertThat(carillon.get(job.id()).orElseThrow().scheduledAt())
          .isAfter(lastFailure.get())
          .isBefore(time.now());
    }
  }
}
