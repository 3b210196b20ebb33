package dev.carillon.engine.message;

import dev.carillon.api.JobState;
import dev.carillon.engine.job.JobEdit;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import org.jspecify.annotations.Nullable;

/**
 * What one node asks of the node that has a job's shard.
 *
 * <pre>
 * version  byte    1
 * kind     byte
 * job      the one it is about
 * …        by kind
 * </pre>
 */
public sealed interface RemoteRequest {

  /** The job it is about; whoever has its shard serves it. */
  JobRef job();

  /** Whether it does no harm to do it a second time, so that a new owner may simply do it again. */
  default boolean isRepeatable() {
    return false;
  }

  /** Ends the job. */
  record Cancel(JobRef job, Why why) implements RemoteRequest {
    @Override
    public boolean isRepeatable() {
      return true;
    }
  }

  /** Ends a workflow without its compensations. */
  record Terminate(JobRef job, Why why) implements RemoteRequest {
    @Override
    public boolean isRepeatable() {
      return true;
    }
  }

  /**
   * The job does not start until it is resumed.
   *
   * @param now whether what runs of it is interrupted
   * @param withParent whether the workflow is paused that started it
   */
  record Pause(JobRef job, Why why, boolean now, boolean withParent) implements RemoteRequest {
    /** The same for a child of the workflow. */
    public Pause ofChild(JobRef child) {
      return new Pause(child, why, now, true);
    }

    @Override
    public boolean isRepeatable() {
      return withParent; // a second answer to a user might say that the job has ended
    }
  }

  /**
   * A paused job goes on.
   *
   * @param withParent only if it was paused with the workflow that started it
   */
  record Resume(JobRef job, String by, boolean withParent) implements RemoteRequest {}

  /** The job's next attempt is due at another time. */
  record Move(JobRef job, String by, long dueMicros) implements RemoteRequest {}

  /** The recurring job goes on by another schedule. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Reschedule(JobRef job, String by, byte[] schedule) implements RemoteRequest {}

  /** The job has another priority. */
  record Prioritise(JobRef job, String by, int priority) implements RemoteRequest {}

  /** The recurring job has one more occurrence, now. */
  record Trigger(JobRef job) implements RemoteRequest {}

  /** The recurring job has the occurrences of a past range. */
  record Backfill(JobRef job, long fromMicros, long toMicros) implements RemoteRequest {}

  /** A dead letter is tried again. */
  record Replay(JobRef job, String by, @Nullable JobEdit edit) implements RemoteRequest {}

  /** A dead letter is no longer kept. */
  record Discard(JobRef job, String by) implements RemoteRequest {}

  /** Whether the job lives, and under which key; if not, its add never comes. */
  record Look(JobRef job) implements RemoteRequest {
    @Override
    public boolean isRepeatable() {
      return true;
    }
  }

  /**
   * The job is exchanged for another of the same name.
   *
   * @param by who asked for it
   * @param update whether a recurring job only takes over what differs
   * @param version which version of the recurring job it is about; null for whichever there is
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Replace(JobRef job, String by, boolean update, @Nullable Integer version, byte[] body)
      implements RemoteRequest {}

  /** The end of the job is to be told to another that waits for it. */
  record Await(JobRef job, JobRef waiter) implements RemoteRequest {
    @Override
    public boolean isRepeatable() {
      return true;
    }
  }

  /**
   * One that the job waited for has ended.
   *
   * @param state as what; null where nobody knows any more
   * @param end of a child, encoded; empty where it is too long for a letter or not at hand
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Tell(JobRef job, JobRef ended, @Nullable JobState state, byte[] end)
      implements RemoteRequest {
    @Override
    public boolean isRepeatable() {
      return true;
    }
  }

  /** A signal reaches the workflow. */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Signal(JobRef job, String type, String key, String by, byte[] payload)
      implements RemoteRequest {
    @Override
    public boolean isRepeatable() {
      return !key.isEmpty(); // it is taken once
    }
  }
}
