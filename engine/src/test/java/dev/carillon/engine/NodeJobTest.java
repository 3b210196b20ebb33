package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.NodeJob.Phase;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeJobTest {
  private static NodeJob job() {
    JobSpec spec = new RandomOperations(1).spec().withMore(OptionalSpec.NONE);
    return new NodeJob(1, spec, spec.encode(), word -> word);
  }

  @Test
  void attemptStartsOnlyFromALane() {
    List<Phase> before = new ArrayList<>();
    for (Phase from : Phase.values()) {
      if (NodeJob.mayFollow(from, Phase.RUNNING)) {
        before.add(from);
      }
    }
    assertThat(before).containsExactly(Phase.READY);
  }

  @Test
  void jobThatIsGoneStaysGone() {
    NodeJob job = job();
    job.enter(Phase.GONE);
    job.enter(Phase.GONE); // unloaded after it ended
    for (Phase next : Phase.values()) {
      if (next != Phase.GONE) {
        assertThatThrownBy(() -> job.enter(next))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining(next.name());
      }
    }
    assertThat(job.phase()).isEqualTo(Phase.GONE);
  }

  @Test
  void everyLiveJobMayBePausedScheduledAgainAndEnd() {
    for (Phase from : Phase.values()) {
      boolean live = from != Phase.GONE;
      assertThat(NodeJob.mayFollow(from, Phase.SCHEDULED)).isEqualTo(live);
      assertThat(NodeJob.mayFollow(from, Phase.PAUSED)).isEqualTo(live);
      assertThat(NodeJob.mayFollow(from, Phase.GONE)).isTrue();
    }
  }
}
