package dev.carillon.engine.life;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.history.WorkflowHistory;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads histories of this node's workflows for replays. One read of a shard is under way at a time;
 * those that are asked for meanwhile are read together, so an entry of the journal that many
 * workflows stand in is read once for all of them. No more wait than attempts are under way.
 */
final class HistoryReads {
  /** About how many bytes of histories one read brings. */
  private static final long MOST_BYTES = 4 << 20;

  private final NodeEnvironment env;
  private final Map<Shard, Queue<Wanted>> waiting = new LinkedHashMap<>();
  private final Set<Shard> reading = new LinkedHashSet<>();

  HistoryReads(NodeEnvironment env) {
    this.env = env;
  }

  private record Wanted(Attempt attempt, Consumer<Outcome<List<HistoryEntry>>> answer) {}

  /** Brings the entries that the attempt's workflow had when it began. */
  void read(Attempt attempt, Consumer<Outcome<List<HistoryEntry>>> answer) {
    Shard shard = attempt.job().shard();
    waiting.computeIfAbsent(shard, s -> new ArrayDeque<>()).add(new Wanted(attempt, answer));
    readNext(shard);
  }

  private void readNext(Shard shard) {
    Queue<Wanted> queue = waiting.get(shard);
    if (queue == null || reading.contains(shard)) {
      return;
    }
    List<Wanted> some = new ArrayList<>();
    List<WorkflowHistory.Place> places = new ArrayList<>();
    long bytes = 0;
    int generation = shard.journal.generation();
    while (!queue.isEmpty() && bytes < MOST_BYTES) {
      Wanted next = queue.remove();
      NodeJob job = next.attempt.job();
      WorkflowState workflow = job.workflow();
      if (next.attempt.over || !shard.owned() || workflow == null) {
        next.answer.accept(new Outcome.Unavailable<>("the job's shard has moved away"));
        continue;
      }
      some.add(next);
      places.add(
          new WorkflowHistory.Place(
              shard.id, generation, workflow.places(), next.attempt.historyCount()));
      bytes += workflow.bytes();
    }
    if (queue.isEmpty()) {
      waiting.remove(shard);
    }
    if (some.isEmpty()) {
      return;
    }
    reading.add(shard);
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> WorkflowHistory.readAll(store, shard.id, generation, places),
        outcomes -> {
          reading.remove(shard);
          env.metrics().count("workflows.replayed", some.size());
          for (int i = 0; i < some.size(); i++) {
            some.get(i).answer.accept(outcomes.get(i));
          }
          readNext(shard);
        });
  }
}
