package dev.carillon.engine.shard;

/**
 * A place that a job of this node belongs to: a lane, the slot of a handler, or an attempt. A job
 * names its places by this type, because the rooms of dispatch and attempts know jobs and not the
 * other way round; each of those types has a method {@code of(job)}.
 */
public interface JobPlace {}
