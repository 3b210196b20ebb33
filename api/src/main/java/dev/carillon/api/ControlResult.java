package dev.carillon.api;

/** What came of a request to change a job: to pause or resume it, or to move it. */
public enum ControlResult {
  /** It is durable and in effect. */
  DONE,
  /** Nothing changed: an attempt is under way, whose time has come already. */
  RUNNING,
  /** Nothing changed: the job has ended. */
  ENDED,
  /** Nothing changed: there is no such job, or its retention is over. */
  NOT_FOUND,
  /** Nothing changed: the job has no schedule. */
  NOT_RECURRING,
  /** Nothing changed: the new schedule has no time left, or no more times than were had already. */
  NO_TIME_LEFT,
  /** Nothing changed: the job is no dead letter. */
  NOT_DEAD,
  /** Nothing changed: the new input is of another type than the job. */
  OTHER_TYPE,
  /**
   * Nothing changed: a workflow cannot go on where it failed, because its history is larger than 3
   * MiB, or a child that it would start again is no longer kept.
   */
  NOT_RESUMABLE,
  /** Nothing changed: the job would have too many occurrences that have not ended. */
  TOO_MANY
}
