package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** On which threads handlers run, and what an executor that refuses means. */
@Timeout(60)
class HandlerThreadsTest {
  private final Carillon carillon = Carillon.builder().inMemory().daemon(true).open();
  private final ExecutorService one =
      Executors.newSingleThreadExecutor(task -> new Thread(task, "mine"));

  @AfterEach
  void close() {
    carillon.close();
    one.shutdownNow();
  }

  private static HandlerOptions on(Executor executor) {
    return HandlerOptions.defaults().executor(executor);
  }

  private String threadOf(HandlerOptions options) {
    JobType<Void, String> where = JobType.of("where", String.class);
    carillon.handle(
        where,
        (none, job) ->
            Thread.currentThread().getName() + " virtual " + Thread.currentThread().isVirtual(),
        options);
    return carillon.schedule(where.job()).result(LONG);
  }

  @Test
  void virtualThreadsAreTheDefault() {
    assertThat(threadOf(HandlerOptions.defaults())).isEqualTo("carillon-job where virtual true");
  }

  @Test
  void platformThreadsAreAnOption() {
    assertThat(threadOf(HandlerOptions.defaults().platformThreads()))
        .isEqualTo("carillon-job where virtual false");
  }

  @Test
  void executorOfTheUserRunsTheHandler() {
    assertThat(threadOf(on(one))).isEqualTo("mine virtual false");
  }

  @Test
  void timeoutInterruptsTheThreadOfTheExecutorAndNothingThatRunsOnItLater() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    carillon.handle(
        NOTE,
        (text, job) -> {
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
            throw e;
          }
        },
        on(one).timeout(Duration.ofMillis(50)));
    JobHandle<Void> job = carillon.schedule(NOTE.job("x").onFailure(FailurePolicy.drop()));
    assertThat(interrupted.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    Awaitility.await().until(() -> job.info().state() == JobState.FAILED);

    Future<Boolean> next = one.submit(() -> Thread.currentThread().isInterrupted());
    assertThat(next.get()).isFalse();
  }

  @Test
  void cancelInterruptsTheThreadOfTheExecutor() throws Exception {
    Gate running = new Gate();
    carillon.handle(NOTE, (text, job) -> running.pass(), on(one));
    JobHandle<Void> job = carillon.schedule(NOTE.job("x"));
    running.awaitReached();

    job.cancel();

    Awaitility.await().until(() -> job.info().state() == JobState.CANCELLED);
  }

  @Test
  void refusalOfTheExecutorCostsNoAttempt() {
    AtomicInteger refusals = new AtomicInteger();
    Executor sometimes =
        task -> {
          if (refusals.getAndIncrement() == 0) {
            throw new RejectedExecutionException("full");
          }
          one.execute(task);
        };
    carillon.handle(LENGTH, (text, job) -> job.attempt(), on(sometimes));

    JobHandle<Integer> job = carillon.schedule(LENGTH.job("x").onFailure(FailurePolicy.drop()));

    assertThat(job.result(LONG)).isEqualTo(1);
    assertThat(refusals).hasValue(2);
    assertThat(carillon.history(job.id()).orElseThrow().events())
        .extracting(JobEvent::detail)
        .anyMatch(detail -> detail.contains("executor of its handler is full"));
  }

  @Test
  void executorThatRunsInItsCallerDoesNotHoldTheNode() throws Exception {
    Gate held = new Gate();
    carillon.handle(NOTE, (text, job) -> held.pass(), on(Runnable::run));
    carillon.handle(LENGTH, (text, job) -> text.length());
    JobHandle<Void> holding = carillon.schedule(NOTE.job("x"));
    held.awaitReached();

    assertThat(carillon.schedule(LENGTH.job("abc")).result(LONG)).isEqualTo(3);

    held.open();
    assertThat(holding.result(LONG)).isNull();
  }

  @Test
  void fullPoolRunsEveryJobInTheEnd() {
    ThreadPoolExecutor small =
        new ThreadPoolExecutor(2, 2, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4));
    List<String> ran = new CopyOnWriteArrayList<>();
    try {
      carillon.handle(NOTE, (text, job) -> ran.add(text), on(small).limit(2));
      for (int i = 0; i < 50; i++) {
        carillon.schedule(NOTE.job("job " + i));
      }
      Awaitility.await().until(() -> ran.size() == 50);
      assertThat(ran).doesNotHaveDuplicates();
    } finally {
      small.shutdownNow();
    }
  }

  @Test
  void timeoutOfAHandlerCountsWhereTheJobHasNone() throws Exception {
    CompletableFuture<String> first = new CompletableFuture<>();
    carillon.handle(
        NOTE,
        (text, job) -> {
          try {
            new CountDownLatch(1).await(LONG.toSeconds(), TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            first.complete(text);
            throw e;
          }
        },
        HandlerOptions.defaults().timeout(Duration.ofMillis(100)));
    JobHandle<Void> own = carillon.schedule(NOTE.job("own").timeout(Duration.ofMinutes(5)));
    JobHandle<Void> job = carillon.schedule(NOTE.job("none").onFailure(FailurePolicy.drop()));

    assertThat(first.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo("none");
    Awaitility.await().until(() -> job.info().state() == JobState.FAILED);
    assertThat(own.info().state()).isEqualTo(JobState.RUNNING);
    own.cancel("nobody waits for it");
  }
}
