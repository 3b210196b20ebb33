package dev.carillon.simulator;

/** How the handler of a job behaves, as long as faults are allowed. */
enum Temper {
  /** Succeeds at once. */
  QUICK,
  /** Succeeds after seconds or minutes. */
  LONG,
  /** Fails now and then. */
  FLAKY,
  /** Always fails, and may be tried again. */
  FAILING,
  /** Fails so that no retry may help. */
  HOPELESS,
  /** Returns only when interrupted. */
  HANGING,
  /** Hangs, and takes no notice of being interrupted for a while. */
  DEAF,
  /** Saves its position, then succeeds or fails. */
  SAVING,
  /** Wants to be called again later, once or more, then succeeds. */
  POSTPONING,
  /** Its payload does not decode the first time. */
  GARBLED,
  /** Kills its node. */
  KILLER
}
