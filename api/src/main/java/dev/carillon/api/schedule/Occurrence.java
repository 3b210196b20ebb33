package dev.carillon.api.schedule;

import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.List;

/**
 * One time of a {@link Schedule}, as a {@linkplain Schedule#preview(int, Instant) preview} shows
 * it.
 *
 * @param time the time, in the zone the preview was asked for
 * @param notes what a clock change does to it, or to times left out just before it, for people;
 *     mostly empty
 */
public record Occurrence(ZonedDateTime time, List<String> notes) {
  /** Copies the notes. */
  public Occurrence {
    notes = List.copyOf(notes);
  }

  /**
   * The time as an instant.
   *
   * @return the instant
   */
  public Instant instant() {
    return time.toInstant();
  }

  /** The time, and the notes in parentheses. */
  @Override
  public String toString() {
    return notes.isEmpty() ? time.toString() : time + " (" + String.join("; ", notes) + ")";
  }
}
