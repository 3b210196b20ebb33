package dev.carillon.engine;

/** The rule that finds a job which kills its node, and convicts no other. */
final class Poison {
  /** Starts cut off by a crash after which the job is next started alone. */
  static final int MARKERS_BEFORE_ALONE = 2;

  /** Why a convicted job is dead and its schedule paused. */
  static final String REASON = "poison: its node died while it ran alone";

  private Poison() {}

  /** Whether the node died while the job ran alone: only that convicts. */
  static boolean convicted(ShardJob job) {
    return job.rare != null && job.rare.alone;
  }
}
