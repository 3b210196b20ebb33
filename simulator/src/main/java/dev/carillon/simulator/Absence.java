package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.engine.member.ClusterLook;
import dev.carillon.engine.member.ClusterReader;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * When all is calm one of several nodes goes away in order and comes back: meanwhile each of its
 * shards is with the one that was to have it, and these are even; afterwards they are its own
 * again; and those of the others stay where they are all the time.
 */
final class Absence {
  private static final int JOBS = 16;
  private static final long HOUR_MICROS = 3_600_000_000L;
  private static final long MOST_HOURS = 20;
  private static final long SOON_NANOS = 5 * VirtualClock.SECOND;

  private final World world;
  private final Fleet fleet;
  private final Together together;
  private final Lives node;
  private final List<Request> requests = new ArrayList<>();

  /** Who is to have which shard while the node is away. */
  private final Map<ShardId, String> standIns = new LinkedHashMap<>();

  private Map<String, Map<String, Integer>> partsBefore = Map.of();
  private long goneNanos;
  private long endedAway;

  /** One in which a node of the fleet, any, is away. */
  Absence(World world, Fleet fleet, Together together) {
    this.world = world;
    this.fleet = fleet;
    this.together = together;
    this.node = fleet.some();
  }

  /** The node that goes. */
  Lives node() {
    return node;
  }

  private String id() {
    return world.climate.nodeId(fleet.nodes().indexOf(node));
  }

  /** How long it takes until all have seen who came and who went, and acted on it. */
  long newsNanos() {
    return world.climate.horizonNanos() / 4 + 2 * together.timeoutNanos + SOON_NANOS;
  }

  /** Schedules jobs with the node, for hours apart: each in a shard of its own, mostly. */
  void schedule(Users users, Wishes wishes) {
    Life life = node.open();
    if (life != null) {
      life.deliver(
          () -> {
            for (int i = 0; i < JOBS; i++) {
              long hours = world.chance.between(HOUR_MICROS, MOST_HOURS * HOUR_MICROS);
              requests.add(users.schedule(life, wishes.at(world.clock.wallMicros() + hours)));
            }
          });
    }
  }

  private List<ModelJob> jobs() {
    List<ModelJob> jobs = new ArrayList<>();
    for (Request request : requests) {
      ModelJob job = world.model.ofRequest(request.id);
      if (job != null) {
        jobs.add(job);
      }
    }
    return jobs;
  }

  private long ended() {
    return jobs().stream().filter(job -> !job.live()).count();
  }

  /** Whether it has been away for long enough. */
  boolean isOver() {
    return 2 * ended() >= jobs().size(); // some may have been refused: a queue was full
  }

  /** All are there: what they say that each would take. */
  void before() {
    partsBefore = parts();
  }

  /** The node is gone: who is to have what. */
  void gone(ClusterReader.View view) {
    goneNanos = world.clock.nanos();
    for (ClusterReader.ShardView shard : view.shards()) {
      String home = shard.head().home();
      String standIn = String.valueOf(shard.standIn());
      if (home.equals(id())) {
        check(!standIn.equals(home), Guarantee.SPREAD, "a shard is to be with who is away");
        standIns.put(shard.head().shard(), standIn);
      } else {
        check(
            standIn.equals(home),
            Guarantee.SPREAD,
            () -> "a shard of " + home + ", which is there, is to be with " + standIn);
      }
    }
    Map<String, Map<String, Integer>> parts = parts();
    partsBefore.forEach(
        (home, before) ->
            before.forEach(
                (member, many) ->
                    check(
                        member.equals(id())
                            || !parts.containsKey(home) // it is forgotten
                            || parts.getOrDefault(home, Map.of()).getOrDefault(member, 0) >= many,
                        Guarantee.SPREAD,
                        () -> member + " is to have less of " + home + " since another is gone")));
  }

  /** Half of its jobs have ended without it. */
  void returns() {
    for (ModelJob job : jobs()) {
      String standIn = standIns.get(job.shard.id);
      check(
          job.live()
              || job.endedNanos < goneNanos // perhaps by itself: a clock may have jumped
              || standIn == null
              || nameOf(job.endedBy).equals(standIn),
          Guarantee.SPREAD,
          () -> job + " was ended by " + nameOf(job.endedBy) + " and was to be by " + standIn);
    }
  }

  /** It is back, and all know. */
  void isBack() {
    endedAway = ended();
  }

  /** It is back, and all have ended. */
  void after() {
    parts();
    long elsewhere = jobs().stream().filter(job -> !nameOf(job.endedBy).equals(id())).count();
    check(
        elsewhere <= endedAway,
        Guarantee.SPREAD,
        () ->
            (elsewhere - endedAway) + " jobs of " + id() + " were run by others since it is back");
    for (ModelShard shard : world.model.shards()) {
      check(
          shard.dropped
              || !world.lives(shard.owner)
              || nameOf(shard.owner).equals(shard.home)
              || shard.isUnknownToOwner(),
          Guarantee.SPREAD,
          () -> "shard " + shard.index + " of " + shard.home + " is with " + nameOf(shard.owner));
    }
  }

  private String nameOf(long incarnation) {
    Life life = world.life(incarnation);
    return life == null ? "nobody" : world.climate.nodeId(life.nodeIndex);
  }

  /** By home, who would take how many of its parts: all say the same, and it is even. */
  private Map<String, Map<String, Integer>> parts() {
    Map<String, Map<String, Integer>> agreed = null;
    for (Life life : fleet.current()) {
      Map<String, Map<String, Integer>> own = new TreeMap<>();
      life.node
          .cluster()
          .assignments()
          .forEach(
              (member, homes) ->
                  homes.forEach(
                      (home, many) ->
                          own.computeIfAbsent(home, h -> new TreeMap<>())
                              .put(nameOf(member), many)));
      own.forEach((home, parts) -> isEven(home, parts, fleet.current().size()));
      Map<String, Map<String, Integer>> others = agreed;
      if (others != null) {
        own.keySet().retainAll(others.keySet()); // not all forget a node at the same moment
        others.keySet().retainAll(own.keySet());
      }
      check(
          others == null || others.equals(own),
          Guarantee.SPREAD,
          () -> "nodes do not agree who stands in for whom: " + others + " and " + own);
      agreed = own;
    }
    return agreed == null ? Map.of() : agreed;
  }

  private void isEven(String home, Map<String, Integer> parts, int there) {
    boolean isThere =
        fleet.current().stream()
            .anyMatch(life -> world.climate.nodeId(life.nodeIndex).equals(home));
    int others = isThere ? there - 1 : there;
    int least = ClusterLook.PARTS / others;
    int most = (ClusterLook.PARTS + others - 1) / others;
    check(
        parts.size() == others
            && !parts.containsKey(isThere ? home : "")
            && parts.values().stream().mapToInt(i -> i).sum() == ClusterLook.PARTS
            && parts.values().stream().allMatch(many -> many >= least && many <= most),
        Guarantee.SPREAD,
        () -> "the shards of " + home + " would be spread so: " + parts);
  }

  /** Whether all that was asked of it is answered. */
  boolean isReady() {
    return requests.stream().allMatch(request -> request.told != Request.Told.NOTHING);
  }
}
