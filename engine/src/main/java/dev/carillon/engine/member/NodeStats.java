package dev.carillon.engine.member;

/**
 * A look at a node.
 *
 * @param shards that it owns
 * @param loadedShards whose jobs are in memory
 * @param loadedJobs how many those are
 * @param running attempts under way
 * @param ready jobs that wait for a slot
 * @param blocked due jobs that wait for a handler, or for one that can decode them
 * @param queued operations that wait for the store
 * @param refusedShards that could not be read
 * @param standsIn of the shards that it owns, how many another node made
 * @param addedTotal jobs that were added through it since it started
 * @param endedTotal jobs that ended on it since, and occurrences of recurring jobs
 */
public record NodeStats(
    int shards,
    int loadedShards,
    int loadedJobs,
    int running,
    long ready,
    long blocked,
    long queued,
    int refusedShards,
    int standsIn,
    long addedTotal,
    long endedTotal) {}
