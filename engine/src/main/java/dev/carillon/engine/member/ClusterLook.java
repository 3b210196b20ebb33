package dev.carillon.engine.member;

import dev.carillon.engine.history.DamagedHead;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a node knows of itself and of the others at one moment. The loop only notes it; whoever
 * asked works the rest out, beside the loop. Immutable.
 */
public final class ClusterLook {
  /** In so many parts the shards of each node are divided among its stand-ins. */
  public static final int PARTS = StandIns.UNITS;

  /** How many heads are read for a look at all shards. */
  static final int MOST_HEADS = 20_000;

  private final NodeStats stats;
  private final List<MemberState> members;
  private final List<Member> living;
  private final Map<ShardId, TimeSlice.Own> own;

  /**
   * The heads of the shards on a store.
   *
   * @param complete whether it is all of them: none was damaged, and they were not too many; those
   *     farthest in the future are left out first
   */
  public record Heads(List<Head> all, boolean complete) {}

  public ClusterLook(
      NodeStats stats,
      List<MemberState> members,
      List<Member> living,
      Map<ShardId, TimeSlice.Own> own) {
    this.stats = stats;
    this.members = List.copyOf(members);
    this.living = List.copyOf(living);
    this.own = Collections.unmodifiableMap(new LinkedHashMap<>(own));
  }

  /** Reads the heads of all shards, page by page, up to a limit. */
  public static Outcome<Heads> heads(Store store) {
    return heads(store, MOST_HEADS);
  }

  public static Outcome<Heads> heads(Store store, int most) {
    return DamagedHead.around(store, null, most + 1)
        .map(
            found -> {
              List<Head> all = found.intact();
              boolean cut = all.size() > most;
              return new Heads(
                  List.copyOf(cut ? all.subList(0, most) : all), !cut && found.damaged().isEmpty());
            });
  }

  /** The node itself. */
  public NodeStats stats() {
    return stats;
  }

  /** Who shares the store, the node itself first. */
  public List<MemberState> members() {
    return members;
  }

  /** The node that has a shard; null where nobody has, "?" where it is not known. */
  public @Nullable String owner(Head head) {
    if (head.released()) {
      return null;
    }
    return members.stream()
        .filter(member -> member.incarnation() == head.owner())
        .map(MemberState::nodeId)
        .findFirst()
        .orElse("?");
  }

  /** Shards that the node is making or claiming. */
  public int inClaim() {
    return (int) own.values().stream().filter(TimeSlice.Own::inClaim).count();
  }

  /** The shards by time. */
  public List<TimeSlice> slices(List<Head> heads) {
    Set<Long> there = new LinkedHashSet<>();
    for (MemberState member : members) {
      if (member.kind() != MemberState.Kind.GONE && member.kind() != MemberState.Kind.DEAD) {
        there.add(member.incarnation());
      }
    }
    return TimeSlice.of(heads, there, own);
  }

  /**
   * Whose stand-in each is: by incarnation, the other nodes and how many of the {@link #PARTS}
   * parts of their shards it takes while they are not there.
   */
  public Map<Long, Map<String, Integer>> assignments() {
    return assignments(living, members.stream().map(MemberState::nodeId).toList());
  }

  static Map<Long, Map<String, Integer>> assignments(List<Member> living, List<String> homes) {
    Set<String> shown = new LinkedHashSet<>(homes);
    living.stream()
        .filter(member -> member.traits().contains(Member.Trait.CLIENT))
        .forEach(client -> shown.remove(client.nodeId())); // it has no shards
    Map<Long, Map<String, Integer>> all = new LinkedHashMap<>();
    for (String home : shown) {
      StandIns.parts(living, home)
          .forEach(
              (member, parts) ->
                  all.computeIfAbsent(member, m -> new TreeMap<>()).put(home, parts));
    }
    return all;
  }
}
