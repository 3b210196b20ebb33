package dev.carillon.testkit;

import dev.carillon.LoopControl;
import dev.carillon.TimeSource;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.format.Micros;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Clocks that stand still until they are moved; both move together. Serves one node at a time; the
 * next one takes over where the last one left. Thread-safe.
 */
final class ManualTime implements TimeSource {
  private static final long NANOS_PER_MICRO = 1_000;

  private final long startMicros;
  private volatile long wallMicros;
  private volatile @Nullable LoopControl control;

  ManualTime(Instant start) {
    this.startMicros = Micros.ceil(start);
    this.wallMicros = startMicros;
  }

  @Override
  public long wallMicros() {
    return wallMicros;
  }

  @Override
  public long monotonicNanos() {
    return (wallMicros - startMicros) * NANOS_PER_MICRO;
  }

  @Override
  public void attached(LoopControl attached) {
    control = attached;
  }

  Instant now() {
    return Micros.toInstant(wallMicros);
  }

  static long plus(long micros, Duration duration) {
    return Math.addExact(micros, Micros.ceil(duration));
  }

  void moveTo(long micros) {
    if (micros < wallMicros) {
      throw new InvalidArgumentException(
          "time: %s (expected: not before now, %s)".formatted(Micros.toInstant(micros), now()));
    }
    wallMicros = micros;
    control().clockMoved();
  }

  CompletableFuture<LoopControl.Quiet> whenQuiet() {
    return control().whenQuiet();
  }

  private LoopControl control() {
    LoopControl attached = control;
    if (attached == null) {
      throw new IllegalStateException("clock: used by no node (expected: one)");
    }
    return attached;
  }
}
