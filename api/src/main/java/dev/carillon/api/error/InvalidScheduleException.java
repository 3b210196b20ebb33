package dev.carillon.api.error;

import dev.carillon.api.schedule.Due;
import dev.carillon.api.schedule.Schedule;

/**
 * The caller's bug: a {@link Schedule} or the text of a {@link Due} is not acceptable, and never
 * will be. If the fault lies in a text, the message names the place: {@code hour: "25" at column 3
 * of "0 25 * * *" (expected: 0 to 23)}.
 */
public final class InvalidScheduleException extends InvalidJobException {
  private final int column;

  /**
   * About a value that is not a text.
   *
   * @param message what is wrong, for people
   */
  public InvalidScheduleException(String message) {
    this(message, 0);
  }

  /**
   * About a text.
   *
   * @param message what is wrong, for people
   * @param column the column of the first character at fault, from 1; 0 if it does not lie in a
   *     text
   */
  public InvalidScheduleException(String message, int column) {
    super(message);
    this.column = column;
  }

  /**
   * Where in the text the fault lies.
   *
   * @return the column of the first character at fault, from 1; 0 if it does not lie in a text
   */
  public int column() {
    return column;
  }
}
