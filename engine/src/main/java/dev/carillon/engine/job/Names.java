package dev.carillon.engine.job;

import dev.carillon.api.JobState;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.store.ShardId;
import org.jspecify.annotations.Nullable;

/**
 * The records of names and idempotency keys.
 *
 * <p>A record only points at a job. Whether the name is taken is said by that job's shard: the
 * journal's add is the only commit point.
 */
public final class Names {
  private Names() {}

  /** The record's key of a name, or of an idempotency key where there is no name. */
  public static String recordKey(String namespace, @Nullable String name, @Nullable String key) {
    if (name == null && key != null && Ticket.is(key)) {
      return Ticket.recordKey(key);
    }
    return name != null ? "n\0" + namespace + "\0" + name : "k\0" + namespace + "\0" + key;
  }

  public static String recordKey(JobSpec spec) {
    return recordKey(spec.namespace(), spec.name(), spec.key());
  }

  /**
   * What a record says.
   *
   * @param key the idempotency key, empty for none
   * @param outcome how the job ended, null while it may live
   * @param untilMicros how long the key is remembered
   */
  public record Value(JobRef job, String key, @Nullable JobState outcome, long untilMicros) {
    private static final int VERSION = 1;

    public byte[] encode() {
      return new ByteWriter(64 + key.length())
          .u8(VERSION)
          .string(job.shard().toString())
          .i64(job.number())
          .string(key)
          .u8(outcome != null ? outcome.code() : 0)
          .i64(untilMicros)
          .toBytes();
    }

    public static Value decode(byte[] bytes) {
      ByteReader in = new ByteReader(bytes);
      in.requireVersion("name record", VERSION);
      JobRef job = new JobRef(ShardId.parse(in.string()), in.i64());
      String key = in.string();
      int outcome = in.u8();
      return new Value(job, key, outcome == 0 ? null : JobState.ofCode(outcome), in.i64());
    }
  }
}
