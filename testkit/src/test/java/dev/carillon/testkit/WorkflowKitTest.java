package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.RecordedWorkflow;
import dev.carillon.WorkflowReplay;
import dev.carillon.WorkflowReplay.End;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.workflow.Promise;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.StepOptions;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.api.workflow.WorkflowHandler;
import dev.carillon.api.workflow.WorkflowTask;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the test kit does for workflows. */
@Timeout(60)
class WorkflowKitTest {
  private static final String START = "2026-03-29T00:00:00Z";
  private static final JobType<String, String> ORDER =
      JobType.of("order", String.class, String.class);
  private static final JobType<String, Integer> LENGTH =
      JobType.of("length", String.class, Integer.class);
  private static final TaskType<Integer> ROUNDS = TaskType.of("rounds", Integer.class);
  private static final SignalType<String> GO = SignalType.of("go", String.class);

  @TempDir Path folder;

  private final List<String> done = new CopyOnWriteArrayList<>();

  private static CarillonTest world() {
    return CarillonTest.at(START);
  }

  private String order(String text, Workflow wf) {
    wf.onFailure("release", () -> done.add("release"));
    String id = wf.step("reserve", String.class, () -> text + "-1");
    done.add("reserved " + id);
    String go = wf.await(GO, Duration.ofDays(7)).orElse("late");
    return id + " " + go + " " + wf.call(LENGTH.job(text));
  }

  // ---- quiet

  @Test
  void worldWithWorkflowsThatWaitIsQuiet() {
    try (var world = world()) {
      world.carillon().handle(LENGTH, (text, job) -> text.length());
      world.carillon().workflow(ORDER, this::order);
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      world.settle();
      assertThat(order.info().state()).isEqualTo(JobState.WAITING);
      world.advance(Duration.ofDays(7).minusNanos(1_000));
      assertThat(order.info().state()).isEqualTo(JobState.WAITING);
      world.advance(Duration.ofNanos(1_000));
      assertThat(order.result(Duration.ofSeconds(10))).isEqualTo("book-1 late 4");
    }
  }

  @Test
  void advanceGoesThroughAllTimersAndTriesOfAWorkflow() {
    try (var world = world()) {
      StepOptions twice = StepOptions.retry(FailurePolicy.constant(Duration.ofHours(1), 5));
      world
          .carillon()
          .workflow(
              ORDER,
              (text, wf) -> {
                wf.sleep(Duration.ofDays(1));
                Promise<String> beside = wf.startStep("beside", String.class, () -> "b");
                int tries =
                    wf.step(
                        "tries",
                        TypeToken.of(Integer.class),
                        twice,
                        step -> {
                          if (step.attempt() < 3) {
                            throw new IOException("not yet");
                          }
                          return step.attempt();
                        });
                return tries + beside.join() + " at " + wf.now();
              });
      JobHandle<String> order = world.carillon().schedule(ORDER.job("x"));
      world.advance(Duration.ofDays(2));
      assertThat(order.result(Duration.ofSeconds(10))).isEqualTo("3b at 2026-03-30T02:00:00Z");
    }
  }

  // ---- stubs

  @Test
  void stubRunsInPlaceOfTheStepsOfItsName() {
    try (var world = world()) {
      world.stubStep("reserve", step -> "stub " + step.attempt());
      world.stubStep("release", step -> done.add("stubbed release"));
      world.carillon().workflow(ORDER, this::order);
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      world.settle();
      order.cancel("enough");
      world.settle();
      assertThat(done).containsExactly("reserved stub 1", "stubbed release");
      assertThat(order.info().state()).isEqualTo(JobState.CANCELLED);
    }
  }

  @Test
  void stubThatThrowsIsTriedAgainAndTheBodyComesBackWithoutIt() {
    FailurePolicy often = FailurePolicy.constant(Duration.ofMinutes(1), 100);
    try (var world = world()) {
      world.stubStep(
          "reserve",
          step -> {
            throw new IOException("down");
          });
      world
          .carillon()
          .workflow(
              ORDER,
              (text, wf) ->
                  wf.step(
                      "reserve",
                      TypeToken.of(String.class),
                      StepOptions.retry(often),
                      step -> "body " + step.attempt()));
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      world.advance(Duration.ofMinutes(2));
      world.unstubStep("reserve");
      world.advance(Duration.ofMinutes(1));
      assertThat(order.result(Duration.ofSeconds(10))).isEqualTo("body 4");
    }
  }

  @Test
  void stubOfAnotherTypeFailsTheStepForGoodAndOneThatIsRecordedDoesNotRun() {
    try (var world = world()) {
      world.stubStep("number", step -> "no number");
      world
          .carillon()
          .workflow(ORDER, (text, wf) -> "" + wf.step("number", Integer.class, () -> 1));
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      world.settle();
      assertThat(order.info().state()).isEqualTo(JobState.DEAD);
      assertThat(order.info().lastError().message()).contains("number");
    }
    try (var world = world()) {
      world.carillon().workflow(ORDER, this::order);
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      world.settle();
      world.restart();
      world.stubStep("reserve", step -> "stub");
      world.carillon().handle(LENGTH, (text, job) -> text.length());
      world.carillon().workflow(ORDER, this::order);
      world.carillon().signal(order.id(), GO, "go");
      world.settle();
      assertThat(
              world
                  .carillon()
                  .result(order.id(), TypeToken.of(String.class), Duration.ofSeconds(10)))
          .isEqualTo("book-1 go 4");
    }
  }

  // ---- recorded histories

  private RecordedWorkflow recorded(CarillonTest world, boolean ended) {
    Carillon carillon = world.carillon();
    carillon.handle(LENGTH, (text, job) -> text.length());
    carillon.workflow(ORDER, this::order);
    JobHandle<String> order = carillon.schedule(ORDER.job("book").meta("a", "b"));
    world.settle();
    if (ended) {
      order.signal(GO, "go");
      world.settle();
      assertThat(order.info().state()).isEqualTo(JobState.SUCCEEDED);
    }
    done.clear();
    return carillon.recordedWorkflow(order.id()).orElseThrow();
  }

  @Test
  void historyIsKeptInAFileAndReplayed() throws IOException {
    try (var world = world()) {
      RecordedWorkflow recorded = recorded(world, true);
      Path file = folder.resolve("order.history");
      recorded.write(file);
      RecordedWorkflow read = RecordedWorkflow.read(file);
      assertThat(read.text()).isEqualTo(recorded.text()).isEqualTo(Files.readString(file));
      assertThat(read.type()).isEqualTo("order");
      assertThat(read.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(recorded.text()).contains("# StepDone reserve").contains("# Signalled go");

      WorkflowReplay.Result met = world.replay(read, ORDER, this::order);
      assertThat(met).isEqualTo(new WorkflowReplay.Result(End.RETURNED, "", "book-1 go 4"));
      assertThat(done).containsExactly("reserved book-1");
    }
  }

  @Test
  void replayOfAWorkflowThatWaitsSaysSoAndDoesNothing() {
    try (var world = world()) {
      RecordedWorkflow recorded = recorded(world, false);
      assertThat(recorded.state()).isEqualTo(JobState.WAITING);
      assertThat(world.replay(recorded, ORDER, this::order).end()).isEqualTo(End.WAITS);
      assertThat(done).containsExactly("reserved book-1");
    }
  }

  @Test
  void replayStopsWhereTheCodeGoesBeyondItsHistory() {
    try (var world = world()) {
      RecordedWorkflow recorded = recorded(world, false);
      WorkflowHandler<String, String> shorter =
          (text, wf) -> {
            wf.onFailure("release", () -> done.add("release"));
            wf.step("reserve", String.class, () -> text);
            wf.await(GO, Duration.ofDays(7));
            return text;
          };
      assertThat(world.replay(recorded, ORDER, shorter).end()).isEqualTo(End.WAITS);

      WorkflowHandler<String, String> beside =
          (text, wf) -> {
            wf.onFailure("release", () -> done.add("release"));
            wf.step("reserve", String.class, () -> text);
            Promise<String> go = wf.signal(GO);
            wf.timer(Duration.ofDays(7));
            wf.step("charge", () -> done.add("charged"));
            return go.join();
          };
      WorkflowReplay.Result met = world.replay(recorded, ORDER, beside);
      assertThat(met.end()).isEqualTo(End.GOES_ON);
      assertThat(met.detail()).isEqualTo("step \"charge\"");
      assertThat(done).isEmpty();
    }
  }

  @Test
  void replayOfCodeThatDoesNotFitFailsTheTest() {
    try (var world = world()) {
      RecordedWorkflow recorded = recorded(world, true);
      assertThatThrownBy(
              () ->
                  world.replay(
                      recorded,
                      ORDER,
                      (text, wf) -> {
                        wf.onFailure("release", () -> done.add("release"));
                        return wf.step("book", String.class, () -> text);
                      }))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("DIVERGED call 2: step \"book\"")
          .hasMessageContaining("step \"reserve\"");
      assertThatThrownBy(
              () ->
                  world.replay(
                      recorded,
                      ORDER,
                      (text, wf) -> {
                        String result = order(text, wf);
                        wf.sleep(Duration.ofDays(1));
                        return result;
                      }))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("SUCCEEDED: GOES_ON");
      assertThatThrownBy(
              () ->
                  world.replay(
                      recorded,
                      ORDER,
                      (text, wf) -> {
                        wf.onFailure("release", () -> done.add("release"));
                        return "" + wf.step("reserve", Integer.class, () -> 1);
                      }))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("UNDECODABLE");
      assertThatThrownBy(() -> world.replay(recorded, LENGTH, (text, wf) -> 1))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("expected: that of the history, order");
    }
  }

  @Test
  void historyOfAWorkflowThatBeganAnewIsThatOfItsLastRound() {
    try (var world = world()) {
      WorkflowTask<Integer> rounds =
          (round, wf) -> {
            wf.step("round", () -> done.add("round " + round));
            if (round < 3) {
              wf.continueAsNew(round + 1);
            }
            wf.await(GO);
          };
      world.carillon().workflow(ROUNDS, rounds);
      JobHandle<Void> job = world.carillon().schedule(ROUNDS.job(1));
      world.settle();
      assertThat(done).containsExactly("round 1", "round 2", "round 3");
      RecordedWorkflow recorded = world.carillon().recordedWorkflow(job.id()).orElseThrow();
      assertThat(world.replay(recorded, ROUNDS, rounds).end()).isEqualTo(End.WAITS);
      assertThat(recorded.size()).isEqualTo(3);

      job.cancel("");
      world.settle();
      RecordedWorkflow cancelled = world.carillon().recordedWorkflow(job.id()).orElseThrow();
      assertThat(cancelled.state()).isEqualTo(JobState.CANCELLED);
      assertThat(world.replay(cancelled, ROUNDS, rounds).end()).isIn(End.COMPENSATED, End.THREW);
    }
  }

  @Test
  void textThatIsNoHistoryIsRefused() {
    assertThatThrownBy(() -> RecordedWorkflow.parse("nonsense"))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("first line: \"nonsense\"");
    assertThatThrownBy(
            () -> RecordedWorkflow.parse("carillon workflow history, format 1\nid x\nstate FINE"))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("expected: what RecordedWorkflow.text() gave");
    try (var world = world()) {
      String text = recorded(world, false).text();
      assertThatThrownBy(() -> RecordedWorkflow.parse(text.replace("entry ", "entry !!")))
          .isInstanceOf(InvalidArgumentException.class);
      assertThatThrownBy(() -> RecordedWorkflow.parse(text + "more\n"))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("more");
    }
  }
}
