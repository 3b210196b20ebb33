package dev.carillon.engine.fold;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowWait;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The bodies of all operations but {@link Kind#ADD}, each with its layout. Times are microseconds
 * since 1970. An operation caused by an attempt names that attempt and the job's revision, so that
 * one which no longer fits is recognised by the fold.
 */
public sealed interface OperationBody {
  /** Why a recurring job ends that has no time left. */
  String SCHEDULE_OVER = "the schedule is over";

  /** Writes the body. */
  byte[] encode();

  /** varint attempt, varint revision, long at, long incarnation, byte alone. */
  record Start(int attempt, int revision, long at, long incarnation, boolean alone)
      implements OperationBody {
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

    public static Start decode(ByteReader in) {
      return new Start((int) in.varint(), (int) in.varint(), in.i64(), in.i64(), in.u8() == 1);
    }
  }

  /** varint attempt, varint revision, long at, then the state. */
  record Save(int attempt, int revision, long at, byte[] state) implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(16 + state.length)
          .varint(attempt)
          .varint(revision)
          .i64(at)
          .raw(state)
          .toBytes();
    }

    public static Save decode(ByteReader in) {
      return new Save((int) in.varint(), (int) in.varint(), in.i64(), in.rest());
    }
  }

  /**
   * varint attempt, varint revision, long at, {@link Ran}, long nextTime, varint jitter, error.
   *
   * @param at when the attempt failed
   * @param nextTime when the next attempt is to be
   * @param jitter how much later it is due
   */
  record Retry(
      int attempt, int revision, long at, Ran ran, long nextTime, long jitter, JobError error)
      implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(64).varint(attempt).varint(revision).i64(at);
      ran.write(out, at);
      writeError(out.i64(nextTime).varint(jitter), error);
      return out.toBytes();
    }

    public static Retry decode(ByteReader in) {
      int attempt = (int) in.varint();
      int revision = (int) in.varint();
      long at = in.i64();
      return new Retry(
          attempt, revision, at, Ran.read(in, at), in.i64(), in.varint(), readError(in));
    }

    public long nextDue() {
      return nextTime + jitter;
    }
  }

  /** long at, string by, then the body of an add. */
  record Replace(long at, String by, byte[] spec) implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(32 + spec.length).i64(at).string(by).raw(spec).toBytes();
    }

    public static Replace decode(ByteReader in) {
      return new Replace(in.i64(), in.string(), in.rest());
    }
  }

  /** long at, {@link Why}, byte {@link Demand}. */
  record Cancel(long at, Why why, Demand demand) implements OperationBody {

    /** How the job is to stop. Codes are persisted. */
    public enum Demand {
      /** Its attempt is to stop, and then it ends. */
      STOP(0),
      /** The code of a workflow is told and compensates: it is an entry of its history. */
      COMPENSATE(1),
      /** A workflow ends without its code, after its children: no attempt of it counts any more. */
      TERMINATE(2);

      private final int code;

      Demand(int code) {
        this.code = code;
      }

      private static Demand ofCode(int code) {
        for (Demand demand : values()) {
          if (demand.code == code) {
            return demand;
          }
        }
        throw new UnknownFormatException("cancel: demand " + code + " (expected: 0 to 2)");
      }
    }

    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(64).i64(at);
      why.write(out);
      return out.u8(demand.code).toBytes();
    }

    public static Cancel decode(ByteReader in) {
      return new Cancel(in.i64(), Why.read(in), Demand.ofCode(in.u8()));
    }
  }

  /**
   * byte state, varint attempt, varint revision, long at, {@link Ran} if an attempt ended it, byte
   * flags, error if 1, reason if 2, string by if 4, then the result.
   *
   * @param attempt the attempt that ended the job, 0 where none did (a cancel, an expiry)
   * @param at when it ended
   * @param by who asked for it, if somebody did
   */
  record End(
      JobState state,
      int attempt,
      int revision,
      long at,
      Ran ran,
      @Nullable JobError error,
      @Nullable String reason,
      @Nullable String by,
      byte[] result)
      implements OperationBody {
    private static final byte[] NOTHING = {};

    /** An end without anybody who asked for it. */
    public End(
        JobState state,
        int attempt,
        int revision,
        long at,
        Ran ran,
        @Nullable JobError error,
        @Nullable String reason,
        byte[] result) {
      this(state, attempt, revision, at, ran, error, reason, null, result);
    }

    /** Cancelled by request. */
    public static End cancelled(long at, Why why) {
      return new End(JobState.CANCELLED, 0, 0, at, Ran.NOT, null, why.reason(), why.by(), NOTHING);
    }

    /** An end that no attempt caused. */
    public static End without(JobState state, long at, String reason) {
      return new End(state, 0, 0, at, Ran.NOT, null, reason, NOTHING);
    }

    @Override
    public byte[] encode() {
      ByteWriter out =
          new ByteWriter(32 + result.length)
              .u8(state.code())
              .varint(attempt)
              .varint(revision)
              .i64(at);
      if (attempt != 0) {
        ran.write(out, at);
      }
      out.u8((error != null ? 1 : 0) | (reason != null ? 2 : 0) | (by != null ? 4 : 0));
      if (error != null) {
        writeError(out, error);
      }
      if (reason != null) {
        out.string(reason);
      }
      if (by != null) {
        out.string(by);
      }
      return out.raw(result).toBytes();
    }

    public static End decode(ByteReader in) {
      JobState state = JobState.ofCode(in.u8());
      int attempt = (int) in.varint();
      int revision = (int) in.varint();
      long at = in.i64();
      Ran ran = attempt != 0 ? Ran.read(in, at) : Ran.NOT;
      int flags = in.u8();
      JobError error = (flags & 1) != 0 ? readError(in) : null;
      String reason = (flags & 2) != 0 ? in.string() : null;
      String by = (flags & 4) != 0 ? in.string() : null;
      return new End(state, attempt, revision, at, ran, error, reason, by, in.rest());
    }
  }

  /**
   * varint attempt, varint revision, long at, {@link Ran} if an attempt ended the occurrence, byte
   * outcome or 0, byte flags, error if 1, reason if 2, varint and so many {@link Child} if 4,
   * {@link ScheduleState} if 8; 16 where the schedule is over.
   *
   * @param attempt the attempt that ended the occurrence, 0 where none did
   * @param outcome how the occurrence ended, null where it has not, or did not take place
   * @param reason why it did not take place or was given up
   * @param children occurrences as jobs of their own: the one with an outcome, which is dead, or
   *     some to be run
   * @param move where the schedule goes, null where it stays or is over
   */
  record Next(
      int attempt,
      int revision,
      long at,
      Ran ran,
      @Nullable JobState outcome,
      @Nullable JobError error,
      @Nullable String reason,
      List<Child> children,
      @Nullable ScheduleState move,
      boolean over)
      implements OperationBody {

    /** long number, long due, {@link OccurrenceSpec}. */
    public record Child(long number, long due, OccurrenceSpec occurrence) {}

    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(80).varint(attempt).varint(revision).i64(at);
      if (attempt != 0) {
        ran.write(out, at);
      }
      out.u8(outcome != null ? outcome.code() : 0).u8(flags());
      if (error != null) {
        writeError(out, error);
      }
      if (reason != null) {
        out.string(reason);
      }
      if (!children.isEmpty()) {
        out.varint(children.size());
        for (Child child : children) {
          out.i64(child.number()).i64(child.due());
          child.occurrence().write(out);
        }
      }
      if (move != null) {
        move.write(out);
      }
      return out.toBytes();
    }

    private int flags() {
      return (error != null ? 1 : 0)
          | (reason != null ? 2 : 0)
          | (children.isEmpty() ? 0 : 4)
          | (move != null ? 8 : 0)
          | (over ? 16 : 0);
    }

    public static Next decode(ByteReader in) {
      int attempt = (int) in.varint();
      int revision = (int) in.varint();
      long at = in.i64();
      Ran ran = attempt != 0 ? Ran.read(in, at) : Ran.NOT;
      int outcome = in.u8();
      int flags = in.u8();
      return new Next(
          attempt,
          revision,
          at,
          ran,
          outcome == 0 ? null : JobState.ofCode(outcome),
          (flags & 1) != 0 ? readError(in) : null,
          (flags & 2) != 0 ? in.string() : null,
          (flags & 4) != 0 ? readChildren(in) : List.of(),
          (flags & 8) != 0 ? ScheduleState.read(in) : null,
          (flags & 16) != 0);
    }

    private static List<Child> readChildren(ByteReader in) {
      int size = in.length();
      List<Child> children = new ArrayList<>(size);
      for (int i = 0; i < size; i++) {
        children.add(new Child(in.i64(), in.i64(), OccurrenceSpec.read(in)));
      }
      return children;
    }

    /** The same with some of its occurrences. */
    public Next withChildren(Predicate<Child> which) {
      List<Child> some = children.stream().filter(which).toList();
      return new Next(attempt, revision, at, ran, outcome, error, reason, some, move, over);
    }

    /** Whether the occurrence was run or became a job of its own; else it was passed over. */
    public boolean tookPlace() {
      return outcome != null || reason == null;
    }

    /** Whether it ends an occurrence that the recurring job ran itself and that is not dead. */
    public boolean endsOccurrence() {
      return outcome != null && outcome != JobState.DEAD;
    }

    /** Whether the schedule stays where it is: the occurrences are more. */
    public boolean stays() {
      return move == null && !over;
    }
  }

  /** varint attempt, varint revision, long at, {@link Ran}, long due, string note. */
  record Again(int attempt, int revision, long at, Ran ran, long due, String note)
      implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(40 + note.length()).varint(attempt).varint(revision).i64(at);
      ran.write(out, at);
      return out.i64(due).string(note).toBytes();
    }

    public static Again decode(ByteReader in) {
      int attempt = (int) in.varint();
      int revision = (int) in.varint();
      long at = in.i64();
      return new Again(attempt, revision, at, Ran.read(in, at), in.i64(), in.string());
    }
  }

  /** long at, {@link Why}. */
  record Pause(long at, Why why, boolean withParent) implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(64).i64(at);
      why.write(out);
      return (withParent ? out.u8(1) : out).toBytes();
    }

    public static Pause decode(ByteReader in) {
      return new Pause(in.i64(), Why.read(in), in.remaining() > 0 && in.u8() == 1);
    }
  }

  /** long at, string by, then the body of an add. */
  record Replay(long at, String by, byte[] spec) implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(32 + spec.length).i64(at).string(by).raw(spec).toBytes();
    }

    public static Replay decode(ByteReader in) {
      return new Replay(in.i64(), in.string(), in.rest());
    }
  }

  /** long at, string by. */
  record Discard(long at, String by) implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(32).i64(at).string(by).toBytes();
    }
  }

  /** long at, string by. */
  record Resume(long at, String by, boolean withParent) implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(32).i64(at).string(by);
      return (withParent ? out.u8(1) : out).toBytes();
    }

    public static Resume decode(ByteReader in) {
      return new Resume(in.i64(), in.string(), in.remaining() > 0 && in.u8() == 1);
    }
  }

  /**
   * varint revision, long at, string by, byte flags, long due if 1, byte priority if 2, schedule
   * and {@link ScheduleState} if 4, anew if 8.
   *
   * @param by who asked for it
   * @param due when the next attempt is due, null where that stays
   * @param priority null where it stays
   * @param schedule a recurring job's new schedule, with where it stands then
   * @param anew whether the next attempt is the first, with nothing saved
   */
  record Change(
      int revision,
      long at,
      String by,
      @Nullable Long due,
      @Nullable Integer priority,
      byte @Nullable [] schedule,
      @Nullable ScheduleState move,
      boolean anew)
      implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out =
          new ByteWriter(64)
              .varint(revision)
              .i64(at)
              .string(by)
              .u8(
                  (due != null ? 1 : 0)
                      | (priority != null ? 2 : 0)
                      | (move != null ? 4 : 0)
                      | (anew ? 8 : 0));
      if (due != null) {
        out.i64(due);
      }
      if (priority != null) {
        out.u8(priority);
      }
      if (schedule != null && move != null) {
        out.bytes(schedule);
        move.write(out);
      }
      return out.toBytes();
    }

    public static Change decode(ByteReader in) {
      int revision = (int) in.varint();
      long at = in.i64();
      String by = in.string();
      int flags = in.u8();
      return new Change(
          revision,
          at,
          by,
          (flags & 1) != 0 ? in.i64() : null,
          (flags & 2) != 0 ? in.i8() : null,
          (flags & 4) != 0 ? in.bytes() : null,
          (flags & 4) != 0 ? ScheduleState.read(in) : null,
          (flags & 8) != 0);
    }
  }

  /**
   * varint revision, long at, string by, byte flags, {@link ScheduleState} if 1, varint version if
   * 2, then the body of an add.
   *
   * @param move where a recurring job stands by its new schedule; null where it stays
   * @param version which version of the job it is about; null for whichever there is
   */
  record Update(
      int revision,
      long at,
      String by,
      @Nullable ScheduleState move,
      @Nullable Integer version,
      byte[] spec)
      implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out =
          new ByteWriter(64 + spec.length)
              .varint(revision)
              .i64(at)
              .string(by)
              .u8((move != null ? 1 : 0) | (version != null ? 2 : 0));
      if (move != null) {
        move.write(out);
      }
      if (version != null) {
        out.varint(version);
      }
      return out.raw(spec).toBytes();
    }

    public static Update decode(ByteReader in) {
      int revision = (int) in.varint();
      long at = in.i64();
      String by = in.string();
      int flags = in.u8();
      return new Update(
          revision,
          at,
          by,
          (flags & 1) != 0 ? ScheduleState.read(in) : null,
          (flags & 2) != 0 ? (int) in.varint() : null,
          in.rest());
    }
  }

  /** long at, {@link JobRef} waiter: of {@link Kind#WAITER} and {@link Kind#TOLD}. */
  record Waiter(long at, JobRef waiter) implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(40).i64(at);
      waiter.write(out);
      return out.toBytes();
    }

    static Waiter decode(ByteReader in) {
      return new Waiter(in.i64(), JobRef.read(in));
    }
  }

  /**
   * long at, {@link JobRef} job, byte state or 0.
   *
   * @param job the one that has ended
   * @param state how; null where nobody knows any more
   */
  record Met(long at, JobRef job, @Nullable JobState state) implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(40).i64(at);
      job.write(out);
      return out.u8(state != null ? state.code() : 0).toBytes();
    }

    public static Met decode(ByteReader in) {
      long at = in.i64();
      JobRef job = JobRef.read(in);
      int code = in.u8();
      return new Met(at, job, code == 0 ? null : JobState.ofCode(code));
    }
  }

  /**
   * long at, varint markers.
   *
   * @param markers how many start markers are left at most
   */
  record Clear(long at, int markers) implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(10).i64(at).varint(markers).toBytes();
    }

    static Clear decode(ByteReader in) {
      return new Clear(in.i64(), (int) in.varint());
    }
  }

  /**
   * varint attempt, varint revision, varint before, long at, then {@link HistoryEntry entries}.
   *
   * @param before how many entries the code of the workflow had made before these: a checkpoint of
   *     code that was left behind names another number
   */
  record Checkpoint(int attempt, int revision, int before, long at, List<HistoryEntry> entries)
      implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(64)
          .varint(attempt)
          .varint(revision)
          .varint(before)
          .i64(at)
          .raw(HistoryEntry.encode(entries))
          .toBytes();
    }

    public static Checkpoint decode(ByteReader in) {
      return new Checkpoint(
          (int) in.varint(),
          (int) in.varint(),
          (int) in.varint(),
          in.i64(),
          HistoryEntry.decode(in));
    }
  }

  /**
   * varint attempt, varint revision, varint before, long at, {@link WorkflowWait}.
   *
   * @param before as in {@link Checkpoint}
   */
  record Wait(int attempt, int revision, int before, long at, WorkflowWait waitFor)
      implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(48).varint(attempt).varint(revision).varint(before).i64(at);
      waitFor.write(out);
      return out.toBytes();
    }

    public static Wait decode(ByteReader in) {
      return new Wait(
          (int) in.varint(), (int) in.varint(), (int) in.varint(), in.i64(), WorkflowWait.read(in));
    }
  }

  /** long at, string type, string key, string by, then the payload. */
  record Signal(long at, String type, String key, String by, byte[] payload)
      implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(48 + payload.length)
          .i64(at)
          .string(type)
          .string(key)
          .string(by)
          .raw(payload)
          .toBytes();
    }

    public static Signal decode(ByteReader in) {
      return new Signal(in.i64(), in.string(), in.string(), in.string(), in.rest());
    }

    /** The same as its workflow sees it. */
    public HistoryEntry.Signalled entry() {
      return new HistoryEntry.Signalled(at, type, key, payload);
    }
  }

  /** long at, {@link JobRef} child, byte state, byte whether error, error, then the result. */
  record ChildEnded(long at, JobRef child, JobState state, @Nullable JobError error, byte[] result)
      implements OperationBody {
    @Override
    public byte[] encode() {
      ByteWriter out = new ByteWriter(64 + result.length).i64(at);
      child.write(out);
      out.u8(state.code()).u8(error != null ? 1 : 0);
      if (error != null) {
        writeError(out, error);
      }
      return out.raw(result).toBytes();
    }

    public static ChildEnded decode(ByteReader in) {
      return new ChildEnded(
          in.i64(),
          JobRef.read(in),
          JobState.ofCode(in.u8()),
          in.u8() != 0 ? readError(in) : null,
          in.rest());
    }

    /** The same as its workflow sees it, which started the child by this call. */
    public HistoryEntry.ChildEnded entry(int call) {
      return new HistoryEntry.ChildEnded(at, call, state, error, result);
    }
  }

  /** {@link HistoryEntry Entries} alone. */
  record History(List<HistoryEntry> entries) implements OperationBody {
    @Override
    public byte[] encode() {
      return HistoryEntry.encode(entries);
    }

    public static History decode(ByteReader in) {
      return new History(HistoryEntry.decode(in));
    }
  }

  /**
   * varint attempt, varint revision, varint before, long at, varint seen, {@link HistoryEntry
   * entries}, then the body of an add.
   *
   * @param before as in {@link Checkpoint}
   * @param seen how many entries its history has: with another one the code has to look again
   * @param unread signals that the code has not taken, with which the new history begins
   */
  record Renew(
      int attempt,
      int revision,
      int before,
      long at,
      int seen,
      List<HistoryEntry.Signalled> unread,
      byte[] spec)
      implements OperationBody {
    @Override
    public byte[] encode() {
      return new ByteWriter(32 + spec.length)
          .varint(attempt)
          .varint(revision)
          .varint(before)
          .i64(at)
          .varint(seen)
          .raw(HistoryEntry.encode(unread))
          .raw(spec)
          .toBytes();
    }

    public static Renew decode(ByteReader in) {
      return new Renew(
          (int) in.varint(),
          (int) in.varint(),
          (int) in.varint(),
          in.i64(),
          (int) in.varint(),
          HistoryEntry.decode(in).stream().map(HistoryEntry.Signalled.class::cast).toList(),
          in.rest());
    }
  }

  static void writeError(ByteWriter out, JobError error) {
    out.string(error.type()).string(error.message()).string(error.stack()).string(error.node());
  }

  static JobError readError(ByteReader in) {
    return new JobError(in.string(), in.string(), in.string(), in.string());
  }
}
