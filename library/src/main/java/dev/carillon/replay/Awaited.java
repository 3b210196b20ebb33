package dev.carillon.replay;

import dev.carillon.engine.job.WorkflowWait;
import java.util.List;

/** What the code waits for. Asked on the workflow's thread, with the run's lock held. */
interface Awaited {

  /** Whether the wait is over. */
  boolean isOver(History history, long nowMicros);

  /** Timers that are awaited: each fires once it is due. */
  default List<TimerPromise> timers() {
    return List.of();
  }

  /** Adds what the wait is for to what the node is told. */
  void addTo(WaitList list, History history);

  /** Something that becomes of itself, without an entry: steps that end, a pause that is over. */
  @FunctionalInterface
  interface Condition {
    boolean holds(History history);
  }

  /** A wait for a condition; where nothing else goes on, until a time. */
  static Awaited condition(long untilMicros, Condition condition) {
    return new Awaited() {
      @Override
      public boolean isOver(History history, long nowMicros) {
        return condition.holds(history);
      }

      @Override
      public void addTo(WaitList list, History history) {
        list.until(untilMicros);
      }
    };
  }

  /** A wait for the next try of a step. */
  static Awaited time(long untilMicros, boolean stoppable) {
    return new Awaited() {
      @Override
      public boolean isOver(History history, long nowMicros) {
        return nowMicros >= untilMicros || (stoppable && history.isStopped());
      }

      @Override
      public void addTo(WaitList list, History history) {
        list.until(untilMicros);
      }
    };
  }

  /** A wait for ever, but for what steps in between. */
  long FOR_EVER = WorkflowWait.FOR_EVER;
}
