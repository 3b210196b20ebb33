package dev.carillon.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Adds in several shards that are committed together or not at all. */
final class AtomicAdds {
  final Map<Shard, List<Operation>> adds = new LinkedHashMap<>();

  /** What waited in one of its shards, and did not fit beside it, was let go first. */
  boolean gaveWay;

  void add(Shard shard, Operation operation) {
    operation.together = this;
    adds.computeIfAbsent(shard, s -> new ArrayList<>()).add(operation);
  }

  long bytes() {
    long bytes = 0;
    for (List<Operation> operations : adds.values()) {
      for (Operation operation : operations) {
        bytes += operation.frame.frameBytes();
      }
    }
    return bytes;
  }

  void forEach(java.util.function.Consumer<Operation> action) {
    adds.values().forEach(operations -> operations.forEach(action));
  }
}
