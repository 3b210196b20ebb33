package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.StandIns;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StandInsTest {
  private static final int MOST = 100;

  /** Parts that change hands to keep the loads even, besides those of the one that goes. */
  private static final long MOST_BESIDES = StandIns.UNITS / 8;

  private final Random random = new Random(1);

  private Member member(String nodeId, Member.Trait... traits) {
    return new Member(nodeId, random.nextLong() | 1, 1, Set.of(traits), 0, Member.Said.NOTHING);
  }

  private List<Member> members(int count) {
    return IntStream.range(0, count).mapToObj(i -> member("node " + i)).toList();
  }

  /** A shard of each unit. */
  private static Map<Integer, ShardId> shards() {
    Map<Integer, ShardId> shards = new HashMap<>();
    for (int i = 1; shards.size() < StandIns.UNITS; i++) {
      ShardId shard = new ShardId(3600L * i, 77, i);
      shards.putIfAbsent(StandIns.unit(shard), shard);
    }
    return shards;
  }

  private static Map<Integer, Long> owners(List<Member> members, String home) {
    StandIns standIns = new StandIns(members);
    Map<Integer, Long> owners = new HashMap<>();
    shards().forEach((unit, shard) -> owners.put(unit, standIns.of(home, shard).incarnation()));
    return owners;
  }

  private static Map<Long, Integer> loads(Map<Integer, Long> owners) {
    Map<Long, Integer> loads = new HashMap<>();
    owners.values().forEach(owner -> loads.merge(owner, 1, Integer::sum));
    return loads;
  }

  @Test
  void shardBelongsToItsHomeWhileThatIsThere() {
    List<Member> members = members(3);
    StandIns standIns = new StandIns(members);
    shards()
        .values()
        .forEach(shard -> assertThat(standIns.of("node 1", shard)).isEqualTo(members.get(1)));
  }

  @Test
  void eachTakesAsManyPartsAsAnyOtherOrOneMore() {
    for (int count = 1; count <= MOST; count++) {
      Map<Long, Integer> loads = loads(owners(members(count), "gone"));
      assertThat(loads).hasSize(count);
      assertThat(Collections.max(loads.values()) - Collections.min(loads.values()))
          .isLessThanOrEqualTo(1);
    }
  }

  @Test
  void allWhoSeeTheSameMembersAgree() {
    List<Member> members = new ArrayList<>(members(7));
    Map<Integer, Long> owners = owners(members, "gone");
    for (int i = 0; i < 20; i++) {
      Collections.shuffle(members, random);
      assertThat(owners(members, "gone")).isEqualTo(owners);
    }
  }

  @Test
  void fewPartsChangeHandsWhenAMemberGoes() {
    for (int count = 2; count <= MOST; count++) {
      List<Member> members = members(count);
      Map<Integer, Long> before = owners(members, "gone");
      Member goes = members.get(random.nextInt(count));
      List<Member> left = members.stream().filter(each -> !each.equals(goes)).toList();
      Map<Integer, Long> after = owners(left, "gone");
      long moved =
          before.keySet().stream().filter(u -> !before.get(u).equals(after.get(u))).count();
      int its = loads(before).get(goes.incarnation());
      assertThat(moved).as("of %d members", count).isBetween((long) its, its + MOST_BESIDES);
    }
  }

  @Test
  void whoLeavesOrOnlyAsksTakesNothing() {
    Member takes = member("takes");
    List<Member> members =
        List.of(takes, member("a", Member.Trait.LEAVING), member("b", Member.Trait.CLIENT));
    assertThat(loads(owners(members, "a"))).containsOnlyKeys(takes.incarnation());
    assertThat(new StandIns(List.of(member("b", Member.Trait.CLIENT))).of("b", shards().get(0)))
        .isNull();
  }

  @Test
  void memberIsReadAsItWasWritten() {
    Member member =
        new Member(
            "näme\0",
            -5,
            1L << 40,
            Set.of(Member.Trait.LEAVING, Member.Trait.CLIENT),
            7,
            new Member.Said(3, -250_000, 16, 1L << 40, 9));
    assertThat(Member.decode(member.encode())).isEqualTo(member);
  }
}
