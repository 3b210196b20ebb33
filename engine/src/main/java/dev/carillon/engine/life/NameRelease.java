package dev.carillon.engine.life;

import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Names;
import dev.carillon.engine.job.Ticket;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Records.Stamp;
import org.jspecify.annotations.Nullable;

/**
 * Frees the name of a job that has ended, or stamps the record of its idempotency key with the
 * outcome. The shard stays with this node until the record is written.
 *
 * <p>Crash table: the record still points at the ended job. The next owner of the shard frees the
 * name when it loads the shard, unless another job has taken the name meanwhile.
 */
final class NameRelease {
  private final NodeOptions options;
  private final RecordChanges records;
  private final MemberStatus status;
  private final Shards shards;

  NameRelease(Basics basics, MemberStatus status, Shards shards) {
    this.options = basics.options();
    this.records = basics.records();
    this.status = status;
    this.shards = shards;
  }

  /** The job, which has a name or a key, has ended. */
  void ended(Shard shard, NodeJob job, OperationBody.End end) {
    JobSpec spec = job.head();
    byte[] value = null;
    String key = spec.key();
    if (key != null && spec.name() == null && Ticket.is(key)) {
      return; // it points at the job for as long as that is kept
    }
    if (key != null) {
      long until = end.at() + Micros.ceil(options.keyRetention());
      value = new Names.Value(shard.ref(job.number), key, end.state(), until).encode();
    }
    shard.hold();
    change(shard, Names.recordKey(spec), spec.stamp(), value);
  }

  private void change(Shard shard, String recordKey, Stamp version, byte @Nullable [] value) {
    int known = status.copies();
    records.tidy(
        recordKey,
        version,
        value,
        inEffect -> {
          if (inEffect || known != status.copies()) { // in another copy the job may not have ended
            settled(shard);
          } else {
            records.get(
                recordKey,
                found -> {
                  if (known == status.copies()
                      && found.isPresent()
                      && found.get().version().equals(version)) {
                    change(shard, recordKey, version, value);
                  } else {
                    settled(shard);
                  }
                });
          }
        },
        () -> settled(shard)); // another job's by now, or done by an owner before
  }

  private void settled(Shard shard) {
    shard.unhold();
    shards.settle(shard);
  }
}
