package dev.carillon.replay;

/** Interrupts the thread of a try while the try lasts, and never afterwards. Thread-safe. */
final class TryGuard {
  private final Thread thread;
  private boolean over;
  private boolean interrupted;

  TryGuard(Thread thread) {
    this.thread = thread;
  }

  synchronized void interrupt() {
    if (!over) {
      interrupted = true;
      thread.interrupt();
    }
  }

  /** The try is over; says whether it was interrupted. */
  synchronized boolean end() {
    over = true;
    if (interrupted) {
      boolean unused = Thread.interrupted(); // was meant for this try
    }
    return interrupted;
  }
}
