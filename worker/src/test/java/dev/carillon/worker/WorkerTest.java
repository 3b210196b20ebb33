package dev.carillon.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.RunAgainException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Workers and a server on SQLite, over real connections. */
@Timeout(120)
@SuppressWarnings("try") // workers are there to run
class WorkerTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final JobType<String, Integer> LENGTH =
      JobType.of("length", String.class, Integer.class);
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);

  @TempDir Path folder;
  private TestServer server;

  @BeforeAll
  static void patience() {
    Awaitility.setDefaultTimeout(LONG);
  }

  @BeforeEach
  void open() {
    server = new TestServer(folder.resolve("jobs.db"));
  }

  @AfterEach
  void close() {
    server.close();
  }

  private WorkerBuilder worker() {
    return CarillonWorker.builder()
        .server(server.workers())
        .daemon(true)
        .closesAtExit(false)
        .drainTime(Duration.ofSeconds(5));
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void jobRunsInAWorkerThatSeesWhatAHandlerSees() {
    AtomicReference<JobContext> seen = new AtomicReference<>();
    try (CarillonWorker worker =
        worker()
            .handle(
                LENGTH,
                (text, job) -> {
                  seen.set(job);
                  job.progress(1, 2, "half");
                  return text.length();
                })
            .start()) {
      JobHandle<Integer> job =
          server
              .carillon()
              .schedule(
                  LENGTH
                      .job("four")
                      .named("number four")
                      .queue("letters")
                      .metadata(Map.of("by", "me", "a", "b")));
      assertThat(job.result(LONG)).isEqualTo(4);
      JobContext context = seen.get();
      assertThat(context.id()).isEqualTo(job.id());
      assertThat(context.token().job()).isEqualTo(job.id());
      assertThat(context.type()).isEqualTo("length");
      assertThat(context.queue()).isEqualTo("letters");
      assertThat(context.namespace()).isEqualTo("default");
      assertThat(context.name()).isEqualTo("number four");
      assertThat(context.attempt()).isEqualTo(1);
      assertThat(context.metadata()).containsExactly(Map.entry("a", "b"), Map.entry("by", "me"));
      assertThat(context.occurrence()).isNull();
      assertThat(context.dependencies()).isEmpty();
      assertThat(context.scheduledTime()).isNotNull();
      assertThat(job.info().progress().message()).isEqualTo("half");
      Awaitility.await().until(() -> worker.info().settled() == 1);
      assertThat(worker.info().unsettled()).isZero();
    }
  }

  @Test
  void failuresFollowThePolicyAndItsExceptions() {
    AtomicInteger calls = new AtomicInteger();
    try (CarillonWorker worker =
        worker()
            .handle(
                NOTE,
                (what, job) -> {
                  calls.incrementAndGet();
                  switch (what) {
                    case "twice" -> {
                      if (job.attempt() == 1) {
                        throw new IllegalStateException("once");
                      }
                    }
                    case "never" -> throw new NotRetryableException("wrong");
                    case "excepted" -> throw new java.io.FileNotFoundException("gone");
                    case "later" -> throw RunAgainException.in(Duration.ofHours(1), "closed");
                    default -> throw new IllegalArgumentException(what);
                  }
                })
            .start()) {
      FailurePolicy policy =
          FailurePolicy.constant(Duration.ZERO, 3).except(java.util.List.of("java.io.IOException"));
      JobHandle<Void> twice = schedule("twice", policy);
      assertThat(twice.result(LONG)).isNull();
      assertThat(twice.info().attempt()).isEqualTo(2);

      JobHandle<Void> never = schedule("never", policy);
      Awaitility.await().until(() -> never.info().state() == JobState.DEAD);
      assertThat(never.info().lastError().message()).isEqualTo("wrong");
      assertThat(never.info().attempt()).isEqualTo(1);

      JobHandle<Void> excepted = schedule("excepted", policy);
      Awaitility.await().until(() -> excepted.info().state() == JobState.DEAD);
      assertThat(excepted.info().attempt()).isEqualTo(1);

      calls.set(0);
      JobHandle<Void> later = schedule("later", policy);
      Awaitility.await()
          .until(() -> calls.get() == 1 && later.info().state() == JobState.SCHEDULED);
      assertThat(later.info().attempt()).isZero();
    }
  }

  private JobHandle<Void> schedule(String what, FailurePolicy policy) {
    return server.carillon().schedule(NOTE.job(what).onFailure(policy));
  }

  @Test
  void cancelInterruptsTheHandler() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(1);
    try (CarillonWorker worker =
        worker()
            .handle(
                NOTE,
                (what, job) -> {
                  begun.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    assertThat(job.cancellationRequested()).isTrue();
                    stopped.countDown();
                    throw e;
                  }
                })
            .start()) {
      JobHandle<Void> job = server.carillon().schedule(NOTE.job("long"));
      await(begun);
      job.cancel("not wanted");
      await(stopped);
      Awaitility.await().until(() -> job.info().state() == JobState.CANCELLED);
      Awaitility.await().until(() -> worker.info().running() == 0);
    }
  }

  @Test
  void savedPositionIsThereForTheNextAttempt() {
    try (CarillonWorker worker =
        worker()
            .handle(
                LENGTH,
                (text, job) -> {
                  int from = job.saved(Integer.class).orElse(0);
                  if (from == 0) {
                    job.save(2);
                    throw new IllegalStateException("in the middle");
                  }
                  return from;
                })
            .start()) {
      JobHandle<Integer> job =
          server
              .carillon()
              .schedule(LENGTH.job("abc").onFailure(FailurePolicy.constant(Duration.ZERO, 1)));
      assertThat(job.result(LONG)).isEqualTo(2);
    }
  }

  @Test
  void completeInIsRefusedWithItsReason() {
    CompletableFuture<Throwable> refused = new CompletableFuture<>();
    try (CarillonWorker worker =
        worker()
            .handle(
                NOTE,
                (what, job) -> {
                  Connection none =
                      (Connection)
                          Proxy.newProxyInstance(
                              getClass().getClassLoader(),
                              new Class<?>[] {Connection.class},
                              (proxy, method, arguments) -> null);
                  try {
                    job.completeIn(none);
                  } catch (InvalidArgumentException e) {
                    refused.complete(e);
                  }
                })
            .start()) {
      server.carillon().schedule(NOTE.job("a")).result(LONG);
      assertThat(refused.join()).hasMessageStartingWith("completeIn: in a worker (expected: ");
    }
  }

  @Test
  void resultThatIsTooLargeEndsTheJobWithAClearError() {
    JobType<Void, byte[]> large = JobType.of("large", byte[].class);
    try (CarillonWorker worker =
        worker().handle(large, (input, job) -> new byte[(1 << 20) + 1]).start()) {
      JobHandle<byte[]> job = server.carillon().schedule(large.job());
      Awaitility.await().until(() -> job.info().state() == JobState.DEAD);
      assertThat(job.info().lastError().message()).contains("1048577");
    }
  }

  @Test
  void leasedAttemptRunsOnWhileItsServerRestarts() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    try (CarillonWorker worker =
        worker()
            .handle(
                LENGTH,
                (text, job) -> {
                  calls.incrementAndGet();
                  begun.countDown();
                  assertThat(go.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
                  return text.length();
                })
            .start()) {
      JobHandle<Integer> job = server.carillon().schedule(LENGTH.job("long"));
      await(begun);
      Awaitility.await()
          .until(
              () ->
                  server.carillon().node().workers().connected().stream()
                      .flatMap(each -> each.runs().stream())
                      .anyMatch(run -> run.leased()));
      server.stop();
      server.start();
      Awaitility.await().until(() -> worker.info().isConnected());
      go.countDown();
      Awaitility.await()
          .until(() -> server.carillon().get(job.id()).orElseThrow().state() == JobState.SUCCEEDED);
      assertThat(server.carillon().get(job.id()).orElseThrow().attempt()).isEqualTo(1);
      assertThat(calls).hasValue(1);
      Awaitility.await().until(() -> worker.info().unsettled() == 0);
      assertThat(worker.info().abandoned()).isZero();
    }
  }

  @Test
  void apiListsWorkersAndWhatTheyRun() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (CarillonWorker worker =
        worker()
            .slots(7)
            .namespace("default")
            .handle(
                NOTE,
                (what, job) -> {
                  begun.countDown();
                  assertThat(go.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
                })
            .start()) {
      JobHandle<Void> job = server.carillon().schedule(NOTE.job("a"));
      await(begun);
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(server.get("/v1/workers"))
                      .contains("\"worker\":\"" + worker.name() + "\"")
                      .contains("\"room\":6")
                      .contains("\"namespace\":\"default\"")
                      .contains("\"id\":\"" + job.id() + "\"")
                      .contains("\"accepted\":true"));
      go.countDown();
      assertThat(job.result(LONG)).isNull();
      assertThat(server.get("/metrics")).contains("carillon_worker_streams 1");
    }
  }

  @Test
  void noMoreRunThanThereAreSlots() throws Exception {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(200);
    try (CarillonWorker worker =
        worker()
            .slots(3)
            .handle(
                NOTE,
                (what, job) -> {
                  most.accumulateAndGet(running.incrementAndGet(), Math::max);
                  Thread.onSpinWait();
                  running.decrementAndGet();
                  all.countDown();
                })
            .start()) {
      for (int i = 0; i < 200; i++) {
        server.carillon().schedule(NOTE.job("n" + i));
      }
      await(all);
      assertThat(most.get()).isBetween(1, 3);
      assertThat(worker.info().refused()).isZero();
    }
  }

  @Test
  void closingLetsHandlersEndAndInterruptsTheRest() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    CarillonWorker worker =
        worker()
            .drainTime(Duration.ofSeconds(2))
            .handle(
                LENGTH,
                (text, job) -> {
                  begun.countDown();
                  while (text.equals("short") && !job.pauseRequested()) {
                    Thread.onSpinWait();
                  }
                  if (text.equals("long")) {
                    new CountDownLatch(1).await();
                  }
                  return text.length();
                })
            .start();
    JobHandle<Integer> ends = server.carillon().schedule(LENGTH.job("short"));
    JobHandle<Integer> waits = server.carillon().schedule(LENGTH.job("long"));
    await(begun);
    worker.close();
    assertThat(ends.result(LONG)).isEqualTo(5);
    Awaitility.await().until(() -> waits.info().state() != JobState.RUNNING);
    assertThat(waits.info().attempt()).isZero();
    assertThat(waits.info().lastError()).isNull();

    try (CarillonWorker next = worker().handle(LENGTH, (text, job) -> -1).start()) {
      assertThat(waits.result(LONG)).isEqualTo(-1);
    }
  }

  @Test
  void badSettingsAreNamed() {
    assertThatThrownBy(() -> CarillonWorker.builder().handle(NOTE, (w, j) -> {}).start())
        .hasMessage("servers: 0 (expected: at least one)");
    assertThatThrownBy(() -> worker().start()).hasMessage("handlers: 0 (expected: at least one)");
    assertThatThrownBy(() -> worker().server("http://localhost:1"))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessage("server: \"http://localhost:1\" (expected: host or host:port)");
    assertThatThrownBy(() -> worker().slots(0)).hasMessage("slots: 0 (expected: 1 to 100000)");
    assertThatThrownBy(() -> worker().lease(Duration.ofSeconds(1)))
        .hasMessage("lease: PT1S (expected: PT5S to PT1H)");
    assertThatThrownBy(() -> worker().handle(NOTE, (w, j) -> {}).handle(NOTE, (w, j) -> {}))
        .hasMessage("type: \"note\" (expected: one without a handler; it has one)");
  }
}
