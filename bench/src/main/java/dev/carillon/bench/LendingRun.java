package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.TaskType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Nodes in one process, each with a connection pool of its own, and jobs for one of them. */
final class LendingRun {
  static final Duration WAIT = Duration.ofMillis(10);
  static final int SLOTS = 16;

  private static final TaskType<Integer> WAITING = TaskType.of("waiting", Integer.class);
  private static final int SECONDS_AT_MOST = 600;

  private final ServerPlace place;

  LendingRun(ServerPlace place) {
    this.place = place;
  }

  /**
   * How it went.
   *
   * @param seconds from the first job's being scheduled until all had ended
   * @param lent jobs that ran on another node than that of their shard
   */
  record Found(int jobs, double seconds, long lent) {}

  /** So many nodes that all have the handler. */
  Found spread(int nodes, int jobs) throws InterruptedException {
    return run(nodes, 0, jobs);
  }

  /** Two nodes, of which only the one that does not schedule has the handler. */
  Found handlerElsewhere(int jobs) throws InterruptedException {
    return run(2, 1, jobs);
  }

  private Found run(int nodes, int firstWithHandler, int jobs) throws InterruptedException {
    String address = place.newAddress("lending");
    LongAdder ran = new LongAdder();
    List<Carillon> fleet = new ArrayList<>();
    try {
      for (int i = 0; i < nodes; i++) {
        fleet.add(Carillon.builder().url(address).nodeId("node-" + i).slots(SLOTS).open());
      }
      fleet.subList(firstWithHandler, nodes).forEach(node -> handle(node, ran));
      Carillon first = fleet.getFirst();
      LatenessLog.await(nodes + " members", () -> isComplete(fleet), SECONDS_AT_MOST);
      long start = System.nanoTime();
      schedule(first, jobs);
      LatenessLog.await(
          "the end of " + jobs + " jobs",
          () -> first.node().stats().endedTotal() >= jobs,
          SECONDS_AT_MOST);
      double seconds = (System.nanoTime() - start) / 1e9;
      return new Found(jobs, seconds, first.node().stats().lentTotal());
    } finally {
      fleet.forEach(Carillon::close);
      place.remove(address);
    }
  }

  private static boolean isComplete(List<Carillon> fleet) {
    return fleet.stream().allMatch(each -> each.node().members().size() == fleet.size());
  }

  private static void handle(Carillon node, LongAdder ran) {
    node.handle(
        WAITING,
        (number, job) -> {
          Thread.sleep(WAIT);
          ran.increment();
        });
  }

  private static void schedule(Carillon node, int jobs) {
    for (int from = 0; from < jobs; from += BurnDown.BATCH) {
      List<Job<?>> batch = new ArrayList<>(BurnDown.BATCH);
      for (int i = from; i < Math.min(jobs, from + BurnDown.BATCH); i++) {
        batch.add(WAITING.job(i));
      }
      var unused = node.scheduleAll(batch);
    }
  }
}
