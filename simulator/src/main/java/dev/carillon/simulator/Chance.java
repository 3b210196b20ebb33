package dev.carillon.simulator;

import java.util.List;

/** The one source of randomness of a simulation (SplitMix64): a seed decides everything. */
final class Chance {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private long state;

  Chance(long seed) {
    this.state = mix(seed + GOLDEN);
  }

  /** Spreads the bits of {@code z}; a bijection. */
  static long mix(long z) {
    long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
    return b ^ (b >>> 31);
  }

  long next() {
    state += GOLDEN;
    return mix(state);
  }

  /** From 0 to {@code bound} - 1. */
  int below(int bound) {
    return (int) (((next() >>> 32) * bound) >>> 32);
  }

  /** From {@code from} to {@code to}, both included. */
  long between(long from, long to) {
    return from + Long.remainderUnsigned(next(), to - from + 1);
  }

  /** Between the two, small values as likely as large ones: each number of bits alike. */
  long spread(long from, long to) {
    int fewest = 64 - Long.numberOfLeadingZeros(Math.max(1, from));
    int most = 64 - Long.numberOfLeadingZeros(to);
    int bits = fewest + below(most - fewest + 1);
    long low = 1L << (bits - 1);
    return Math.clamp(between(low, 2 * low - 1), from, to);
  }

  boolean oneIn(int n) {
    return below(n) == 0;
  }

  /** True {@code tenThousandths} times in ten thousand. */
  boolean happens(int tenThousandths) {
    return below(10_000) < tenThousandths;
  }

  <T> T pick(List<T> from) {
    return from.get(below(from.size()));
  }
}
