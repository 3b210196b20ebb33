package dev.carillon.engine.shard;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Has loaded shards compacted one after the other. A compaction holds the appends of its shard, and
 * all of them run on one channel: a shard that waits for its turn takes appends until then.
 *
 * <p>A shard that is not worth it any more when its turn comes is left out; the next look offers it
 * again.
 */
final class CompactionTurns {
  private final Shards shards;
  private final Predicate<Shard> isWorthwhile;
  private final Consumer<Shard> begin;
  private final Set<Shard> waiting = new LinkedHashSet<>();
  private @Nullable Shard underWay;
  private boolean looksSoon;

  CompactionTurns(Shards shards, Predicate<Shard> isWorthwhile, Consumer<Shard> begin) {
    this.shards = shards;
    this.isWorthwhile = isWorthwhile;
    this.begin = begin;
  }

  /** Has a shard compacted if that is worthwhile; says whether it is. */
  boolean offer(Shard shard) {
    if (!isWorthwhile.test(shard)) {
      return false;
    }
    waiting.add(shard);
    if (!looksSoon) {
      next();
    }
    return true;
  }

  private void next() {
    looksSoon = false;
    if (shards.isStopping()) {
      waiting.clear();
      return;
    }
    if (underWay == null || !underWay.owned() || !underWay.journal.isRewriting()) {
      underWay = null;
      beginOne();
    }
    if (!waiting.isEmpty()) {
      looksSoon = true;
      shards.later(this::next);
    }
  }

  private void beginOne() {
    while (underWay == null && !waiting.isEmpty()) {
      Shard next = waiting.iterator().next();
      waiting.remove(next);
      if (isWorthwhile.test(next)) {
        underWay = next;
        begin.accept(next);
      }
    }
  }
}
