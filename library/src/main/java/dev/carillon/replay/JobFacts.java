package dev.carillon.replay;

import dev.carillon.api.JobId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the code of a workflow may know of its job: the same in all its attempts.
 *
 * @param round counts how often the job began anew: by {@code continueAsNew}, as the next
 *     occurrence of a recurring job, or by a replace
 */
public record JobFacts(
    JobId id,
    String type,
    String namespace,
    String queue,
    @Nullable String name,
    Map<String, String> metadata,
    int round) {}
