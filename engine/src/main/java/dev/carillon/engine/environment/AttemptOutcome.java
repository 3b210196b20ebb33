package dev.carillon.engine.environment;

import dev.carillon.api.JobError;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How an attempt went, as the runner of handlers reports it. */
public sealed interface AttemptOutcome {

  /** The handler returned; {@code result} is encoded, empty for none. */
  record Succeeded(byte[] result) implements AttemptOutcome {}

  /** The handler threw. */
  record Failed(JobError error, Verdict verdict) implements AttemptOutcome {}

  /**
   * The handler of a workflow threw.
   *
   * @param turn what is not written yet
   * @param compensations whether there are some to run before the job ends
   */
  record WorkflowFailed(WorkflowTurn turn, JobError error, Verdict verdict, boolean compensations)
      implements AttemptOutcome {}

  /** What follows a failure. */
  sealed interface Verdict {
    /** What the job's policy says. */
    record ByPolicy() implements Verdict {}

    /** What the job's policy says, but not before a time. */
    record ByPolicyFrom(long micros) implements Verdict {}

    /** No attempt can succeed. */
    record NotRetryable() implements Verdict {}

    /** The handler's own rule named the time of the next attempt. */
    record RetryAt(long micros) implements Verdict {}

    /** The handler's own rule says that there is none. */
    record GiveUp() implements Verdict {}

    /** So many workers in a row were lost with it that none is to try it again. */
    record KillsWorkers() implements Verdict {}
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

  /** The worker that ran the attempt was silent for longer than it may be. */
  record WorkerLost() implements AttemptOutcome {}

  /**
   * A workflow waits: its activation is over, and no attempt is counted.
   *
   * @param turn what is not written yet; it is written before the wait
   */
  record Waiting(WorkflowTurn turn, WorkflowWait waitFor) implements AttemptOutcome {}

  /** The code of a workflow asks for something else than its history has: the job is blocked. */
  record Diverged(JobError error) implements AttemptOutcome {}

  /**
   * The compensations of a workflow that is given up, cancelled or expired have run.
   *
   * @param failure of those that failed for good; null where none did
   */
  record Compensated(@Nullable JobError failure) implements AttemptOutcome {}

  /**
   * A workflow goes on from its beginning.
   *
   * @param input encoded
   * @param typeVersion of the type, in which the input is written
   * @param unread the signals that its code has not taken
   * @param seen how many entries of its history the code knew
   */
  record Renewed(byte[] input, int typeVersion, List<HistoryEntry.Signalled> unread, int seen)
      implements AttemptOutcome {}
}
