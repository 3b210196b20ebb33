package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happened to a job, as recorded in its journal.
 *
 * @param at when, by the clock of the node that recorded it; of the end of an attempt, when its
 *     handler returned, by the clock of the node that ran it, or when its time was over
 * @param kind what
 * @param attempt the number of the attempt it belongs to; 0 before the first
 * @param detail more about it for people, such as a reason or the next due time; may be empty
 * @param error what the attempt failed with, or null
 * @param startedAt when the attempt's handler was called, by the clock of the node that ran it;
 *     null unless an attempt has just ended
 * @param node the id of the node that ran that attempt; null unless an attempt has just ended
 * @param by who asked for it: for a pause, its end, a cancel, a change, a replace or a replay of a
 *     dead letter; null for anything else
 */
public record JobEvent(
    Instant at,
    Kind kind,
    int attempt,
    String detail,
    @Nullable JobError error,
    @Nullable Instant startedAt,
    @Nullable String node,
    @Nullable String by) {

  /**
   * Checks the parts.
   *
   * @throws IllegalArgumentException if the attempt is negative
   */
  public JobEvent {
    Objects.requireNonNull(at, "at");
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(detail, "detail");
    if (attempt < 0) {
      throw new IllegalArgumentException(Check.problem("attempt", attempt, "at least 0"));
    }
  }

  /**
   * How long the attempt took that has just ended.
   *
   * @return the time from its start to its end, zero where the clock went back meanwhile; null
   *     unless an attempt has just ended
   */
  public @Nullable Duration duration() {
    if (startedAt == null) {
      return null;
    }
    Duration took = Duration.between(startedAt, at);
    return took.isNegative() ? Duration.ZERO : took;
  }

  /** What happened. */
  public enum Kind {
    /** The job was accepted. */
    SCHEDULED,
    /** An attempt began; recorded only where a crash must not forget it. */
    STARTED,
    /** An attempt saved its resume position. */
    SAVED,
    /** A worker outside the nodes runs the attempt, or gave it back; only longer ones say so. */
    LEASED,
    /** An attempt failed, and another is due later. */
    RETRIED,
    /** An attempt asked to be made again later, which is no failure. */
    POSTPONED,
    /** An occurrence of a recurring job succeeded. */
    OCCURRED,
    /** An occurrence failed, and its policy says that this is all. */
    OCCURRENCE_FAILED,
    /** The retries of an occurrence are exhausted; it is a dead letter of its own. */
    OCCURRENCE_DEAD,
    /** An occurrence became a job of its own. */
    OCCURRENCE_ADDED,
    /** An occurrence was passed over. */
    OCCURRENCE_SKIPPED,
    /** A job that it waits for has ended. */
    DEPENDENCY_ENDED,
    /** The dead letter is to be tried again. */
    REPLAYED,
    /** The job does not start until it is resumed. */
    PAUSED,
    /** The job goes on. */
    RESUMED,
    /** The due time, priority or schedule was changed. */
    CHANGED,
    /** The input or times were replaced under the job's name. */
    REPLACED,
    /** A workflow's code ran for the first time. */
    BEGUN,
    /** A step of a workflow has its result; the detail is its name. */
    STEP_DONE,
    /** A try of a step failed; the detail names the step and says when the next try is due. */
    STEP_FAILED,
    /** A step that must not run twice is about to run; the detail is its name. */
    STEP_BEGUN,
    /** A workflow set a timer. */
    TIMER_SET,
    /** A timer of a workflow fired. */
    TIMER_FIRED,
    /** A workflow waits, or will wait, for a signal; the detail is the type. */
    SIGNAL_AWAITED,
    /** A signal reached a workflow; the detail is its type. */
    SIGNALLED,
    /** A workflow chose the version of a change that it follows. */
    VERSION_CHOSEN,
    /** A workflow started a child. */
    CHILD_STARTED,
    /** A child of a workflow ended. */
    CHILD_ENDED,
    /** A workflow waits and holds no slot. */
    WAITING,
    /** A workflow is given up: its compensations run, then it ends. */
    GIVEN_UP,
    /** A workflow goes on from its beginning, with another input. */
    RENEWED,
    /** A cancel was asked for while an attempt ran. */
    CANCEL_REQUESTED,
    /** The job ended: its work is done. */
    SUCCEEDED,
    /** The job ended: it failed, and its policy says that this is all. */
    FAILED,
    /** The job ended: cancelled by request. */
    CANCELLED,
    /** The job ended: its deadline passed first. */
    EXPIRED,
    /** The job ended: given up and kept as a dead letter. */
    DEAD
  }
}
