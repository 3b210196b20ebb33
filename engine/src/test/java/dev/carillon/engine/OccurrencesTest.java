package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Occurrences that are jobs of their own, many of them at once. */
@Timeout(60)
class OccurrencesTest {
  private static final int BACKFILLED = 60;

  private final StillWorld world = new StillWorld(NodeOptions.of("node", 1));

  @Test
  void newestOfManyCancelsEachOfTheOthersOnce() {
    int before = world.reads();
    assertThat(backfill()).hasSize(BACKFILLED);
    // A second cancel of one would have to look up how it ended.
    assertThat(world.reads() - before).isLessThan(BACKFILLED);
    assertThat(world.finishOne()).isNotNull();
    assertThat(world.finishOne()).isNull();
    assertThat(world.node().stats().loadedJobs()).isEqualTo(1); // the recurring one
  }

  /** The times of an hour that has passed, one a minute. */
  private List<JobRef> backfill() {
    Schedule schedule = Schedule.every(Duration.ofMinutes(1)).overlap(Overlap.CANCEL_RUNNING);
    JobRef job = world.add(world.recurring(schedule, world.nowMicros() + Micros.PER_SECOND * 3600));
    Instant now = Micros.toInstant(world.nowMicros());
    List<JobRef> jobs = new ArrayList<>();
    world
        .node()
        .backfill(
            job,
            now.minus(Duration.ofMinutes(BACKFILLED)),
            now.minusSeconds(1),
            new OccurrencesAdded() {
              @Override
              public void added(List<JobRef> more) {
                jobs.addAll(more);
              }

              @Override
              public void refused(Outcome<ControlResult> why) {
                throw new AssertionError(why);
              }
            });
    world.settle();
    return jobs;
  }
}
