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
   * Whether the caller may put jobs into a queue, having the role for it.
   *
   * @param namespace the namespace
   * @param queue the queue
   * @return true if the caller may
   */
  boolean mayUse(String namespace, String queue);
}
