package dev.carillon.replay;

import org.jspecify.annotations.Nullable;

/** A step that was started beside the code. */
final class StartedStep {
  final StepCall call;

  /** A thread makes a try. */
  volatile boolean running;

  /** Up to where the outbox must be durable before the next try. */
  volatile long posted;

  volatile @Nullable Thread thread;

  StartedStep(StepCall call) {
    this.call = call;
  }
}
