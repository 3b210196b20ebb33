package dev.carillon.engine;

import dev.carillon.api.JobError;

/** How an attempt went, as the runner of handlers reports it. */
public sealed interface AttemptOutcome {

  /** The handler returned; {@code result} is encoded, empty for none. */
  record Succeeded(byte[] result) implements AttemptOutcome {}

  /**
   * The handler threw.
   *
   * @param retryable whether trying again may help
   */
  record Failed(JobError error, boolean retryable) implements AttemptOutcome {}

  /** The payload could not be decoded: the handler was not called and no attempt is counted. */
  record Undecodable(JobError error) implements AttemptOutcome {}

  /** The wall clock went back behind the due time before the handler was called: it was not. */
  record TooEarly() implements AttemptOutcome {}

  /** The handler was asked to stop and did not finish: as if the attempt had not been made. */
  record Interrupted() implements AttemptOutcome {}
}
