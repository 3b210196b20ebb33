package dev.carillon.bench;

import dev.carillon.api.PayloadCodec;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;

/**
 * What no scheduler with this codec and handlers on virtual threads can be faster than: encode, one
 * virtual thread, decode; nothing else.
 */
final class Floor {
  private static final int THREADS = 2;
  private static final int IN_FLIGHT = 1024;

  private final PayloadCodec codec;
  private final Type type;
  private final LongFunction<?> payloads;

  Floor(PayloadCodec codec, Type type, LongFunction<?> payloads) {
    this.codec = codec;
    this.type = type;
    this.payloads = payloads;
  }

  double perSecond(RunOptions options) throws InterruptedException {
    Run run = new Run();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      threads.add(Thread.ofPlatform().name("floor").daemon().start(run));
    }
    TimeUnit.SECONDS.sleep(Math.min(2, options.warmup));
    long before = run.done.sum();
    long start = System.nanoTime();
    TimeUnit.SECONDS.sleep(options.seconds);
    long done = run.done.sum() - before;
    double seconds = (System.nanoTime() - start) / 1e9;
    run.stopping = true;
    for (Thread thread : threads) {
      thread.join();
    }
    return done / seconds;
  }

  private final class Run implements Runnable {
    private final LongAdder done = new LongAdder();
    private volatile boolean stopping;

    @Override
    public void run() {
      Semaphore free = new Semaphore(IN_FLIGHT);
      for (long number = 0; !stopping; number++) {
        byte[] bytes = codec.encode(payloads.apply(number), type);
        free.acquireUninterruptibly();
        Thread.startVirtualThread(
            () -> {
              if (codec.decode(bytes, type) != null) {
                done.increment();
              }
              free.release();
            });
      }
      free.acquireUninterruptibly(IN_FLIGHT);
    }
  }
}
