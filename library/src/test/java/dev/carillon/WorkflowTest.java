package dev.carillon;

import static dev.carillon.Types.LENGTH;
import static dev.carillon.Types.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.WorkflowHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Workflows on a node of their own: what its user sees. */
@Timeout(60)
class WorkflowTest {
  private static final JobType<String, String> ORDER =
      JobType.of("order", String.class, String.class);
  private static final SignalType<String> GO = SignalType.of("go", String.class);

  @TempDir Path folder;

  private final List<String> done = new CopyOnWriteArrayList<>();

  private static Carillon open() {
    return Carillon.builder().inMemory().daemon(true).open();
  }

  @Test
  void stepsTimersSignalsAndChildrenMakeAResult() {
    try (Carillon carillon = open()) {
      carillon.handle(LENGTH, (text, job) -> text.length());
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            String id = wf.step("id", String.class, () -> text + "-1");
            wf.sleep(Duration.ofMillis(20));
            String go = wf.await(GO);
            int length = wf.call(LENGTH.job(text));
            return id + " " + go + " " + length;
          });
      JobHandle<String> order = carillon.schedule(ORDER.job("book"));
      assertThat(carillon.signal(order.id(), GO, "now")).isEqualTo(SignalResult.DONE);
      assertThat(order.result(LONG)).isEqualTo("book-1 now 4");
      assertThat(order.info().state()).isEqualTo(JobState.SUCCEEDED);
    }
  }

  @Test
  void sumOfSquaresByChildren() {
    JobType<int[], Integer> sum = JobType.of("sum", int[].class, Integer.class);
    JobType<Integer, Integer> square = JobType.of("square", Integer.class, Integer.class);
    try (Carillon carillon = open()) {
      carillon.handle(square, (value, job) -> value * value);
      carillon.workflow(
          sum,
          (values, wf) ->
              wf.all(IntStream.of(values).mapToObj(v -> wf.start(square.job(v))).toList()).stream()
                  .mapToInt(Integer::intValue)
                  .sum());
      assertThat(carillon.schedule(sum.job(new int[] {1, 2, 3, 4})).result(LONG)).isEqualTo(30);
    }
  }

  @ParameterizedTest
  @EnumSource
  void workflowGoesOnAfterARestartWhereItWas(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    CountDownLatch waits = new CountDownLatch(1);
    WorkflowHandler<String, String> code =
        (text, wf) -> {
          wf.step("first", () -> done.add("first"));
          waits.countDown();
          String go = wf.await(GO);
          wf.step("second", () -> done.add("second"));
          return text + go;
        };
    JobId id;
    try (Carillon carillon = place.open()) {
      carillon.workflow(ORDER, code);
      id = carillon.schedule(ORDER.job("x")).id();
      waits.await();
    }
    try (Carillon carillon = place.open()) {
      carillon.workflow(ORDER, code);
      assertThat(carillon.signal(id, GO, "y")).isEqualTo(SignalResult.DONE);
      assertThat(carillon.result(id, TypeToken.of(String.class), LONG)).isEqualTo("xy");
    }
    assertThat(done).containsExactly("first", "second");
  }

  @Test
  void stepIsTriedAgainAndAFailureForGoodEndsTheJob() {
    AtomicInteger tries = new AtomicInteger();
    StepOptions twice = StepOptions.retry(FailurePolicy.constant(Duration.ofMillis(10), 1));
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            wf.onFailure("undo", () -> done.add("undo"));
            return wf.step(
                "flaky",
                String.class,
                twice,
                step -> {
                  tries.incrementAndGet();
                  if (step.attempt() == 1 || text.equals("bad")) {
                    throw new IOException("down");
                  }
                  return step.key();
                });
          });
      JobHandle<String> good = carillon.schedule(ORDER.job("good"));
      assertThat(good.result(LONG)).isEqualTo(good.id() + "/2");
      JobHandle<String> bad = carillon.schedule(ORDER.job("bad"));
      assertThatThrownBy(() -> bad.result(LONG))
          .isInstanceOf(JobFailedException.class)
          .hasMessageContaining(StepFailedException.class.getName());
      assertThat(tries).hasValue(4);
      assertThat(done).containsExactly("undo");
    }
  }

  @Test
  void cancelRunsTheCompensations() throws Exception {
    CountDownLatch waits = new CountDownLatch(1);
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            wf.onFailure("one", () -> done.add("undo one"));
            wf.step("a", () -> done.add("a"));
            wf.onFailure("two", () -> done.add("undo two"));
            waits.countDown();
            return wf.await(GO);
          });
      JobHandle<String> order = carillon.schedule(ORDER.job("x"));
      waits.await();
      order.cancel("no longer");
      assertThatThrownBy(() -> order.result(LONG))
          .isInstanceOf(JobFailedException.class)
          .hasMessageContaining("CANCELLED");
      assertThat(done).containsExactly("a", "undo two", "undo one");
    }
  }

  @Test
  void bugIsAFailedAttemptAfterWhichNothingIsDoneTwice() {
    AtomicInteger attempts = new AtomicInteger();
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            wf.step("a", () -> done.add("a"));
            if (attempts.incrementAndGet() == 1) {
              throw new IllegalStateException("bug");
            }
            return "mended";
          },
          HandlerOptions.defaults().failurePolicy(FailurePolicy.constant(Duration.ZERO, 3)));
      assertThat(carillon.schedule(ORDER.job("x")).result(LONG)).isEqualTo("mended");
      assertThat(done).containsExactly("a");
      assertThat(attempts).hasValue(2);
    }
  }

  @Test
  void workflowsWhoseThreadsAreGivenUpDoNotNotice() throws Exception {
    CountDownLatch waiting = new CountDownLatch(20);
    CountDownLatch unwound = new CountDownLatch(19);
    try (Carillon carillon =
        Carillon.builder().inMemory().daemon(true).advanced(a -> a.parkedWorkflows(1)).open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            wf.step("begin", waiting::countDown);
            try {
              return text + wf.await(GO);
            } catch (Exception e) {
              done.add("caught");
              throw e;
            } finally {
              unwound.countDown();
            }
          });
      List<JobHandle<String>> orders = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        orders.add(carillon.schedule(ORDER.job("x" + i)));
      }
      waiting.await();
      if (!"false".equals(System.getProperty("jdk.trackAllThreads"))) {
        unwound.await();
      }
      orders.forEach(order -> carillon.signal(order.id(), GO, "!"));
      for (int i = 0; i < 20; i++) {
        assertThat(orders.get(i).result(LONG)).isEqualTo("x" + i + "!");
      }
      assertThat(done).isEmpty();
    }
  }

  @Test
  void stepBesideTheCodeRunsWhileItWaits() {
    try (Carillon carillon = open()) {
      CompletableFuture<JobId> id = new CompletableFuture<>();
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            var beside =
                wf.startStep(
                    "beside",
                    String.class,
                    () -> {
                      carillon.signal(id.get(), GO, "from the step");
                      return "beside";
                    });
            return wf.await(GO) + " " + beside.join();
          });
      JobHandle<String> order = carillon.schedule(ORDER.job("x"));
      id.complete(order.id());
      assertThat(order.result(LONG)).isEqualTo("from the step beside");
    }
  }

  @Test
  void beginsAnewAndKeepsItsSignals() {
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            String all = text + wf.await(GO);
            return all.length() < 3 ? wf.continueAsNew(all) : all;
          });
      JobHandle<String> order = carillon.schedule(ORDER.job(""));
      for (String each : List.of("a", "b", "c")) {
        carillon.signal(order.id(), GO, each);
      }
      assertThat(order.result(LONG)).isEqualTo("abc");
    }
  }

  @Test
  void otherThreadsAreRefusedForWorkflows() {
    try (Carillon carillon = open();
        var executor = Executors.newSingleThreadExecutor()) {
      for (HandlerOptions options :
          List.of(
              HandlerOptions.defaults().platformThreads(),
              HandlerOptions.defaults().executor(executor))) {
        assertThatThrownBy(() -> carillon.workflow(ORDER, (text, wf) -> text, options))
            .isInstanceOf(InvalidArgumentException.class)
            .hasMessageContaining("for a workflow, whose thread stays parked while it waits)");
      }
    }
  }
}
