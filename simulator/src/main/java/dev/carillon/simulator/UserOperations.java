package dev.carillon.simulator;

import java.util.EnumMap;
import java.util.Map;

/** What users have asked for and not heard of yet, to count which faults each kind of it met. */
final class UserOperations {

  /** Kinds of requests, as rows of the fault table. */
  enum Kind {
    SCHEDULE("schedule"),
    SCHEDULE_NAMED("schedule named"),
    SCHEDULE_KEYED("schedule with key"),
    SCHEDULE_RECURRING("schedule recurring"),
    SCHEDULE_ALL("scheduleAll"),
    SCHEDULE_AFTER("schedule after"),
    SCHEDULE_TIED("scheduleAll tied"),
    REPLACE("replace"),
    CANCEL("cancel"),
    CONTROL_PAUSE("pause job"),
    RESUME("resume"),
    RESCHEDULE("reschedule"),
    NEW_SCHEDULE("new schedule"),
    PRIORITISE("prioritise"),
    TRIGGER("trigger"),
    BACKFILL("backfill"),
    REPLAY("replay"),
    DISCARD("discard"),
    FLOW_PAUSE("pause queue"),
    FLOW_RESUME("resume queue"),
    FLOW_LIMIT("limit queue"),
    FLOW_RATE("rate of queue"),
    GET("get"),
    SAVE("save"),
    ATTEMPT("attempt"),
    STOP("graceful stop");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  private final FaultTable table;
  private final Map<Kind, Integer> pending = new EnumMap<>(Kind.class);

  UserOperations(FaultTable table) {
    this.table = table;
  }

  void begins(Kind kind) {
    pending.merge(kind, 1, Integer::sum);
    table.count(kind, FaultTable.Column.ALL);
  }

  void ends(Kind kind) {
    pending.merge(kind, -1, (now, less) -> now + less == 0 ? null : now + less);
  }

  /** Whether anybody waits for anything. */
  boolean any() {
    return !pending.isEmpty();
  }

  /** Whether anybody waits for an answer; attempts are not waited for. */
  boolean anyAsked() {
    return pending.size() > (pending.containsKey(Kind.ATTEMPT) ? 1 : 0);
  }

  /** What is waited for, in words. */
  String pending() {
    return pending.toString();
  }

  /** A fault happened: it met whatever was pending. */
  void met(FaultTable.Column fault) {
    for (Kind kind : pending.keySet()) {
      table.count(kind, fault);
    }
  }

  /** The process died with everybody in it. */
  void crashed() {
    pending.clear();
  }
}
