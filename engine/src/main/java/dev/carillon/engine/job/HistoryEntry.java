package dev.carillon.engine.job;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a workflow's event history, in the order of the job's journal. A replay runs the
 * handler again and answers each of its calls from these entries.
 *
 * <p>A <em>call</em> is the place of a call in the order of the code, from 1: the code that is run
 * again makes the same calls with the same numbers. Entries name what they answer by it. {@link
 * Signalled}, {@link ChildEnded} and {@link CancelRequested} come from outside; the code of the
 * workflow causes all others.
 *
 * <p>Layout: byte code, long at, then what the record lists. A call is written as varint branch
 * (always 0 today) and varint index.
 */
public sealed interface HistoryEntry {
  /** When it came to be, in microseconds since 1970, by the clock of the node that wrote it. */
  long at();

  /**
   * The workflow has begun.
   *
   * @param behaviour flags of how this version of the library numbers and orders calls
   * @param seed of its random numbers
   */
  record Begun(long at, int behaviour, long seed) implements HistoryEntry {}

  /**
   * A step has its result.
   *
   * @param attempt the try that succeeded, from 1
   * @param result encoded; empty for none
   */
  record StepDone(long at, int call, String name, int attempt, long startedAt, byte[] result)
      implements HistoryEntry {}

  /**
   * A try of a step failed.
   *
   * @param kinds the names of the error's class and its superclasses, the class first
   * @param nextAt when the next try is due; 0 where the step has failed for good
   */
  record StepFailed(
      long at,
      int call,
      String name,
      int attempt,
      long startedAt,
      JobError error,
      List<String> kinds,
      long nextAt)
      implements HistoryEntry {}

  /** A step that must not be repeated is about to run. */
  record StepBegun(long at, int call, String name, int attempt) implements HistoryEntry {}

  /** A timer is set. */
  record TimerSet(long at, int call, long dueAt) implements HistoryEntry {}

  /** A timer has fired: written before the code sees it. */
  record TimerFired(long at, int call) implements HistoryEntry {}

  /** The code waits, or will, for the next signal of a type. */
  record SignalAwaited(long at, int call, String type) implements HistoryEntry {}

  /** Which version of a change the code follows. */
  record VersionChosen(long at, int call, String change, int version) implements HistoryEntry {}

  /**
   * A child is scheduled, in the same entry of the journal.
   *
   * @param own false where another job takes its place, which has its name or key: that one does
   *     not end with the workflow
   */
  record ChildStarted(long at, int call, String type, JobRef child, boolean own)
      implements HistoryEntry {
    /** One that is the workflow's own. */
    public ChildStarted(long at, int call, String type, JobRef child) {
      this(at, call, type, child, true);
    }
  }

  /** A child has ended. */
  record ChildEnded(long at, int call, JobState state, @Nullable JobError error, byte[] result)
      implements HistoryEntry {}

  /** A signal has arrived. */
  record Signalled(long at, String type, String key, byte[] payload) implements HistoryEntry {}

  /** Somebody asked the job to stop. */
  record CancelRequested(long at, String reason) implements HistoryEntry {}

  /** The job will end so; from here on only compensations run. */
  record GivenUp(long at, JobState state, @Nullable String reason, @Nullable JobError error)
      implements HistoryEntry {}

  /** Writes the entry. */
  default void write(ByteWriter out) {
    switch (this) {
      case Begun e -> head(out, 1).varint(e.behaviour).i64(e.seed);
      case StepDone e ->
          call(head(out, 2), e.call)
              .string(e.name)
              .varint(e.attempt)
              .i64(e.startedAt)
              .bytes(e.result);
      case StepFailed e -> {
        call(head(out, 3), e.call).string(e.name).varint(e.attempt).i64(e.startedAt);
        writeError(out, e.error);
        out.varint(e.kinds.size());
        e.kinds.forEach(out::string);
        out.i64(e.nextAt);
      }
      case StepBegun e -> call(head(out, 4), e.call).string(e.name).varint(e.attempt);
      case TimerSet e -> call(head(out, 5), e.call).i64(e.dueAt);
      case TimerFired e -> call(head(out, 6), e.call);
      case SignalAwaited e -> call(head(out, 7), e.call).string(e.type);
      case VersionChosen e -> call(head(out, 8), e.call).string(e.change).varint(e.version);
      case ChildStarted e -> {
        call(head(out, 9), e.call).string(e.type);
        e.child.write(out);
        out.u8(e.own ? 1 : 0);
      }
      case ChildEnded e -> {
        call(head(out, 10), e.call).u8(e.state.code());
        writeOptionalError(out, e.error);
        out.bytes(e.result);
      }
      case Signalled e -> head(out, 11).string(e.type).string(e.key).bytes(e.payload);
      case CancelRequested e -> head(out, 12).string(e.reason);
      case GivenUp e -> {
        head(out, 13).u8(e.state.code()).u8(e.reason != null ? 1 : 0);
        if (e.reason != null) {
          out.string(e.reason);
        }
        writeOptionalError(out, e.error);
      }
    }
  }

  private ByteWriter head(ByteWriter out, int code) {
    return out.u8(code).i64(at());
  }

  private static ByteWriter call(ByteWriter out, int call) {
    return out.varint(0).varint(call);
  }

  /** Reads an entry. */
  static HistoryEntry read(ByteReader in) {
    int code = in.u8();
    long at = in.i64();
    return switch (code) {
      case 1 -> new Begun(at, (int) in.varint(), in.i64());
      case 2 ->
          new StepDone(at, readCall(in), in.string(), (int) in.varint(), in.i64(), in.bytes());
      case 3 ->
          new StepFailed(
              at,
              readCall(in),
              in.string(),
              (int) in.varint(),
              in.i64(),
              readError(in),
              readKinds(in),
              in.i64());
      case 4 -> new StepBegun(at, readCall(in), in.string(), (int) in.varint());
      case 5 -> new TimerSet(at, readCall(in), in.i64());
      case 6 -> new TimerFired(at, readCall(in));
      case 7 -> new SignalAwaited(at, readCall(in), in.string());
      case 8 -> new VersionChosen(at, readCall(in), in.string(), (int) in.varint());
      case 9 -> new ChildStarted(at, readCall(in), in.string(), JobRef.read(in), in.u8() != 0);
      case 10 ->
          new ChildEnded(
              at, readCall(in), JobState.ofCode(in.u8()), readOptionalError(in), in.bytes());
      case 11 -> new Signalled(at, in.string(), in.string(), in.bytes());
      case 12 -> new CancelRequested(at, in.string());
      case 13 ->
          new GivenUp(
              at,
              JobState.ofCode(in.u8()),
              in.u8() != 0 ? in.string() : null,
              readOptionalError(in));
      default ->
          throw new UnknownFormatException(
              "history entry: code " + code + " (expected: one this version reads)");
    };
  }

  private static int readCall(ByteReader in) {
    long branch = in.varint();
    if (branch != 0) {
      throw new UnknownFormatException("history entry: branch " + branch + " (expected: 0)");
    }
    return (int) in.varint();
  }

  private static List<String> readKinds(ByteReader in) {
    int size = in.length();
    List<String> kinds = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      kinds.add(in.string());
    }
    return List.copyOf(kinds);
  }

  private static void writeError(ByteWriter out, JobError error) {
    out.string(error.type()).string(error.message()).string(error.stack()).string(error.node());
  }

  private static JobError readError(ByteReader in) {
    return new JobError(in.string(), in.string(), in.string(), in.string());
  }

  private static void writeOptionalError(ByteWriter out, @Nullable JobError error) {
    out.u8(error != null ? 1 : 0);
    if (error != null) {
      writeError(out, error);
    }
  }

  private static @Nullable JobError readOptionalError(ByteReader in) {
    return in.u8() != 0 ? readError(in) : null;
  }

  /** The number of the call that it answers; 0 where it is news, or of the whole. */
  default int call() {
    return 0;
  }

  /** How many bytes it takes where it is written. */
  default int bytes() {
    return encode().length;
  }

  /** The entry alone. */
  default byte[] encode() {
    ByteWriter out = new ByteWriter(64);
    write(out);
    return out.toBytes();
  }

  /** The entry that {@link #encode()} wrote. */
  static HistoryEntry decode(byte[] entry) {
    return read(new ByteReader(entry));
  }

  /** The entries, one behind the other. */
  static byte[] encode(List<? extends HistoryEntry> entries) {
    ByteWriter out = new ByteWriter(64 * entries.size());
    out.varint(entries.size());
    entries.forEach(entry -> entry.write(out));
    return out.toBytes();
  }

  /** The entries that {@link #encode} wrote. */
  static List<HistoryEntry> decode(ByteReader in) {
    int size = in.length();
    List<HistoryEntry> entries = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      entries.add(read(in));
    }
    return entries;
  }

  /** How many entries {@link #encode} wrote; they are left unread. */
  static int count(ByteReader in) {
    return in.length();
  }
}
