package dev.carillon.simulator;

import org.jspecify.annotations.Nullable;

/** A change of a live job that a simulated user asked for, and what they were told. */
final class Control {
  final UserOperations.Kind kind;

  /** What is to be: a reason, a due time, a priority, a schedule, or the range of a backfill. */
  final @Nullable Object value;

  /** The copy of the store that the node went by which was asked. */
  int copy;

  Told told = Told.NOTHING;

  /** What the user was told. */
  enum Told {
    /** No answer, or none that anybody can rely on. */
    NOTHING,
    DONE,
    /** Nothing changed, definitely. */
    NOT_DONE
  }

  Control(UserOperations.Kind kind, @Nullable Object value) {
    this.kind = kind;
    this.value = value;
  }

  @Override
  public String toString() {
    return kind + (value != null ? " " + value : "");
  }
}
