package dev.carillon.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.Transactions.Row;
import java.util.List;

/**
 * A node in a case that takes rows of the inbox, also those that others have taken, and appends
 * each to a journal of its own. For one thread.
 */
final class InboxTaker {

  private static final int MAX_REPEATS = 1_000;
  private static final int MAX_ROWS = 2;
  private static final int MAX_BYTES = 1 << 10;

  private final Workbench bench;
  private final JournalWriter journal;
  private final RecordWriter records;
  private final long id;

  InboxTaker(Workbench bench) {
    this.bench = bench;
    this.journal = bench.create();
    this.records = bench.recordWriter();
    this.id = bench.id();
  }

  private Transactions transactions() {
    return bench.store().transactions();
  }

  /** The key of the record that comes to be with the entry of a row. */
  static String pointer(String ticket) {
    return "pointer of " + ticket;
  }

  List<Row> take() {
    return bench.ok(() -> transactions().take(id, any -> true, MAX_ROWS, MAX_BYTES));
  }

  /** Brings rows into its journal until none is left; answers how many were its own. */
  int bringAll() {
    int brought = 0;
    for (List<Row> rows = take(); !rows.isEmpty(); rows = take()) {
      for (Row row : rows) {
        brought += bring(row) ? 1 : 0;
      }
    }
    return brought;
  }

  /** Whether a record comes to be at all: where none does, nothing else tells a second entry. */
  static boolean isPointedTo(String ticket) {
    return !ticket.endsWith("b");
  }

  Rider rider(Row row) {
    Change put = records.change(pointer(row.ticket()), Stamp.ABSENT, row.body());
    return new Rider(
        List.of(row.id()), isPointedTo(row.ticket()) ? List.of(put) : List.of(), List.of());
  }

  /** Appends a row as the next entry; false where another did so. */
  boolean bring(Row row) {
    for (int i = 0; i < MAX_REPEATS; i++) {
      Outcome<Long> outcome = journal.tryAppend(row.body(), rider(row));
      if (outcome.isOk()) {
        return true;
      }
      assertThat(Workbench.isDefinite(outcome)).as("%s", outcome).isFalse();
      if (bench.ok(() -> transactions().find(row.ticket())).isEmpty()) {
        return false;
      }
    }
    throw new AssertionError("no definite answer in " + MAX_REPEATS + " calls");
  }

  /** The tickets of the rows in its journal. */
  List<String> tickets() {
    bench.assertHoldsExactly(journal);
    return journal.acknowledged().stream().map(append -> new String(append.data(), UTF_8)).toList();
  }
}
