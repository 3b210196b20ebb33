package dev.carillon.engine.environment;

import dev.carillon.api.JobError;

/** How an attempt went, as the runner of handlers reports it. */
public sealed interface AttemptOutcome {

  /** The handler returned; {@code result} is encoded, empty for none. */
  record Succeeded(byte[] result) implements AttemptOutcome {}

  /** The handler threw. */
  record Failed(JobError error, Verdict verdict) implements AttemptOutcome {}

  /** What follows a failure. */
  sealed interface Verdict {
    /** What the job's policy says. */
    record ByPolicy() implements Verdict {}

    /** No attempt can succeed. */
    record NotRetryable() implements Verdict {}

    /** The handler's own rule named the time of the next attempt. */
    record RetryAt(long micros) implements Verdict {}

    /** The handler's own rule says that there is none. */
    record GiveUp() implements Verdict {}
  }

  /** The handler wants to be called again then; no attempt is counted. */
  record Again(long dueMicros, String note) implements AttemptOutcome {}

  /** The payload could not be decoded: the handler was not called and no attempt is counted. */
  record Undecodable(JobError error) implements AttemptOutcome {}

  /** The wall clock went back behind the due time before the handler was called: it was not. */
  record TooEarly() implements AttemptOutcome {}

  /** The time until which it had to be called was over before: it was not. */
  record TooLate() implements AttemptOutcome {}

  /** The handler was asked to stop and did not finish: as if the attempt had not been made. */
  record Interrupted() implements AttemptOutcome {}
}
