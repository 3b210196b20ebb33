package dev.carillon.store.jdbc;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import java.time.Duration;

/**
 * How a {@link SqliteStore} uses its file. The defaults are measured ({@code
 * docs/decisions/0010-sqlite-settings.md}) and right for almost everybody.
 *
 * @param pageBytes the page size of a new file; an existing file keeps its own
 * @param cacheBytes memory outside the heap for pages of the writing connection; the reading one
 *     has half of it
 * @param checkpointBytes how much the write-ahead log may hold before it is copied to the file
 * @param walCapBytes the size the write-ahead log is kept below
 * @param walHardCapBytes the size from which appends wait for the write-ahead log to be emptied
 * @param reserveBytes disk space kept back for ends, resolutions and drops when the disk is full; 0
 *     for none
 * @param checkBytes a file up to this size is checked in full when it is opened, a larger one only
 *     in its listing
 * @param busyTimeout how long a call waits for another program that has locked the file
 */
public record SqliteOptions(
    int pageBytes,
    int cacheBytes,
    long checkpointBytes,
    long walCapBytes,
    long walHardCapBytes,
    int reserveBytes,
    long checkBytes,
    Duration busyTimeout) {

  /** The options of {@link SqliteStore#open(java.nio.file.Path)}. */
  public static final SqliteOptions DEFAULT =
      new SqliteOptions(
          16 << 10,
          16 << 20,
          8 << 20,
          64 << 20,
          256 << 20,
          4 << 20,
          128 << 20,
          Duration.ofSeconds(5));

  private static final int MIN_PAGE_BYTES = 512;
  private static final int MAX_PAGE_BYTES = 64 << 10;

  public SqliteOptions {
    Limits.checkPresent("busyTimeout", busyTimeout);
    require(
        pageBytes >= MIN_PAGE_BYTES
            && pageBytes <= MAX_PAGE_BYTES
            && Integer.bitCount(pageBytes) == 1,
        "pageBytes",
        pageBytes,
        "a power of two from 512 to 65536");
    require(cacheBytes >= 1 << 20, "cacheBytes", cacheBytes, "at least 1 MiB");
    require(checkpointBytes > 0, "checkpointBytes", checkpointBytes, "more than 0");
    require(walCapBytes >= checkpointBytes, "walCapBytes", walCapBytes, "at least checkpointBytes");
    require(
        walHardCapBytes >= walCapBytes, "walHardCapBytes", walHardCapBytes, "at least walCapBytes");
    require(reserveBytes >= 0, "reserveBytes", reserveBytes, "0 or more");
    require(checkBytes >= 0, "checkBytes", checkBytes, "0 or more");
    require(!busyTimeout.isNegative(), "busyTimeout", busyTimeout.toMillis(), "0 or more");
  }

  private static void require(boolean condition, String what, long value, String expected) {
    if (!condition) {
      throw new InvalidArgumentException(what + ": " + value + " (expected: " + expected + ")");
    }
  }

  /** A builder that starts from {@link #DEFAULT}. */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects options; see {@link SqliteOptions} for what each means. */
  public static final class Builder {
    private int pageBytes = DEFAULT.pageBytes;
    private int cacheBytes = DEFAULT.cacheBytes;
    private long checkpointBytes = DEFAULT.checkpointBytes;
    private long walCapBytes = DEFAULT.walCapBytes;
    private long walHardCapBytes = DEFAULT.walHardCapBytes;
    private int reserveBytes = DEFAULT.reserveBytes;
    private long checkBytes = DEFAULT.checkBytes;
    private Duration busyTimeout = DEFAULT.busyTimeout;

    private Builder() {}

    /** The page size of a new file. */
    public Builder pageBytes(int bytes) {
      pageBytes = bytes;
      return this;
    }

    /** Memory for pages. */
    public Builder cacheBytes(int bytes) {
      cacheBytes = bytes;
      return this;
    }

    /** How much the write-ahead log holds before it is copied, its cap and its hard cap. */
    public Builder wal(long checkpointBytes, long capBytes, long hardCapBytes) {
      this.checkpointBytes = checkpointBytes;
      walCapBytes = capBytes;
      walHardCapBytes = hardCapBytes;
      return this;
    }

    /** Disk space kept back for when the disk is full. */
    public Builder reserveBytes(int bytes) {
      reserveBytes = bytes;
      return this;
    }

    /** Up to which size a file is checked in full when it is opened. */
    public Builder checkBytes(long bytes) {
      checkBytes = bytes;
      return this;
    }

    /** How long a call waits for another program that has locked the file. */
    public Builder busyTimeout(Duration timeout) {
      busyTimeout = timeout;
      return this;
    }

    /** The options. */
    public SqliteOptions build() {
      return new SqliteOptions(
          pageBytes,
          cacheBytes,
          checkpointBytes,
          walCapBytes,
          walHardCapBytes,
          reserveBytes,
          checkBytes,
          busyTimeout);
    }
  }
}
