package dev.carillon.simulator;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import org.jspecify.annotations.Nullable;

/** One call of a handler, as the simulator saw it. */
final class Execution {
  final long incarnation;

  /** The node whose job it is; it may have lent the attempt to the one that runs it. */
  final long owner;

  /** The clocks of its node. */
  final NodeClock clock;

  final Attempt attempt;
  final ModelJob job;
  final Request request;
  final int revision;
  final long startedNanos;
  final long startedWallMicros;

  /** When the engine decided to start it. */
  final long dispatchedNanos;

  /** Whether that is sure: a marker has only the time of the wall clock, which may come again. */
  final boolean dispatchKnown;

  /** Its start was in the journal before it: it may have begun earlier for the engine. */
  final boolean marked;

  /** When the handler returned, by its node's wall clock. */
  long finishedWallMicros;

  /** When the handler returned. */
  long finishedNanos;

  /** What the handler returned, null while it runs. */
  @Nullable AttemptOutcome outcome;

  /** Whether the node took the outcome as the attempt's. */
  boolean accepted;

  /** The node interrupted it. */
  boolean interrupted;

  /** It is accounted for that its job starts once more because of it. */
  boolean mayBeRepeated;

  /** Its node does not know yet that another has taken its shard. */
  boolean unaware;

  /** Its node is gone. */
  boolean cutOff;

  Execution(Life life, Attempt attempt, ModelJob job, Request request, World world) {
    this.incarnation = life.incarnation;
    this.owner = job.shard.owners.getOrDefault(attempt.token().epoch(), life.incarnation);
    this.clock = life.clock;
    this.attempt = attempt;
    this.job = job;
    this.request = request;
    this.revision = attempt.revision(); // lent, perhaps, before its job was replaced or updated
    this.startedNanos = world.clock.nanos();
    this.startedWallMicros = clock.wallMicros();
    this.marked = job.markers > 0;
    boolean waited = marked && job.markerIncarnation == incarnation;
    this.dispatchedNanos = waited ? clock.nanosWhenWallWas(job.startAt) : startedNanos;
    this.dispatchKnown = !isLent() && (!waited || clock.wallWasOnce(job.startAt));
  }

  /** Whether it runs on another node than its job's. */
  boolean isLent() {
    return owner != incarnation;
  }

  boolean runs() {
    return outcome == null && !cutOff;
  }

  /** Whether its handler runs or has returned since then. */
  boolean ranSince(long nanos) {
    return runs() || (outcome != null && finishedNanos >= nanos);
  }

  @Override
  public String toString() {
    return "attempt " + attempt.number() + " of " + job;
  }
}
