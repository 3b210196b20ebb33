package dev.carillon.engine.fold;

/**
 * Where in a generation of a journal an operation stands, as one number: its entry, and its place
 * among the operations of the entry. Larger numbers stand later.
 */
public final class HistoryPlace {
  private static final int PLACE_BITS = 20;

  private HistoryPlace() {}

  /** The operation at {@code place}, from 0, of an entry. */
  public static long of(long entry, int place) {
    return entry << PLACE_BITS | place;
  }

  public static long entry(long place) {
    return place >>> PLACE_BITS;
  }

  public static int inEntry(long place) {
    return (int) place & (1 << PLACE_BITS) - 1;
  }
}
