package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.event.Level;

/** How a node learns that its store is back. */
@Timeout(60)
class StoreWatchTest {
  /** A write that was refused is not tried again where its caller was told so. */
  @Test
  void storeOfANodeThatWritesNoMoreIsFoundToTakeWrites() {
    AtomicReference<Fault> fault = new AtomicReference<>(Fault.FAIL_BEFORE);
    LogQueue queue = new LogQueue(NodeLog.NODE);
    LogCapture log = new LogCapture();
    try (GuardedStore store =
        new GuardedStore(
            new FaultyStore(
                new MemoryStore(), operation -> operation.isRead() ? Fault.NONE : fault.get()),
            new Reports(queue),
            new StoreWatch(queue))) {
      queue.start("one");
      Change change = new Change("key", Stamp.ABSENT, new byte[] {1}, new Stamp(7, 1));
      assertThat(store.records().apply(List.of(change)).getFirst())
          .isInstanceOf(Outcome.Unavailable.class);
      log.await("away: unavailable");
      assertThat(store.problem()).isNotNull();
      fault.set(Fault.NONE);
      log.await("back after ");
      assertThat(store.problem()).isNull();
      assertThat(store.records().list("", null, 10).orThrow()).isEmpty();
    } finally {
      log.close();
      queue.close(
          LogQueue.Line.of(NodeLog.NODE, Level.INFO, "closed", n -> "closed"),
          Duration.ofSeconds(10));
    }
  }

  /** A node that has nothing to do reads and writes nothing. */
  @Test
  void storeOfANodeThatReadsNoMoreIsFoundToBeBack() {
    AtomicReference<Fault> fault = new AtomicReference<>(Fault.FAIL_BEFORE);
    LogQueue queue = new LogQueue(NodeLog.NODE);
    LogCapture log = new LogCapture();
    try (GuardedStore store =
        new GuardedStore(
            new FaultyStore(new MemoryStore(), operation -> fault.get()),
            new Reports(queue),
            new StoreWatch(queue))) {
      queue.start("one");
      assertThat(store.journals().head(new ShardId(1, 1, 1)))
          .isInstanceOf(Outcome.Unavailable.class);
      log.await("away: unavailable");
      fault.set(Fault.NONE);
      log.await("back after ");
      assertThat(store.problem()).isNull();
    } finally {
      log.close();
      queue.close(
          LogQueue.Line.of(NodeLog.NODE, Level.INFO, "closed", n -> "closed"),
          Duration.ofSeconds(10));
    }
  }
}
