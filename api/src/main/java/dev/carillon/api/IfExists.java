package dev.carillon.api;

import dev.carillon.api.error.NameTakenException;

/**
 * What scheduling a named job does when a job of that name, in the same namespace, has not ended.
 * The name of an ended job is free, so then all of them create a new job.
 */
public enum IfExists {
  /** Refuse with {@link NameTakenException}; nothing is written. The default. */
  FAIL,

  /** Leave the existing job as it is and return it, {@link JobHandle#created()} being false. */
  KEEP,

  /**
   * Give the existing job the new input and times in place; it keeps its id, and {@link
   * JobHandle#created()} is false. Repeating the request changes nothing more. A job that is paused
   * stays paused. A workflow whose code has begun is not replaced, for its compensations would not
   * run: {@link NameTakenException}.
   *
   * <p>A recurring job starts anew, count included: a program that declares {@code every(24 h)}
   * this way at each start, and starts more often than that, never runs it. {@link #UPDATE} is for
   * that.
   */
  REPLACE,

  /**
   * Have the existing recurring job take over what differs: input, metadata, priority, queue,
   * timeout, deadline, failure policy, concurrency, schedule. It keeps its id, count, next time,
   * pause, missed times and the occurrence under way, whose retries have the new input; {@link
   * JobHandle#created()} is false. Where nothing differs nothing is written, so a program may
   * declare its recurring jobs at each start. For jobs with a schedule only; a due time counts only
   * when the job is created.
   *
   * <p>Another schedule applies from the next occurrence on that is not due yet. Between two
   * schedules with a period, the next time is one new period after the last occurrence, and at once
   * if that has passed; otherwise it is the first time of the new schedule. So no number of
   * declarations puts an occurrence off for ever.
   */
  UPDATE
}
