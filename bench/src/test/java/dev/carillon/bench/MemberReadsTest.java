package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.carillon.Carillon;
import dev.carillon.api.TaskType;
import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.postgres.PostgresOptions;
import dev.carillon.store.postgres.PostgresStore;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** What a member of a cluster reads goes by its heartbeats, and not by its jobs. */
class MemberReadsTest {
  private static final TaskType<Integer> COUNT = TaskType.of("count", Integer.class);
  private static final int HEARTBEATS = 8;

  /** The members, and the requests. */
  private static final int READS_A_HEARTBEAT = 2;

  /** Where the store has a push, a poll stands behind it. */
  private static final int INBOX_LOOKS_A_HEARTBEAT = 1;

  /** One of each may have been under way when the counting began. */
  private static final int READS_UNDER_WAY = 2;

  /**
   * Four in each horizon of a minute; a window of a few heartbeats takes seconds, on a busy machine
   * more.
   */
  private static final int LISTINGS = 3;

  /**
   * A shard whose minute is over is packed, which reads its journal a few times over, in pages; no
   * job is read for its own sake.
   */
  private static final int LEAST_ENTRIES_A_READ = 100;

  private static final int READS_OF_A_SMALL_PACK = 10;
  private static final int LEAST_JOBS = 500;
  private static final Duration AT_MOST = Duration.ofMinutes(2);

  private final LongAdder ran = new LongAdder();

  @Test
  void aMemberReadsAsMuchWithJobsAsWithout() throws InterruptedException {
    CountedStore store =
        new CountedStore(
            PostgresStore.open(
                PostgresOptions.at(PostgresServer.shared().url()).schema("reads").build()));
    try (Carillon carillon = Carillon.builder().store(store).open()) {
      carillon.handle(COUNT, (number, job) -> ran.increment());
      carillon.schedule(COUNT.job(0));
      await().atMost(AT_MOST).until(() -> ran.sum() == 1);
      CountedStore.Calls idle = heartbeats(store);
      assertSteady(idle, store);

      Producers producers = producers(carillon);
      producers.start();
      await().atMost(AT_MOST).until(() -> ran.sum() > LEAST_JOBS);
      long before = ran.sum();
      CountedStore.Calls busy = heartbeats(store);
      long jobs = ran.sum() - before;
      producers.stop();
      assertThat(jobs).as("jobs that ran meanwhile").isGreaterThan(LEAST_JOBS);
      assertSteady(busy, store);
      assertThat(busy.recordChanges()).as("heartbeats").isLessThan(jobs);
    }
  }

  private Producers producers(Carillon carillon) {
    var crowd = new Producers.Crowd(Producers.Mode.BLOCKING, 16, 16, 10_000, 64);
    return new Producers(carillon, crowd, number -> COUNT.job((int) number), ran::sum);
  }

  private static void assertSteady(CountedStore.Calls calls, CountedStore store) {
    long entries = store.calls().entries();
    assertThat(calls.reads())
        .as("reads of journals of %d entries", entries)
        .isLessThanOrEqualTo(entries / LEAST_ENTRIES_A_READ + READS_OF_A_SMALL_PACK);
    assertThat(calls.listings()).as("listings of shards").isLessThanOrEqualTo(LISTINGS);
    assertThat(calls.inboxReads())
        .as("looks into the inbox in %d heartbeats", calls.recordChanges())
        .isLessThanOrEqualTo(INBOX_LOOKS_A_HEARTBEAT * calls.recordChanges() + READS_UNDER_WAY);
    assertThat(calls.recordReads())
        .as("reads of records in %d heartbeats", calls.recordChanges())
        .isLessThanOrEqualTo(READS_A_HEARTBEAT * calls.recordChanges() + READS_UNDER_WAY);
  }

  /** What the store is asked while the node sends a few heartbeats. */
  private static CountedStore.Calls heartbeats(CountedStore store) {
    CountedStore.Calls before = store.calls();
    await().atMost(AT_MOST).until(() -> store.calls().since(before).recordChanges() >= HEARTBEATS);
    return store.calls().since(before);
  }
}
