package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobProgress;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.Subscription;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.workflow.SignalType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What users see of the progress of jobs, and of what workflows publish. */
@Timeout(60)
class ProgressTest {
  private static final TaskType<Integer> COUNT = TaskType.of("count", Integer.class);
  private static final JobType<String, String> ORDER =
      JobType.of("order", String.class, String.class);
  private static final SignalType<String> GO = SignalType.of("go", String.class);
  private static final TypeToken<String> TEXT = TypeToken.of(String.class);
  private static final Duration SOON = Duration.ofSeconds(10);

  private static CarillonTest world() {
    return CarillonTest.at("2026-03-29T00:00:00Z");
  }

  @Test
  void handlerThatReportsAHundredThousandTimesIsSeenToRiseAndToEnd() {
    try (var world = world()) {
      List<JobProgress> seen = new CopyOnWriteArrayList<>();
      world
          .carillon()
          .handle(
              COUNT,
              (most, job) -> {
                for (int i = 1; i <= most; i++) {
                  job.progress(i, most, "at " + i);
                }
              });
      JobHandle<Void> job = world.carillon().schedule(COUNT.job(100_000).in(Duration.ofSeconds(1)));
      Subscription watch =
          job.watch(
              info -> {
                if (info.progress() != null) {
                  seen.add(info.progress());
                }
              });
      world.advance(Duration.ofSeconds(1));
      watch.close();
      assertThat(job.info().state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(job.info().progress().done()).isEqualTo(100_000);
      assertThat(job.info().progress().message()).isEqualTo("at 100000");
      assertThat(job.info().progress().fraction()).isEqualTo(1.0);
      assertThat(seen).extracting(JobProgress::done).isSorted();
    }
  }

  @Test
  void badProgressIsRefused() {
    try (var world = world()) {
      CountDownLatch refused = new CountDownLatch(3);
      world
          .carillon()
          .handle(
              COUNT,
              (most, job) -> {
                assertThatThrownBy(() -> job.progress(-1, 2, ""))
                    .isInstanceOf(InvalidArgumentException.class)
                    .hasMessageContaining("done: ");
                refused.countDown();
                assertThatThrownBy(() -> job.progress(3, 2, ""))
                    .isInstanceOf(InvalidArgumentException.class)
                    .hasMessageContaining("total: ");
                refused.countDown();
                assertThatThrownBy(() -> job.progress("x".repeat(1_025)))
                    .isInstanceOf(InvalidArgumentException.class)
                    .hasMessageContaining("message: ");
                refused.countDown();
              });
      world.carillon().schedule(COUNT.job(1));
      world.settle();
      assertThat(refused.getCount()).isZero();
    }
  }

  @Test
  void whatAWorkflowPublishesIsReadWhileItWaitsAfterARestartAndAfterItsEnd() {
    try (var world = world()) {
      register(world);
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      assertThat(order.published(String.class)).isEmpty();
      world.advance(Duration.ofSeconds(1));
      assertThat(order.published(String.class)).contains("waits for book");
      assertThat(order.info().progress().done()).isEqualTo(1);

      world.restart();
      register(world);
      Carillon carillon = world.carillon();
      assertThat(carillon.published(order.id(), TEXT)).contains("waits for book");
      carillon.signal(order.id(), GO, "now");
      world.settle();

      assertThat(carillon.result(order.id(), TEXT, SOON)).isEqualTo("book now");
      assertThat(carillon.published(order.id(), TEXT)).contains("went now");
      JobProgress progress = carillon.get(order.id()).orElseThrow().progress();
      assertThat(progress.done()).isEqualTo(2);
      assertThat(progress.message()).isEqualTo("went");
    }
  }

  private static void register(CarillonTest world) {
    world
        .carillon()
        .workflow(
            ORDER,
            (text, wf) -> {
              wf.step("reserve", step -> step.progress(1, 2, "reserved"));
              wf.publish("waits for " + text);
              String go = wf.await(GO);
              wf.publish("went " + go);
              wf.progress(2, 2, "went");
              return text + " " + go;
            });
  }

  @Test
  void publishedValueIsTakenBackByNull() {
    try (var world = world()) {
      world
          .carillon()
          .workflow(
              ORDER,
              (text, wf) -> {
                wf.publish(text);
                wf.await(GO);
                wf.publish(null);
                return text;
              });
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      world.advance(Duration.ofSeconds(2));
      assertThat(order.published(String.class)).contains("book");
      order.signal(GO, "now");
      world.settle();
      assertThat(order.published(String.class)).isEmpty();
    }
  }

  @Test
  void progressOfChildrenIsThatOfTheirWorkflow() {
    try (var world = world()) {
      world
          .carillon()
          .handle(
              COUNT,
              (most, job) -> {
                for (int i = 1; i <= most; i++) {
                  job.progress(i, most, "");
                }
              });
      world
          .carillon()
          .workflow(
              ORDER,
              (text, wf) -> {
                wf.all(IntStream.of(3, 4, 5).mapToObj(n -> wf.start(COUNT.job(n))).toList());
                wf.await(GO);
                return text;
              });
      JobHandle<String> order = world.carillon().schedule(ORDER.job("book"));
      world.advance(Duration.ofSeconds(3));

      assertThat(order.info().progress().done()).isEqualTo(12);
      assertThat(order.info().progress().total()).isEqualTo(12);
    }
  }
}
