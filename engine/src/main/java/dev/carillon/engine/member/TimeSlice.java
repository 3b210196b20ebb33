package dev.carillon.engine.member;

import dev.carillon.engine.history.Summary;
import dev.carillon.store.Head;
import dev.carillon.store.ShardId;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The shards of one slice of time, whoever has them. Each is owned, in claim or free.
 *
 * @param startSeconds where the slice begins, seconds since 1970
 * @param widthSeconds how long it is
 * @param owned shards of a node that is there
 * @param inClaim shards that the node which was asked is making or claiming
 * @param free shards that nobody has who is there
 * @param drained shards of which all jobs have ended, owned or not
 * @param pending jobs that have not ended: counted where the node which was asked has them in
 *     memory; elsewhere all that were ever added, as far as that node or the shard's head knows
 * @param uncounted shards whose owner has not written down how many jobs it added since it has them
 */
public record TimeSlice(
    long startSeconds,
    int widthSeconds,
    int owned,
    int inClaim,
    int free,
    int drained,
    long pending,
    int uncounted) {

  /** By when they begin, the narrower first. */
  private static final Comparator<TimeSlice> BY_TIME =
      Comparator.comparingLong(TimeSlice::startSeconds).thenComparingInt(TimeSlice::widthSeconds);

  /**
   * What a node knows of a shard of its own.
   *
   * @param inClaim whether it is still being made or claimed
   * @param pending jobs that have not ended, or may not have
   */
  public record Own(boolean inClaim, long pending) {}

  /** How many shards there are. */
  public int shards() {
    return owned + inClaim + free;
  }

  /**
   * The shards of these heads by time.
   *
   * @param there the incarnations that are there
   * @param own what the node that was asked knows of its shards; empty where none was
   */
  static List<TimeSlice> of(List<Head> heads, Set<Long> there, Map<ShardId, Own> own) {
    TreeMap<TimeSlice, TimeSlice> slices = new TreeMap<>(BY_TIME);
    for (Head head : heads) {
      boolean isThere = there.contains(head.owner());
      TimeSlice one = of(head, isThere, own.get(head.shard()));
      slices.merge(one, one, TimeSlice::plus);
    }
    return List.copyOf(slices.values());
  }

  private static TimeSlice of(Head head, boolean ownerIsThere, @Nullable Own own) {
    Optional<Summary> read = Summary.read(head);
    Summary summary = read.orElse(Summary.UNREADABLE);
    boolean inClaim = own != null && own.inClaim();
    boolean owned = !inClaim && (own != null || ownerIsThere);
    boolean written = head.released() || head.status() == Head.Status.SEALED;
    long added = summary.drained() ? 0 : summary.added();
    return new TimeSlice(
        head.shard().startSeconds(),
        summary.widthSeconds(),
        owned ? 1 : 0,
        inClaim ? 1 : 0,
        owned || inClaim ? 0 : 1,
        summary.drained() ? 1 : 0,
        own != null ? own.pending() : added,
        own != null || (written && read.isPresent()) ? 0 : 1);
  }

  private TimeSlice plus(TimeSlice other) {
    return new TimeSlice(
        startSeconds,
        widthSeconds,
        owned + other.owned,
        inClaim + other.inClaim,
        free + other.free,
        drained + other.drained,
        pending + other.pending,
        uncounted + other.uncounted);
  }
}
