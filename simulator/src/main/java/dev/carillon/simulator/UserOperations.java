package dev.carillon.simulator;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
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
    UPDATE("declare again"),
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
    WORKFLOW("schedule workflow"),
    SIGNAL("signal"),
    CHECKPOINT("checkpoint"),
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

  /** What is waited for at each node. */
  private final List<Map<Kind, Integer>> pending = new ArrayList<>();

  UserOperations(FaultTable table, int nodes) {
    this.table = table;
    for (int i = 0; i < nodes; i++) {
      pending.add(new EnumMap<>(Kind.class));
    }
  }

  void begins(Life life, Kind kind) {
    pending.get(life.nodeIndex).merge(kind, 1, Integer::sum);
    table.count(kind, FaultTable.Column.ALL);
  }

  void ends(Life life, Kind kind) {
    Map<Kind, Integer> waiting = pending.get(life.nodeIndex);
    Violation.check(
        waiting.containsKey(kind), Guarantee.UNKNOWN_IS_SAID, () -> kind + " is answered twice");
    waiting.merge(kind, -1, (now, less) -> now + less == 0 ? null : now + less);
  }

  /** Whether anybody waits for anything. */
  boolean any() {
    for (Map<Kind, Integer> waiting : pending) {
      if (!waiting.isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** Whether anybody waits for an answer; attempts are not waited for. */
  boolean anyAsked() {
    for (Map<Kind, Integer> waiting : pending) {
      if (waiting.size() > (waiting.containsKey(Kind.ATTEMPT) ? 1 : 0)) {
        return true;
      }
    }
    return false;
  }

  /** What is waited for, in words. */
  String pending() {
    return pending.toString();
  }

  /** A fault happened to a node: it met whatever was pending there. */
  void met(int node, FaultTable.Column fault) {
    for (Kind kind : pending.get(node).keySet()) {
      table.count(kind, fault);
    }
  }

  /** The process died with everybody in it. */
  void crashed(Life life) {
    pending.get(life.nodeIndex).clear();
  }
}
