package dev.carillon.engine.member;

import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What operators have ordered of nodes and shards: which nodes are to have no shards, and which
 * shard is to be with which node. Records that lie among the heartbeats and so cost no read of
 * their own; an order holds until it is taken back, also across restarts.
 *
 * @param drained the ids of nodes that are to have no shards
 * @param moved shards, and the ids of the nodes they are to be with
 */
public record Orders(Set<String> drained, Map<ShardId, String> moved) {
  static final Orders NONE = new Orders(Set.of(), Map.of());
  private static final String DRAIN = Heartbeat.PREFIX + "~drain\0";
  private static final String MOVE = Heartbeat.PREFIX + "~move\0";

  /** The order that a node has no shards. */
  public static String drain(String nodeId) {
    return DRAIN + nodeId;
  }

  /** The order that a shard is with a certain node. */
  public static String move(ShardId shard) {
    return MOVE + shard;
  }

  /** Those among the records of the heartbeats. */
  static Orders read(List<Stored> records) {
    Set<String> drained = new LinkedHashSet<>();
    Map<ShardId, String> moved = new LinkedHashMap<>();
    for (Stored record : records) {
      if (record.key().startsWith(DRAIN)) {
        drained.add(record.key().substring(DRAIN.length()));
      } else if (record.key().startsWith(MOVE)) {
        moved.put(
            ShardId.parse(record.key().substring(MOVE.length())),
            new String(record.value(), StandardCharsets.UTF_8));
      }
    }
    return drained.isEmpty() && moved.isEmpty() ? NONE : new Orders(drained, moved);
  }

  /**
   * Gives an order, or takes it back; {@code done} runs when that is durable.
   *
   * @param nodeId the node that the order names; null to take it back
   */
  public static void give(
      RecordChanges records, String order, @Nullable String nodeId, Runnable done) {
    byte[] value = nodeId == null ? null : nodeId.getBytes(StandardCharsets.UTF_8);
    records.get(
        order,
        found -> {
          if (Arrays.equals(found.map(Stored::value).orElse(null), value)) {
            done.run();
            return;
          }
          records.change(
              order,
              found.map(Stored::version).orElse(Stamp.ABSENT),
              value,
              inEffect -> {
                if (inEffect) {
                  done.run();
                } else {
                  give(records, order, nodeId, done); // somebody else gives orders too
                }
              });
        });
  }

  /** Takes back the orders to move shards that are gone. */
  public void sweep(NodeEnvironment env, RecordChanges records) {
    for (ShardId shard : moved.keySet()) {
      env.submit(
          NodeEnvironment.Channel.READ,
          store -> store.journals().head(shard),
          outcome -> {
            if (outcome instanceof Outcome.Fenced<Head>) {
              give(records, move(shard), null, () -> {});
            }
          });
    }
  }

  /**
   * Gives an order, or takes it back.
   *
   * @param nodeId whom it names; null to take it back
   * @param stamp of a writer of its own
   * @return false where somebody else gave one at the same time
   */
  public static Outcome<Boolean> give(
      Store store, String order, @Nullable String nodeId, Stamp stamp) {
    Outcome<Optional<Stored>> found = store.records().get(order);
    if (!(found instanceof Outcome.Ok<Optional<Stored>>(Optional<Stored> before))) {
      return found.map(none -> false);
    }
    if (before.isEmpty() && nodeId == null) {
      return Outcome.ok(true);
    }
    byte[] value = nodeId == null ? null : nodeId.getBytes(StandardCharsets.UTF_8);
    Stamp expected = before.map(Stored::version).orElse(Stamp.ABSENT);
    Outcome<Stamp> given =
        store.records().apply(List.of(new Change(order, expected, value, stamp))).getFirst();
    return given instanceof Outcome.Conflict<Stamp>
        ? Outcome.ok(false)
        : given.map(version -> true);
  }
}
