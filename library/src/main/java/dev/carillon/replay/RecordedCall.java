package dev.carillon.replay;

import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.ChildEnded;
import dev.carillon.engine.job.HistoryEntry.StepBegun;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import dev.carillon.engine.job.JobRef;
import org.jspecify.annotations.Nullable;

/** What the history has of one call. */
final class RecordedCall {
  final CallKind kind;
  final String name;

  /** Where its first entry stands. */
  final int position;

  /** Where its last entry stands, which ended it; {@link History#NONE} before. */
  int endPosition = History.NONE;

  /** Of a step: how many tries have failed. */
  int tries;

  /** Of a step: when the next try is due; 0 where none is known to be. */
  long nextAt;

  /** Of a step: a try has begun and no more is known of it. */
  boolean isOpen;

  /** Of a child. */
  @Nullable JobRef child;

  /** Of a version. */
  int version;

  /** When its first entry came to be. */
  final long at;

  private @Nullable HistoryEntry end;

  RecordedCall(CallKind kind, String name, int position, long at) {
    this.kind = kind;
    this.name = name;
    this.position = position;
    this.at = at;
  }

  boolean is(CallKind otherKind, String otherName) {
    return kind == otherKind && name.equals(otherName);
  }

  boolean isEnded() {
    return endPosition != History.NONE;
  }

  void ended(HistoryEntry entry, int where) {
    if (endPosition == History.NONE) {
      end = entry;
      endPosition = where;
    }
  }

  void begun(StepBegun entry) {
    isOpen = entry.attempt() > tries;
  }

  void done(StepDone entry, int where) {
    isOpen = false;
    ended(entry, where);
  }

  void failed(StepFailed entry, int where) {
    isOpen = false;
    tries = entry.attempt();
    nextAt = entry.nextAt();
    if (nextAt == 0) {
      ended(entry, where);
    }
  }

  /** How it ended. */
  HistoryEntry end() {
    HistoryEntry entry = end;
    if (entry == null) {
      throw new IllegalStateException(describe() + ": has no end, or it was forgotten");
    }
    return entry;
  }

  /** How it ended, if it is a child. */
  ChildEnded childEnd() {
    return (ChildEnded) end();
  }

  /** The code has its result and does not ask again. */
  void forgetEnd() {
    end = null;
  }

  String describe() {
    return kind.describe(name);
  }
}
