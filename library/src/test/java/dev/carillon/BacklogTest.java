package dev.carillon;

import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.MemoryStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** More overdue jobs than there is memory for their payloads. */
@Timeout(60)
class BacklogTest {
  private static final int MEMORY_BYTES = 4_000;

  private final MemoryStore memory = new MemoryStore();
  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicInteger lastReads = new AtomicInteger(-1);

  private FaultyStore.Fault count(ForwardingStore.Operation operation) {
    if (operation == ForwardingStore.Operation.READ) {
      reads.incrementAndGet();
    }
    return FaultyStore.Fault.NONE;
  }

  private Carillon open(long payloadMemoryBytes) {
    return Carillon.builder()
        .store(new FaultyStore(memory, this::count))
        .daemon(true)
        .slots(1)
        .advanced(a -> a.payloadMemoryBytes = payloadMemoryBytes)
        .open();
  }

  /** One of them is larger than the part of the memory that a lane has. */
  @Test
  void backlogWithALargePayloadInItIsReadOnceAndDrains() throws Exception {
    List<Integer> lengths = List.of(10, 100, 100, MEMORY_BYTES / 2, 100, 2 * MEMORY_BYTES);
    List<JobId> ids = new ArrayList<>();
    Instant first = Instant.now().minus(Duration.ofMinutes(10));
    try (Carillon carillon = open(Long.MAX_VALUE)) {
      for (int i = 0; i < lengths.size(); i++) {
        Job<Void> job = NOTE.job("x".repeat(lengths.get(i))).at(first.plusSeconds(i));
        // The payload of a job with a name stays in memory, so that there is room for no other.
        boolean last = i == lengths.size() - 1;
        ids.add(carillon.schedule(last ? job.named("last") : job).id());
      }
    }
    List<Integer> started = new CopyOnWriteArrayList<>();
    Gate gate = new Gate();
    try (Carillon carillon = open(MEMORY_BYTES)) {
      carillon.handle(
          NOTE,
          (text, job) -> {
            started.add(text.length());
            gate.pass();
          });
      gate.awaitReached();
      // The only slot is taken: so nothing is read any more once all stand in line.
      Awaitility.await()
          .pollInterval(Duration.ofMillis(300))
          .until(() -> reads.get() == lastReads.getAndSet(reads.get()));
      gate.open();
      for (JobId id : ids) {
        carillon.result(id, TaskTypeResult.NONE, LONG);
      }
    }
    assertThat(started).containsExactlyInAnyOrderElementsOf(lengths);
  }
}
