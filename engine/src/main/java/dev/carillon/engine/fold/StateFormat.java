package dev.carillon.engine.fold;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.ScheduleState;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job's whole state as a compaction writes it.
 *
 * <pre>
 * attempts, revision  varint
 * due                 long
 * flags               varint  which of the parts below there are
 * priority            byte
 * markers             varint
 * markerIncarnation   long
 * jitter              varint
 * saved               bytes   if SAVED
 * cancelReason        string  if CANCEL
 * lastErrorType, lastErrorMessage  string  if ERROR
 * move                {@link ScheduleState}  if MOVE
 * pauseReason         string  if PAUSE
 * waiters             {@link JobRef}s  if WAITERS
 * awaited             bytes   if AWAITED
 * workflow            {@link WorkflowState}  if WORKFLOW; its history follows as HISTORY
 * version             varint  if VERSION
 * reported            {@link Reported}  if REPORTED; a published value follows as REPORT
 * lease               {@link Lease}  if LEASE
 * workersLost         varint  if WORKERS_LOST
 * spec                rest
 * </pre>
 *
 * @param rare all of it but what is in the spec
 */
public record StateFormat(
    int attempts,
    int revision,
    long due,
    int priority,
    FoldedJob.UncommonState rare,
    List<JobRef> waiters,
    byte[] awaited,
    byte[] spec) {
  private static final int SAVED = 1;
  private static final int CANCEL = 2;
  private static final int ERROR = 4;
  private static final int ALONE = 8;
  private static final int MOVE = 16;
  private static final int PAUSE = 32;
  private static final int AWAITED = 64;
  private static final int WAITERS = 128;
  private static final int WORKFLOW = 256;
  private static final int TERMINATED = 512;
  private static final int VERSION = 1024;
  private static final int REPORTED = 2048;
  private static final int PAUSED_WITH_PARENT = 4096;
  private static final int LEASE = 8192;
  private static final int WORKERS_LOST = 16384;
  private static final int ALL =
      SAVED
          | CANCEL
          | ERROR
          | ALONE
          | MOVE
          | PAUSE
          | AWAITED
          | WAITERS
          | WORKFLOW
          | TERMINATED
          | VERSION
          | REPORTED
          | PAUSED_WITH_PARENT
          | LEASE
          | WORKERS_LOST;

  private static final byte[] NOTHING = {};

  /** The state of {@code job} with {@code spec}, as it is to be written. */
  public static byte[] write(FoldedJob job, byte[] spec) {
    FoldedJob.UncommonState rare = job.rare != null ? job.rare : new FoldedJob.UncommonState();
    ByteWriter out =
        new ByteWriter(64 + spec.length)
            .varint(job.attempts)
            .varint(job.revision)
            .i64(job.dueMicros)
            .varint(flags(rare))
            .u8(job.priority)
            .varint(rare.markers)
            .i64(rare.markerIncarnation)
            .varint(rare.jitterMicros);
    if (rare.saved != null) {
      out.bytes(rare.saved);
    }
    if (rare.cancelReason != null) {
      out.string(rare.cancelReason);
    }
    if (rare.lastErrorType != null) {
      out.string(rare.lastErrorType);
      out.string(rare.lastErrorMessage != null ? rare.lastErrorMessage : "");
    }
    if (rare.move != null) {
      rare.move.write(out);
    }
    if (rare.pauseReason != null) {
      out.string(rare.pauseReason);
    }
    if (rare.waiters != null) {
      JobRef.writeAll(rare.waiters, out);
    }
    if (rare.awaited != null) {
      ByteWriter states = new ByteWriter(8);
      rare.awaited.write(states);
      out.bytes(states.toBytes());
    }
    if (rare.workflow != null) {
      rare.workflow.write(out);
    }
    if (rare.version != 0) {
      out.varint(rare.version);
    }
    if (rare.reported != null) {
      rare.reported.write(out);
    }
    if (rare.lease != null) {
      rare.lease.write(out);
    }
    if (rare.workersLost != 0) {
      out.varint(rare.workersLost);
    }
    return out.raw(spec).toBytes();
  }

  private static int flags(FoldedJob.UncommonState rare) {
    return (rare.saved != null ? SAVED : 0)
        | (rare.cancelReason != null ? CANCEL : 0)
        | (rare.lastErrorType != null ? ERROR : 0)
        | (rare.alone ? ALONE : 0)
        | (rare.move != null ? MOVE : 0)
        | (rare.pauseReason != null ? PAUSE : 0)
        | (rare.awaited != null ? AWAITED : 0)
        | (rare.waiters != null ? WAITERS : 0)
        | (rare.workflow != null ? WORKFLOW : 0)
        | (rare.terminated ? TERMINATED : 0)
        | (rare.version != 0 ? VERSION : 0)
        | (rare.reported != null ? REPORTED : 0)
        | (rare.pausedWithParent ? PAUSED_WITH_PARENT : 0)
        | (rare.lease != null ? LEASE : 0)
        | (rare.workersLost != 0 ? WORKERS_LOST : 0);
  }

  static StateFormat read(ByteReader in) {
    int attempts = (int) in.varint();
    int revision = (int) in.varint();
    long due = in.i64();
    int flags = (int) in.varint();
    if ((flags & ~ALL) != 0) {
      throw new UnknownFormatException("state: parts " + flags + " (expected: ones this reads)");
    }
    int priority = in.i8();
    FoldedJob.UncommonState rare = new FoldedJob.UncommonState();
    rare.markers = (int) in.varint();
    rare.markerIncarnation = in.i64();
    rare.jitterMicros = in.varint();
    rare.alone = (flags & ALONE) != 0;
    rare.terminated = (flags & TERMINATED) != 0;
    rare.pausedWithParent = (flags & PAUSED_WITH_PARENT) != 0;
    rare.saved = (flags & SAVED) != 0 ? in.bytes() : null;
    rare.cancelReason = string(in, flags & CANCEL);
    rare.lastErrorType = string(in, flags & ERROR);
    rare.lastErrorMessage = string(in, flags & ERROR);
    rare.move = (flags & MOVE) != 0 ? ScheduleState.read(in) : null;
    rare.pauseReason = string(in, flags & PAUSE);
    List<JobRef> waiters = (flags & WAITERS) != 0 ? JobRef.readAll(in) : List.of();
    byte[] awaited = (flags & AWAITED) != 0 ? in.bytes() : NOTHING;
    rare.workflow = (flags & WORKFLOW) != 0 ? WorkflowState.read(in) : null;
    rare.version = (flags & VERSION) != 0 ? (int) in.varint() : 0;
    rare.reported = (flags & REPORTED) != 0 ? Reported.read(in) : null;
    rare.lease = (flags & LEASE) != 0 ? Lease.read(in) : null;
    rare.workersLost = (flags & WORKERS_LOST) != 0 ? (int) in.varint() : 0;
    return new StateFormat(attempts, revision, due, priority, rare, waiters, awaited, in.rest());
  }

  private static @Nullable String string(ByteReader in, int flag) {
    return flag != 0 ? in.string() : null;
  }

  /** Puts a job that has just been made of the spec into this state. */
  void applyTo(FoldedJob job) {
    rare.concurrency = job.concurrency();
    rare.occurrence = job.occurrence();
    rare.payload = job.rare != null ? job.rare.payload : null;
    rare.awaited = job.awaited();
    if (rare.awaited != null && awaited.length > 0) {
      rare.awaited.read(new ByteReader(awaited));
    }
    if (!waiters.isEmpty()) {
      rare.waiters = new LinkedHashSet<>(waiters);
    }
    job.attempts = attempts;
    job.revision = revision;
    job.priority = (byte) priority;
    job.dueMicros = due;
    job.rare = rare.isEmpty() ? null : rare;
  }
}
