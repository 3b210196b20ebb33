package dev.carillon.engine;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import org.jspecify.annotations.Nullable;

/**
 * The bodies of all operations but {@link Kind#ADD}, each with its layout. Times are microseconds
 * since 1970. An operation caused by an attempt names that attempt and the job's revision, so that
 * one which no longer fits is recognised by the fold.
 */
sealed interface Body {

  /** Writes the body. */
  byte[] encode();

  /** varint attempt, varint revision, long at, long incarnation, byte alone. */
  record Start(int attempt, int revision, long at, long incarnation, boolean alone)
      implements Body {
    @Override
    public byte[] encode() {
      return new ByteWriter(24)
          .varint(attempt)
          .varint(revision)
          .i64(at)
          .i64(incarnation)
          .u8(alone ? 1 : 0)
          .toBytes();
    }

    static Start decode(ByteReader in) {
      return new Start((int) in.varint(), (int) in.varint(), in.i64(), in.i64(), in.u8() == 1);
    }
  }

  /** varint attempt, varint revision, long at, then the state. */
  record Save(int attempt, int revision, long at, byte[] state) implements Body {
    @Override
    public byte[] encode() {
      return new ByteWriter(16 + state.length)
          .varint(attempt)
          .varint(revision)
          .i64(at)
          .raw(state)
          .toBytes();
    }

    static Save decode(ByteReader in) {
      return new Save((int) in.varint(), (int) in.varint(), in.i64(), in.rest());
    }
  }

  /** varint attempt, varint revision, long at, long startedAt, long nextDue, error. */
  record Retry(int attempt, int revision, long at, long startedAt, long nextDue, JobError error)
      implements Body {
    @Override
    public byte[] encode() {
      ByteWriter out =
          new ByteWriter(64).varint(attempt).varint(revision).i64(at).i64(startedAt).i64(nextDue);
      writeError(out, error);
      return out.toBytes();
    }

    static Retry decode(ByteReader in) {
      return new Retry(
          (int) in.varint(), (int) in.varint(), in.i64(), in.i64(), in.i64(), readError(in));
    }
  }

  /** long at, then the body of an add. */
  record Replace(long at, byte[] spec) implements Body {
    @Override
    public byte[] encode() {
      return new ByteWriter(8 + spec.length).i64(at).raw(spec).toBytes();
    }

    static Replace decode(ByteReader in) {
      return new Replace(in.i64(), in.rest());
    }
  }

  /** long at, string reason. */
  record Cancel(long at, String reason) implements Body {
    @Override
    public byte[] encode() {
      return new ByteWriter(10 + reason.length()).i64(at).string(reason).toBytes();
    }

    static Cancel decode(ByteReader in) {
      return new Cancel(in.i64(), in.string());
    }
  }

  /**
   * byte state, varint attempt, varint revision, long at, long startedAt, byte flags, error if 1,
   * reason if 2, then the result.
   *
   * @param attempt the attempt that ended the job, 0 where none did (a cancel, an expiry)
   */
  record End(
      JobState state,
      int attempt,
      int revision,
      long at,
      long startedAt,
      @Nullable JobError error,
      @Nullable String reason,
      byte[] result)
      implements Body {
    private static final byte[] NOTHING = {};

    /** An end that no attempt caused. */
    static End without(JobState state, long at, String reason) {
      return new End(state, 0, 0, at, 0, null, reason, NOTHING);
    }

    @Override
    public byte[] encode() {
      ByteWriter out =
          new ByteWriter(32 + result.length)
              .u8(state.code())
              .varint(attempt)
              .varint(revision)
              .i64(at)
              .i64(startedAt)
              .u8((error != null ? 1 : 0) | (reason != null ? 2 : 0));
      if (error != null) {
        writeError(out, error);
      }
      if (reason != null) {
        out.string(reason);
      }
      return out.raw(result).toBytes();
    }

    static End decode(ByteReader in) {
      JobState state = JobState.ofCode(in.u8());
      int attempt = (int) in.varint();
      int revision = (int) in.varint();
      long at = in.i64();
      long startedAt = in.i64();
      int flags = in.u8();
      JobError error = (flags & 1) != 0 ? readError(in) : null;
      String reason = (flags & 2) != 0 ? in.string() : null;
      return new End(state, attempt, revision, at, startedAt, error, reason, in.rest());
    }
  }

  /**
   * long at, varint markers.
   *
   * @param markers how many start markers are left at most
   */
  record Clear(long at, int markers) implements Body {
    @Override
    public byte[] encode() {
      return new ByteWriter(10).i64(at).varint(markers).toBytes();
    }

    static Clear decode(ByteReader in) {
      return new Clear(in.i64(), (int) in.varint());
    }
  }

  private static void writeError(ByteWriter out, JobError error) {
    out.string(error.type()).string(error.message()).string(error.stack());
  }

  private static JobError readError(ByteReader in) {
    return new JobError(in.string(), in.string(), in.string());
  }
}
