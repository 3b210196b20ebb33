package dev.carillon.engine;

import dev.carillon.api.JobId;
import dev.carillon.store.ShardId;
import org.jspecify.annotations.Nullable;

/**
 * Where a job is: its shard and its number there. A {@link JobId} is the text of one, so any node
 * finds any job without an index.
 *
 * <p>The number carries the epoch it was given under in its upper 24 bits and is never given again,
 * also when its add turns out absent.
 */
public record JobRef(ShardId shard, long number) {
  static final int COUNTER_BITS = 40;

  /** The most claims a shard can have over its life. */
  static final long MAX_EPOCH = (1L << (63 - COUNTER_BITS)) - 1;

  private static final String PREFIX = "j";
  private static final int RADIX = 32;

  static long number(long epoch, long counter) {
    return epoch << COUNTER_BITS | counter;
  }

  /** The id that users see. */
  public JobId id() {
    return new JobId(PREFIX + shard + Long.toString(number, RADIX));
  }

  /** The job that {@code id} names, or null where it is no id of ours. */
  public static @Nullable JobRef parse(JobId id) {
    String text = id.value();
    int numberFrom = PREFIX.length() + ShardId.TEXT_LENGTH;
    if (!text.startsWith(PREFIX) || text.length() <= numberFrom) {
      return null;
    }
    try {
      return new JobRef(
          ShardId.parse(text.substring(PREFIX.length(), numberFrom)),
          Long.parseLong(text, numberFrom, text.length(), RADIX));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
