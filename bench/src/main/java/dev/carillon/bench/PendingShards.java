package dev.carillon.bench;

import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.query.JobScan;
import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The shards of a store that have jobs which have not ended, by reading every journal.
 *
 * @param shards how many there are
 * @param buckets in how many slices of time
 * @param jobs all jobs, also those that have ended
 */
record PendingShards(int shards, int buckets, long jobs) {
  private static final int SHARDS_A_PAGE = 256;

  private record Slice(long startSeconds, long endMicros) {}

  static PendingShards of(Store store) {
    JobReader reader = new JobReader(store);
    Set<Slice> slices = new HashSet<>();
    int shards = 0;
    long jobs = 0;
    ShardId after = null;
    while (true) {
      List<Head> page = page(store, after);
      for (Head head : page) {
        var stories = reader.stories(head.shard(), number -> true).orThrow();
        jobs += stories.size();
        if (stories.stream().anyMatch(story -> !story.view().info().state().ended())) {
          shards++;
          slices.add(new Slice(head.shard().startSeconds(), JobScan.endMicros(head)));
        }
      }
      if (page.size() < SHARDS_A_PAGE) {
        return new PendingShards(shards, slices.size(), jobs);
      }
      after = page.getLast().shard();
    }
  }

  private static List<Head> page(Store store, @Nullable ShardId after) {
    return store.journals().listById(after, SHARDS_A_PAGE).orThrow();
  }
}
