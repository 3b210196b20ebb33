package dev.carillon.store;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The name of a shard: when its slice of time starts and who made it, as which of its shards.
 *
 * <p>Created at most once: a store remembers per incarnation the highest sequence it has created
 * and refuses any other at or below it, so neither a repeated nor a late create brings a dropped
 * shard back. Its text is fixed in width and sorts as the ids do: by start, then maker, then
 * sequence.
 *
 * @param startSeconds start of its slice, in seconds since 1970
 * @param incarnation the start of the node that made it; random, not zero
 * @param sequence counts the shards of that incarnation, from 1
 */
public record ShardId(long startSeconds, long incarnation, int sequence)
    implements Comparable<ShardId> {

  /** The width of {@link #toString()}. */
  public static final int TEXT_LENGTH = 8 + 13 + 5;

  private static final int MAX_SEQUENCE = (1 << 25) - 1;
  private static final long MAX_START = (1L << 40) - 1;
  private static final String DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
  private static final byte[] DIGIT_BYTES = DIGITS.getBytes(StandardCharsets.ISO_8859_1);

  public ShardId {
    require(startSeconds >= 0 && startSeconds <= MAX_START, "startSeconds", startSeconds);
    require(incarnation != 0, "incarnation", incarnation);
    require(sequence >= 1 && sequence <= MAX_SEQUENCE, "sequence", sequence);
  }

  private static void require(boolean condition, String what, long value) {
    if (!condition) {
      throw new IllegalArgumentException(what + ": " + value + " (expected: a value in range)");
    }
  }

  /** Reads what {@link #toString()} wrote. */
  public static ShardId parse(String text) {
    if (text.length() != TEXT_LENGTH) {
      throw new IllegalArgumentException(
          "shard id: " + text + " (expected: " + TEXT_LENGTH + " characters)");
    }
    // 13 digits are one bit more than an incarnation has: its first digit is below 16.
    if (digits(text, 8, 9) > 15) {
      throw new IllegalArgumentException("shard id: " + text + " (expected: an id in range)");
    }
    return new ShardId(
        digits(text, 0, 8), digits(text, 8, 21), (int) digits(text, 21, TEXT_LENGTH));
  }

  private static long digits(String text, int from, int to) {
    long value = 0;
    for (int i = from; i < to; i++) {
      int digit = DIGITS.indexOf(text.charAt(i));
      if (digit < 0) {
        throw new IllegalArgumentException(
            "shard id: " + text + " (expected: digits of " + DIGITS + ")");
      }
      value = value << 5 | digit;
    }
    return value;
  }

  /** As a record has it, but without the detour: it is the key of most maps. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ShardId that
        && sequence == that.sequence
        && incarnation == that.incarnation
        && startSeconds == that.startSeconds;
  }

  @Override
  public int hashCode() {
    return 31 * (31 * Long.hashCode(startSeconds) + Long.hashCode(incarnation)) + sequence;
  }

  @Override
  public int compareTo(ShardId other) {
    int byStart = Long.compare(startSeconds, other.startSeconds);
    if (byStart != 0) {
      return byStart;
    }
    int byMaker = Long.compareUnsigned(incarnation, other.incarnation);
    return byMaker != 0 ? byMaker : Integer.compare(sequence, other.sequence);
  }

  @Override
  public String toString() {
    byte[] text = new byte[TEXT_LENGTH];
    writeText(text, 0);
    return new String(text, StandardCharsets.ISO_8859_1);
  }

  /** Writes the {@link #TEXT_LENGTH} characters of {@link #toString()}, a byte each. */
  public void writeText(byte[] out, int at) {
    write(out, startSeconds, at, at + 8);
    write(out, incarnation, at + 8, at + 21);
    write(out, sequence, at + 21, at + TEXT_LENGTH);
  }

  private static void write(byte[] text, long value, int from, int to) {
    for (int i = to - 1; i >= from; i--) {
      text[i] = DIGIT_BYTES[(int) (value & 31)];
      value >>>= 5;
    }
  }
}
