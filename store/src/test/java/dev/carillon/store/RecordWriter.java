package dev.carillon.store;

import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import java.util.List;

/** One writer of records in a case: gives each change its own stamp. For one thread. */
final class RecordWriter {

  private static final int MAX_REPEATS = 1_000;

  private final Workbench bench;
  private final long writer;
  private long sequence;

  RecordWriter(Workbench bench, long writer) {
    this.bench = bench;
    this.writer = writer;
  }

  Stamp stamp() {
    return new Stamp(writer, ++sequence);
  }

  Change change(String key, Stamp expected, byte[] value) {
    return new Change(key, expected, value, stamp());
  }

  /** Puts, or deletes where {@code value} is null; with a new stamp where one came to nothing. */
  Outcome<Stamp> write(String key, Stamp expected, byte[] value) {
    for (int i = 0; i < MAX_REPEATS; i++) {
      Change change = change(key, expected, value);
      Outcome<Stamp> outcome = bench.records().apply(List.of(change)).getFirst();
      if (outcome instanceof Outcome.Unknown<Stamp>) {
        if (bench.ok(() -> bench.records().resolve(change))) {
          return Outcome.ok(change.stamp());
        }
      } else if (Workbench.isDefinite(outcome)) {
        return outcome;
      }
    }
    throw new AssertionError("no definite answer in " + MAX_REPEATS + " calls");
  }

  Stamp put(String key, Stamp expected, byte[] value) {
    return write(key, expected, value).orThrow();
  }

  Stamp create(String key, byte[] value) {
    return put(key, Stamp.ABSENT, value);
  }
}
