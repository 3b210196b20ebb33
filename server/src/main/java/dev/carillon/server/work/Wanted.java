package dev.carillon.server.work;

import dev.carillon.gateway.WorkerTake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What a worker asks for: of a namespace the jobs of some types, of a queue, or of both.
 *
 * @param label what it calls itself; stands in the histories of its jobs
 * @param types empty for every type of the queue
 * @param queue empty for any queue
 * @param lease how long it may be silent
 */
record Wanted(String label, String namespace, List<String> types, String queue, Duration lease) {
  Wanted {
    types = List.copyOf(types);
  }

  /** The same for a node. */
  List<WorkerTake> takes() {
    List<WorkerTake> takes = new ArrayList<>();
    for (String type : types.isEmpty() ? List.of("") : types) {
      takes.add(new WorkerTake(namespace, queue, type, lease));
    }
    return takes;
  }
}
