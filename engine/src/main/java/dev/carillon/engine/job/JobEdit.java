package dev.carillon.engine.job;

/**
 * Another input for a dead letter that is replayed.
 *
 * @param type the name of its type, which must be the job's
 * @param version the payload version of the type
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
public record JobEdit(String type, int version, byte[] payload) {}
