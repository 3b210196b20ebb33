package dev.carillon.server.access;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * What a caller may do. From {@link #VIEWER} on, each role may all that those before it may; {@link
 * #WORKER} stands beside them, and of the others only {@link #ADMIN} may what it may. Routes name
 * the least role that they need.
 */
public enum Role {
  /** Probes and the description of the API: no caller needs to be known. */
  ANYONE,
  /** Runs jobs as a remote worker, and looks at nothing but those it is given. */
  WORKER,
  /** Looks at jobs, queues and the cluster. */
  VIEWER,
  /** Schedules jobs and cancels them. */
  SUBMITTER,
  /** Changes jobs, replays dead letters, pauses queues. */
  OPERATOR,
  /** Changes what holds for everybody: limits, members, tokens. */
  ADMIN;

  /** What a token's role may be, as messages say it. */
  public static final String EXPECTED = "worker, viewer, submitter, operator or admin";

  /**
   * Whether this role is enough.
   *
   * @param needed the least role
   * @return true if this is that role or one above it
   */
  public boolean includes(Role needed) {
    if (needed == WORKER) {
      return this == WORKER || this == ADMIN;
    }
    return compareTo(needed) >= 0;
  }

  /** How people write it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The role that a token may have.
   *
   * @param word how people write it
   * @return the role; empty if there is none of that word
   */
  public static Optional<Role> ofWord(String word) {
    return Arrays.stream(values())
        .filter(role -> role != ANYONE && role.word().equals(word))
        .findFirst();
  }
}
