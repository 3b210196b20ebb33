package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.TaskType;
import dev.carillon.engine.format.ByteReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a node remembers of its figures, and what is added up of all nodes. */
class PastTest {
  private static final TaskType<Integer> TASK = TaskType.of("task", Integer.class);
  private static final long START = 1_800_000_000L;

  private final AtomicLong wallMicros = new AtomicLong(START * 1_000_000);
  private final TimeSource clock =
      new TimeSource() {
        @Override
        public long wallMicros() {
          return wallMicros.get();
        }

        @Override
        public long monotonicNanos() {
          return System.nanoTime();
        }
      };
  private final Tally tally = new Tally(dev.carillon.api.Metrics.none());
  private final Past past =
      new Past(
          tally,
          clock,
          () -> {
            throw new dev.carillon.api.error.ClosedException("not looked at by itself");
          },
          () -> true);

  private static CarillonStats stats(int running, int ready) {
    return new CarillonStats(1, 1, 7, running, 10, ready, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  /** Seconds with so many starts each, in one queue. */
  private void live(int seconds, int startsEach) {
    var meter = tally.jobs("task", "mail", "default");
    for (int i = 0; i < seconds; i++) {
      for (int n = 0; n < startsEach; n++) {
        meter.started(3_000_000);
        tally.count("jobs.succeeded", 1);
      }
      wallMicros.addAndGet(1_000_000);
      past.sample(stats(i % 3, i % 5));
    }
  }

  private List<PastSlot> told(PastInfo.Span span, long after) {
    List<PastSlot> all = new ArrayList<>();
    ByteReader in = new ByteReader(past.told(span.code(), after));
    assertThat(in.u8()).isBetween(0, 1);
    while (in.remaining() > 0) {
      all.add(PastSlot.decode(new ByteReader(in.bytes())));
    }
    return all;
  }

  @Test
  void ringsHoldWhatTheySayAndNoMore() {
    past.begin();
    past.sample(stats(0, 0));
    live(1_300, 2);
    List<PastSlot> seconds = told(PastInfo.Span.TEN_MINUTES, 0);
    assertThat(seconds).hasSizeBetween(599, 601);
    assertThat(seconds).allSatisfy(slot -> assertThat(slot.started).isEqualTo(2));
    assertThat(seconds.getLast().at).isEqualTo(START + 1_298);
    List<PastSlot> tens = told(PastInfo.Span.TWO_HOURS, 0);
    assertThat(tens).hasSizeBetween(129, 130);
    assertThat(tens.getLast().started).isEqualTo(20);
    assertThat(tens.getLast().seconds).isEqualTo(10);
    assertThat(tens.getLast().ready).isEqualTo(4); // the most, not the last
    assertThat(tens.getLast().lateness.get("mail")).hasSize(PastSlot.BUCKETS).contains(20);
    assertThat(told(PastInfo.Span.THREE_DAYS, 0)).hasSize(4);
    assertThat(told(PastInfo.Span.TEN_MINUTES, START + 1_295)).hasSize(3);
  }

  @Test
  void clockThatGoesBackBeginsTheRingsAnew() {
    past.begin();
    past.sample(stats(0, 0));
    live(30, 1);
    wallMicros.addAndGet(-3_600_000_000L);
    live(3, 1);
    assertThat(told(PastInfo.Span.TEN_MINUTES, 0)).hasSizeLessThan(4);
    wallMicros.addAndGet(7_200_000_000L);
    live(3, 1);
    assertThat(told(PastInfo.Span.TEN_MINUTES, 0)).allMatch(slot -> slot.at > START + 3_000);
  }

  @Test
  void manyQueuesAreFewInAnInterval() {
    past.begin();
    past.sample(stats(0, 0));
    for (int i = 0; i < 40; i++) {
      var meter = tally.jobs("task", "queue-" + i, "default");
      for (int n = 0; n <= i; n++) {
        meter.started(n * 1_000_000L);
      }
    }
    wallMicros.addAndGet(1_000_000);
    past.sample(stats(0, 0));
    live(2, 0);
    PastSlot first = told(PastInfo.Span.TEN_MINUTES, 0).getFirst();
    assertThat(first.lateness).hasSize(PastSlot.MOST_QUEUES + 1).containsKeys("queue-39", "others");
    assertThat(first.started).isEqualTo(820);
    long counted = 0;
    for (int[] counts : first.lateness.values()) {
      for (int count : counts) {
        counted += count;
      }
    }
    assertThat(counted).isEqualTo(820);
  }

  @Test
  void answerOfManyIsToldInParts() {
    past.begin();
    past.sample(stats(0, 0));
    String name = "q".repeat(190);
    for (int i = 0; i < 600; i++) {
      for (int queue = 0; queue < 9; queue++) {
        tally.jobs("task", name + queue, "default").started(1_000_000);
      }
      wallMicros.addAndGet(1_000_000);
      past.sample(stats(0, 0));
    }
    byte[] first = past.told(1, 0);
    assertThat(first[0]).isEqualTo((byte) 1);
    assertThat(first.length).isLessThan(140_000);
  }

  @Test
  void nodeAddsUpWhatItMeasured() throws Exception {
    try (Carillon carillon = Carillon.inMemory()) {
      carillon.handle(TASK, (input, job) -> {});
      carillon.node().keepPast();
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> !carillon.node().past(PastInfo.Span.TEN_MINUTES).slots().isEmpty());
      for (int i = 0; i < 25; i++) {
        carillon.schedule(TASK.job(i));
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () -> {
                PastInfo told = carillon.node().past(PastInfo.Span.TEN_MINUTES);
                assertThat(told.slots().stream().mapToLong(slot -> slot.sums().ended()).sum())
                    .isEqualTo(25);
                assertThat(told.nodes()).hasSize(1);
                assertThat(told.silent()).isEmpty();
              });
    }
  }
}
