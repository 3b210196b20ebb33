package dev.carillon.engine.job;

import dev.carillon.api.JobInfo;
import org.jspecify.annotations.Nullable;

/**
 * A job as it is seen from outside.
 *
 * @param result what a job that succeeded returned, encoded; null for any other
 */
public record JobView(JobInfo info, byte @Nullable [] result) {}
