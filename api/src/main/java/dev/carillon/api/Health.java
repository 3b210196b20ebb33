package dev.carillon.api;

import java.util.Objects;

/**
 * How a node is doing, for liveness and readiness probes.
 *
 * @param live whether its loop turns; if not, restart it
 * @param ready whether it can accept jobs now: live, open, and its store reachable
 * @param detail the same for people, naming what is wrong
 */
public record Health(boolean live, boolean ready, String detail) {

  /** Checks the detail. */
  public Health {
    Objects.requireNonNull(detail, "detail");
  }
}
