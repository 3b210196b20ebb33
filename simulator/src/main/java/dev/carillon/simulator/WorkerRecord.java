package dev.carillon.simulator;

import dev.carillon.api.JobState;
import dev.carillon.engine.job.JobRef;
import org.jspecify.annotations.Nullable;

/** A job that only workers run, as the checker knows it from the journal. */
final class WorkerRecord {
  final ModelShard shard;
  final long number;
  final JobRef ref;

  /** Which of all such jobs of the seed it is. */
  final long id;

  /** Whether it has the key that one at a time may have. */
  final boolean keyed;

  long due;
  int attempts;
  int revision;
  boolean live = true;
  boolean cancelled;
  @Nullable JobState end;

  /** The nonce of the attempt whose success ended it. */
  long endedBy;

  JournalFormat.@Nullable Lease lease;
  int workersLost;
  long touchedNanos;

  WorkerRecord(ModelShard shard, long number, long id, boolean keyed) {
    this.shard = shard;
    this.number = number;
    this.ref = new JobRef(shard.id, number);
    this.id = id;
    this.keyed = keyed;
  }

  boolean current(int attempt, int ofRevision) {
    return attempt == attempts + 1 && ofRevision == revision;
  }

  /** It with how it stands. */
  String story() {
    String by = lease != null ? " leased to " + lease.worker() : "";
    return this + (keyed ? " with the key" : "") + " after " + attempts + " attempts" + by;
  }

  @Override
  public String toString() {
    return "worker job " + id + " (shard " + shard.index + ")";
  }
}
