package dev.carillon.store;

/**
 * One entry read from a journal.
 *
 * @param number its place, from 1 in each generation
 * @param epoch the epoch it was written under; 0 for an entry of a published snapshot
 * @param batch the batch that wrote it; 0 for the empty entry a resolution put in a batch's place
 * @param data the operations; empty for such a resolution
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
public record Entry(long number, long epoch, long batch, byte[] data) {}
