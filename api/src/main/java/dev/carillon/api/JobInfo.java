package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is known about a job at one moment: a snapshot of its durable state, without its payload.
 * The job may have moved on by the time it is read.
 *
 * @param id its identity
 * @param type the name of its type
 * @param typeVersion the payload version of its stored input
 * @param namespace its namespace
 * @param queue its queue
 * @param priority its priority
 * @param name its name, or null
 * @param key its idempotency key, or null
 * @param metadata its metadata, in key order
 * @param state where it is in its life
 * @param blockReason why it is blocked; null unless the state is {@link JobState#BLOCKED}
 * @param scheduledAt when it was sent to the store, by the clock of the node that took it; the
 *     store had it a moment later. Replacing a job sets it anew
 * @param dueAt when its next attempt is due, or its last one was
 * @param attempt how many attempts have started, the current one included
 * @param startedAt when the handler of the attempt that ended it was called, by the clock of the
 *     node that ran it; null unless an attempt ended it
 * @param endedAt when it ended: where an attempt ended it, when its handler returned, by the clock
 *     of the node that ran it; else when its owner recorded the end. Null unless the state is an
 *     {@linkplain JobState#ended() end}
 * @param node the id of the node that ran the attempt that ended it; null unless an attempt did
 * @param lastError what its last failed attempt failed with, or null
 * @param reason why it was paused, cancelled, expired or given up, or null
 * @param timeout the limit on each attempt, or null
 * @param deadline when it expires, or null
 * @param cancelRequested whether a cancel was asked for, also if the attempt still runs
 * @param recurring its schedule and how far it is; null unless it is recurring
 * @param occurrence of which recurring job it is one time; null unless it is
 * @param dependencies the jobs that must have ended before it starts
 * @param progress how far it is, as last recorded; null where nothing of it has reported any
 */
public record JobInfo(
    JobId id,
    String type,
    int typeVersion,
    String namespace,
    String queue,
    int priority,
    @Nullable String name,
    @Nullable String key,
    Map<String, String> metadata,
    JobState state,
    @Nullable BlockReason blockReason,
    Instant scheduledAt,
    Instant dueAt,
    int attempt,
    @Nullable Instant startedAt,
    @Nullable Instant endedAt,
    @Nullable String node,
    @Nullable JobError lastError,
    @Nullable String reason,
    @Nullable Duration timeout,
    @Nullable Instant deadline,
    boolean cancelRequested,
    @Nullable RecurringInfo recurring,
    @Nullable OccurrenceInfo occurrence,
    List<DependencyInfo> dependencies,
    @Nullable JobProgress progress) {

  /**
   * Checks that the parts fit each other and copies the metadata.
   *
   * @throws IllegalArgumentException if the block reason or end time does not fit the state, or the
   *     attempt is negative
   */
  public JobInfo {
    Objects.requireNonNull(id, "id");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(namespace, "namespace");
    Objects.requireNonNull(queue, "queue");
    metadata = Check.sorted(Objects.requireNonNull(metadata, "metadata"));
    Objects.requireNonNull(state, "state");
    dependencies = DependencyList.of(dependencies);
    Objects.requireNonNull(scheduledAt, "scheduledAt");
    Objects.requireNonNull(dueAt, "dueAt");
    if ((state == JobState.BLOCKED) != (blockReason != null)) {
      throw new IllegalArgumentException(
          Check.problem("blockReason", blockReason, "a reason exactly if BLOCKED, is " + state));
    }
    if (state.ended() != (endedAt != null)) {
      throw new IllegalArgumentException(
          Check.problem("endedAt", endedAt, "a time exactly if ended, is " + state));
    }
    if (attempt < 0) {
      throw new IllegalArgumentException(Check.problem("attempt", attempt, "at least 0"));
    }
  }
}
