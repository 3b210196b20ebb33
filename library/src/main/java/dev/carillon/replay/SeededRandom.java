package dev.carillon.replay;

import java.util.UUID;
import java.util.random.RandomGenerator;

/** SplitMix64: the same numbers from a seed in every version of Java. Of one thread. */
final class SeededRandom implements RandomGenerator {
  private static final long GAMMA = 0x9E3779B97F4A7C15L;

  private long state;

  SeededRandom(long seed) {
    this.state = seed;
  }

  @Override
  public long nextLong() {
    state += GAMMA;
    long z = state;
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
