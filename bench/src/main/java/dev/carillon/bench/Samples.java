package dev.carillon.bench;

import java.util.Arrays;

/** All samples of a run, for exact percentiles. Not thread-safe. */
final class Samples {
  /** 99.9 % of 2000 are 1998, not a hair more. */
  private static final double ROUNDING = 1e-6;

  private long[] values = new long[1024];
  private int size;
  private boolean sorted;

  void add(long value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, size * 2);
    }
    values[size++] = value;
    sorted = false;
  }

  int size() {
    return size;
  }

  /** The smallest sample that at least {@code percent} of all do not exceed. */
  long percentile(double percent) {
    if (size == 0) {
      throw new IllegalStateException("samples: none (expected: at least 1)");
    }
    if (!sorted) {
      Arrays.sort(values, 0, size);
      sorted = true;
    }
    int rank = (int) Math.ceil(percent * size / 100 - ROUNDING);
    return values[Math.clamp(rank, 1, size) - 1];
  }

  long min() {
    return percentile(0);
  }

  long max() {
    return percentile(100);
  }
}
