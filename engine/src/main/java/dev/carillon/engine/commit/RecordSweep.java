package dev.carillon.engine.commit;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stored;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Shows all records of a prefix to somebody who deletes those that nobody needs. The records come
 * by pages, one page at a time, so that no turn of the loop has more than one page to do. One sweep
 * runs at a time. A sweep ends where the store does not answer: the next one begins anew.
 */
public final class RecordSweep {
  public static final int PAGE = 500;

  private final NodeEnvironment env;
  private final String prefix;
  private final Consumer<Stored> each;
  private boolean running;

  public RecordSweep(NodeEnvironment env, String prefix, Consumer<Stored> each) {
    this.env = env;
    this.prefix = prefix;
    this.each = each;
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
            page.forEach(each);
            if (page.size() == PAGE) {
              running = true;
              page(page.getLast().key());
            }
          }
        });
  }
}
