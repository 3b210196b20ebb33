package dev.carillon.engine.fold;

import dev.carillon.api.JobProgress;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.Report;
import org.jspecify.annotations.Nullable;

/**
 * What a job has reported, as its fold keeps it: its progress, and where in the journal the value
 * stands that it published. Owned by the fold of its shard.
 *
 * <p>What is done never falls: a report of a smaller part leaves the numbers. The children of a
 * workflow count as long as the workflow reports nothing itself.
 */
public final class Reported {
  private static final int NUMBERS = 1;
  private static final int OWN = 2;
  private static final int ENDED = 4;

  /** FNV-1a. */
  private static final long HASH_BASIS = 0xcbf29ce484222325L;

  private static final long HASH_PRIME = 0x100000001b3L;

  /** Whether the job itself reported progress, and not only its children. */
  private boolean own;

  private long at;
  private long done = Report.UNKNOWN;
  private long total = Report.UNKNOWN;
  private String message = "";

  /** The first numbers, and when they came: for the rate. */
  private long firstDone;

  private long firstAt;

  /** Where the published value stands, as a {@link HistoryPlace}; 0 where there is none. */
  private long publishedPlace;

  private int publishedBytes;
  private long publishedHash;

  /** What the children that have ended had reported, added up. */
  private long endedDone;

  private long endedTotal;

  /** How far the job is; null where nothing is known. */
  public @Nullable JobProgress progress() {
    if (done == Report.UNKNOWN && message.isEmpty()) {
      return null;
    }
    boolean numbers = done != Report.UNKNOWN;
    double perSecond =
        numbers && at > firstAt && done > firstDone
            ? (done - firstDone) * (double) Micros.PER_SECOND / (at - firstAt)
            : 0;
    return new JobProgress(
        numbers ? done : null, numbers ? total : null, message, perSecond, Micros.toInstant(at));
  }

  /** Whether it reported progress itself: its children do not count then. */
  public boolean isOwn() {
    return own;
  }

  /** Whether it reported numbers, itself or by its children. */
  public boolean hasNumbers() {
    return done != Report.UNKNOWN;
  }

  public long done() {
    return done;
  }

  public long total() {
    return total;
  }

  public long endedDone() {
    return endedDone;
  }

  public long endedTotal() {
    return endedTotal;
  }

  public boolean hasPublished() {
    return publishedPlace != 0;
  }

  /** Where the published value stands, as a {@link HistoryPlace}; 0 where there is none. */
  public long publishedPlace() {
    return publishedPlace;
  }

  /** A compaction has written the published value anew. */
  public void publishedMoved(long place) {
    publishedPlace = place;
  }

  int publishedBytes() {
    return publishedBytes;
  }

  /** Whether recording the report would change anything that is told of the job. */
  public boolean wouldChange(Report report, boolean ofChildren) {
    if (ofChildren && own) {
      return false;
    }
    return changesPublished(report)
        || (report.isOfProgress() && !own && !ofChildren)
        || changesNumbers(report)
        || (report.message() != null && !message.equals(report.message()));
  }

  private boolean changesPublished(Report report) {
    byte[] value = report.published();
    return value != null
        ? publishedPlace == 0 || publishedHash != hash(value)
        : report.withdraws() && publishedPlace != 0;
  }

  private boolean changesNumbers(Report report) {
    return report.hasNumbers()
        && (report.done() != done || report.total() != total)
        && (done == Report.UNKNOWN || !Report.isBehind(report.done(), report.total(), done, total));
  }

  /** Applies what was recorded at this place; false where it does not count. */
  boolean apply(Report.Recorded recorded, long place, int frameBytes) {
    Report report = recorded.report();
    if (recorded.ofChildren() && own) {
      return false;
    }
    if (report.isOfProgress()) {
      own |= !recorded.ofChildren();
      at = recorded.at();
      numbers(report);
      String told = report.message();
      message = told != null ? told : message;
    }
    byte[] value = report.published();
    if (value != null) {
      publishedPlace = place;
      publishedBytes = frameBytes;
      publishedHash = hash(value);
    } else if (report.withdraws()) {
      publishedPlace = 0;
      publishedBytes = 0;
    }
    return true;
  }

  private void numbers(Report report) {
    if (!report.hasNumbers()) {
      return;
    }
    if (done == Report.UNKNOWN) {
      firstAt = at;
      firstDone = report.done();
    } else if (Report.isBehind(report.done(), report.total(), done, total)) {
      return;
    }
    done = report.done();
    total = report.total();
  }

  /** A child has ended that had reported numbers; one that succeeded has done all of them. */
  void childEnded(Reported child, boolean succeeded) {
    if (child.hasNumbers()) {
      endedDone += succeeded ? child.total : child.done;
      endedTotal += child.total;
    }
  }

  /** The job begins anew: what it published stays, its progress does not. */
  @Nullable Reported begunAnew() {
    if (publishedPlace == 0) {
      return null;
    }
    Reported anew = new Reported();
    anew.publishedPlace = publishedPlace;
    anew.publishedBytes = publishedBytes;
    anew.publishedHash = publishedHash;
    return anew;
  }

  private static long hash(byte[] value) {
    long hash = HASH_BASIS;
    for (byte each : value) {
      hash = (hash ^ each) * HASH_PRIME;
    }
    return hash ^ value.length;
  }

  // ---- in a compacted generation

  /** All of it but the published value, which follows. */
  void write(ByteWriter out) {
    boolean numbers = done != Report.UNKNOWN;
    boolean ended = endedTotal != 0;
    out.u8((numbers ? NUMBERS : 0) | (own ? OWN : 0) | (ended ? ENDED : 0)).i64(at).string(message);
    if (numbers) {
      out.varint(done).varint(total).varint(firstDone).i64(firstAt);
    }
    if (ended) {
      out.varint(endedDone).varint(endedTotal);
    }
  }

  static Reported read(ByteReader in) {
    Reported read = new Reported();
    int parts = in.u8();
    read.own = (parts & OWN) != 0;
    read.at = in.i64();
    read.message = in.string();
    if ((parts & NUMBERS) != 0) {
      read.done = in.varint();
      read.total = in.varint();
      read.firstDone = in.varint();
      read.firstAt = in.i64();
    }
    if ((parts & ENDED) != 0) {
      read.endedDone = in.varint();
      read.endedTotal = in.varint();
    }
    return read;
  }
}
