package dev.carillon.store.jdbc;

import java.util.concurrent.atomic.LongAdder;

/** The counters behind {@link SqliteCounters}. */
final class Counters {

  final LongAdder journalReads = new LongAdder();
  final LongAdder commits = new LongAdder();
  final LongAdder appendedBytes = new LongAdder();
  final LongAdder checkpoints = new LongAdder();
  final LongAdder stalledCheckpoints = new LongAdder();
  final LongAdder freedEntries = new LongAdder();
  final LongAdder failedCleanings = new LongAdder();

  SqliteCounters read() {
    return new SqliteCounters(
        journalReads.sum(),
        commits.sum(),
        appendedBytes.sum(),
        checkpoints.sum(),
        stalledCheckpoints.sum(),
        freedEntries.sum(),
        failedCleanings.sum());
  }
}
