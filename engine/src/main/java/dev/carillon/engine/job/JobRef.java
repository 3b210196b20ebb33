package dev.carillon.engine.job;

import dev.carillon.api.JobId;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.store.ShardId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a job is: its shard and its number there. A {@link JobId} is the text of one, so any node
 * finds any job without an index.
 *
 * <p>The number carries the epoch it was given under in its upper 24 bits and is never given again,
 * also when its add turns out absent. Within an epoch they follow each other, from a random one on
 * where the shard was claimed: in an older copy of a store that is put back epochs come again, and
 * the id of a job that was lost must not name another.
 */
public record JobRef(ShardId shard, long number) {
  static final int COUNTER_BITS = 40;

  /** The most that one takes where it is written. */
  public static final int MAX_BYTES = 28;

  private static final String PREFIX = "j";
  private static final int RADIX = 32;
  private static final byte[] DIGITS =
      "0123456789abcdefghijklmnopqrstuv".getBytes(StandardCharsets.ISO_8859_1);
  private static final int BITS_A_DIGIT = 5;

  public static long number(long epoch, long counter) {
    return epoch << COUNTER_BITS | counter;
  }

  /** Before which number the first is given after a claim; as many are left to give. */
  public static long counterBefore(long random) {
    return random >>> (Long.SIZE - COUNTER_BITS + 1);
  }

  /** The epoch under which a number was given. */
  public static long epoch(long number) {
    return number >>> COUNTER_BITS;
  }

  /** varint start, long incarnation, varint sequence, long number. */
  public void write(ByteWriter out) {
    out.varint(shard.startSeconds()).i64(shard.incarnation()).varint(shard.sequence()).i64(number);
  }

  public static JobRef read(ByteReader in) {
    try {
      return new JobRef(new ShardId(in.varint(), in.i64(), (int) in.varint()), in.i64());
    } catch (IllegalArgumentException e) {
      throw new DamagedException("job: " + e.getMessage());
    }
  }

  public static void writeAll(Collection<JobRef> jobs, ByteWriter out) {
    out.varint(jobs.size());
    jobs.forEach(job -> job.write(out));
  }

  public static List<JobRef> readAll(ByteReader in) {
    int size = in.length();
    List<JobRef> jobs = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      jobs.add(read(in));
    }
    return jobs;
  }

  /** The id that users see; each attempt makes one, so its text is written in one piece. */
  public JobId id() {
    int numberFrom = PREFIX.length() + ShardId.TEXT_LENGTH;
    int digits = Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(number) + 4) / BITS_A_DIGIT);
    byte[] text = new byte[numberFrom + digits];
    text[0] = (byte) PREFIX.charAt(0);
    shard.writeText(text, PREFIX.length());
    long rest = number;
    for (int i = text.length - 1; i >= numberFrom; i--) {
      text[i] = DIGITS[(int) (rest & (RADIX - 1))];
      rest >>>= BITS_A_DIGIT;
    }
    return new JobId(new String(text, StandardCharsets.ISO_8859_1));
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
