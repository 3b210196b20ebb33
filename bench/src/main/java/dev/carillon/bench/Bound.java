package dev.carillon.bench;

/**
 * What a figure is held against.
 *
 * @param least whether the figure must reach the limit, not stay within it
 * @param limit in the figure's unit
 */
record Bound(boolean least, double limit) {

  static Bound atLeast(double limit) {
    return new Bound(true, limit);
  }

  static Bound atMost(double limit) {
    return new Bound(false, limit);
  }

  boolean holds(double value) {
    return least ? value >= limit : value <= limit;
  }

  String text() {
    return (least ? "≥ " : "≤ ") + Figure.number(limit);
  }
}
