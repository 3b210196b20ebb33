package dev.carillon.store.jdbc;

/**
 * What a {@link SqliteStore} has done since it was opened.
 *
 * @param journalReads statements that read entries of journals, or looked for the last one
 * @param commits transactions that changed something
 * @param appendedBytes data of the entries appended
 * @param checkpoints how often the write-ahead log was copied to the file
 * @param stalledCheckpoints how many of these kept writers waiting, to empty the log
 * @param freedEntries entries of dropped shards and generations that were removed
 * @param failedCleanings attempts to remove them, or to return space to the disk, that failed and
 *     are made again
 */
public record SqliteCounters(
    long journalReads,
    long commits,
    long appendedBytes,
    long checkpoints,
    long stalledCheckpoints,
    long freedEntries,
    long failedCleanings) {}
