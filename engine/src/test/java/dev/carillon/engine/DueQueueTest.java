package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.DueQueue;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.shard.NodeJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class DueQueueTest {
  private final DueQueue queue = new DueQueue();
  private long numbers;

  private NodeJob job(long due) {
    JobSpec spec = new RandomOperations(1).spec();
    NodeJob job = new NodeJob(++numbers, spec, spec.encode(), UnaryOperator.identity());
    job.dueMicros = due;
    return job;
  }

  private List<Long> drain(long now) {
    List<Long> dues = new ArrayList<>();
    for (NodeJob job = queue.poll(now); job != null; job = queue.poll(now)) {
      job.enter(NodeJob.Phase.READY);
      dues.add(job.dueMicros);
    }
    return dues;
  }

  @Test
  void jobsComeInDueOrderAndNeverBeforeTheirTime() {
    SplittableRandom random = new SplittableRandom(3);
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < 30_000; i++) {
      long due = random.nextInt(100_000);
      queue.add(job(due));
      expected.add(due);
    }
    expected.sort(null);
    List<Long> seen = new ArrayList<>();
    for (long now = 0; now <= 100_000; now += 5_000) {
      List<Long> drained = drain(now);
      long limit = now;
      assertThat(drained).allMatch(due -> due <= limit);
      seen.addAll(drained);
    }
    assertThat(seen).isEqualTo(expected);
    assertThat(queue.nextMicros()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void lanesTakeTurnsWithWhatIsDue() {
    Dispatcher dispatcher = StillWorld.dispatcher();
    Lane crowded = dispatcher.lane("crowded", "q");
    Lane quiet = dispatcher.lane("quiet", "q");
    for (int i = 0; i < 1000; i++) {
      queue.add(job(10, crowded));
    }
    queue.add(job(20, quiet));
    queue.add(job(21, quiet));
    queue.add(job(40, quiet));
    List<Lane> first = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      first.add(Objects.requireNonNull(Lane.of(poll(30))));
    }
    assertThat(first).containsExactly(crowded, quiet, crowded, quiet, crowded, crowded);
    assertThat(queue.nextMicros()).isEqualTo(10);
    assertThat(drain(39)).hasSize(1000 - 4).containsOnly(10L);
    assertThat(queue.nextMicros()).isEqualTo(40);
    queue.add(job(35, crowded));
    assertThat(queue.nextMicros()).isEqualTo(35);
    assertThat(drain(50)).containsExactly(35L, 40L);
    assertThat(queue.size()).isZero();
  }

  private NodeJob poll(long now) {
    NodeJob job = Objects.requireNonNull(queue.poll(now));
    job.enter(NodeJob.Phase.READY);
    return job;
  }

  private NodeJob job(long due, Lane lane) {
    NodeJob job = job(due);
    job.lane = lane;
    return job;
  }

  @Test
  void jobThatIsTakenBackAndWaitsAgainDoesNotPileUp() {
    NodeJob job = job(10);
    queue.add(job);
    for (int i = 0; i < 10_000; i++) {
      job.enter(NodeJob.Phase.PAUSED);
      queue.noteStale();
      job.enter(NodeJob.Phase.SCHEDULED);
      queue.add(job);
    }
    assertThat(queue.size()).isLessThan(200);
    assertThat(drain(10)).containsExactly(10L);
  }

  @Test
  void aMovedJobComesOnlyAtItsNewTime() {
    NodeJob job = job(10);
    queue.add(job);
    job.dueMicros = 50;
    queue.noteStale();
    queue.add(job);
    assertThat(queue.nextMicros()).isEqualTo(50);
    assertThat(queue.poll(49)).isNull();
    assertThat(queue.poll(50)).isSameAs(job);
    job.enter(NodeJob.Phase.READY);
    assertThat(queue.poll(1000)).isNull();
  }

  @Test
  void entriesOfGoneJobsAreSweptOut() {
    List<NodeJob> jobs = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      NodeJob job = job(i);
      jobs.add(job);
      queue.add(job);
    }
    for (int i = 0; i < 900; i++) {
      jobs.get(i).enter(NodeJob.Phase.GONE);
      queue.noteStale();
    }
    assertThat(queue.size()).isLessThan(500);
    assertThat(drain(2000)).hasSize(100).startsWith(900L);
  }

  /** The hash of a lane is another in each process: a simulated run must not depend on it. */
  @Test
  void sweepKeepsAJobThatStandsInTwoLanesWhereItCameFirst() {
    Dispatcher dispatcher = StillWorld.dispatcher();
    for (int i = 0; i < 20; i++) {
      DueQueue swept = new DueQueue();
      Lane before = dispatcher.lane("before " + i, "q");
      Lane since = dispatcher.lane("since " + i, "q");
      NodeJob moved = job(10, before);
      swept.add(moved);
      NodeJob other = job(10, since);
      swept.add(other);
      moved.lane = since;
      swept.add(moved);
      for (int gone = 0; gone < 65; gone++) {
        swept.noteStale();
      }
      assertThat(swept.size()).isEqualTo(2);
      assertThat(swept.poll(10)).isSameAs(moved);
    }
  }
}
