package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A job whose node died again and again while it ran, and its time alone. A node dies here by being
 * left behind: its clock stands still and the next one takes its shards.
 */
@Timeout(60)
class SuspectTest {
  private static final Instant START = Instant.parse("2026-03-29T00:00:00Z");
  private static final TaskType<String> SUSPECT = TaskType.of("suspect", String.class);
  private static final TaskType<String> OTHER = TaskType.of("other", String.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(4);
  private static final Duration ALONE = Duration.ofSeconds(10);
  private static final Duration LONG = Duration.ofSeconds(20);

  private final MemoryStore memory = new MemoryStore();
  private final List<CarillonTest> left = new ArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);

  @AfterEach
  void letGo() {
    end.countDown();
    left.forEach(CarillonTest::close);
  }

  private CarillonTest nextNode() {
    CarillonTest node =
        CarillonTest.at(START, () -> memory, options -> options.closeGrace(Duration.ZERO));
    left.add(node);
    return node;
  }

  /** A first attempt that nothing but the end of the test ends; later ones return. */
  private void hang(CountDownLatch started, JobContext job) {
    started.countDown();
    boolean waiting = job.attempt() == 1;
    while (waiting) {
      try {
        end.await();
        waiting = false;
      } catch (InterruptedException e) {
        // It goes on all the same.
      }
    }
  }

  private CarillonTest nodeThatRunsTheSuspect(CarillonTest node) throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    node.carillon().handle(SUSPECT, (text, job) -> hang(started, job));
    assertThat(started.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return node;
  }

  @Test
  void attemptAloneThatTimedOutAndGoesOnGivesTheNodeBackAfterItsTime() throws Exception {
    CarillonTest first = nextNode();
    JobId suspect = first.carillon().schedule(SUSPECT.job("x").timeout(TIMEOUT)).id();
    nodeThatRunsTheSuspect(first);
    nodeThatRunsTheSuspect(nextNode());
    nodeThatRunsTheSuspect(nextNode());

    CarillonTest node = nodeThatRunsTheSuspect(nextNode());
    node.carillon().handle(OTHER, (text, job) -> {});
    JobHandle<Void> other = node.carillon().schedule(OTHER.job("y"));
    assertThat(other.info().state()).isEqualTo(JobState.READY);

    node.moveClock(TIMEOUT);
    JobInfo timedOut = awaitError(node, suspect);
    assertThat(timedOut.lastError().type()).isEqualTo("timeout");
    assertThat(other.info().state()).isEqualTo(JobState.READY);

    node.moveClock(ALONE.minus(TIMEOUT));
    assertThat(other.result(LONG)).isNull();
    node.carillon().result(suspect, TypeToken.of(Void.class), LONG);
    assertThat(node.carillon().get(suspect).orElseThrow().attempt()).isEqualTo(2);
    assertThat(end.getCount()).isEqualTo(1);
  }

  @Test
  void occurrenceThatKillsItsNodeIsConvictedAndItsSchedulePaused() throws Exception {
    CarillonTest first = nextNode();
    JobId suspect =
        first.carillon().schedule(SUSPECT.job("x").on(Schedule.every(Duration.ofHours(1)))).id();
    first.advance(Duration.ofHours(1));
    for (int deaths = 0; deaths < 4; deaths++) {
      CarillonTest node = deaths == 0 ? first : nextNode();
      node.moveClock(Duration.ofHours(deaths == 0 ? 0 : 1));
      nodeThatRunsTheSuspect(node);
    }

    CarillonTest node = nextNode();
    node.moveClock(Duration.ofHours(1));
    node.settle();
    JobInfo schedule = node.carillon().get(suspect).orElseThrow();
    assertThat(schedule.state()).isEqualTo(JobState.PAUSED);
    assertThat(schedule.reason()).startsWith("poison");
    List<JobInfo> dead = node.carillon().list(JobQuery.all().states(JobState.DEAD)).items();
    assertThat(dead).hasSize(1);
    assertThat(dead.getFirst().reason()).startsWith("poison");
    assertThat(dead.getFirst().occurrence()).isNotNull();

    List<String> runs = new CopyOnWriteArrayList<>();
    node.carillon().handle(SUSPECT, (text, job) -> runs.add(text));
    node.advance(Duration.ofHours(2));
    assertThat(runs).isEmpty();
    assertThat(node.carillon().resume(suspect)).isEqualTo(ControlResult.DONE);
    node.advance(Duration.ofHours(2));
    assertThat(runs).hasSizeGreaterThanOrEqualTo(2);
  }

  /** Once the end of an attempt is durable. */
  private static JobInfo awaitError(CarillonTest node, JobId id) throws InterruptedException {
    CountDownLatch failed = new CountDownLatch(1);
    try (var watch =
        node.carillon()
            .watch(
                id,
                info -> {
                  if (info.lastError() != null) {
                    failed.countDown();
                  }
                })) {
      assertThat(failed.await(LONG.toSeconds(), TimeUnit.SECONDS)).as("%s", watch).isTrue();
    }
    return node.carillon().get(id).orElseThrow();
  }
}
