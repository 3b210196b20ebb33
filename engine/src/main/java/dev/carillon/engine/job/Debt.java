package dev.carillon.engine.job;

import dev.carillon.api.JobState;

/**
 * What a shard owes another: the news that its job has ended, until the one that waits for it has
 * it.
 *
 * @param number of the job that has ended
 * @param waiter the job that waits for it
 */
public record Debt(long number, JobRef waiter, JobState state) {}
