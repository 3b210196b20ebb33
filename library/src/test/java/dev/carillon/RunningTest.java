package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.fixture.PostgresServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What runs now, asked of any node. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class RunningTest {
  private static final TaskType<Integer> HOLD = TaskType.of("hold", Integer.class);
  private static final Duration SOON = Duration.ofSeconds(20);

  private final CountDownLatch over = new CountDownLatch(1);

  private static Carillon open(String nodeId) {
    String url = PostgresServer.shared().url() + "&carillon.schema=running";
    return Carillon.builder()
        .url(url)
        .nodeId(nodeId)
        .daemon(true)
        .closeGrace(Duration.ofSeconds(5))
        .open();
  }

  @Test
  void jobsOfOtherNodesAreListedAndSeenAsRunning() {
    try (Carillon one = open("one");
        Carillon two = open("two")) {
      one.handle(HOLD, (input, job) -> over.await());
      Awaitility.await().atMost(SOON).until(() -> two.node().members().size() == 2);
      JobId id = one.schedule(HOLD.job(1)).id();
      Awaitility.await().atMost(SOON).until(() -> stateOf(one, id) == JobState.RUNNING);

      RunningInfo running = two.node().running(null, 10);
      assertThat(running.silent()).isEmpty();
      assertThat(running.jobs())
          .singleElement()
          .satisfies(
              job -> {
                assertThat(job.id()).isEqualTo(id);
                assertThat(job.nodeId()).isEqualTo("one");
                assertThat(job.type()).isEqualTo("hold");
                assertThat(job.attempt()).isEqualTo(1);
                assertThat(job.startedAt()).isAfterOrEqualTo(job.dueAt());
              });
      assertThat(running.nodes())
          .containsExactlyInAnyOrder(
              new RunningInfo.Count("one", 1, 1), new RunningInfo.Count("two", 0, 0));
      assertThat(two.node().running("elsewhere", 10).jobs()).isEmpty();

      assertThat(stateOf(two, id)).isEqualTo(JobState.RUNNING);
      assertThat(two.history(id).orElseThrow().job().state()).isEqualTo(JobState.RUNNING);
      assertThat(two.list(JobQuery.all().states(JobState.RUNNING)).items())
          .extracting(JobInfo::id)
          .containsExactly(id);
      over.countDown();
      Awaitility.await().atMost(SOON).until(() -> stateOf(two, id) == JobState.SUCCEEDED);
      assertThat(two.node().running(null, 10).jobs()).isEmpty();
    }
  }

  @Test
  void nodeAloneTellsItsOwn() {
    try (Carillon carillon = Carillon.builder().inMemory().daemon(true).nodeId("me").open()) {
      carillon.handle(HOLD, (input, job) -> over.await());
      JobId id = carillon.schedule(HOLD.job(1)).id();
      Awaitility.await().atMost(SOON).until(() -> stateOf(carillon, id) == JobState.RUNNING);
      assertThat(carillon.node().running("default", 1).jobs())
          .extracting(RunningInfo.Running::id)
          .containsExactly(id);
      assertThatThrownBy(() -> carillon.node().running(null, 0))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("most: 0 (expected: 1 to");
      over.countDown();
    }
  }

  private static JobState stateOf(Carillon asked, JobId id) {
    Optional<JobInfo> found = asked.get(id);
    return found.orElseThrow().state();
  }
}
