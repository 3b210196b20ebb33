package dev.carillon.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** All nodes on the store. */
final class Fleet {
  private final World world;
  private final List<Lives> nodes = new ArrayList<>();

  /**
   * As many nodes as the climate says.
   *
   * @param afterCrash told of each crash
   */
  Fleet(Life.Parts parts, Runnable afterCrash) {
    this.world = parts.world();
    for (int i = 0; i < world.climate.nodes; i++) {
      nodes.add(new Lives(i, parts, afterCrash));
    }
  }

  /** Starts all that do not live. */
  void start() {
    nodes.forEach(Lives::start);
  }

  void registerAll() {
    nodes.forEach(Lives::registerAll);
  }

  /** How many times a node died. */
  int crashes() {
    return nodes.stream().mapToInt(lives -> lives.crashes).sum();
  }

  List<Lives> nodes() {
    return nodes;
  }

  /** The lives that run. */
  List<Life> current() {
    List<Life> current = new ArrayList<>(nodes.size());
    for (Lives lives : nodes) {
      Life life = lives.current();
      if (life != null) {
        current.add(life);
      }
    }
    return current;
  }

  /** A node, any. */
  Lives some() {
    return nodes.size() == 1 ? nodes.getFirst() : world.chance.pick(nodes);
  }

  /** A life that takes requests now, any, or null. */
  @Nullable Life someOpen() {
    return some(Life::open);
  }

  /** A life, any, or null. */
  @Nullable Life someCurrent() {
    return some(life -> true);
  }

  private @Nullable Life some(Predicate<Life> which) {
    List<Life> found = current().stream().filter(which).toList();
    return found.isEmpty() ? null : found.size() == 1 ? found.getFirst() : world.chance.pick(found);
  }

  /** The lives that take requests now, that which owns the shard first. */
  List<Life> openOwnerFirst(ModelShard shard) {
    List<Life> open = new ArrayList<>();
    for (Life life : current()) {
      if (life.open()) {
        open.add(life.incarnation == shard.owner ? 0 : open.size(), life);
      }
    }
    return open;
  }
}
