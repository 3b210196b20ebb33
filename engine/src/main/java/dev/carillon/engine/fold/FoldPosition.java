package dev.carillon.engine.fold;

/** Where in the journal of its shard a fold stands. Owned by the fold. */
final class FoldPosition {
  private long entry;

  /** Where in its entry the last operation stood, from 0. */
  private int place = -1;

  /** The entry that the next operations stand in, all of them and in order. */
  void at(long entryNumber) {
    if (entry != entryNumber) {
      entry = entryNumber;
      place = -1;
    }
  }

  /** Another generation has its own entries, whose numbers begin anew. */
  void leave() {
    entry = 0;
    place = -1;
  }

  /** One more operation. */
  void next() {
    place++;
  }

  long entry() {
    return entry;
  }

  /** The last operation, as a {@link HistoryPlace}. */
  long place() {
    return HistoryPlace.of(entry, place);
  }
}
