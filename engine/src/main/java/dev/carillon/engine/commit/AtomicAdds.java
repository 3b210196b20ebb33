package dev.carillon.engine.commit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A batch of adds in several shards, which one transaction commits, or none of them; perhaps with
 * the checkpoint of the workflow that starts them.
 */
public final class AtomicAdds {
  final Map<ShardJournal, List<Operation>> adds = new LinkedHashMap<>();

  /** Other operations went first, once: they did not fit beside these adds. */
  boolean gaveWay;

  public void add(ShardJournal journal, Operation operation) {
    operation.together = this;
    adds.computeIfAbsent(journal, j -> new ArrayList<>()).add(operation);
  }

  boolean isRefused() {
    for (List<Operation> operations : adds.values()) {
      for (Operation operation : operations) {
        if (operation.isRefused()) {
          return true;
        }
      }
    }
    return false;
  }

  void forEach(Consumer<Operation> action) {
    adds.values().forEach(operations -> operations.forEach(action));
  }
}
