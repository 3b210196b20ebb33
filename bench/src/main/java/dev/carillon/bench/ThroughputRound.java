package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import dev.carillon.api.Metrics;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import dev.carillon.store.Store;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * One round: a new Carillon on a store of its own, producers throughout, a warm-up, a measured
 * window, then all that was accepted is run and the store closed.
 */
final class ThroughputRound {
  /** As many times what was asked for. */
  private static final int LONGEST_WARM_UP = 6;

  private final Handling handling;
  private final int warmUpJobs;
  private final PayloadCodec codec;
  private final LongFunction<Job<Void>> jobs;
  private final LongAdder ran = new LongAdder();
  private Metrics metrics = Metrics.none();

  /** Registers what runs the jobs. */
  interface Handling {
    /**
     * Called once, before the first job.
     *
     * @param ran to be called as the last thing of each job
     */
    void register(Carillon carillon, Runnable ran);
  }

  /**
   * What a round found.
   *
   * @param perSecond jobs that were scheduled, run and durably ended in the window, a second
   * @param acknowledgedPerSecond jobs scheduled in it, a second
   * @param acknowledged jobs in the store at the end, all of them ended
   * @param backlog jobs that were scheduled but had not run at the end of the window
   * @param bytesPerJob what the journals took for each
   * @param cpuMicrosPerJob what this process, producers included, worked for each
   * @param calls what the store was asked in the window
   */
  record Result(
      double perSecond,
      double acknowledgedPerSecond,
      long acknowledged,
      long backlog,
      double bytesPerJob,
      double cpuMicrosPerJob,
      CountedStore.Calls calls) {

    String text() {
      return "%,.0f jobs/s ended, %,.0f scheduled, backlog %,d, %.1f µs of CPU a job"
          .formatted(perSecond, acknowledgedPerSecond, backlog, cpuMicrosPerJob);
    }
  }

  /** With a handler that does nothing. */
  static <I> ThroughputRound noOp(
      TaskType<I> type, PayloadCodec codec, LongFunction<Job<Void>> jobs) {
    return new ThroughputRound(
        (carillon, ran) -> carillon.handle(type, (input, job) -> ran.run()),
        WarmUp.JOBS,
        codec,
        jobs);
  }

  /**
   * A round of whatever handles the jobs.
   *
   * @param warmUpJobs how many are to have run before it measures
   */
  ThroughputRound(
      Handling handling, int warmUpJobs, PayloadCodec codec, LongFunction<Job<Void>> jobs) {
    this.handling = handling;
    this.warmUpJobs = warmUpJobs;
    this.codec = codec;
    this.jobs = jobs;
  }

  /** With metrics of one's own. */
  void metrics(Metrics more) {
    metrics = more;
  }

  Result run(Store store, Producers.Crowd crowd, RunOptions options, Consumer<Carillon> before)
      throws InterruptedException {
    CountedStore counted = new CountedStore(store);
    try (Carillon carillon =
        Carillon.builder()
            .store(counted)
            .slots(crowd.slots())
            .codec(codec)
            .metrics(metrics)
            .open()) {
      handling.register(carillon, ran::increment);
      before.accept(carillon);
      Producers producers = new Producers(carillon, crowd, jobs, ran::sum);
      producers.start();
      warmUp(options.warmup, producers);
      Moment start = moment(producers, counted);
      sleep(options.seconds, producers);
      Moment end = moment(producers, counted);
      // What has run and not ended is among these; those of the start count as ended before it.
      int notEnded = carillon.node().stats().running();
      producers.stop();
      awaitRun(producers.acknowledged());
      return result(start, end, notEnded, producers.acknowledged());
    }
  }

  private record Moment(
      long nanos, long cpuNanos, long ran, long acknowledged, CountedStore.Calls calls) {}

  private Moment moment(Producers producers, CountedStore counted) {
    return new Moment(
        System.nanoTime(),
        Machine.cpuNanos(),
        ran.sum(),
        producers.acknowledged(),
        counted.calls());
  }

  private static Result result(Moment start, Moment end, int notEnded, long acknowledged) {
    double seconds = (end.nanos - start.nanos) / 1e9;
    long ended = Math.max(0, end.ran - start.ran - notEnded);
    long added = end.acknowledged - start.acknowledged;
    CountedStore.Calls calls = end.calls.since(start.calls);
    return new Result(
        ended / seconds,
        added / seconds,
        acknowledged,
        end.acknowledged - end.ran,
        (double) calls.bytes() / Math.max(1, end.ran - start.ran),
        (end.cpuNanos - start.cpuNanos) / 1e3 / Math.max(1, end.ran - start.ran),
        calls);
  }

  /** Also until as many have run as compiled code takes: on a busy machine that takes longer. */
  private void warmUp(int seconds, Producers producers) throws InterruptedException {
    sleep(seconds, producers);
    for (int i = seconds; i < seconds * LONGEST_WARM_UP && ran.sum() < warmUpJobs; i++) {
      sleep(1, producers);
    }
  }

  /** In slices, so that a failure is noticed at once. */
  private static void sleep(int seconds, Producers producers) throws InterruptedException {
    for (int i = 0; i < seconds * 10; i++) {
      TimeUnit.MILLISECONDS.sleep(100);
      producers.check();
    }
  }

  private void awaitRun(long all) throws InterruptedException {
    long before = -1;
    while (ran.sum() < all) {
      long now = ran.sum();
      if (now == before) {
        throw new IllegalStateException("stuck: " + now + " of " + all + " jobs ran");
      }
      before = now;
      for (int i = 0; i < 100 && ran.sum() < all; i++) {
        TimeUnit.MILLISECONDS.sleep(100);
      }
    }
  }
}
