package dev.carillon.engine.member;

import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says who shares a store and who has which shards, from the store alone: no node is asked. Who is
 * there shows only in time, so the heartbeats are read twice, more than a heartbeat interval apart.
 */
public final class ClusterReader {
  private static final int HEADS_A_PAGE = 256;

  private final Map<Long, Stamp> before = new LinkedHashMap<>();

  /** What is seen of a member. */
  public enum State {
    /** It sends heartbeats. */
    THERE,
    /** It sends heartbeats, gives its shards back and takes no more. */
    LEAVING,
    /** It sends heartbeats, and an operator wants it to have no shards. */
    DRAINING,
    /** It stopped in order and may come back. */
    GONE,
    /** It has not beaten between the two looks. */
    SILENT
  }

  /**
   * One start of a node.
   *
   * @param standInOf the others, and how many of the 128 parts of their shards it takes while they
   *     are not there
   * @param clockMicros by how much its clock is ahead of the store's, as it last measured; {@link
   *     MemberState#CLOCK_UNKNOWN} where it has not
   */
  public record MemberView(
      String nodeId,
      long incarnation,
      State state,
      Holdings holdings,
      Map<String, Integer> standInOf,
      long clockMicros) {}

  /**
   * A shard.
   *
   * @param owner the node that has it; null where nobody has, "?" where that one has no record
   * @param standIn the node that is to look after it now, as those who are there work it out; null
   *     where nobody is there
   */
  public record ShardView(Head head, @Nullable String owner, @Nullable String standIn) {}

  /**
   * All that is seen.
   *
   * @param orders of operators, which hold until they are taken back
   */
  public record View(
      List<MemberView> members, List<ShardView> shards, List<TimeSlice> slices, Orders orders) {}

  /** The ids of all nodes that are there or expected back. */
  public static Outcome<Set<String>> nodeIds(Store store) {
    return Members.all(store)
        .map(
            records ->
                records.stream()
                    .filter(Members::isHeartbeat)
                    .map(record -> Members.read(record).nodeId())
                    .collect(Collectors.toCollection(TreeSet::new)));
  }

  /** The first look: who has a new heartbeat by the second is there. */
  public Outcome<Boolean> look(Store store) {
    return Members.all(store)
        .map(
            records -> {
              records.forEach(record -> seen(record));
              return true;
            });
  }

  private void seen(Stored record) {
    if (Members.isHeartbeat(record)) {
      before.put(Members.read(record).incarnation(), record.version());
    }
  }

  /** The second look. */
  public Outcome<View> read(Store store) {
    Outcome<List<Stored>> records = Members.all(store);
    if (!(records instanceof Outcome.Ok<List<Stored>>(List<Stored> heartbeats))) {
      return records.map(none -> new View(List.of(), List.of(), List.of(), Orders.NONE));
    }
    return heads(store).map(heads -> view(heartbeats, heads));
  }

  private static Outcome<List<Head>> heads(Store store) {
    List<Head> all = new ArrayList<>();
    ShardId after = null;
    while (true) {
      Outcome<List<Head>> page = store.journals().listById(after, HEADS_A_PAGE);
      if (!(page instanceof Outcome.Ok<List<Head>>(List<Head> heads))) {
        return page;
      }
      all.addAll(heads);
      if (heads.size() < HEADS_A_PAGE) {
        return Outcome.ok(all);
      }
      after = heads.getLast().shard();
    }
  }

  private View view(List<Stored> heartbeats, List<Head> heads) {
    List<Member> members = new ArrayList<>();
    Map<Long, State> states = new LinkedHashMap<>();
    for (Stored heartbeat : heartbeats) {
      if (Members.isHeartbeat(heartbeat)) {
        Member member = Members.read(heartbeat);
        members.add(member);
        states.put(member.incarnation(), state(member, heartbeat.version()));
      }
    }
    List<Member> there =
        members.stream().filter(member -> states.get(member.incarnation()) == State.THERE).toList();
    StandIns standIns = new StandIns(there);
    Map<Long, Map<String, Integer>> assigned =
        ClusterLook.assignments(there, members.stream().map(Member::nodeId).toList());
    List<MemberView> views =
        members.stream()
            .map(
                member ->
                    new MemberView(
                        member.nodeId(),
                        member.incarnation(),
                        states.getOrDefault(member.incarnation(), State.SILENT),
                        Holdings.of(member.nodeId(), member.incarnation(), heads),
                        assigned.getOrDefault(member.incarnation(), Map.of()),
                        member.said().clockMicros()))
            .toList();
    Orders orders = Orders.read(heartbeats);
    List<ShardView> shards =
        heads.stream().map(head -> view(head, members, standIns, orders)).toList();
    return new View(views, shards, TimeSlice.of(heads, beating(states), Map.of()), orders);
  }

  private static Set<Long> beating(Map<Long, State> states) {
    Set<Long> beating = new LinkedHashSet<>(states.keySet());
    beating.removeIf(
        member -> states.get(member) == State.GONE || states.get(member) == State.SILENT);
    return beating;
  }

  private State state(Member member, Stamp version) {
    if (member.isGone()) {
      return State.GONE;
    }
    if (version.equals(before.get(member.incarnation()))) {
      return State.SILENT;
    }
    if (member.traits().contains(Member.Trait.DRAINING)) {
      return State.DRAINING;
    }
    return member.traits().contains(Member.Trait.LEAVING) ? State.LEAVING : State.THERE;
  }

  private static ShardView view(Head head, List<Member> members, StandIns standIns, Orders orders) {
    String owner =
        members.stream()
            .filter(member -> member.incarnation() == head.owner())
            .map(Member::nodeId)
            .findFirst()
            .orElse("?");
    Member wanted = standIns.named(orders.moved().get(head.shard()));
    Member next = wanted != null ? wanted : standIns.of(head.home(), head.shard());
    return new ShardView(head, head.released() ? null : owner, next != null ? next.nodeId() : null);
  }
}
