package dev.carillon.simulator;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Dependency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Report;
import dev.carillon.store.Entry;
import dev.carillon.store.ShardId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads journal entries as their format is documented, with code of its own: the checker must not
 * trust the reader it checks.
 */
final class JournalFormat {
  private static final int ADD = 1;
  private static final int START = 2;
  private static final int LEASE = 31;
  private static final int SAVE = 3;
  private static final int RETRY = 4;
  private static final int REPLACE = 5;
  private static final int CANCEL = 6;
  private static final int END = 7;
  private static final int CLEAR = 8;
  private static final int STATE = 9;
  private static final int NEXT = 10;
  private static final int AGAIN = 11;
  private static final int PAUSE = 12;
  private static final int RESUME = 13;
  private static final int CHANGE = 14;
  private static final int REPLAY = 15;
  private static final int DISCARD = 16;
  private static final int WAITER = 17;
  private static final int MET = 18;
  private static final int TOLD = 19;
  private static final int PAYLOAD = 20;
  private static final int UPDATE = 21;
  private static final int CHECKPOINT = 22;
  private static final int WAIT = 23;
  private static final int SIGNAL = 24;
  private static final int CHILD_ENDED = 25;
  private static final int HISTORY = 26;
  private static final int RENEW = 27;
  private static final int REPORT = 28;
  private static final int RESTORED = 29;

  /** Of a state: it is that of a workflow. */
  private static final int WORKFLOW = 256;

  private static final int FOOTER = 32;

  private JournalFormat() {}

  /** An operation as it stands in a journal. */
  sealed interface Op {
    long job();
  }

  record Add(long job, Spec spec) implements Op {}

  /** What several jobs of a snapshot carry; they name it by {@code job}, which is no job. */
  record Payload(long job, byte[] bytes) implements Op {}

  record Start(long job, int attempt, int revision, long at, long incarnation, boolean alone)
      implements Op {}

  /** A worker has the attempt, or gave it back where the length is 0. */
  record Leased(long job, int attempt, int revision, long at, Lease lease) implements Op {}

  /** By which a worker has an attempt. */
  record Lease(long nonce, long epoch, String worker, long started, long length) {}

  record Save(long job, int attempt, int revision, byte[] state) implements Op {}

  record Retry(
      long job,
      int attempt,
      int revision,
      long at,
      long startedAt,
      long nextTime,
      long jitter,
      String errorType)
      implements Op {}

  record Replace(long job, Spec spec) implements Op {}

  /**
   * A recurring job was declared again.
   *
   * @param move where it stands by its new schedule; null where it stays
   */
  record Update(long job, int revision, long at, @Nullable Move move, Spec spec) implements Op {}

  /**
   * It is asked to stop.
   *
   * @param demand 1 where its code is to compensate, 2 where it is to end without its code
   */
  record Cancel(long job, long at, String reason, int demand) implements Op {}

  /**
   * What only workflows have. Its bytes are read as the engine reads them: that they come back as
   * they were written is a test of their own, and what they mean is judged here.
   */
  record OfWorkflow(long job, OperationBody body) implements Op {}

  /** A workflow as a compaction found it; its history follows. */
  record WorkflowState(long job, int attempts, int revision, long due) implements Op {}

  record End(
      long job,
      JobState state,
      int attempt,
      int revision,
      long at,
      @Nullable String errorType,
      @Nullable String reason,
      byte[] result)
      implements Op {}

  record Clear(long job, int markers) implements Op {}

  /**
   * A recurring job moves on, or has occurrences as jobs of their own.
   *
   * @param outcome how the occurrence ended, null where it did not
   * @param move null where the schedule stays or is over
   */
  record Next(
      long job,
      int attempt,
      int revision,
      long at,
      long startedAt,
      @Nullable JobState outcome,
      @Nullable String errorType,
      @Nullable String reason,
      List<Child> children,
      @Nullable Move move,
      boolean over)
      implements Op {

    /** Whether the schedule stays where it is. */
    boolean stays() {
      return move == null && !over;
    }
  }

  /** An occurrence as a job of its own. */
  record Child(long number, long due, Occurrence occurrence) {}

  /** Which occurrence of which recurring job. */
  record Occurrence(long schedule, long number, long time, Overlap overlap) {}

  /** Where a recurring job stands. */
  record Move(long time, long jitter, long count, long missedUntil, int madeUp) {}

  record Again(long job, int attempt, int revision, long at, long due) implements Op {}

  /** {@code withParent}: since the workflow is paused that started the job. */
  record Pause(long job, String reason, boolean withParent) implements Op {}

  /** {@code withParent}: only if it was paused with the workflow that started it. */
  record Resume(long job, boolean withParent) implements Op {}

  record Change(
      long job,
      int revision,
      long at,
      @Nullable Long due,
      @Nullable Integer priority,
      @Nullable Schedule schedule,
      @Nullable Move move,
      boolean anew)
      implements Op {}

  /** A dead letter lives again. */
  record Replay(long job, long at, Spec spec) implements Op {}

  /** A dead workflow remembers what it was: its history follows. */
  record Restored(long job, int revision) implements Op {}

  /** What the code of a job reported of it. */
  record Reported(long job, Report.Recorded recorded) implements Op {}

  /** A dead letter is no longer kept. */
  record Discard(long job) implements Op {}

  /** Another job waits for the end of this one. */
  record Waiter(long job, JobRef waiter) implements Op {}

  /** A job that this one waits for has ended; null where nobody knows how. */
  record Met(long job, JobRef ended, @Nullable JobState state) implements Op {}

  /** A job that waited for the end of this one knows of it. */
  record Told(long job, JobRef waiter) implements Op {}

  /**
   * A job as a compaction found it.
   *
   * @param waiters the jobs that wait for it
   * @param met of each job that it waits for, in order, the code of its end; 0 while it has none
   */
  record State(
      long job,
      int attempts,
      int revision,
      long due,
      int priority,
      int markers,
      long markerIncarnation,
      boolean alone,
      long jitter,
      byte @Nullable [] saved,
      @Nullable String cancelReason,
      @Nullable String errorType,
      @Nullable Move move,
      @Nullable String pauseReason,
      List<JobRef> waiters,
      byte[] met,
      @Nullable Lease lease,
      int workersLost,
      Spec spec)
      implements Op {}

  /**
   * What an add or a replace carries.
   *
   * @param payload its bytes, or the number of the {@link Payload} that it shares
   */
  record Spec(
      long due,
      long accepted,
      int priority,
      long stampWriter,
      long stampSequence,
      String type,
      String namespace,
      String queue,
      @Nullable String name,
      @Nullable String key,
      Map<String, String> metadata,
      long timeout,
      long deadline,
      More more,
      byte[] payload,
      boolean sharesPayload) {

    /** That of an occurrence of this recurring job, as a job of its own. */
    Spec ofOccurrence(Child child, long at, int itsPriority) {
      return new Spec(
          child.due(),
          at,
          itsPriority,
          0,
          0,
          type,
          namespace,
          queue,
          null,
          null,
          metadata,
          timeout,
          0,
          new More(
              0, null, more.policy(), child.occurrence(), more.concurrency(), List.of(), List.of()),
          payload,
          false);
    }

    Spec withSchedule(Schedule schedule) {
      return new Spec(
          due,
          accepted,
          priority,
          stampWriter,
          stampSequence,
          type,
          namespace,
          queue,
          name,
          key,
          metadata,
          timeout,
          deadline,
          new More(
              more.first(),
              schedule,
              more.policy(),
              more.occurrence(),
              more.concurrency(),
              more.after(),
              more.waiters()),
          payload,
          false);
    }

    boolean named() {
      return name != null || key != null;
    }

    /** The key of the record that holds its name. */
    String recordKey() {
      return name != null ? "n\0" + namespace + "\0" + name : "k\0" + namespace + "\0" + key;
    }
  }

  /**
   * What few jobs have.
   *
   * @param first the time of the first occurrence, without jitter
   * @param after the jobs that it waits for
   * @param waiters the jobs that were added with it and wait for it
   */
  record More(
      long first,
      @Nullable Schedule schedule,
      @Nullable FailurePolicy policy,
      @Nullable Occurrence occurrence,
      @Nullable Concurrency concurrency,
      List<After> after,
      List<JobRef> waiters) {
    static final More NONE = new More(0, null, null, null, null, List.of(), List.of());
  }

  /** A job that another waits for, and how it must have ended. */
  record After(JobRef job, Dependency.Condition condition) {}

  static List<Op> read(byte[] entry) {
    List<Op> operations = new ArrayList<>();
    for (ByteBuffer frame : frames(entry)) {
      if (!isFooter(frame)) {
        operations.add(operation(frame));
      }
    }
    return operations;
  }

  /** Whether the entries end as those of a packed generation do. */
  static boolean isPacked(List<Entry> entries) {
    return !entries.isEmpty() && isFooter(frames(entries.getLast().data()).getFirst());
  }

  /** The operations of all entries, as they are written. */
  static List<ByteBuffer> operations(List<Entry> entries) {
    List<ByteBuffer> operations = new ArrayList<>();
    entries.forEach(entry -> operations.addAll(frames(entry.data())));
    operations.removeIf(JournalFormat::isFooter);
    return operations;
  }

  private static boolean isFooter(ByteBuffer frame) {
    return frame.get(0) == FOOTER;
  }

  private static List<ByteBuffer> frames(byte[] entry) {
    List<ByteBuffer> frames = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(entry);
    while (in.hasRemaining()) {
      int length = in.getInt();
      int checksum = in.getInt();
      CRC32C crc = new CRC32C();
      crc.update(entry, in.position(), length - 4);
      if ((int) crc.getValue() != checksum) {
        throw new Violation(Guarantee.HISTORY, "an entry's checksum does not fit its frame");
      }
      frames.add(in.slice(in.position(), length - 4));
      in.position(in.position() + length - 4);
    }
    return frames;
  }

  private static Op operation(ByteBuffer in) {
    int kind = in.get();
    int version = in.get();
    if (version != 1) {
      throw new Violation(Guarantee.HISTORY, "an operation of version " + version);
    }
    long job = in.getLong();
    return switch (kind) {
      case ADD -> new Add(job, spec(in));
      case START -> {
        int attempt = (int) varint(in);
        int revision = (int) varint(in);
        long at = in.getLong();
        yield new Start(job, attempt, revision, at, in.getLong(), in.get() == 1);
      }
      case LEASE -> {
        int attempt = (int) varint(in);
        int revision = (int) varint(in);
        yield new Leased(job, attempt, revision, in.getLong(), lease(in));
      }
      case SAVE -> {
        int attempt = (int) varint(in);
        int revision = (int) varint(in);
        in.getLong();
        yield new Save(job, attempt, revision, rest(in));
      }
      case RETRY -> {
        int attempt = (int) varint(in);
        int revision = (int) varint(in);
        long at = in.getLong();
        long startedAt = startedAt(in, at);
        long nextTime = in.getLong();
        yield new Retry(job, attempt, revision, at, startedAt, nextTime, varint(in), string(in));
      }
      case REPLACE -> {
        in.getLong();
        string(in);
        yield new Replace(job, spec(in));
      }
      case CANCEL -> {
        long at = in.getLong();
        string(in);
        yield new Cancel(job, at, string(in), in.get());
      }
      case END -> end(job, in);
      case CLEAR -> {
        in.getLong();
        yield new Clear(job, (int) varint(in));
      }
      case STATE -> isOfWorkflow(in) ? workflowState(job, in) : state(job, in);
      case NEXT -> next(job, in);
      case AGAIN -> {
        int attempt = (int) varint(in);
        int revision = (int) varint(in);
        long at = in.getLong();
        startedAt(in, at);
        yield new Again(job, attempt, revision, at, in.getLong());
      }
      case PAUSE -> {
        in.getLong();
        string(in);
        yield new Pause(job, string(in), in.hasRemaining() && in.get() == 1);
      }
      case RESUME -> {
        in.getLong();
        string(in);
        yield new Resume(job, in.hasRemaining() && in.get() == 1);
      }
      case CHANGE -> change(job, in);
      case REPLAY -> {
        long at = in.getLong();
        string(in);
        yield new Replay(job, at, spec(in));
      }
      case DISCARD -> new Discard(job);
      case WAITER -> {
        in.getLong();
        yield new Waiter(job, ref(in));
      }
      case MET -> {
        in.getLong();
        JobRef ended = ref(in);
        int code = in.get();
        yield new Met(job, ended, code == 0 ? null : JobState.ofCode(code));
      }
      case TOLD -> {
        in.getLong();
        yield new Told(job, ref(in));
      }
      case PAYLOAD -> new Payload(job, rest(in));
      case UPDATE -> {
        int revision = (int) varint(in);
        long at = in.getLong();
        string(in);
        int flags = in.get();
        Move move = (flags & 1) != 0 ? move(in) : null;
        if ((flags & 2) != 0) {
          varint(in); // nobody asks for a version here
        }
        yield new Update(job, revision, at, move, spec(in));
      }
      case CHECKPOINT -> new OfWorkflow(job, OperationBody.Checkpoint.decode(reader(in)));
      case WAIT -> new OfWorkflow(job, OperationBody.Wait.decode(reader(in)));
      case SIGNAL -> new OfWorkflow(job, OperationBody.Signal.decode(reader(in)));
      case CHILD_ENDED -> new OfWorkflow(job, OperationBody.ChildEnded.decode(reader(in)));
      case HISTORY -> new OfWorkflow(job, OperationBody.History.decode(reader(in)));
      case RENEW -> new OfWorkflow(job, OperationBody.Renew.decode(reader(in)));
      case RESTORED -> new Restored(job, (int) varint(in));
      case REPORT -> new Reported(job, Report.Recorded.decode(reader(in)));
      default -> throw new Violation(Guarantee.HISTORY, "an operation of unknown kind " + kind);
    };
  }

  private static ByteReader reader(ByteBuffer in) {
    return new ByteReader(rest(in));
  }

  private static boolean isOfWorkflow(ByteBuffer in) {
    ByteBuffer ahead = in.duplicate();
    varint(ahead);
    varint(ahead);
    ahead.getLong();
    return (varint(ahead) & WORKFLOW) != 0;
  }

  private static WorkflowState workflowState(long job, ByteBuffer in) {
    return new WorkflowState(job, (int) varint(in), (int) varint(in), in.getLong());
  }

  /** When an attempt started that ended at another time; the node that ran it follows. */
  private static long startedAt(ByteBuffer in, long at) {
    long zigzag = varint(in);
    long before = (zigzag & 1) == 0 ? zigzag >>> 1 : ~(zigzag >>> 1);
    string(in);
    return at - before;
  }

  private static End end(long job, ByteBuffer in) {
    JobState state = JobState.ofCode(in.get());
    int attempt = (int) varint(in);
    int revision = (int) varint(in);
    long at = in.getLong();
    if (attempt != 0) {
      startedAt(in, at);
    }
    int flags = in.get();
    String errorType = null;
    if ((flags & 1) != 0) {
      errorType = string(in);
      string(in);
      string(in);
      string(in);
    }
    String reason = (flags & 2) != 0 ? string(in) : null;
    if ((flags & 4) != 0) {
      string(in);
    }
    return new End(job, state, attempt, revision, at, errorType, reason, rest(in));
  }

  private static Next next(long job, ByteBuffer in) {
    int attempt = (int) varint(in);
    int revision = (int) varint(in);
    long at = in.getLong();
    long startedAt = attempt != 0 ? startedAt(in, at) : 0;
    int outcome = in.get();
    int flags = in.get();
    String errorType = null;
    if ((flags & 1) != 0) {
      errorType = string(in);
      string(in);
      string(in);
      string(in);
    }
    String reason = (flags & 2) != 0 ? string(in) : null;
    List<Child> children = new ArrayList<>();
    if ((flags & 4) != 0) {
      for (long n = varint(in); n > 0; n--) {
        children.add(new Child(in.getLong(), in.getLong(), occurrence(in)));
      }
    }
    return new Next(
        job,
        attempt,
        revision,
        at,
        startedAt,
        outcome == 0 ? null : JobState.ofCode(outcome),
        errorType,
        reason,
        children,
        (flags & 8) != 0 ? move(in) : null,
        (flags & 16) != 0);
  }

  private static Occurrence occurrence(ByteBuffer in) {
    return new Occurrence(in.getLong(), varint(in), in.getLong(), Overlap.ofCode(in.get()));
  }

  private static Move move(ByteBuffer in) {
    return new Move(in.getLong(), varint(in), varint(in), in.getLong(), (int) varint(in));
  }

  private static Change change(long job, ByteBuffer in) {
    int revision = (int) varint(in);
    long at = in.getLong();
    string(in);
    int flags = in.get();
    Long due = (flags & 1) != 0 ? in.getLong() : null;
    Integer priority = (flags & 2) != 0 ? (int) in.get() : null;
    Schedule schedule = (flags & 4) != 0 ? RulesFormat.schedule(ByteBuffer.wrap(bytes(in))) : null;
    return new Change(
        job,
        revision,
        at,
        due,
        priority,
        schedule,
        (flags & 4) != 0 ? move(in) : null,
        (flags & 8) != 0);
  }

  private static State state(long job, ByteBuffer in) {
    int attempts = (int) varint(in);
    int revision = (int) varint(in);
    long due = in.getLong();
    int flags = (int) varint(in);
    int priority = in.get();
    int markers = (int) varint(in);
    long incarnation = in.getLong();
    long jitter = varint(in);
    byte[] saved = null;
    if ((flags & 1) != 0) {
      saved = bytes(in);
    }
    String cancelReason = (flags & 2) != 0 ? string(in) : null;
    String errorType = null;
    if ((flags & 4) != 0) {
      errorType = string(in);
      string(in);
    }
    return new State(
        job,
        attempts,
        revision,
        due,
        priority,
        markers,
        incarnation,
        (flags & 8) != 0,
        jitter,
        saved,
        cancelReason,
        errorType,
        (flags & 16) != 0 ? move(in) : null,
        (flags & 32) != 0 ? string(in) : null,
        (flags & 128) != 0 ? refs(in) : List.of(),
        (flags & 64) != 0 ? bytes(in) : new byte[0],
        leaseBehindVersion(flags, in),
        (flags & 16384) != 0 ? (int) varint(in) : 0,
        spec(in));
  }

  /** Before the lease are the version of a definition and what the job reported, if anything. */
  private static @Nullable Lease leaseBehindVersion(int flags, ByteBuffer in) {
    if ((flags & 1024) != 0) {
      varint(in);
    }
    if ((flags & 2048) != 0) {
      skipReported(in);
    }
    return (flags & 8192) != 0 ? lease(in) : null;
  }

  private static void skipReported(ByteBuffer in) {
    int parts = in.get();
    in.getLong();
    string(in);
    if ((parts & 1) != 0) {
      varint(in);
      varint(in);
      varint(in);
      in.getLong();
    }
    if ((parts & 4) != 0) {
      varint(in);
      varint(in);
    }
  }

  private static Lease lease(ByteBuffer in) {
    long nonce = in.getLong();
    long epoch = in.getLong();
    String worker = string(in);
    long started = in.getLong();
    return new Lease(nonce, epoch, worker, started, varint(in));
  }

  /** What an add carries, or what has its form. */
  static Spec spec(byte[] body) {
    return spec(ByteBuffer.wrap(body));
  }

  private static Spec spec(ByteBuffer in) {
    int flags = in.get();
    long due = in.getLong();
    long accepted = in.getLong();
    int priority = in.get();
    boolean named = (flags & 3) != 0;
    long stampWriter = named ? in.getLong() : 0;
    long stampSequence = named ? in.getLong() : 0;
    String type = string(in);
    varint(in);
    boolean lane = (flags & 32) != 0;
    String namespace = lane ? string(in) : "default";
    String queue = lane ? string(in) : "default";
    String name = (flags & 1) != 0 ? string(in) : null;
    String key = (flags & 2) != 0 ? string(in) : null;
    Map<String, String> metadata = new LinkedHashMap<>();
    if ((flags & 4) != 0) {
      for (long pairs = varint(in); pairs > 0; pairs--) {
        metadata.put(string(in), string(in));
      }
    }
    long timeout = (flags & 8) != 0 ? varint(in) : 0;
    long deadline = (flags & 16) != 0 ? in.getLong() : 0;
    return new Spec(
        due,
        accepted,
        priority,
        stampWriter,
        stampSequence,
        type,
        namespace,
        queue,
        name,
        key,
        metadata,
        timeout,
        deadline,
        (flags & 64) != 0 ? more(in) : More.NONE,
        rest(in),
        (flags & 128) != 0);
  }

  private static More more(ByteBuffer in) {
    long mask = varint(in);
    long first = (mask & 1) != 0 ? in.getLong() : 0;
    Schedule schedule = (mask & 1) != 0 ? RulesFormat.schedule(ByteBuffer.wrap(bytes(in))) : null;
    FailurePolicy policy = (mask & 2) != 0 ? RulesFormat.policy(ByteBuffer.wrap(bytes(in))) : null;
    Occurrence occurrence = (mask & 4) != 0 ? occurrence(in) : null;
    Concurrency concurrency = (mask & 8) != 0 ? RulesFormat.concurrency(in) : null;
    List<After> after = new ArrayList<>();
    if ((mask & 16) != 0) {
      for (long n = varint(in); n > 0; n--) {
        after.add(new After(ref(in), Dependency.Condition.ofCode(in.get())));
      }
    }
    List<JobRef> waiters = (mask & 32) != 0 ? refs(in) : List.of();
    return new More(first, schedule, policy, occurrence, concurrency, after, waiters);
  }

  private static JobRef ref(ByteBuffer in) {
    return new JobRef(new ShardId(varint(in), in.getLong(), (int) varint(in)), in.getLong());
  }

  private static List<JobRef> refs(ByteBuffer in) {
    List<JobRef> refs = new ArrayList<>();
    for (long n = varint(in); n > 0; n--) {
      refs.add(ref(in));
    }
    return refs;
  }

  static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = in.get();
      value |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  static String string(ByteBuffer in) {
    return new String(bytes(in), StandardCharsets.UTF_8);
  }

  static byte[] bytes(ByteBuffer in) {
    byte[] bytes = new byte[(int) varint(in)];
    in.get(bytes);
    return bytes;
  }

  private static byte[] rest(ByteBuffer in) {
    byte[] bytes = new byte[in.remaining()];
    in.get(bytes);
    return bytes;
  }
}
