package dev.carillon.engine.member;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;

/** Tells which members came, left and died, and what operators ordered, from look to look. */
final class MemberNews {
  private final NodeEnvironment env;
  private final String ownId;
  private final Map<Long, String> there = new LinkedHashMap<>();
  private boolean looked;

  MemberNews(NodeEnvironment env, String ownId) {
    this.env = env;
    this.ownId = ownId;
  }

  /**
   * A look showed who is there.
   *
   * @param dead whether a member that is not there any more gave no word that it stops
   */
  void looked(List<Member> others, LongPredicate dead) {
    Map<Long, String> now = new LinkedHashMap<>();
    others.forEach(member -> now.put(member.incarnation(), member.nodeId()));
    if (!looked) {
      looked = true;
      env.tell(new NodeEvent.Joined(now.values().stream().filter(this::isOther).sorted().toList()));
    } else if (!now.equals(there)) {
      there.forEach(
          (incarnation, nodeId) -> {
            if (!now.containsKey(incarnation) && isOther(nodeId)) {
              env.tell(
                  dead.test(incarnation)
                      ? new NodeEvent.MemberDied(nodeId)
                      : new NodeEvent.MemberLeft(nodeId));
            }
          });
      now.forEach(
          (incarnation, nodeId) -> {
            if (!there.containsKey(incarnation)) {
              env.tell(new NodeEvent.MemberCame(nodeId));
            }
          });
    }
    there.clear();
    there.putAll(now);
  }

  /** An earlier start of this node may be there until it is judged dead. */
  private boolean isOther(String nodeId) {
    return !nodeId.equals(ownId);
  }

  /** Operators have ordered something else than before. */
  void ordered(Orders before, Orders now) {
    tellDrains(before.drained(), now.drained(), false);
    tellDrains(now.drained(), before.drained(), true);
    now.moved()
        .forEach(
            (shard, nodeId) -> {
              if (!nodeId.equals(before.moved().get(shard))) {
                env.tell(new NodeEvent.MoveSet(shard, nodeId));
              }
            });
    before
        .moved()
        .forEach(
            (shard, nodeId) -> {
              if (!now.moved().containsKey(shard)) {
                env.tell(new NodeEvent.MoveSet(shard, null));
              }
            });
  }

  private void tellDrains(Set<String> in, Set<String> notIn, boolean drained) {
    for (String nodeId : in) {
      if (!notIn.contains(nodeId)) {
        env.tell(new NodeEvent.DrainSet(nodeId, drained));
      }
    }
  }
}
