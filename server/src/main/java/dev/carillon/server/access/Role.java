package dev.carillon.server.access;

/**
 * What a caller may do, each role all that those before it may. Routes name the least role that
 * they need.
 */
public enum Role {
  /** Probes and the description of the API: no caller needs to be known. */
  ANYONE,
  /** Looks at jobs, queues and the cluster. */
  VIEWER,
  /** Schedules jobs and cancels them. */
  SUBMITTER,
  /** Changes jobs, replays dead letters, pauses queues. */
  OPERATOR,
  /** Changes what holds for everybody: limits, members, tokens. */
  ADMIN;

  /**
   * Whether this role is enough.
   *
   * @param needed the least role
   * @return true if this is that role or one above it
   */
  public boolean includes(Role needed) {
    return compareTo(needed) >= 0;
  }
}
