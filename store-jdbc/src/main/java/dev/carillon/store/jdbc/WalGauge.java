package dev.carillon.store.jdbc;

import java.util.concurrent.atomic.AtomicLong;

/**
 * An estimate of how full the write-ahead log is: writers add what they wrote, and each copy sets
 * it right. May be used by any thread.
 */
final class WalGauge {

  /** A log smaller than this is not worth keeping writers waiting for. */
  private static final int WORTH_EMPTYING = 2;

  /** What may be left to copy while writers wait, below the cap. */
  private static final long SHORT_COPY_BYTES = 2 << 20;

  private final SqliteOptions options;
  private final int pageBytes;
  private final AtomicLong written = new AtomicLong();

  /** What {@link #written} was when the log was empty, or would have been. */
  private volatile long emptyAt;

  /** What {@link #written} was when all before it was copied. */
  private volatile long copiedAt;

  /** The hard cap is raised by this after an attempt to empty the log was in vain. */
  private volatile long patience;

  private volatile Runnable listener = () -> {};

  WalGauge(SqliteOptions options, int pageBytes) {
    this.options = options;
    this.pageBytes = pageBytes;
  }

  /** Calls {@code listener} from the writing thread whenever there is enough to copy. */
  void onEnough(Runnable newListener) {
    listener = newListener;
  }

  long written() {
    return written.get();
  }

  void grewPages(int pages) {
    grew((long) pages * pageBytes);
  }

  void grew(long bytes) {
    if (written.addAndGet(bytes) - copiedAt >= options.checkpointBytes()) {
      listener.run();
    }
  }

  /** Takes note of a copy that began when {@code before} had been written. */
  void copied(long before, long frames, long copiedFrames) {
    copiedAt = before - (frames - copiedFrames) * pageBytes;
    emptyAt =
        frames == copiedFrames && before == written.get() ? before : before - frames * pageBytes;
  }

  void emptied() {
    long now = written.get();
    copiedAt = now;
    emptyAt = now;
    patience = 0;
  }

  void emptyingFailed() {
    patience = logBytes();
  }

  private long logBytes() {
    return written.get() - emptyAt;
  }

  private long uncopiedBytes() {
    return written.get() - copiedAt;
  }

  boolean anythingToCopy() {
    return uncopiedBytes() > 0;
  }

  boolean enoughToCopy() {
    return uncopiedBytes() >= options.checkpointBytes();
  }

  /** Whether it is time to keep writers waiting: hardly anything to copy, or too large a log. */
  boolean timeToEmpty() {
    long bytes = logBytes() - patience;
    return bytes > options.walCapBytes()
        || (bytes > options.walCapBytes() / WORTH_EMPTYING && uncopiedBytes() <= SHORT_COPY_BYTES);
  }

  boolean overHardCap() {
    return logBytes() - patience > options.walHardCapBytes();
  }
}
