package dev.carillon.api;

/**
 * What scheduling a named job does when a job of that name, in the same namespace, has not ended.
 * The name of an ended job is free, so then all three create a new job.
 */
public enum IfExists {
  /** Refuse with {@link NameTakenException}; nothing is written. The default. */
  FAIL,

  /** Leave the existing job as it is and return it, {@link JobHandle#created()} being false. */
  KEEP,

  /**
   * Give the existing job the new input and times in place; it keeps its id, and {@link
   * JobHandle#created()} is false. Repeating the request changes nothing more. A job that is paused
   * stays paused.
   */
  REPLACE
}
