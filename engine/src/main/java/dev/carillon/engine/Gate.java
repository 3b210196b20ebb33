package dev.carillon.engine;

/** How many attempts of something (a node, a queue, a namespace, a handler) may run at once. */
final class Gate {
  static final int OPEN = Integer.MAX_VALUE;

  private int limit;
  private int running;

  Gate(int limit) {
    this.limit = limit;
  }

  boolean hasRoom() {
    return running < limit;
  }

  void enter() {
    running++;
  }

  void leave() {
    if (--running < 0) {
      throw new IllegalStateException("running: " + running + " (expected: not negative)");
    }
  }

  int running() {
    return running;
  }

  int limit() {
    return limit;
  }

  void limit(int newLimit) {
    limit = newLimit;
  }
}
