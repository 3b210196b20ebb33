package dev.carillon.simulator;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A change of a live job that a simulated user asked for, and what they were told. */
final class Control {
  final UserOperations.Kind kind;

  /** What is to be: a reason, a due time, a priority, a schedule, or the range of a backfill. */
  final @Nullable Object value;

  /** How many operations of it took effect. */
  int applied;

  /** What was taken for the occurrences that it asked for. */
  JournalFormat.@Nullable Next written;

  /** What was written is the job's deadline, which comes before what was asked for. */
  boolean cut;

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

  /**
   * Takes over that an operation took effect, or hands it over: two requests that ask for the same
   * cannot be told apart by what is written.
   */
  void exchange(List<Control> all, int expected) {
    for (Control other : all) {
      if (applied != expected
          && other.applied == expected
          && other.kind == kind
          && other.told == Told.NOTHING
          && (value instanceof ControlUsers.Range
              || cut
              || other.cut
              || Objects.equals(value, other.value))) {
        other.applied = applied;
        other.cut |= cut;
        cut |= other.cut;
        applied = expected;
      }
    }
  }

  /** Whether an operation that took effect now may be this one. */
  boolean mayApply(UserOperations.Kind kindOfOperation) {
    return kind == kindOfOperation && told == Told.NOTHING && applied == 0;
  }

  @Override
  public String toString() {
    return kind + (value != null ? " " + value : "");
  }
}
