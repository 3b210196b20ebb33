package dev.carillon.bench;

/**
 * How groups of appends look.
 *
 * @param entries in a group
 * @param entryBytes of each
 */
record RawShape(int entries, int entryBytes) {

  /** As they were on average. */
  static RawShape of(CountedStore.Calls calls) {
    long entries = Math.max(1, Math.round((double) calls.entries() / calls.groups()));
    return new RawShape((int) entries, (int) (calls.bytes() / calls.groups() / entries));
  }

  long groupBytes() {
    return (long) entries * entryBytes;
  }
}
