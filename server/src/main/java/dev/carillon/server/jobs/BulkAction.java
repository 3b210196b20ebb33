package dev.carillon.server.jobs;

import dev.carillon.Requester;
import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import java.util.Arrays;
import java.util.List;

/**
 * What can be done with many jobs. Each of them may be done again: what was done the first time is
 * not done twice. (Triggering and backfilling would add jobs each time: they are not here.)
 */
enum BulkAction {
  /** Asks that jobs do not run, or stop. */
  CANCEL,
  /** Ends workflows without their compensations; other jobs are cancelled. */
  TERMINATE,
  /** Keeps jobs from starting. */
  PAUSE,
  /** Lets paused jobs go on. */
  RESUME,
  /** Moves jobs to another time. */
  RESCHEDULE,
  /** Gives jobs another priority. */
  PRIORITISE,
  /** Tries dead letters again. */
  REPLAY,
  /** Lets go of dead letters. */
  DISCARD;

  private static final List<JobState> LIVE =
      Arrays.stream(JobState.values()).filter(state -> !state.ended()).toList();

  static List<BulkAction> names() {
    return Arrays.asList(values());
  }

  /** The states of jobs that it is for. */
  List<JobState> states() {
    return isOfDead() ? List.of(JobState.DEAD) : LIVE;
  }

  /** Whether it is for dead letters. */
  boolean isOfDead() {
    return this == REPLAY || this == DISCARD;
  }

  boolean takesReason() {
    return this == CANCEL || this == TERMINATE || this == PAUSE;
  }

  /** Does it; true where it had an effect, or would have had one if it were the first time. */
  boolean act(Requester requester, JobId job, BulkBody body) {
    return switch (this) {
      case CANCEL -> isEffective(requester.cancel(job, body.reason()));
      case TERMINATE -> isEffective(requester.terminate(job, body.reason()));
      case PAUSE -> isDone(requester.pause(job, body.reason()));
      case RESUME -> isDone(requester.resume(job));
      case RESCHEDULE -> isDone(requester.reschedule(job, body.at()));
      case PRIORITISE -> isDone(requester.prioritise(job, body.priority()));
      case REPLAY -> isDone(requester.replay(job));
      case DISCARD -> isDone(requester.discard(job));
    };
  }

  private static boolean isDone(ControlResult result) {
    return result == ControlResult.DONE;
  }

  private static boolean isEffective(CancelResult result) {
    return result instanceof CancelResult.Cancelled || result instanceof CancelResult.Stopping;
  }
}
