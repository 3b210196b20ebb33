package dev.carillon.gateway;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import java.time.Duration;
import java.util.Objects;

/**
 * Jobs that a worker takes: of a namespace, a queue and a type, each of which may be any.
 *
 * <pre>{@code
 * WorkerTake.type("send-mail").inNamespace("shop").lease(Duration.ofMinutes(2))
 * WorkerTake.queue("video")
 * }</pre>
 *
 * @param namespace empty for any
 * @param queue empty for any
 * @param type empty for every type
 * @param lease how long the worker may be silent while it runs such a job, before the attempt
 *     counts as lost; 5 seconds to an hour
 */
public record WorkerTake(String namespace, String queue, String type, Duration lease) {
  /** Twenty seconds. */
  public static final Duration LEASE = Duration.ofSeconds(20);

  /** A shorter lease leaves no time for a beat. */
  public static final Duration LEASE_MIN = Duration.ofSeconds(5);

  /** A longer one leaves the job of a dead worker alone for too long. */
  public static final Duration LEASE_MAX = Duration.ofHours(1);

  /**
   * Checks names and length.
   *
   * @throws InvalidArgumentException if one is not well-formed
   */
  public WorkerTake {
    if (!namespace.isEmpty()) {
      Limits.checkNamespace(namespace);
    }
    if (!queue.isEmpty()) {
      Limits.checkQueue(queue);
    }
    if (!type.isEmpty()) {
      Limits.checkType(type);
    }
    Objects.requireNonNull(lease, "lease");
    if (lease.compareTo(LEASE_MIN) < 0 || lease.compareTo(LEASE_MAX) > 0) {
      throw InvalidArgumentException.of("lease", lease, LEASE_MIN + " to " + LEASE_MAX);
    }
  }

  /**
   * The jobs of a type, wherever they are.
   *
   * @param type the type
   * @return by the usual lease
   */
  public static WorkerTake type(String type) {
    return new WorkerTake("", "", Limits.checkType(type), LEASE);
  }

  /**
   * The jobs of a queue, of whatever type.
   *
   * @param queue the queue
   * @return by the usual lease
   */
  public static WorkerTake queue(String queue) {
    return new WorkerTake("", Limits.checkQueue(queue), "", LEASE);
  }

  /**
   * The same, of a namespace alone.
   *
   * @param of the namespace
   * @return a copy
   */
  public WorkerTake inNamespace(String of) {
    return new WorkerTake(of, queue, type, lease);
  }

  /**
   * The same, of a queue alone.
   *
   * @param of the queue
   * @return a copy
   */
  public WorkerTake inQueue(String of) {
    return new WorkerTake(namespace, of, type, lease);
  }

  /**
   * The same by another lease.
   *
   * @param length how long the worker may be silent
   * @return a copy
   */
  public WorkerTake lease(Duration length) {
    return new WorkerTake(namespace, queue, type, length);
  }
}
