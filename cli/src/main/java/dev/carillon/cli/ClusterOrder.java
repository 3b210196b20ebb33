package dev.carillon.cli;

import dev.carillon.engine.member.ClusterReader;
import dev.carillon.engine.member.Orders;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * An order to the nodes that share a store: a record that each of them sees within a sign of life,
 * and that holds until it is taken back.
 */
@Command
abstract class ClusterOrder extends StoreCommand implements Callable<Integer> {
  private static final int MOST_TRIES = 10;

  /** The record, and whom it names; null where it is taken back. */
  private record Order(String key, @Nullable String nodeId) {}

  abstract String key();

  abstract @Nullable String named();

  /** Whether it names what is there; taking an order back is always right. */
  void check(Store store) {
    String nodeId = named();
    if (nodeId == null) {
      return;
    }
    Set<String> known = ClusterReader.nodeIds(store).orThrow();
    if (!known.contains(nodeId)) {
      throw new IllegalArgumentException(
          "node: " + nodeId + " (expected: one that is there or expected back: " + known + ")");
    }
  }

  @Override
  public Integer call() {
    Order order = new Order(key(), named());
    try (Store store = open()) {
      check(store);
      long writer = new SecureRandom().nextLong() | 1;
      for (int i = 1; i <= MOST_TRIES; i++) {
        Outcome<Boolean> given =
            Orders.give(store, order.key(), order.nodeId(), new Stamp(writer, i));
        if (given.orThrow()) {
          out().println("ordered; the nodes see it with their next look");
          out().flush();
          return 0;
        }
      }
    }
    err().println("carillon: others give the same order all the time");
    err().flush();
    return 1;
  }

  /** The node hands its shards to others and takes none. */
  @Command(
      name = "drain",
      header = "A node hands its shards to others and takes none until undrain.",
      description = {
        "The node hands all its shards to others, after what runs of them has ended, and takes",
        "none until undrain, also after a restart. What is scheduled through it goes the same",
        "way. The last node that is there keeps its shards."
      })
  static final class Drain extends ClusterOrder {
    @Parameters(index = "1", paramLabel = "NODE", description = "the node's id")
    private String nodeId = "";

    @Override
    String key() {
      return Orders.drain(nodeId);
    }

    @Override
    String named() {
      return nodeId;
    }
  }

  /** The node has shards again. */
  @Command(
      name = "undrain",
      header = "Takes a drain back.",
      description = "Takes a drain back: the node's shards come home.")
  static final class Undrain extends ClusterOrder {
    @Parameters(index = "1", paramLabel = "NODE", description = "the node's id")
    private String nodeId = "";

    @Override
    String key() {
      return Orders.drain(nodeId);
    }

    @Override
    @Nullable String named() {
      return null;
    }
  }

  /** The shard is to be with a certain node. */
  @Command(
      name = "move",
      header = "A shard goes to a certain node, or back to where it was made.",
      description = {
        "The shard goes to that node and stays there while the node is there. Without a node",
        "the order is taken back: the shard is again where it was made."
      })
  static final class Move extends ClusterOrder {
    @Parameters(index = "1", paramLabel = "SHARD", description = "as cluster --shards shows it")
    private String shard = "";

    @Parameters(
        index = "2",
        arity = "0..1",
        paramLabel = "NODE",
        description = "the node's id; without it the order is taken back")
    private @Nullable String nodeId;

    @Override
    String key() {
      return Orders.move(ShardId.parse(shard));
    }

    @Override
    @Nullable String named() {
      return nodeId;
    }

    @Override
    void check(Store store) {
      super.check(store);
      if (nodeId != null && store.journals().head(ShardId.parse(shard)) instanceof Outcome.Fenced) {
        throw new IllegalArgumentException(
            "shard: " + shard + " (expected: one that cluster --shards shows)");
      }
    }
  }
}
