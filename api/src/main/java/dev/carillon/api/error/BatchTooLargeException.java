package dev.carillon.api.error;

import dev.carillon.api.internal.Check;

/**
 * The caller's bug: an atomic batch is larger than can be written at once. Nothing was written;
 * split it where the parts need not stand or fall together.
 */
public final class BatchTooLargeException extends InvalidArgumentException {

  private final long size;
  private final long limit;

  /**
   * For a batch and its limit.
   *
   * @param what what is counted, such as {@code jobs} or {@code bytes}
   * @param size how many there are
   * @param limit how many there may be
   */
  public BatchTooLargeException(String what, long size, long limit) {
    super(Check.problem(what + " in one batch", size, "at most " + limit), null);
    this.size = size;
    this.limit = limit;
  }

  /**
   * The size of the batch.
   *
   * @return how many jobs or bytes, as the message says
   */
  public long size() {
    return size;
  }

  /**
   * The largest size that is accepted.
   *
   * @return how many jobs or bytes, as the message says
   */
  public long limit() {
    return limit;
  }
}
