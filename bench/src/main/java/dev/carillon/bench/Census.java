package dev.carillon.bench;

import dev.carillon.api.JobState;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts the jobs of a store by reading every journal; claims nothing. */
final class Census {
  private static final int SHARDS_A_PAGE = 256;

  private Census() {}

  /** How many jobs are in which state. */
  static Map<JobState, Long> of(Store store) {
    Map<JobState, Long> counts = new EnumMap<>(JobState.class);
    JobReader reader = new JobReader(store);
    ShardId after = null;
    while (true) {
      List<Head> page = page(store, after);
      for (Head head : page) {
        reader
            .stories(head.shard(), number -> true)
            .orThrow()
            .forEach(story -> counts.merge(story.view().info().state(), 1L, Long::sum));
      }
      if (page.size() < SHARDS_A_PAGE) {
        return counts;
      }
      after = page.getLast().shard();
    }
  }

  private static List<Head> page(Store store, @Nullable ShardId after) {
    return store.journals().listById(after, SHARDS_A_PAGE).orThrow();
  }

  /** Of these, the ones that are over. */
  static long ended(Map<JobState, Long> counts) {
    return counts.entrySet().stream()
        .filter(count -> count.getKey().ended())
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
