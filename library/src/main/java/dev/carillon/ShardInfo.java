package dev.carillon;

import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.query.JobScan;
import dev.carillon.store.Head;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A shard as it stands in the store.
 *
 * @param id what it is called, for {@link NodeControl#move}
 * @param start where its slice of time begins
 * @param width how long that is
 * @param home the id of the node that made it
 * @param owner the id of the node that has it; null where nobody has, "?" where that node is not
 *     known
 * @param open whether it takes new jobs
 */
public record ShardInfo(
    String id, Instant start, Duration width, String home, @Nullable String owner, boolean open) {

  static ShardInfo of(Head head, ClusterLook look) {
    Instant start = Instant.ofEpochSecond(head.shard().startSeconds());
    long endSeconds = JobScan.endMicros(head) / 1_000_000;
    return new ShardInfo(
        head.shard().toString(),
        start,
        Duration.between(start, Instant.ofEpochSecond(endSeconds)),
        head.home(),
        look.owner(head),
        head.status() == Head.Status.OPEN);
  }
}
