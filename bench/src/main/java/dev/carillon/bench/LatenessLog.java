package dev.carillon.bench;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/** How late jobs started, as their handlers tell; those beyond its room are only counted. */
final class LatenessLog {
  private static final long LOOK_EVERY_MILLIS = 20;

  private final long[] nanos;
  private final AtomicInteger recorded = new AtomicInteger();
  private final LongAdder others = new LongAdder();

  LatenessLog(int room) {
    nanos = new long[room];
  }

  void add(long late) {
    int at = recorded.getAndIncrement();
    if (at < nanos.length) {
      nanos[at] = late;
    }
  }

  /** A job has started whose lateness is of no interest. */
  void addOther() {
    others.increment();
  }

  int recorded() {
    return Math.min(recorded.get(), nanos.length);
  }

  long others() {
    return others.sum();
  }

  Samples samples() {
    Samples samples = new Samples();
    for (int i = 0; i < recorded(); i++) {
      samples.add(nanos[i]);
    }
    return samples;
  }

  /** The p99 of each {@code each} of them in the order they started, in milliseconds. */
  String course(int each) {
    StringBuilder text = new StringBuilder();
    for (int from = 0; from < recorded(); from += each) {
      Samples part = new Samples();
      for (int i = from; i < Math.min(from + each, recorded()); i++) {
        part.add(nanos[i]);
      }
      text.append(text.isEmpty() ? "" : ", ").append(part.percentile(99) / 1_000_000);
    }
    return text.toString();
  }

  /** Waits until it is so; a benchmark that does not come to its end says so. */
  static void await(String what, BooleanSupplier so, int seconds) throws InterruptedException {
    long start = System.nanoTime();
    while (!so.getAsBoolean()) {
      if (System.nanoTime() - start > seconds * 1_000_000_000L) {
        throw new IllegalStateException(what + ": not after " + seconds + " s");
      }
      Thread.sleep(LOOK_EVERY_MILLIS);
    }
  }
}
