package dev.carillon.engine.attempt;

import dev.carillon.engine.shard.NodeJob;

/**
 * The rule that finds a job which kills its node, and convicts no other. {@link
 * NodeJob#startsAlone} says when a suspected job runs alone.
 */
public final class Poison {
  /** Why a convicted job is dead and its schedule paused. */
  public static final String REASON = "poison: its node died while it ran alone";

  /** Why a job is dead that no worker outlived. */
  public static final String WORKERS_REASON =
      "poison: so many workers in a row were lost while they ran it";

  private Poison() {}

  /** Whether the node died while the job ran alone: only that convicts. */
  public static boolean convicted(NodeJob job) {
    return job.rare != null && job.rare.alone;
  }
}
