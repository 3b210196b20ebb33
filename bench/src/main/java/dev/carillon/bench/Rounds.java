package dev.carillon.bench;

import java.util.Arrays;
import java.util.stream.DoubleStream;

/** The same figure of several rounds; the median counts. */
final class Rounds {
  private double[] values = {};

  void add(double value) {
    values = DoubleStream.concat(Arrays.stream(values), DoubleStream.of(value)).toArray();
  }

  boolean isEmpty() {
    return values.length == 0;
  }

  double min() {
    return Arrays.stream(values).min().orElseThrow();
  }

  double max() {
    return Arrays.stream(values).max().orElseThrow();
  }

  double median() {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
