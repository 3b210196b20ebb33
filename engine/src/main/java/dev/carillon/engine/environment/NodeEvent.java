package dev.carillon.engine.environment;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Ticket;
import dev.carillon.store.ShardId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * News of a node for the people who run it: members, shards, settings, and jobs that went wrong.
 * The node tells each event once, in order, and nothing depends on who hears it. No event carries a
 * payload.
 */
public sealed interface NodeEvent {

  /**
   * A job, as people look for it.
   *
   * @param key its idempotency key, or null
   */
  record Subject(JobRef ref, @Nullable String key, String type, String namespace, String queue) {
    /** The job's id, as its user got it. */
    public String id() {
      return Ticket.id(ref, key).value();
    }
  }

  /**
   * This node has seen for the first time which nodes share the store.
   *
   * @param others the ids of the other nodes that are there
   */
  record Joined(List<String> others) implements NodeEvent {}

  /** Another node joined, or gives heartbeats again. */
  record MemberCame(String nodeId) implements NodeEvent {}

  /** Another node stopped in order. */
  record MemberLeft(String nodeId) implements NodeEvent {}

  /** Another node gave no heartbeat for the member timeout. */
  record MemberDied(String nodeId) implements NodeEvent {}

  /**
   * This node claimed a shard that its last owner had not released.
   *
   * @param nodeId the last owner, or the node that made the shard where nobody knows that owner any
   *     more
   */
  record TookOver(ShardId shard, String nodeId) implements NodeEvent {}

  /** This node released a shard so that another node gets it. */
  record HandedBack(ShardId shard, String home) implements NodeEvent {}

  /**
   * This node stopped its own work because others may take it for dead.
   *
   * @param silentNanos how long ago it sent the last heartbeat that the store acknowledged
   * @param inARow how often this happened of late
   * @param slots with how many it goes on
   */
  record Fenced(long silentNanos, int inARow, int slots) implements NodeEvent {}

  /**
   * The store acknowledges the heartbeats of this node again.
   *
   * @param awayNanos how long it was fenced
   */
  record Rejoined(long awayNanos) implements NodeEvent {}

  /** An operator has set something about a queue or namespace, now or before this node started. */
  record FlowSet(FlowSubject subject, FlowSetting setting) implements NodeEvent {}

  /** An operator has ordered that a node has no shards, or has taken that back. */
  record DrainSet(String nodeId, boolean drained) implements NodeEvent {}

  /**
   * An operator has moved a shard.
   *
   * @param nodeId the node that is to have it; null where the order was taken back
   */
  record MoveSet(ShardId shard, @Nullable String nodeId) implements NodeEvent {}

  /**
   * An attempt failed, and that is durable.
   *
   * @param attempt its number
   * @param most how many attempts its policy allows; 0 where no number does
   * @param then what follows
   */
  record AttemptFailed(Subject job, int attempt, int most, JobError error, Then then)
      implements NodeEvent {}

  /** What follows a failed attempt. */
  sealed interface Then {
    /** Another attempt. */
    record Retry(long dueMicros) implements Then {}

    /** The end of the job, or of an occurrence of a recurring job. */
    record End(JobState state, String reason, long startedMicros, long endedMicros)
        implements Then {}
  }

  /** A job becomes a dead letter although no attempt of it failed: it killed its nodes. */
  record Convicted(Subject job, String reason) implements NodeEvent {}

  /**
   * Due jobs of a type have waited for a handler for a while.
   *
   * @param jobs how many wait on this node
   * @param example one of them
   */
  record NoHandler(String type, long jobs, Subject example) implements NodeEvent {}

  /** The handler that jobs have waited for is here. */
  record HandlerCame(String type, int jobs) implements NodeEvent {}

  /**
   * The history of a workflow has become a fifth of what it may be, or more.
   *
   * @param limit from which on it is blocked
   */
  record LongHistory(Subject job, int entries, long bytes, HistoryLimit limit)
      implements NodeEvent {}

  /** The handler of a type could not decode the payload of a job. */
  record Undecodable(Subject job, String errorType) implements NodeEvent {}
}
