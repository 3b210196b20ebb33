package dev.carillon.replay;

/**
 * How far the code has come in its history: for its time, and to know whether it runs again what it
 * ran before. Of the workflow's thread; only {@link #isReplaying} is asked elsewhere, by loggers.
 */
final class Cursor {
  private final int replayTo;
  private int passed = History.NONE;
  private volatile boolean live;
  private long nowMicros;

  /**
   * At the beginning.
   *
   * @param replayTo where the last entry stands that the code itself caused before
   */
  Cursor(int replayTo, long beganMicros) {
    this.replayTo = replayTo;
    this.nowMicros = beganMicros;
    this.live = replayTo == History.NONE;
  }

  /** The code has created what it created before. */
  void created(int position) {
    passed = Math.max(passed, position);
  }

  /** The code has been given what came to be then. */
  void given(int position, long at) {
    passed = Math.max(passed, position);
    nowMicros = Math.max(nowMicros, at);
    if (passed >= replayTo) {
      live = true;
    }
  }

  /** The code does or waits for something that was not there. */
  void live() {
    live = true;
  }

  boolean isReplaying() {
    return !live;
  }

  long nowMicros() {
    return nowMicros;
  }
}
