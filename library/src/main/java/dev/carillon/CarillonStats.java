package dev.carillon;

/**
 * A look at a node, for operators.
 *
 * @param shards that it owns
 * @param loadedShards whose jobs are in memory
 * @param loadedJobs how many jobs those are
 * @param running attempts under way
 * @param slots how many attempts may be under way at once; after a slow start fewer for a while
 * @param ready jobs that wait for a slot
 * @param blocked due jobs that wait for a handler, or for one that can decode them
 * @param queued operations that wait for the store
 * @param refusedShards shards that could not be read and are left alone
 * @param waitingForTransactions jobs that wait for a transaction of their handler's to end, which
 *     may have completed them
 * @param standsIn of the shards that it owns, how many another node made
 * @param addedTotal jobs that were scheduled through it since it started
 * @param endedTotal jobs that ended on it since, each occurrence of a recurring job among them
 * @param lent attempts of its jobs that other nodes run
 * @param lentTotal how many it has lent since it started
 * @param borrowed attempts of other nodes' jobs that are here, with those that wait for a slot
 * @param borrowedTotal how many of those it has run since it started
 * @param unansweredJobs jobs whose callers wait for an answer
 * @param unansweredBytes and their bytes
 * @param problems what went wrong with nobody waiting to hear it; the log has each cause once
 */
public record CarillonStats(
    int shards,
    int loadedShards,
    int loadedJobs,
    int running,
    int slots,
    long ready,
    long blocked,
    long queued,
    int refusedShards,
    int waitingForTransactions,
    int standsIn,
    long addedTotal,
    long endedTotal,
    int lent,
    long lentTotal,
    int borrowed,
    long borrowedTotal,
    long unansweredJobs,
    long unansweredBytes,
    long problems) {}
