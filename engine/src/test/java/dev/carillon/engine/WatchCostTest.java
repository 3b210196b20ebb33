package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.carillon.api.Dependency;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobInfo;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A watcher of a job that waits for thousands costs what the changes cost that it is told of. */
class WatchCostTest {
  private static final int MEMBERS = 1_000;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final List<JobInfo> told = new ArrayList<>();

  /** The bytes that a node allocates while the members of a group end one by one. */
  private long bytesToEndAGroup(boolean watched) {
    StillWorld world = new StillWorld(NodeOptions.of("node", 1));
    world.settle();
    List<After> members = new ArrayList<>();
    for (int i = 0; i < MEMBERS; i++) {
      JobRef member = world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
      members.add(new After(member, Dependency.Condition.SUCCEEDED));
    }
    JobSpec last = world.spec(world.nowMicros(), 0, 0, new byte[0]);
    JobRef group = world.add(last.withMore(last.more().with(members, List.of())));
    world.settle();
    if (watched) {
      world.node().watch(group, view -> told.add(view.info()));
    }
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < MEMBERS; i++) {
      assertThat(world.finishOne()).isNotNull();
      world.settle();
    }
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }

  @Test
  void watcherOfALargeGroupCostsLittleBesideTheEndsOfItsMembers() {
    bytesToEndAGroup(false); // once before, so that classes are loaded
    long alone = bytesToEndAGroup(false);
    long watched = bytesToEndAGroup(true);
    assertThat(told).hasSizeGreaterThanOrEqualTo(MEMBERS);
    assertThat(watched).as("bytes allocated, %,d without a watcher", alone).isLessThan(2 * alone);
  }

  @Test
  void watcherSeesWhatHadEndedAtEachChange() {
    bytesToEndAGroup(true);
    List<Long> met =
        told.stream()
            .map(info -> info.dependencies().stream().filter(DependencyInfo::met).count())
            .toList();
    assertThat(met).isSorted().contains(1L, MEMBERS / 2L, MEMBERS + 0L);
    assertThat(told.getLast().dependencies()).hasSize(MEMBERS);
  }
}
