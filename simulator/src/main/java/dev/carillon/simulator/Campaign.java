package dev.carillon.simulator;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Many seeds, on several threads; each seed is a world of its own. */
final class Campaign {
  private static final int MOST_FAILURES = 20;
  private static final int TRACE_LINES = 80;

  private final Seed first;
  private final long seeds;
  private final int threads;
  private final LongConsumer progress;

  private final AtomicLong next;
  private final FaultTable table;
  private final List<Failure> failures = new ArrayList<>();
  private final List<Simulation.Result> weak = new ArrayList<>();
  private long done;
  private long failed;
  private long events;
  private long faults;
  private long jobs;
  private long hash;
  private long cpuNanos;

  /** A seed that broke a guarantee, with the end of its trace. */
  record Failure(Simulation.Result result, Violation violation, List<String> trace) {}

  /**
   * What came of it.
   *
   * @param first the first seed, with the number of nodes of all
   * @param cpuSeconds what the threads used of their cores
   * @param hash of the hashes of all traces
   * @param weak seeds that were too small to count
   */
  record Outcome(
      Seed first,
      long seeds,
      long failed,
      long events,
      long faults,
      long jobs,
      long hash,
      double seconds,
      double cpuSeconds,
      FaultTable table,
      List<Failure> failures,
      List<Simulation.Result> weak) {}

  /**
   * A run of {@code seeds} seeds.
   *
   * @param first the first of them
   * @param progress told how many are done, now and then, by any thread
   */
  Campaign(Seed first, long seeds, int threads, LongConsumer progress) {
    this.first = first;
    this.table = new FaultTable(first);
    this.seeds = seeds;
    this.threads = threads;
    this.progress = progress;
    this.next = new AtomicLong(first.number());
  }

  Outcome run() {
    long began = System.nanoTime();
    List<Thread> workers = new ArrayList<>();
    for (int i = 1; i < threads; i++) {
      workers.add(Thread.ofPlatform().name("simulator-" + i).start(this::work));
    }
    work();
    for (Thread worker : workers) {
      join(worker);
    }
    synchronized (this) {
      failures.sort(Comparator.comparingLong(failure -> failure.result().seed()));
      double seconds = (System.nanoTime() - began) / 1e9;
      return new Outcome(
          first,
          done,
          failed,
          events,
          faults,
          jobs,
          hash,
          seconds,
          cpuNanos / 1e9,
          table,
          failures,
          weak);
    }
  }

  private static void join(Thread worker) {
    try {
      worker.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while seeds were running", e);
    }
  }

  private void work() {
    FaultTable own = new FaultTable(first);
    ThreadMXBean threadTimes = ManagementFactory.getThreadMXBean();
    long cpuBefore = threadTimes.getCurrentThreadCpuTime();
    for (long seed = next.getAndIncrement();
        seed < first.number() + seeds;
        seed = next.getAndIncrement()) {
      Simulation simulation = new Simulation(first.of(seed), own, null);
      record(simulation.run(), simulation.trace());
    }
    synchronized (this) {
      table.add(own);
      cpuNanos += threadTimes.getCurrentThreadCpuTime() - cpuBefore;
    }
  }

  private synchronized void record(Simulation.Result result, Trace trace) {
    done++;
    events += result.events();
    faults += result.faults();
    jobs += result.jobs();
    hash += Chance.mix(result.hash() ^ result.seed());
    Violation violation = result.violation();
    if (violation != null) {
      failed++;
      if (failures.size() < MOST_FAILURES) {
        failures.add(new Failure(result, violation, trace.last(TRACE_LINES)));
      }
    } else if (!result.bigEnough()) {
      weak.add(result);
    }
    progress.accept(done);
  }
}
