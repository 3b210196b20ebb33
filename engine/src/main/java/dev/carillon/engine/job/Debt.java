package dev.carillon.engine.job;

import dev.carillon.api.JobState;
import org.jspecify.annotations.Nullable;

/**
 * What a shard owes another: the news that its job has ended, until the one that waits for it has
 * it.
 *
 * @param number of the job that has ended
 * @param waiter the job that waits for it
 * @param end of a child its END, encoded, where that is small; null where its journal has it
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
public record Debt(long number, JobRef waiter, JobState state, byte @Nullable [] end) {}
