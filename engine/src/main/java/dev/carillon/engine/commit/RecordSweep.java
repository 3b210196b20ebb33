package dev.carillon.engine.commit;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stored;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the records of a prefix that nobody needs any more, as those of dead nodes: garbage
 * collection of records. They are read page by page, so that no turn of the loop has more than one
 * page to do. One sweep runs at a time. A sweep ends where the store does not answer: the next one
 * begins anew. A record that cannot be read stays.
 */
public final class RecordSweep {
  public static final int PAGE = 500;

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final String prefix;
  private final Predicate<Stored> isUnneeded;
  private boolean running;

  public RecordSweep(
      NodeEnvironment env, RecordChanges records, String prefix, Predicate<Stored> isUnneeded) {
    this.env = env;
    this.records = records;
    this.prefix = prefix;
    this.isUnneeded = isUnneeded;
  }

  /** Begins, unless a sweep is under way. */
  public void begin() {
    if (!running) {
      running = true;
      page(null);
    }
  }

  private void page(@Nullable String after) {
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().list(prefix, after, PAGE),
        outcome -> {
          running = false;
          if (outcome instanceof Outcome.Ok<List<Stored>>(List<Stored> page)) {
            page.forEach(this::deleteIfUnneeded);
            if (page.size() == PAGE) {
              running = true;
              page(page.getLast().key());
            }
          }
        });
  }

  private void deleteIfUnneeded(Stored record) {
    boolean unneeded;
    try {
      unneeded = isUnneeded.test(record);
    } catch (DamagedException | UnknownFormatException e) {
      env.report("a record cannot be read, so it stays: " + e.getMessage(), e);
      return;
    }
    if (unneeded) {
      var unused = records.change(record.key(), record.version(), null, inEffect -> {});
    }
  }
}
