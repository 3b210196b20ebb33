package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.FlowControl;
import dev.carillon.RunningInfo;
import dev.carillon.WaitsInfo;
import dev.carillon.api.Limits;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.JsonText;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The queues that there are: those of which anything is set, and those whose jobs run or are due
 * now, on any node. A queue is no thing of its own: one whose jobs are all for later, and of which
 * nothing was ever set, is not in the list.
 */
public final class QueueRoutes {
  private final Carillon carillon;

  /**
   * The queues of a node's store.
   *
   * @param carillon the node
   */
  public QueueRoutes(Carillon carillon) {
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(Route.get("listQueues", "/v1/queues", Role.VIEWER, this::list).byQueue());
  }

  /** What is known of a queue. Immutable. */
  private record Queue(
      FlowControl.@Nullable Setting setting,
      int running,
      long waiting,
      @Nullable Instant oldestDue) {
    static final Queue NONE = new Queue(null, 0, 0, null);

    Queue set(FlowControl.Setting what) {
      return new Queue(what, running, waiting, oldestDue);
    }

    Queue andOneRuns() {
      return new Queue(setting, running + 1, waiting, oldestDue);
    }

    Queue and(WaitsInfo.Row row) {
      boolean older = oldestDue == null || row.oldestDue().isBefore(oldestDue);
      return new Queue(setting, running, waiting + row.jobs(), older ? row.oldestDue() : oldestDue);
    }
  }

  private Answer list(Call call) {
    Map<String, Queue> queues = new TreeMap<>();
    carillon
        .node()
        .queueSettings()
        .forEach((name, setting) -> note(queues, name, queue -> queue.set(setting)));
    RunningInfo running = carillon.node().running(null, Limits.PAGE_MAX_ITEMS);
    running.jobs().forEach(job -> note(queues, job.queue(), Queue::andOneRuns));
    WaitsInfo waits = carillon.node().waits(null, null);
    waits.rows().forEach(row -> note(queues, row.queue(), queue -> queue.and(row)));
    queues.keySet().removeIf(name -> !call.caller().mayUse(null, name));
    boolean more = running.nodes().stream().anyMatch(node -> node.shown() < node.running());
    Set<String> silent = new LinkedHashSet<>(running.silent());
    silent.addAll(waits.silent());
    return Answer.json(
        out ->
            out.list("items", List.copyOf(queues.entrySet()), QueueRoutes::write)
                .put("complete", !more)
                .texts("silent", List.copyOf(silent)));
  }

  private static void note(Map<String, Queue> queues, String name, UnaryOperator<Queue> what) {
    queues.put(name, what.apply(queues.getOrDefault(name, Queue.NONE)));
  }

  private static void write(JsonText out, Map.Entry<String, Queue> entry) {
    Queue queue = entry.getValue();
    out.put("queue", entry.getKey())
        .put("running", queue.running())
        .put("waiting", queue.waiting())
        .put("oldestDue", queue.oldestDue());
    FlowControl.Setting setting = queue.setting();
    if (setting != null) {
      Flows.write(out, setting);
    } else {
      out.put("paused", false);
    }
  }
}
