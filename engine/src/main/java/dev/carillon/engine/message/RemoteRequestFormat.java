package dev.carillon.engine.message;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobEdit;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.engine.job.Why;
import dev.carillon.store.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests between nodes, and what is answered, as bytes. Codes are persisted. */
public final class RemoteRequestFormat {
  private static final int VERSION = 1;

  private RemoteRequestFormat() {}

  public static byte[] encode(RemoteRequest request) {
    ByteWriter out = new ByteWriter(64).u8(VERSION);
    switch (request) {
      case RemoteRequest.Cancel(JobRef job, Why why) -> why.write(begin(out, 1, job));
      case RemoteRequest.Pause(JobRef job, Why why, boolean now, boolean withParent) ->
          why.write(begin(out, 2, job).u8(now ? 1 : 0).u8(withParent ? 1 : 0));
      case RemoteRequest.Resume(JobRef job, String by, boolean withParent) ->
          begin(out, 3, job).string(by).u8(withParent ? 1 : 0);
      case RemoteRequest.Move(JobRef job, String by, long due) ->
          begin(out, 4, job).string(by).i64(due);
      case RemoteRequest.Reschedule(JobRef job, String by, byte[] schedule) ->
          begin(out, 5, job).string(by).raw(schedule);
      case RemoteRequest.Prioritise(JobRef job, String by, int priority) ->
          begin(out, 6, job).string(by).i64(priority);
      case RemoteRequest.Trigger(JobRef job) -> begin(out, 7, job);
      case RemoteRequest.Backfill(JobRef job, long from, long to) ->
          begin(out, 8, job).i64(from).i64(to);
      case RemoteRequest.Replay(JobRef job, String by, JobEdit edit) ->
          edit(begin(out, 9, job).string(by), edit);
      case RemoteRequest.Discard(JobRef job, String by) -> begin(out, 10, job).string(by);
      case RemoteRequest.Look(JobRef job) -> begin(out, 11, job);
      case RemoteRequest.Replace replace -> replace(begin(out, 12, replace.job()), replace);
      case RemoteRequest.Await(JobRef job, JobRef waiter) -> waiter.write(begin(out, 13, job));
      case RemoteRequest.Tell(JobRef job, JobRef ended, JobState state, byte[] end) -> {
        begin(out, 14, job).u8(state == null ? 0 : state.code());
        ended.write(out);
        out.raw(end);
      }
      case RemoteRequest.Signal(JobRef job, String type, String key, String by, byte[] payload) ->
          begin(out, 15, job).string(type).string(key).string(by).raw(payload);
      case RemoteRequest.Terminate(JobRef job, Why why) -> why.write(begin(out, 16, job));
    }
    return out.toBytes();
  }

  private static ByteWriter begin(ByteWriter out, int kind, JobRef job) {
    out.u8(kind);
    job.write(out);
    return out;
  }

  private static void replace(ByteWriter out, RemoteRequest.Replace replace) {
    Integer version = replace.version();
    out.string(replace.by()).u8((replace.update() ? 1 : 0) | (version != null ? 2 : 0));
    if (version != null) {
      out.varint(version);
    }
    out.raw(replace.body());
  }

  private static RemoteRequest.Replace readReplace(JobRef job, ByteReader in) {
    String by = in.string();
    int flags = in.u8();
    Integer version = (flags & 2) != 0 ? (int) in.varint() : null;
    return new RemoteRequest.Replace(job, by, (flags & 1) != 0, version, in.rest());
  }

  private static void edit(ByteWriter out, @Nullable JobEdit edit) {
    out.u8(edit == null ? 0 : 1);
    if (edit != null) {
      out.string(edit.type()).varint(edit.version()).raw(edit.payload());
    }
  }

  private static RemoteRequest pause(JobRef job, ByteReader in) {
    boolean now = in.u8() == 1;
    boolean withParent = in.u8() == 1;
    return new RemoteRequest.Pause(job, Why.read(in), now, withParent);
  }

  public static RemoteRequest decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    in.requireVersion("request", VERSION);
    int kind = in.u8();
    JobRef job = JobRef.read(in);
    return switch (kind) {
      case 1 -> new RemoteRequest.Cancel(job, Why.read(in));
      case 2 -> pause(job, in);
      case 3 -> new RemoteRequest.Resume(job, in.string(), in.u8() == 1);
      case 4 -> new RemoteRequest.Move(job, in.string(), in.i64());
      case 5 -> new RemoteRequest.Reschedule(job, in.string(), in.rest());
      case 6 -> new RemoteRequest.Prioritise(job, in.string(), (int) in.i64());
      case 7 -> new RemoteRequest.Trigger(job);
      case 8 -> new RemoteRequest.Backfill(job, in.i64(), in.i64());
      case 9 -> new RemoteRequest.Replay(job, in.string(), readEdit(in));
      case 10 -> new RemoteRequest.Discard(job, in.string());
      case 11 -> new RemoteRequest.Look(job);
      case 12 -> readReplace(job, in);
      case 13 -> new RemoteRequest.Await(job, JobRef.read(in));
      case 14 -> {
        int state = in.u8();
        yield new RemoteRequest.Tell(
            job, JobRef.read(in), state == 0 ? null : JobState.ofCode(state), in.rest());
      }
      case 15 -> new RemoteRequest.Signal(job, in.string(), in.string(), in.string(), in.rest());
      case 16 -> new RemoteRequest.Terminate(job, Why.read(in));
      default -> throw new UnknownFormatException("request: kind " + kind + " (expected: 1 to 16)");
    };
  }

  private static @Nullable JobEdit readEdit(ByteReader in) {
    return in.u8() == 0 ? null : new JobEdit(in.string(), (int) in.varint(), in.rest());
  }

  // ---- answers

  /** byte 0, then the value; or byte 1 unavailable, 2 unknown, 3 damaged, 4 full, string why. */
  public static byte[] encode(Outcome<byte[]> answer) {
    return switch (answer) {
      case Outcome.Ok<byte[]>(byte[] value) ->
          new ByteWriter(1 + value.length).u8(0).raw(value).toBytes();
      case Outcome.Unavailable<byte[]>(String why) -> problem(1, why);
      case Outcome.Unknown<byte[]>(String why) -> problem(2, why);
      case Outcome.Damaged<byte[]>(String why) -> problem(3, why);
      case Outcome.Full<byte[]>(String why) -> problem(4, why);
      default -> problem(1, answer.toString());
    };
  }

  private static byte[] problem(int code, String why) {
    return new ByteWriter(16 + why.length()).u8(code).string(why).toBytes();
  }

  public static Outcome<byte[]> decodeAnswer(ByteReader in) {
    int code = in.u8();
    return switch (code) {
      case 0 -> Outcome.ok(in.rest());
      case 1 -> new Outcome.Unavailable<>(in.string());
      case 2 -> new Outcome.Unknown<>(in.string());
      case 3 -> new Outcome.Damaged<>(in.string());
      case 4 -> new Outcome.Full<>(in.string());
      default -> throw new UnknownFormatException("answer: code " + code + " (expected: 0 to 4)");
    };
  }

  public static byte[] encode(CancelResult result) {
    return switch (result) {
      case CancelResult.Cancelled cancelled -> new byte[] {1};
      case CancelResult.Stopping stopping -> new byte[] {2};
      case CancelResult.Ended(JobState state) -> new byte[] {3, (byte) state.code()};
      case CancelResult.NotFound none -> new byte[] {4};
    };
  }

  public static CancelResult cancelResult(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    int code = in.u8();
    return switch (code) {
      case 1 -> new CancelResult.Cancelled();
      case 2 -> new CancelResult.Stopping();
      case 3 -> new CancelResult.Ended(JobState.ofCode(in.u8()));
      case 4 -> new CancelResult.NotFound();
      default -> throw new UnknownFormatException("cancel: code " + code + " (expected: 1 to 4)");
    };
  }

  private static final List<ControlResult> CONTROL_CODES =
      List.of(
          ControlResult.DONE,
          ControlResult.RUNNING,
          ControlResult.ENDED,
          ControlResult.NOT_FOUND,
          ControlResult.NOT_RECURRING,
          ControlResult.NO_TIME_LEFT,
          ControlResult.NOT_DEAD,
          ControlResult.OTHER_TYPE,
          ControlResult.TOO_MANY,
          ControlResult.NOT_RESUMABLE);

  public static byte[] encode(ControlResult result) {
    return new byte[] {(byte) CONTROL_CODES.indexOf(result)};
  }

  public static ControlResult controlResult(byte[] bytes) {
    int code = bytes[0];
    if (code < 0 || code >= CONTROL_CODES.size()) {
      throw new UnknownFormatException("control: code " + code + " (expected: one known here)");
    }
    return CONTROL_CODES.get(code);
  }

  private static final List<SignalResult> SIGNAL_CODES =
      List.of(
          SignalResult.DONE,
          SignalResult.TAKEN_BEFORE,
          SignalResult.TOO_MANY,
          SignalResult.ENDED,
          SignalResult.NOT_FOUND);

  public static byte[] encode(SignalResult result) {
    return new byte[] {(byte) SIGNAL_CODES.indexOf(result)};
  }

  public static SignalResult signalResult(byte[] bytes) {
    int code = bytes[0];
    if (code < 0 || code >= SIGNAL_CODES.size()) {
      throw new UnknownFormatException("signal: code " + code + " (expected: one known here)");
    }
    return SIGNAL_CODES.get(code);
  }

  /** What came of occurrences beyond the schedule: byte 1 and the jobs, or byte 0 and why not. */
  public static byte[] encodeAdded(List<JobRef> jobs) {
    ByteWriter out = new ByteWriter(16 + jobs.size() * JobRef.MAX_BYTES).u8(1);
    JobRef.writeAll(jobs, out);
    return out.toBytes();
  }

  public static byte[] encodeNotAdded(ControlResult why) {
    return new byte[] {0, encode(why)[0]};
  }

  public static void readAdded(byte[] bytes, OccurrencesAdded answer) {
    ByteReader in = new ByteReader(bytes);
    if (in.u8() == 1) {
      answer.added(JobRef.readAll(in));
    } else {
      answer.refused(Outcome.ok(controlResult(in.rest())));
    }
  }
}
