package dev.carillon.server.jobs;

import dev.carillon.RawPayload;
import dev.carillon.server.json.Json;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a bulk action is: what its job saves, and answers in the end. The counts are of what its
 * attempts saw: a crash leaves out the jobs of at most one page.
 */
final class BulkPosition {
  static final Shape<BulkPosition> SHAPE =
      Shape.of(BulkPosition::new)
          .text("cursor", (p, v) -> p.cursor = v)
          .longInteger("done", (p, v) -> p.done = v)
          .longInteger("unchanged", (p, v) -> p.unchanged = v)
          .flag("complete", (p, v) -> p.complete = v)
          .flag("stopped", (p, v) -> p.stopped = v)
          .texts("unreadable", (p, v) -> p.unreadable = v);

  private static final int MOST_UNREADABLE = 20;

  private @Nullable String cursor;
  private long done;
  private long unchanged;
  private boolean complete;
  private boolean stopped;
  private List<String> unreadable = List.of();

  static BulkPosition read(RawPayload payload) {
    return SHAPE.read(payload.bytes());
  }

  @Nullable String cursor() {
    return cursor;
  }

  boolean complete() {
    return complete;
  }

  boolean stopped() {
    return stopped;
  }

  /** The page before the cursor is done. */
  void goOn(@Nullable String next, long changed, long looked, List<String> damaged) {
    cursor = next;
    complete = next == null;
    done += changed;
    unchanged += looked - changed;
    List<String> all = new ArrayList<>(unreadable);
    damaged.stream()
        .filter(each -> !all.contains(each) && all.size() < MOST_UNREADABLE)
        .forEach(all::add);
    unreadable = all;
  }

  /** Somebody cancelled the action. */
  BulkPosition stop() {
    stopped = true;
    return this;
  }

  RawPayload payload() {
    return new RawPayload("json", Json.object(out -> write(out.put("cursor", cursor))));
  }

  /** The counts. */
  void write(JsonText out) {
    out.put("done", done)
        .put("unchanged", unchanged)
        .put("complete", complete)
        .put("stopped", stopped);
    if (!unreadable.isEmpty()) {
      out.texts("unreadable", unreadable);
    }
  }
}
