package dev.carillon.server.access;

import org.jspecify.annotations.Nullable;

/** Who asks, and what they may. Immutable and thread-safe. */
public interface Caller {

  /**
   * What the histories of jobs call the caller.
   *
   * @return a person, a token or an address; never empty, never a secret
   */
  String name();

  /**
   * Whether the caller has a role.
   *
   * @param role the role
   * @param namespace the namespace that the request is about; null for what concerns all of them
   * @return true if the caller may
   */
  boolean has(Role role, @Nullable String namespace);

  /**
   * Whether the caller reaches the jobs of a queue, having the role for it. To other callers they
   * do not exist.
   *
   * @param namespace the namespace; null for what concerns all of them
   * @param queue the queue
   * @return true if the caller may
   */
  boolean mayUse(@Nullable String namespace, String queue);

  /**
   * Whether the caller reaches the jobs of all queues. Others take only routes that look at the
   * queue of each job.
   *
   * @return true if no queue is kept from the caller
   */
  default boolean reachesAllQueues() {
    return true;
  }
}
