package dev.carillon.engine.member;

import dev.carillon.store.ShardId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who takes the shards of which node while it is not there: worked out alike by every node that
 * sees the same members, so nobody has to be asked, and a claim decides where they see different
 * ones.
 *
 * <p>The shards of a home are in {@link #UNITS} parts. Each member takes as many parts as any
 * other, or one more; who takes which is drawn by their names, so that few parts change hands when
 * a member comes or goes.
 */
public final class StandIns {
  public static final int UNITS = 128;

  private final List<Member> members;
  private final Map<String, Member> homes = new LinkedHashMap<>();
  private final Map<String, List<Member>> drawn = new LinkedHashMap<>();

  /** With these members, in whatever order. */
  public StandIns(List<Member> members) {
    this.members =
        members.stream()
            .filter(Member::takesShards)
            .sorted(Comparator.comparingLong(Member::incarnation))
            .toList();
    this.members.forEach(member -> homes.putIfAbsent(member.nodeId(), member));
  }

  /**
   * Who is to own the shard: the member it is at home with, or a stand-in; null without members.
   */
  public @Nullable Member of(String home, ShardId shard) {
    Member there = homes.get(home);
    if (there != null || members.isEmpty()) {
      return there;
    }
    return drawn.computeIfAbsent(home, this::draw).get(unit(shard));
  }

  /**
   * Who takes how many parts of a home's shards while that is not there, by incarnation; {@code
   * members} may have it among them.
   */
  static Map<Long, Integer> parts(List<Member> members, String home) {
    StandIns others =
        new StandIns(members.stream().filter(member -> !member.nodeId().equals(home)).toList());
    Map<Long, Integer> parts = new LinkedHashMap<>();
    if (!others.isEmpty()) {
      others.draw(home).forEach(member -> parts.merge(member.incarnation(), 1, Integer::sum));
    }
    return parts;
  }

  /** Whether nobody is there to take shards. */
  boolean isEmpty() {
    return members.isEmpty();
  }

  /** The member of that id, if it is there and takes shards. */
  @Nullable Member named(@Nullable String nodeId) {
    return nodeId == null ? null : homes.get(nodeId);
  }

  public static int unit(ShardId shard) {
    long hash = mix(shard.startSeconds() ^ mix(shard.incarnation() + shard.sequence()));
    return (int) Long.remainderUnsigned(hash, UNITS);
  }

  private record Lot(long hash, int unit, int member) {}

  private static int compare(Lot a, Lot b) {
    int byHash = Long.compare(a.hash(), b.hash());
    return byHash != 0 ? byHash : Integer.compare(a.unit(), b.unit());
  }

  private List<Member> draw(String home) {
    List<Lot> lots = new ArrayList<>(UNITS * members.size());
    long seed = hash(home);
    for (int member = 0; member < members.size(); member++) {
      long own = mix(seed ^ members.get(member).incarnation());
      for (int unit = 0; unit < UNITS; unit++) {
        lots.add(new Lot(mix(own + unit), unit, member));
      }
    }
    lots.sort(StandIns::compare);
    int each = UNITS / members.size();
    int oneMore = UNITS % members.size();
    int[] taken = new int[members.size()];
    Member[] drawnBy = new Member[UNITS];
    for (Lot lot : lots) {
      if (drawnBy[lot.unit()] != null || taken[lot.member()] > each) {
        continue;
      }
      if (taken[lot.member()] == each && oneMore-- <= 0) {
        oneMore = 0;
        continue;
      }
      taken[lot.member()]++;
      drawnBy[lot.unit()] = members.get(lot.member());
    }
    return List.of(drawnBy);
  }

  private static long hash(String text) {
    long hash = 0;
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      hash = mix(hash ^ each);
    }
    return hash;
  }

  /** The finishing step of a well-known generator: every bit of the answer depends on all. */
  private static long mix(long z) {
    long a = (z + 0x9e3779b97f4a7c15L);
    a = (a ^ (a >>> 30)) * 0xbf58476d1ce4e5b9L;
    a = (a ^ (a >>> 27)) * 0x94d049bb133111ebL;
    return a ^ (a >>> 31);
  }
}
