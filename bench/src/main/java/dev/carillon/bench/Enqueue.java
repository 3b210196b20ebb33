package dev.carillon.bench;

import dev.carillon.Carillon;
import dev.carillon.api.Job;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;

/**
 * How fast jobs are scheduled.
 *
 * @param perSecond acknowledged jobs a second in the window
 * @param acknowledged all of them, those of the warm-up included
 */
record Enqueue(double perSecond, long acknowledged) {

  static Enqueue measure(
      Carillon carillon, LongFunction<Job<Void>> jobs, Producers.Crowd crowd, RunOptions options)
      throws InterruptedException {
    Producers producers = new Producers(carillon, crowd, jobs, () -> Long.MAX_VALUE);
    producers.start();
    TimeUnit.SECONDS.sleep(options.warmup);
    long before = producers.acknowledged();
    long start = System.nanoTime();
    TimeUnit.SECONDS.sleep(options.seconds);
    long acknowledged = producers.acknowledged() - before;
    double seconds = (System.nanoTime() - start) / 1e9;
    producers.stop();
    return new Enqueue(acknowledged / seconds, producers.acknowledged());
  }
}
