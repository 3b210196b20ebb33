package dev.carillon.engine;

import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.member.NodeStats;
import dev.carillon.engine.member.TimeSlice;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.ShardId;
import java.util.LinkedHashMap;
import java.util.Map;

/** What operators see of a node at one moment, from its parts. Of the loop; keeps nothing. */
final class NodeLook {
  private NodeLook() {}

  static NodeStats stats(Assembly parts) {
    int loaded = 0;
    int live = 0;
    int standsIn = 0;
    for (Shard shard : parts.shards.all()) {
      standsIn += shard.home.equals(parts.options.nodeId()) ? 0 : 1;
      if (shard.fold != null) {
        loaded++;
        live += shard.fold.live().size();
      }
    }
    return new NodeStats(
        parts.shards.size(),
        loaded,
        live,
        parts.attempts.running(),
        parts.dispatcher.ready(),
        parts.dispatcher.blocked(),
        parts.committer.queued(),
        parts.shards.refused().size(),
        standsIn,
        parts.adds.addedTotal(),
        parts.life.endedTotal());
  }

  /** The node itself, the others, and how its shards stand. */
  static ClusterLook cluster(Assembly parts) {
    Map<ShardId, TimeSlice.Own> own = new LinkedHashMap<>();
    for (Shard shard : parts.shards.all()) {
      boolean inClaim = shard.journal.isAcquiring();
      own.put(shard.id, new TimeSlice.Own(inClaim, shard.atMostPending()));
    }
    return new ClusterLook(stats(parts), parts.status.states(), parts.status.living(), own);
  }
}
