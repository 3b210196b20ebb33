package dev.carillon;

import static dev.carillon.Types.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.api.workflow.Child;
import dev.carillon.api.workflow.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Children of workflows, as their user sees them. */
@Timeout(60)
class WorkflowChildrenTest {
  private static final JobType<Integer, Integer> PARENT =
      JobType.of("parent", Integer.class, Integer.class);
  private static final JobType<Integer, Integer> SQUARE =
      JobType.of("square", Integer.class, Integer.class);
  private static final FailurePolicy NO_RETRY = FailurePolicy.drop();

  private final List<Integer> squared = new CopyOnWriteArrayList<>();

  private Carillon open() {
    Carillon carillon = Carillon.builder().inMemory().daemon(true).open();
    carillon.handle(
        SQUARE,
        (value, job) -> {
          squared.add(value);
          if (value < 0) {
            throw new IllegalArgumentException("negative: " + value);
          }
          return value * value;
        });
    return carillon;
  }

  // ---- many

  @Test
  void childrenAreTakenInTheOrderInWhichTheyEnd() {
    try (Carillon carillon = open()) {
      carillon.workflow(
          PARENT,
          (count, wf) -> {
            List<Promise<?>> open = new ArrayList<>();
            for (int i = 1; i <= count; i++) {
              open.add(wf.start(SQUARE.job(i)));
            }
            int sum = 0;
            while (!open.isEmpty()) {
              Promise<?> first = wf.first(open);
              open.remove(first);
              sum += (Integer) first.join();
            }
            return sum;
          });
      assertThat(carillon.schedule(PARENT.job(10)).result(LONG)).isEqualTo(385);
    }
  }

  @Test
  void someOfTenChildrenFailAndTheOthersCount() {
    try (Carillon carillon = open()) {
      carillon.workflow(
          PARENT,
          (count, wf) -> {
            List<Child<Integer>> children =
                IntStream.range(0, count)
                    .mapToObj(
                        i -> wf.start(SQUARE.job(i % 3 == 0 ? -i - 1 : i).onFailure(NO_RETRY)))
                    .toList();
            int sum = 0;
            for (Child<Integer> child : children) {
              try {
                sum += child.join();
              } catch (ChildFailedException e) {
                assertThat(e.is(IllegalArgumentException.class)).isTrue();
              }
            }
            return sum;
          });
      assertThat(carillon.schedule(PARENT.job(10)).result(LONG)).isEqualTo(159);
      assertThat(squared).hasSize(10);
    }
  }

  @Test
  void childIsAWorkflowThatStartsItself() {
    try (Carillon carillon = open()) {
      carillon.workflow(PARENT, (depth, wf) -> depth == 0 ? 0 : 1 + wf.call(PARENT.job(depth - 1)));
      assertThat(carillon.schedule(PARENT.job(10)).result(LONG)).isEqualTo(10);
    }
  }

  // ---- names and keys

  @Test
  void childHasANameWhileItLives() {
    try (Carillon carillon = open()) {
      carillon.workflow(
          PARENT,
          (value, wf) -> {
            Child<Integer> child = wf.start(SQUARE.job(value).named("one").in(LONG));
            String id = child.id().value();
            wf.step(
                "look",
                () ->
                    assertThat(carillon.get("default", "one").orElseThrow().id().value())
                        .isEqualTo(id));
            wf.step("cancel", () -> carillon.cancel(new JobId(id), "enough"));
            try {
              return child.join();
            } catch (ChildFailedException e) {
              return e.state() == JobState.CANCELLED ? -1 : 0;
            }
          });
      assertThat(carillon.schedule(PARENT.job(3)).result(LONG)).isEqualTo(-1);
      assertThat(carillon.schedule(SQUARE.job(2).named("one")).created()).isTrue();
    }
  }

  @Test
  void childUnderAKeyRunsOnceHoweverManyWorkflowsStartIt() {
    try (Carillon carillon = open()) {
      carillon.workflow(PARENT, (value, wf) -> wf.call(SQUARE.job(value).key("once")));
      List<JobHandle<Integer>> parents =
          IntStream.range(0, 8).mapToObj(i -> carillon.schedule(PARENT.job(5))).toList();
      for (JobHandle<Integer> parent : parents) {
        assertThat(parent.result(LONG)).isEqualTo(25);
      }
      assertThat(squared).containsExactly(5);
    }
  }

  @Test
  void jobThatIsKeptIsJoinedAndOutlivesTheWorkflow() {
    try (Carillon carillon = open()) {
      JobHandle<Integer> kept =
          carillon.schedule(SQUARE.job(4).named("kept").in(Duration.ofDays(1)));
      carillon.workflow(
          PARENT,
          (value, wf) -> {
            Child<Integer> child =
                wf.start(SQUARE.job(value).named("kept").ifExists(IfExists.KEEP));
            assertThat(child.id()).isEqualTo(kept.id());
            throw new ChildFailedException("x", child.id(), JobState.FAILED, null);
          });
      JobHandle<Integer> parent = carillon.schedule(PARENT.job(3));
      assertThatThrownBy(() -> parent.result(LONG)).isInstanceOf(JobFailedException.class);
      assertThat(kept.info().state()).isEqualTo(JobState.SCHEDULED);
    }
  }

  @Test
  void nameThatIsTakenFailsTheChildTheSameLiveAndOnReplay() {
    AtomicInteger runs = new AtomicInteger();
    try (Carillon carillon = open()) {
      carillon.schedule(SQUARE.job(4).named("taken").in(LONG));
      carillon.workflow(
          PARENT,
          (value, wf) -> {
            Child<Integer> child = wf.start(SQUARE.job(value).named("taken"));
            try {
              return child.join();
            } catch (ChildFailedException e) {
              assertThat(e.is(NameTakenException.class)).isTrue();
              if (runs.incrementAndGet() == 1) {
                throw new IllegalStateException("once more");
              }
              return runs.get();
            }
          },
          HandlerOptions.defaults().failurePolicy(FailurePolicy.constant(Duration.ZERO, 1)));
      assertThat(carillon.schedule(PARENT.job(3)).result(LONG)).isEqualTo(2);
    }
  }

  @Test
  void replaceAndSchedulesAreRefusedForChildren() {
    try (Carillon carillon = open()) {
      carillon.workflow(
          PARENT,
          (value, wf) -> {
            assertThatThrownBy(() -> wf.start(SQUARE.job(1).named("n").ifExists(IfExists.REPLACE)))
                .hasMessageContaining("ifExists: REPLACE (expected: another or none for the child");
            assertThatThrownBy(
                    () -> wf.start(SQUARE.job(1).named("n").on(Schedule.every(Duration.ofDays(1)))))
                .hasMessageContaining("(expected: another or none for the child of a workflow");
            return value;
          });
      assertThat(carillon.schedule(PARENT.job(3)).result(LONG)).isEqualTo(3);
    }
  }
}
