package dev.carillon;

import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.BlockReason;
import dev.carillon.api.JobHandle;
import dev.carillon.api.TaskType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A limited handler: nobody is forgotten, nobody overtakes for want of a turn. */
@Timeout(120)
class LimitTest {
  private static final HandlerOptions ONE = HandlerOptions.defaults().limit(1);

  @TempDir Path folder;

  private final List<String> order = new CopyOnWriteArrayList<>();

  private Carillon open() {
    return new Place(Place.Kind.MEMORY, folder).open();
  }

  /** Runs notes one at a time; the first waits at the gate. */
  private void handleOneByOne(Carillon carillon, Gate gate) {
    carillon.handle(
        NOTE,
        (text, job) -> {
          order.add(text);
          if (text.equals("first")) {
            gate.pass();
          }
        },
        ONE);
  }

  private static void awaitLimited(JobHandle<?> handle) {
    Awaitility.await()
        .untilAsserted(() -> assertThat(handle.info().blockReason()).isEqualTo(BlockReason.LIMIT));
  }

  @RepeatedTest(10)
  void cancelOfTheNextInLineDoesNotStopTheRest() throws Exception {
    Gate gate = new Gate();
    try (Carillon carillon = new Place(Place.Kind.SQLITE, folder).open()) {
      handleOneByOne(carillon, gate);
      carillon.schedule(NOTE.job("first"));
      gate.awaitReached();
      List<JobHandle<Void>> line = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        line.add(carillon.schedule(NOTE.job("waits " + i)));
      }
      awaitLimited(line.getLast());

      Thread cancels = Thread.startVirtualThread(() -> line.getFirst().cancel("not needed"));
      gate.open();
      cancels.join();

      for (JobHandle<Void> handle : line.subList(1, line.size())) {
        handle.result(LONG);
      }
    }
  }

  @Test
  void lanesTakeTurnsAndPriorityCountsAmongThoseThatWait() throws Exception {
    Gate gate = new Gate();
    try (Carillon carillon = open()) {
      handleOneByOne(carillon, gate);
      carillon.schedule(NOTE.job("first"));
      gate.awaitReached();
      List<JobHandle<Void>> all = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        all.add(carillon.schedule(NOTE.job("big").namespace("big")));
      }
      all.add(carillon.schedule(NOTE.job("urgent").namespace("big").priority(100)));
      all.add(carillon.schedule(NOTE.job("small").namespace("small")));
      awaitLimited(all.getLast());
      gate.open();
      for (JobHandle<Void> handle : all) {
        handle.result(LONG);
      }
    }
    assertThat(order.indexOf("small")).isLessThan(5);
    assertThat(order.indexOf("urgent")).isLessThan(5);
  }

  @Test
  void laneThatStandsAsideDoesNotHoldUpTheHandler() throws Exception {
    TaskType<String> other = TaskType.of("other", String.class);
    Gate gate = new Gate();
    Gate held = new Gate();
    try (Carillon carillon =
        new Place(Place.Kind.MEMORY, folder).builder().limitQueue("q1", 1).open()) {
      handleOneByOne(carillon, gate);
      carillon.handle(other, (text, job) -> held.pass());
      carillon.schedule(NOTE.job("first").queue("q2"));
      gate.awaitReached();
      JobHandle<Void> inFull = carillon.schedule(NOTE.job("in q1").queue("q1"));
      awaitLimited(inFull);
      JobHandle<Void> holds = carillon.schedule(other.job("holds q1").queue("q1"));
      held.awaitReached();
      JobHandle<Void> free = carillon.schedule(NOTE.job("in q2").queue("q2"));
      awaitLimited(free);
      gate.open();

      free.result(LONG);
      assertThat(inFull.info().state().ended()).isFalse();
      held.open();
      holds.result(LONG);
      inFull.result(LONG);
    }
  }
}
