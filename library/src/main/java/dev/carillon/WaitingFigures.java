package dev.carillon;

import dev.carillon.engine.format.Micros;
import dev.carillon.engine.life.WaitingJobs;
import java.time.Instant;

/**
 * Due jobs of a node that do not run, by type, queue, namespace and reason. Jobs of shards that are
 * not in memory are not due yet.
 *
 * @param type the name of the type; {@code others} beyond 256 of them, so for the next two
 * @param queue the queue
 * @param namespace the namespace
 * @param reason {@code slot} for jobs that only wait for their turn, {@code paused}, or a {@link
 *     dev.carillon.api.BlockReason} in lower case
 * @param jobs how many there are
 * @param oldestDue when the first of them was due
 */
public record WaitingFigures(
    String type, String queue, String namespace, String reason, long jobs, Instant oldestDue) {

  static WaitingFigures of(WaitingJobs found) {
    return new WaitingFigures(
        found.type(),
        found.queue(),
        found.namespace(),
        found.reason(),
        found.jobs(),
        Micros.toInstant(found.oldestDueMicros()));
  }
}
