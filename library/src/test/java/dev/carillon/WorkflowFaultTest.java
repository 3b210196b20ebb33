package dev.carillon;

import static dev.carillon.Types.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.BlockReason;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.api.workflow.WorkflowUnwound;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Workflows whose code does what it must not, or meets what it does not expect. */
@Timeout(60)
class WorkflowFaultTest {
  private static final JobType<String, String> ORDER =
      JobType.of("order", String.class, String.class);
  private static final SignalType<String> GO = SignalType.of("go", String.class);

  @TempDir Path folder;

  private final List<String> done = new CopyOnWriteArrayList<>();
  private final LogCapture log = new LogCapture();

  @AfterEach
  void close() {
    log.close();
  }

  private static Carillon open() {
    return Carillon.builder().inMemory().daemon(true).open();
  }

  // ---- the context

  private static String refused(Runnable call) {
    try {
      call.run();
    } catch (IllegalStateException e) {
      return String.valueOf(e.getMessage());
    }
    throw new AssertionError("not refused");
  }

  @Test
  void contextOnAnotherThreadInAStepOrAfterTheEndIsRefusedAndSaysWhatToDo() {
    AtomicReference<Workflow> kept = new AtomicReference<>();
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            kept.set(wf);
            Thread other = Thread.ofVirtual().start(() -> done.add(refused(wf::now)));
            other.join();
            wf.step("a", () -> done.add(refused(() -> wf.sleep(LONG))));
            wf.startStep("b", String.class, () -> refused(() -> wf.uuid())).join();
            return wf.step("c", String.class, () -> refused(() -> wf.step("d", () -> {})));
          });
      String inStep = carillon.schedule(ORDER.job("x")).result(LONG);
      assertThat(inStep)
          .contains("in the body of a step (expected: outside of it; a body has a StepContext)");
      assertThat(done).hasSize(2);
      assertThat(done.get(0)).contains("on thread").contains("hand their results to it");
      assertThat(done.get(1)).contains("in the body of a step");
      assertThat(refused(() -> kept.get().now())).contains("(expected: the workflow's own;");
      assertThat(kept.get().type()).isEqualTo("order");
    }
  }

  // ---- blocking

  @Test
  void codeThatBlocksOutsideOfAStepIsToldOnceWithItsStack() throws Exception {
    CountDownLatch outside = new CountDownLatch(1);
    CountDownLatch inStep = new CountDownLatch(1);
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            if (text.equals("step")) {
              wf.step("blocks", () -> inStep.await());
            } else if (text.equals("waits")) {
              wf.await(GO);
            } else {
              blocksHere(outside);
            }
            return text;
          });
      List<JobHandle<String>> fine =
          List.of(carillon.schedule(ORDER.job("step")), carillon.schedule(ORDER.job("waits")));
      List<JobHandle<String>> blocked =
          List.of(carillon.schedule(ORDER.job("x")), carillon.schedule(ORDER.job("y")));
      LogCapture.Line line = log.await("workflow blocks outside of a step");
      assertThat(line.logger()).isEqualTo("dev.carillon.attempts");
      assertThat(line.text())
          .contains("(order)")
          .contains("(expected: in a step,")
          .contains("WorkflowFaultTest.blocksHere");
      // The first look that sees both has told of one; another look would tell of a third.
      Awaitility.await()
          .pollDelay(2, TimeUnit.SECONDS)
          .until(() -> log.with("workflow blocks").size() == 1);
      assertThat(carillon.node().figures().count("workflows.blocking")).isEqualTo(1);
      outside.countDown();
      inStep.countDown();
      fine.get(1).signal(GO, "go");
      for (JobHandle<String> job : fine) {
        assertThat(job.result(LONG)).isNotNull();
      }
      for (JobHandle<String> job : blocked) {
        assertThat(job.result(LONG)).isNotNull();
      }
    }
    assertThat(log.with("workflow blocks")).hasSize(1);
  }

  private static void blocksHere(CountDownLatch latch) throws InterruptedException {
    latch.await();
  }

  // ---- results

  @ParameterizedTest
  @EnumSource
  void resultThatNoLongerDecodesBlocksTheJobAndIsKept(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    JobId id;
    try (Carillon carillon = place.open()) {
      CountDownLatch waits = new CountDownLatch(1);
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            String made = wf.step("make", String.class, () -> "no number");
            waits.countDown();
            return made + wf.await(GO);
          });
      id = carillon.schedule(ORDER.job("x")).id();
      waits.await();
      Awaitility.await().until(() -> carillon.get(id).orElseThrow().state() == JobState.WAITING);
    }
    try (Carillon carillon = place.open()) {
      carillon.workflow(
          ORDER, (text, wf) -> wf.step("make", Integer.class, () -> 1) + wf.await(GO));
      carillon.signal(id, GO, "go");
      JobInfo info =
          Awaitility.await()
              .until(
                  () -> carillon.get(id).orElseThrow(),
                  job -> job.blockReason() == BlockReason.UNDECODABLE);
      assertThat(info.state()).isEqualTo(JobState.BLOCKED);
      assertThat(info.lastError().message()).contains("not readable as java.lang.Integer");
    }
    try (Carillon carillon = place.open()) {
      carillon.workflow(
          ORDER, (text, wf) -> wf.step("make", String.class, () -> "again") + wf.await(GO));
      assertThat(carillon.result(id, TypeToken.of(String.class), LONG)).isEqualTo("no numbergo");
    }
  }

  @Test
  void resultThatIsTooLargeOrCannotBeEncodedFailsItsStepForGood() {
    try (Carillon carillon = open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            try {
              wf.step(
                  "large",
                  byte[].class,
                  () -> {
                    done.add("large");
                    return new byte[Limits.PAYLOAD_MAX_BYTES + 1];
                  });
            } catch (StepFailedException e) {
              done.add(e.error().message());
            }
            wf.step("circle", Object.class, WorkflowFaultTest::circle);
            return "not reached";
          });
      JobHandle<String> job = carillon.schedule(ORDER.job("x"));
      assertThatThrownBy(() -> job.result(LONG))
          .isInstanceOf(JobFailedException.class)
          .hasMessageContaining("circle");
      assertThat(done).hasSize(2);
      assertThat(done.get(1)).contains("(expected: 0 to " + Limits.PAYLOAD_MAX_BYTES);
      assertThat(job.info().state()).isEqualTo(JobState.DEAD);
      assertThat(job.info().attempt()).isEqualTo(1);
    }
  }

  private static List<Object> circle() {
    List<Object> circle = new ArrayList<>();
    circle.add(circle);
    return circle;
  }

  // ---- late calls

  @Test
  void codeThatCatchesEverythingDoesNothingMoreOnceItsThreadIsGivenUp() throws Exception {
    CountDownLatch waiting = new CountDownLatch(2);
    CountDownLatch unwound = new CountDownLatch(1);
    try (Carillon carillon =
        Carillon.builder().inMemory().daemon(true).advanced(a -> a.parkedWorkflows(1)).open()) {
      carillon.workflow(
          ORDER,
          (text, wf) -> {
            wf.step("begin", waiting::countDown);
            try {
              return text + wf.await(GO);
            } catch (Throwable e) {
              try {
                wf.step("late", StepOptions.defaults(), () -> done.add("late"));
              } catch (Throwable again) {
                done.add(again.getClass().getSimpleName());
              }
              unwound.countDown();
              return "caught";
            }
          });
      JobHandle<String> first = carillon.schedule(ORDER.job("x"));
      Awaitility.await().until(() -> first.info().state() == JobState.WAITING);
      JobHandle<String> second = carillon.schedule(ORDER.job("y"));
      waiting.await();
      if (!"false".equals(System.getProperty("jdk.trackAllThreads"))) {
        unwound.await();
        assertThat(done).containsExactly(WorkflowUnwound.class.getSimpleName());
      }
      first.signal(GO, "!");
      second.signal(GO, "!");
      assertThat(first.result(LONG)).isEqualTo("x!");
      assertThat(second.result(LONG)).isEqualTo("y!");
      assertThat(done).doesNotContain("late");
    }
  }
}
