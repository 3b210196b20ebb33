package dev.carillon;

import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.member.Holdings;
import dev.carillon.engine.member.MemberState;
import dev.carillon.engine.member.TimeSlice;
import dev.carillon.store.Head;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that share a store and all shards on it, as one node sees them: a snapshot. What it
 * says of shards stood in the store when it was made, but for those of the node that was asked,
 * which it knows better.
 *
 * @param members who shares the store, the node that was asked first
 * @param slices the shards by time, earliest first
 * @param complete whether {@code slices} and the counts of {@code members} are about all shards;
 *     false where there are more than 20,000, of which those farthest in the future are left out,
 *     or where some of them are damaged
 * @param inClaim shards that the node is making or claiming just now
 * @param scheduled jobs that were scheduled through the node since it started
 * @param pending jobs in its memory that have not ended
 * @param delivered jobs that ended on it since it started
 */
public record ClusterInfo(
    List<Member> members,
    List<Slice> slices,
    boolean complete,
    int inClaim,
    long scheduled,
    int pending,
    long delivered) {

  /** In so many parts the shards of each node are divided among its stand-ins. */
  public static final int PARTS = ClusterLook.PARTS;

  /**
   * A node and its shards.
   *
   * @param info who it is and how it stands
   * @param home shards that it, or an earlier start of it, made
   * @param owned shards that it has
   * @param standsIn of those, how many another node made
   * @param standInOf whose shards it is to look after while they are not there, known before any of
   *     them dies: their node ids, and how many of the {@link #PARTS} parts of their shards. Empty
   *     for one that takes no shards
   */
  public record Member(
      MemberInfo info, int home, int owned, int standsIn, Map<String, Integer> standInOf) {

    /** Makes a copy that nobody changes. */
    public Member {
      standInOf = Map.copyOf(standInOf);
    }
  }

  /**
   * The shards of one slice of time, whoever has them. Each is owned, in claim or free.
   *
   * @param start where it begins
   * @param width how long it is
   * @param owned shards of a node that is there
   * @param inClaim shards that the node which was asked is making or claiming
   * @param free shards that nobody has who is there
   * @param drained shards of which all jobs have ended, owned or not
   * @param pending jobs that have not ended: counted in shards that the node which was asked has in
   *     memory; in others all that were ever added, as far as is known
   * @param uncounted shards of other nodes that may have more jobs than is known here, since their
   *     owners write the number down only when a shard is full, over or given back
   */
  public record Slice(
      Instant start,
      Duration width,
      int owned,
      int inClaim,
      int free,
      int drained,
      long pending,
      int uncounted) {

    /**
     * All of them.
     *
     * @return how many shards there are
     */
    public int shards() {
      return owned + inClaim + free;
    }
  }

  /** Makes copies that nobody changes. */
  public ClusterInfo {
    members = List.copyOf(members);
    slices = List.copyOf(slices);
  }

  static ClusterInfo of(ClusterLook look, ClusterLook.Heads heads) {
    Map<Long, Map<String, Integer>> assigned = look.assignments();
    return new ClusterInfo(
        look.members().stream()
            .map(member -> member(member, heads.all(), assigned.get(member.incarnation())))
            .toList(),
        look.slices(heads.all()).stream().map(ClusterInfo::slice).toList(),
        heads.complete(),
        look.inClaim(),
        look.stats().addedTotal(),
        look.stats().loadedJobs(),
        look.stats().endedTotal());
  }

  private static Member member(
      MemberState member, List<Head> heads, @Nullable Map<String, Integer> standInOf) {
    Holdings holdings = Holdings.of(member.nodeId(), member.incarnation(), heads);
    return new Member(
        MemberInfo.of(member),
        holdings.home(),
        holdings.owned(),
        holdings.standsIn(),
        standInOf != null ? standInOf : Map.of());
  }

  private static Slice slice(TimeSlice slice) {
    return new Slice(
        Instant.ofEpochSecond(slice.startSeconds()),
        Duration.ofSeconds(slice.widthSeconds()),
        slice.owned(),
        slice.inClaim(),
        slice.free(),
        slice.drained(),
        slice.pending(),
        slice.uncounted());
  }
}
