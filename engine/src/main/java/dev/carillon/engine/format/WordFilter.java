package dev.carillon.engine.format;

import java.nio.charset.StandardCharsets;

/**
 * Which words may occur in a shard, in 64 bytes: a Bloom filter. It says "no" only where that is
 * certain; with fifty words it says "perhaps" of one word in sixty that is not there. Persisted, so
 * neither its size nor its hash ever changes.
 */
public final class WordFilter {
  private static final int LONGS = 8;
  private static final int PLACES = 3;
  private static final int PLACE_BITS = 9;

  private final long[] bits;

  private WordFilter(long[] bits) {
    this.bits = bits;
  }

  /** A filter without words. */
  public static WordFilter empty() {
    return new WordFilter(new long[LONGS]);
  }

  /** What a word says of a job: the same word as type and as queue are two. */
  public enum Of {
    TYPE('t'),
    NAMESPACE('n'),
    QUEUE('q');

    private final char mark;

    Of(char mark) {
      this.mark = mark;
    }
  }

  public void add(Of of, String word) {
    long hash = hash(of, word);
    for (int i = 0; i < PLACES; i++) {
      int place = place(hash, i);
      bits[place >>> 6] |= 1L << place;
    }
  }

  /** Whether the word may have been added; false is certain. */
  public boolean mayHold(Of of, String word) {
    long hash = hash(of, word);
    for (int i = 0; i < PLACES; i++) {
      int place = place(hash, i);
      if ((bits[place >>> 6] & 1L << place) == 0) {
        return false;
      }
    }
    return true;
  }

  private static int place(long hash, int i) {
    return (int) (hash >>> (i * PLACE_BITS)) & (LONGS * Long.SIZE - 1);
  }

  /** FNV-1a and a final mix. */
  private static long hash(Of of, String word) {
    long hash = (0xcbf29ce484222325L ^ of.mark) * 0x100000001b3L;
    for (byte b : word.getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xFF)) * 0x100000001b3L;
    }
    hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
    return hash ^ hash >>> 33;
  }

  public void write(ByteWriter out) {
    for (long word : bits) {
      out.i64(word);
    }
  }

  public static WordFilter read(ByteReader in) {
    long[] bits = new long[LONGS];
    for (int i = 0; i < LONGS; i++) {
      bits[i] = in.i64();
    }
    return new WordFilter(bits);
  }
}
