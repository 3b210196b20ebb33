package dev.carillon.engine.history;

import dev.carillon.engine.format.Micros;

/**
 * A slice of time that jobs are sorted into: width and start in seconds, the start a multiple of
 * the width. Width grows with distance; where times are dense, narrower slices follow.
 */
public record Bucket(long startSeconds, int widthSeconds) {
  private static final int DAY = 86_400;

  /** From widest to narrowest, each about four times the next. */
  private static final int[] WIDTHS = {
    30 * DAY, 7 * DAY, DAY, 6 * 3600, 3600, 900, 240, 60, 15, 4, 1
  };

  private static final int MONTH_LEVEL = 0;
  private static final int DAY_LEVEL = 2;
  private static final int HOUR_LEVEL = 4;

  public static Bucket at(long micros, int level) {
    int width = WIDTHS[level];
    long seconds = Math.floorDiv(micros, Micros.PER_SECOND);
    return new Bucket(Math.floorDiv(seconds, width) * width, width);
  }

  /** About an hour within a day, a day within a month, a month beyond. */
  public static int level(long distanceMicros) {
    if (distanceMicros < DAY * Micros.PER_SECOND) {
      return HOUR_LEVEL;
    }
    return distanceMicros < 30L * DAY * Micros.PER_SECOND ? DAY_LEVEL : MONTH_LEVEL;
  }

  public static int narrowestLevel() {
    return WIDTHS.length - 1;
  }

  public boolean holds(long micros) {
    return micros >= startMicros() && micros < endMicros();
  }

  public long startMicros() {
    return startSeconds * Micros.PER_SECOND;
  }

  public long endMicros() {
    return (startSeconds + widthSeconds) * Micros.PER_SECOND;
  }
}
