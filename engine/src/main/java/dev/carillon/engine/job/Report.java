package dev.carillon.engine.job;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a handler or the code of a workflow reports of its job: how far it is, and a value for
 * others to read. Parts that are absent leave what was reported before as it is.
 *
 * @param done how much is done; {@link #UNKNOWN} exactly where {@code total} is
 * @param total of how much
 * @param message what is going on, or null
 * @param published the value, encoded; null for none
 * @param withdraws whether there is no published value from now on
 */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
public record Report(
    long done,
    long total,
    @Nullable String message,
    byte @Nullable [] published,
    boolean withdraws) {
  public static final long UNKNOWN = -1;

  /** Nothing at all. */
  public static final Report NOTHING = new Report(UNKNOWN, UNKNOWN, null, null, false);

  private static final int NUMBERS = 1;
  private static final int MESSAGE = 2;
  private static final int PUBLISHED = 4;
  private static final int WITHDRAWS = 8;

  /** Where reports come from: asked on the loop, right before they are written. */
  @FunctionalInterface
  public interface Source {
    /** All that was reported so far; what comes later is announced anew. */
    Report take();
  }

  /** Whether one part of the work is smaller than another. */
  public static boolean isBehind(long done, long total, long otherDone, long otherTotal) {
    return total == otherTotal ? done < otherDone : part(done, total) < part(otherDone, otherTotal);
  }

  private static double part(long done, long total) {
    return total == 0 ? 0 : (double) done / total;
  }

  public boolean hasNumbers() {
    return done != UNKNOWN;
  }

  /** Whether it says something of the progress. */
  public boolean isOfProgress() {
    return hasNumbers() || message != null;
  }

  /** Whether it says something of the published value. */
  public boolean isOfPublished() {
    return published != null || withdraws;
  }

  /** Both of them, {@code later} where both say something. */
  public Report then(Report later) {
    boolean newNumbers =
        later.hasNumbers() && (!hasNumbers() || !isBehind(later.done, later.total, done, total));
    Report value = later.isOfPublished() ? later : this;
    return new Report(
        newNumbers ? later.done : done,
        newNumbers ? later.total : total,
        later.message != null ? later.message : message,
        value.published,
        value.withdraws);
  }

  /** The same without the published value. */
  public Report ofProgress() {
    return new Report(done, total, message, null, false);
  }

  /** byte parts; varint done, varint total; string message; the published value to the end. */
  public void write(ByteWriter out) {
    out.u8(
        (hasNumbers() ? NUMBERS : 0)
            | (message != null ? MESSAGE : 0)
            | (published != null ? PUBLISHED : 0)
            | (withdraws ? WITHDRAWS : 0));
    if (hasNumbers()) {
      out.varint(done).varint(total);
    }
    if (message != null) {
      out.string(message);
    }
    if (published != null) {
      out.raw(published);
    }
  }

  public static Report read(ByteReader in) {
    int parts = in.u8();
    boolean numbers = (parts & NUMBERS) != 0;
    return new Report(
        numbers ? in.varint() : UNKNOWN,
        numbers ? in.varint() : UNKNOWN,
        (parts & MESSAGE) != 0 ? in.string() : null,
        (parts & PUBLISHED) != 0 ? in.rest() : null,
        (parts & WITHDRAWS) != 0);
  }

  /**
   * The operation of the journal: varint revision, long at, byte whether of children, report.
   *
   * @param revision of the job that reported it
   * @param ofChildren whether it adds up what the children of a workflow reported
   */
  public record Recorded(int revision, long at, boolean ofChildren, Report report) {
    public Recorded {
      Objects.requireNonNull(report, "report");
    }

    public byte[] encode() {
      byte[] value = report.published;
      ByteWriter out =
          new ByteWriter(64 + (value != null ? value.length : 0))
              .varint(revision)
              .i64(at)
              .u8(ofChildren ? 1 : 0);
      report.write(out);
      return out.toBytes();
    }

    public static Recorded decode(ByteReader in) {
      return new Recorded((int) in.varint(), in.i64(), in.u8() != 0, Report.read(in));
    }
  }
}
