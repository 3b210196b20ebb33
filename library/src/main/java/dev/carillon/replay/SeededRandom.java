package dev.carillon.replay;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** SplitMix64: the same numbers from a seed in every version of Java. Of one thread. */
final class SeededRandom implements RandomGenerator {
  private static final long GAMMA = 0x9E3779B97F4A7C15L;

  private static final long FNV_BASIS = 0xCBF29CE484222325L;
  private static final long FNV_PRIME = 0x100000001B3L;

  private long state;

  SeededRandom(long seed) {
    this.state = seed;
  }

  /**
   * The seed of a round of a workflow. It follows from the job, so that code which runs from its
   * beginning again before anything of it was durable draws the same numbers.
   */
  static long seedOf(JobFacts job) {
    long hash = FNV_BASIS;
    for (byte b : (job.id().value() + "/" + job.round()).getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xFF)) * FNV_PRIME;
    }
    return mix(hash);
  }

  @Override
  public long nextLong() {
    state += GAMMA;
    return mix(state);
  }

  private static long mix(long bits) {
    long z = bits;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** A UUID of version 4. */
  UUID uuid() {
    long high = (nextLong() & ~0xF000L) | 0x4000L;
    long low = (nextLong() >>> 2) | 0x8000_0000_0000_0000L;
    return new UUID(high, low);
  }
}
