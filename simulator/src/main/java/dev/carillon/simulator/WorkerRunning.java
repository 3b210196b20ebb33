package dev.carillon.simulator;

import dev.carillon.api.AttemptToken;
import dev.carillon.engine.environment.AttemptOutcome;
import org.jspecify.annotations.Nullable;

/** An attempt that a worker has: it runs, or its outcome is not settled yet. */
final class WorkerRunning {
  final SimWorker worker;
  final AttemptToken token;
  final WorkerRecord record;

  /** The incarnation of the node that gave it. */
  final long givenBy;

  /** By which connection it came. */
  final WorkerLine givenOn;

  /** Where the worker thinks that its owner hears of it; null for nowhere. */
  @Nullable WorkerLine line;

  /** When the last answered word was sent that renewed it. */
  long baseNanos;

  /** How long it may go on after that; 0 while it is not leased. */
  long leaseNanos;

  /** The incarnation of the node that said so last. */
  long leasedBy;

  boolean accepted;

  /** What the handler returned; null while it runs. */
  @Nullable AttemptOutcome said;

  /** Its node asked it to stop: what it says of a failure need not count. */
  boolean toldToStop;

  /** Its process is gone. */
  boolean cutOff;

  long saidNanos;
  long repeatedNanos = Long.MIN_VALUE;

  WorkerRunning(
      SimWorker worker, AttemptToken token, WorkerRecord record, long givenBy, WorkerLine line) {
    this.worker = worker;
    this.token = token;
    this.record = record;
    this.givenBy = givenBy;
    this.line = line;
    this.givenOn = line;
  }

  int number() {
    return token.attempt();
  }

  boolean runs() {
    return said == null && !cutOff;
  }

  /** Whether it runs and the worker may go on with it by its lease. */
  boolean isInTime() {
    return runs() && leaseNanos > 0 && worker.nanos() < stopNanos();
  }

  /** When the worker stops it of its own accord: with a tenth of the lease to spare. */
  long stopNanos() {
    return baseNanos + (leaseNanos > 0 ? leaseNanos / 10 * 9 : SimWorker.UNLEASED_NANOS);
  }

  /** The worker was heard by the owner when it sent something then. */
  void renewed(long sentNanos) {
    baseNanos = Math.max(baseNanos, sentNanos);
  }

  @Override
  public String toString() {
    return "attempt " + number() + " of " + record + " in " + worker;
  }
}
