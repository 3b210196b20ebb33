package dev.carillon.engine;

import dev.carillon.store.Records.Stamp;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** This node's part of a limit that all nodes have together. Owned by the loop. */
final class Share {
  final String record;

  /** How much of it is used, and what to do when there may be more, or nothing left. */
  final IntSupplier inUse;

  final Runnable changed;

  /** The limit by which it was asked for last. */
  int limit;

  /** How many more are wanted, and when the first of those that wait was due. */
  int wanted;

  long wantedSince = Entry.NOTHING;

  /** Whether somebody still waited when it was looked at last. */
  boolean asked;

  /**
   * When the first was due of those that counted on it since then, who may wait for another limit
   * as well.
   */
  long expectedSince = Entry.NOTHING;

  /** What the record says, as far as this node knows: at first, that there is none. */
  Stamp version = Stamp.ABSENT;

  int granted;
  long said = Entry.NOTHING;
  List<Entry> others = List.of();

  /** Whether it is read before anything else is done: it may be quite another. */
  boolean stale;

  /** How many of them others wait for, who have less: they are not used again here. */
  int owed;

  /** At the last look nothing was left of the limit. */
  boolean full;

  /** It is not used, and not to be given back at this look unless others are to have it. */
  boolean kept;

  /** When the first was due of those for whom it is kept, and at how many looks on end it was. */
  long keptSince = Entry.NOTHING;

  int keptLooks;

  /** It was kept in vain until then: others who wait since then come first. */
  long lastInVain = Long.MIN_VALUE;

  boolean busy;
  int quietLooks;
  Timers.@Nullable Timer next;

  /**
   * What one node has of a limit.
   *
   * @param wantedSince when the first was due that waits there; {@link #NOTHING} where none does
   */
  record Entry(long incarnation, int share, long wantedSince) {
    static final long NOTHING = Long.MAX_VALUE;

    boolean wants() {
      return wantedSince != NOTHING;
    }
  }

  Share(String record, IntSupplier inUse, Runnable changed) {
    this.record = record;
    this.inUse = inUse;
    this.changed = changed;
  }

  /** How many may be in use. */
  int usable() {
    return granted - owed;
  }

  /** Whether this node has nothing of it, and wants nothing. */
  boolean isGone() {
    return granted == 0 && wanted == 0 && !busy;
  }
}
