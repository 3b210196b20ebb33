package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of shards in which the histories of waiting workflows are. */
@Timeout(120)
class WaitingHistoryTest extends HistoryWorld {
  private static final JobType<Integer, String> ORDER =
      JobType.of("order", Integer.class, String.class);
  private static final SignalType<String> GO = SignalType.of("go", String.class);

  /** More than a shard takes, which is sealed then: an open one does not sleep in its slice. */
  private static final int ALL = 80;

  private static final int LAST = 2;
  private static final int LOADED_BYTES = 500_000;

  private final List<String> seen = new CopyOnWriteArrayList<>();

  private String order(int number, Workflow wf) {
    String loaded =
        wf.step("load", String.class, () -> Integer.toString(number % 10).repeat(LOADED_BYTES));
    String all = loaded.length() + " " + wf.await(GO);
    seen.add(all);
    return all;
  }

  /** Nobody compacts a shard that sleeps, and one whose workflows all wait for signals does. */
  @ParameterizedTest
  @EnumSource
  void shardIsCompactedBeforeItSleepsWithWorkflowsThatWait(Kind kind) {
    try (var world = world(kind)) {
      Carillon carillon = world.carillon();
      carillon.workflow(ORDER, this::order);
      List<JobId> ids = new ArrayList<>();
      for (int number = 0; number < ALL; number++) {
        ids.add(carillon.schedule(ORDER.job(number)).id());
      }
      world.settle();
      ids.subList(LAST, ALL).forEach(id -> carillon.signal(id, GO, "go"));
      world.advance(Duration.ofHours(2));
      assertThat(counts.getOrDefault("shards.compacted", 0L)).isPositive();

      world.restart();
      world.carillon().workflow(ORDER, this::order);
      for (JobId id : ids.subList(0, LAST)) {
        assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.WAITING);
        world.carillon().signal(id, GO, "now");
        world.settle();
        assertThat(world.carillon().get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(seen).endsWith(LOADED_BYTES + " now");
      }
    }
  }
}
