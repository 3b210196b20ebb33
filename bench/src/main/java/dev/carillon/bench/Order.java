package dev.carillon.bench;

import dev.carillon.json.JacksonCodec;

/**
 * The payload of the benchmarks: an ordinary record that takes 200 bytes as JSON.
 *
 * @param order eighteen digits, so that all have the same size
 */
record Order(
    long order, String customer, String product, int quantity, boolean express, String note) {
  private static final long BASE = 100_000_000_000_000_000L;
  private static final String NOTE =
      "Please ring twice and leave the parcel at the neighbour's door as usual";

  /** What one takes as JSON. */
  static int bytes() {
    return new JacksonCodec().encode(of(1), Order.class).length;
  }

  static Order of(long number) {
    return new Order(BASE + number, "c-48151623", "carillon bells, set of 23", 7, false, NOTE);
  }
}
