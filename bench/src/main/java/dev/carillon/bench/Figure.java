package dev.carillon.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One measured figure.
 *
 * @param scenario what was done
 * @param system who did it: {@code carillon}, or what it is compared with
 * @param metric what was measured
 * @param bound what it is held against, or null where it is only printed
 */
record Figure(
    String scenario,
    String system,
    String metric,
    double value,
    String unit,
    @Nullable Bound bound) {

  static Figure of(String scenario, String metric, double value, String unit) {
    return new Figure(scenario, "carillon", metric, value, unit, null);
  }

  Figure by(String other) {
    return new Figure(scenario, other, metric, value, unit, bound);
  }

  Figure held(Bound against) {
    return new Figure(scenario, system, metric, value, unit, against);
  }

  boolean holds() {
    return bound == null || bound.holds(value);
  }

  /** Empty for a figure without a bound. */
  String verdict() {
    return bound == null ? "" : holds() ? "PASS" : "FAIL";
  }

  String line() {
    String figure = number(value) + " " + unit;
    return "%-26s %-9s %-40s %20s  %-12s %s"
        .formatted(scenario, system, metric, figure, bound == null ? "" : bound.text(), verdict())
        .stripTrailing();
  }

  /** With as many digits as say something. */
  static String number(double value) {
    double size = Math.abs(value);
    String format =
        value == Math.rint(value) || size >= 1000 ? "%,.0f" : size >= 10 ? "%.1f" : "%.3f";
    return String.format(Locale.ROOT, format, value);
  }
}
