package dev.carillon.server.access;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * What a caller may do, each role all that those before it may. Routes name the least role that
 * they need. A role of its own for remote workers, by queue, comes with them.
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
