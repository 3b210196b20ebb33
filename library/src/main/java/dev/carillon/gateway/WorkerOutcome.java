package dev.carillon.gateway;

import dev.carillon.RawPayload;
import dev.carillon.api.JobError;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** How an attempt went in a worker. */
public sealed interface WorkerOutcome {

  /**
   * The work is done.
   *
   * @param result its result; one that is larger than {@link
   *     dev.carillon.api.Limits#PAYLOAD_MAX_BYTES} makes the attempt one that failed for good
   */
  record Succeeded(RawPayload result) implements WorkerOutcome {
    /** Checks that it is there. */
    public Succeeded {
      Objects.requireNonNull(result, "result");
    }
  }

  /**
   * It failed.
   *
   * @param error with what
   * @param kinds the names of the error's class and its superclasses, which the policy may except
   *     from retries; may be empty
   * @param next what follows
   */
  record Failed(JobError error, List<String> kinds, Next next) implements WorkerOutcome {
    /** Checks that they are there. */
    public Failed {
      Objects.requireNonNull(error, "error");
      kinds = List.copyOf(kinds);
      Objects.requireNonNull(next, "next");
    }

    /**
     * By the policy.
     *
     * @param error with what
     * @return a failure
     */
    public static Failed of(JobError error) {
      return new Failed(error, List.of(), new Next.ByPolicy(null));
    }
  }

  /** What follows a failure. */
  sealed interface Next {

    /**
     * What the job's failure policy says.
     *
     * @param notBefore when another attempt makes sense at the earliest; null for any time
     */
    record ByPolicy(@Nullable Instant notBefore) implements Next {}

    /** No further attempt makes sense. */
    record Never() implements Next {}

    /**
     * Another attempt at that time, whatever the policy says.
     *
     * @param due when
     */
    record At(Instant due) implements Next {
      /** Checks that it is there. */
      public At {
        Objects.requireNonNull(due, "due");
      }
    }

    /** No further attempt, whatever the policy says. */
    record GiveUp() implements Next {}
  }

  /**
   * The work is to be done later; no attempt is counted.
   *
   * @param due when
   * @param note why; may be empty
   */
  record Again(Instant due, String note) implements WorkerOutcome {
    /** Checks that they are there. */
    public Again {
      Objects.requireNonNull(due, "due");
      Objects.requireNonNull(note, "note");
    }
  }

  /**
   * The worker cannot read the input: the job is blocked, and no attempt is counted.
   *
   * @param error why
   */
  record Undecodable(JobError error) implements WorkerOutcome {
    /** Checks that it is there. */
    public Undecodable {
      Objects.requireNonNull(error, "error");
    }
  }

  /** The worker has stopped before the end: it is as if the attempt had not been made. */
  record GivenBack() implements WorkerOutcome {}
}
