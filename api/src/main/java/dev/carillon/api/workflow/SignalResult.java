package dev.carillon.api.workflow;

/** What came of a signal to a workflow. */
public enum SignalResult {
  /** It is durable: the workflow takes it when its code comes to await it. */
  DONE,
  /** Nothing changed: a signal with the same key was taken before. */
  TAKEN_BEFORE,
  /** Nothing changed: too many signals wait to be taken by the workflow. */
  TOO_MANY,
  /** Nothing changed: the job has ended. */
  ENDED,
  /** Nothing changed: there is no such job, or its retention is over. */
  NOT_FOUND
}
