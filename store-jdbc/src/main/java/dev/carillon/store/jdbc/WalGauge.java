package dev.carillon.store.jdbc;

/**
 * How full the write-ahead log is, as the last commit or copy left it. Written under the lock of
 * whoever committed or copied, read by anybody.
 */
final class WalGauge {

  /** A log smaller than this part of its cap is not worth keeping writers waiting for. */
  private static final int WORTH_EMPTYING = 2;

  /** What may be left to copy while writers wait, below the cap. */
  private static final long SHORT_COPY_BYTES = 2 << 20;

  /** A frame of the log is a page with a header of this size. */
  private static final int FRAME_HEADER_BYTES = 24;

  private final SqliteOptions options;
  private final int frameBytes;

  private volatile Filling filling = new Filling(0, 0);

  /** The caps are raised by this after an attempt to empty the log was in vain. */
  private volatile long patienceBytes;

  private volatile Runnable listener = () -> {};

  WalGauge(SqliteOptions options, int pageBytes) {
    this.options = options;
    this.frameBytes = pageBytes + FRAME_HEADER_BYTES;
  }

  /** What the log holds and how much of that is in the file too. */
  private record Filling(long bytes, long copiedBytes) {
    long uncopiedBytes() {
      return bytes - copiedBytes;
    }
  }

  /** Calls {@code newListener} from the writing thread whenever there is enough to copy. */
  void onEnough(Runnable newListener) {
    listener = newListener;
  }

  /** Takes note of what SQLite says, after a commit or a copy. */
  void set(long frames, long copiedFrames, boolean committed) {
    filling = new Filling(frames * frameBytes, copiedFrames * frameBytes);
    if (filling.bytes < patienceBytes) {
      patienceBytes = 0;
    }
    if (committed && enoughToCopy()) {
      listener.run();
    }
  }

  /** Does not try again before the log has doubled: another program reads it. */
  void emptyingFailed() {
    patienceBytes = filling.bytes;
  }

  /** What is in the log only. */
  long uncopiedBytes() {
    return filling.uncopiedBytes();
  }

  boolean anythingToCopy() {
    return filling.uncopiedBytes() > 0;
  }

  boolean enoughToCopy() {
    return filling.uncopiedBytes() >= options.checkpointBytes();
  }

  /** Whether it is time to keep writers waiting: hardly anything to copy, or too large a log. */
  boolean timeToEmpty() {
    Filling now = filling;
    long bytes = now.bytes - patienceBytes;
    return now.uncopiedBytes() > 0
        && (bytes > options.walCapBytes()
            || (bytes > options.walCapBytes() / WORTH_EMPTYING
                && now.uncopiedBytes() <= SHORT_COPY_BYTES));
  }

  boolean overHardCap() {
    Filling now = filling;
    return now.uncopiedBytes() > 0 && now.bytes - patienceBytes > options.walHardCapBytes();
  }
}
