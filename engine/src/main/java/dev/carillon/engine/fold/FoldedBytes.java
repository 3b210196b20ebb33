package dev.carillon.engine.fold;

/** How large a shard is. Owned by the fold of the shard. */
final class FoldedBytes {
  /** About what a compaction would keep of the live jobs. */
  long live;

  /** Of all jobs ever added, and of all histories. */
  long added;
}
