package dev.carillon.engine;

import dev.carillon.api.JobState;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of a shard: what its operations, applied in journal order, have made of it. Total and
 * pure: every operation yields an answer, one that no longer fits changes nothing and says so.
 * Replay, the live path, queries and the simulator all go through here.
 */
final class ShardFold {
  private static final int REMEMBERED_MESSAGE_CHARS = 200;

  private static final byte[] NOTHING = {};

  private final LongMap<ShardJob> live = new LongMap<>();
  private final Map<String, String> words = new HashMap<>();
  private final @Nullable String[] recentWords = new @Nullable String[8];
  private Listener listener;
  private @Nullable ShardJob met;
  private long position;
  private long added;
  private long addedBytes;
  private long lastEndMicros;
  private long liveBytes;
  private int dead;
  private int failed;
  private int keyed;

  /** Told of jobs as they leave the fold. */
  interface Listener {
    /** {@code job} has ended by {@code end}. */
    void ended(ShardJob job, Body.End end);
  }

  ShardFold(Listener listener) {
    this.listener = listener;
  }

  /** How an operation met the state. */
  enum Answer {
    APPLIED,
    /** The job has ended, or never was. */
    NO_SUCH_JOB,
    /** It comes from an attempt or a revision that is no longer the job's. */
    STALE,
    /** An add of a number that is there already. */
    DUPLICATE
  }

  LongMap<ShardJob> live() {
    return live;
  }

  @Nullable ShardJob job(long number) {
    return live.get(number);
  }

  /** The job that the last operation met, added or ended; null where there was none. */
  @Nullable ShardJob met() {
    return met;
  }

  /** All jobs ever added, also those that ended. */
  long added() {
    return added;
  }

  long addedBytes() {
    return addedBytes;
  }

  /** When its last job ended, 0 if none did. */
  long lastEndMicros() {
    return lastEndMicros;
  }

  /** How many of its jobs ended as {@link JobState#DEAD}. */
  int dead() {
    return dead;
  }

  /** How many of its jobs ended as {@link JobState#FAILED}. */
  int failed() {
    return failed;
  }

  /** How many of its ended jobs had an idempotency key. */
  int keyed() {
    return keyed;
  }

  /** About what a compaction would keep of its live jobs. */
  long liveBytes() {
    return liveBytes;
  }

  /** From now on {@code next} is told. */
  void listener(Listener next) {
    listener = next;
  }

  Answer apply(Frame frame) {
    return switch (frame.kind()) {
      case ADD -> {
        byte[] body = frame.body();
        yield add(frame.job(), JobSpec.decodeHead(body), body);
      }
      case STATE -> state(frame);
      default -> {
        ShardJob job = live.get(frame.job());
        met = job;
        yield job == null ? Answer.NO_SUCH_JOB : change(job, frame);
      }
    };
  }

  /** Applies an add whose spec is at hand. */
  Answer add(long number, JobSpec spec, byte[] body) {
    met = live.get(number);
    if (met != null) {
      return Answer.DUPLICATE;
    }
    put(new ShardJob(number, spec, body, this::intern));
    return Answer.APPLIED;
  }

  private String intern(String word) {
    int place = word.hashCode() & recentWords.length - 1;
    String recent = recentWords[place];
    if (word.equals(recent)) {
      return recent;
    }
    String known = internNew(word);
    recentWords[place] = known;
    return known;
  }

  private String internNew(String word) {
    String known = words.putIfAbsent(word, word);
    return known != null ? known : word;
  }

  /** The entry that the next operations stand in. */
  void at(long entryNumber) {
    position = entryNumber;
  }

  /** The body of a job as {@code frame} brings it; empty where it brings none. */
  static byte[] bodyIn(Frame frame) {
    return switch (frame.kind()) {
      case ADD -> frame.body();
      case REPLACE -> Body.Replace.decode(frame.reader()).spec();
      case STATE -> {
        ShardFold one = new ShardFold((job, end) -> {});
        one.apply(frame);
        ShardJob job = one.job(frame.job());
        yield job != null ? job.body() : NOTHING;
      }
      case START, SAVE, RETRY, CANCEL, END, CLEAR -> NOTHING;
    };
  }

  private void put(ShardJob job) {
    met = job;
    job.position = position;
    live.put(job.number, job);
    liveBytes += job.bytes();
    added++;
    addedBytes += job.bodyBytes + Frame.HEADER_BYTES;
  }

  private Answer change(ShardJob job, Frame frame) {
    ByteReader in = frame.reader();
    return switch (frame.kind()) {
      case START -> start(job, Body.Start.decode(in));
      case SAVE -> save(job, Body.Save.decode(in));
      case RETRY -> retry(job, Body.Retry.decode(in));
      case REPLACE -> replace(job, Body.Replace.decode(in));
      case CANCEL -> cancel(job, Body.Cancel.decode(in));
      case END -> end(job, Body.End.decode(in));
      case CLEAR -> clear(job, Body.Clear.decode(in).markers());
      case ADD, STATE -> throw new IllegalStateException("kind: " + frame.kind());
    };
  }

  private static boolean current(ShardJob job, int attempt, int revision) {
    return attempt == job.attempts + 1 && revision == job.revision;
  }

  private static Answer start(ShardJob job, Body.Start start) {
    if (!current(job, start.attempt(), start.revision())) {
      return Answer.STALE;
    }
    ShardJob.Rare rare = job.rare();
    if (rare.markers == 0 || rare.markerIncarnation != start.incarnation()) {
      rare.markers++; // else the same node goes on, so the start before was cut off by no crash
    }
    rare.alone = start.alone();
    rare.markerIncarnation = start.incarnation();
    return Answer.APPLIED;
  }

  private Answer save(ShardJob job, Body.Save save) {
    if (!current(job, save.attempt(), save.revision())) {
      return Answer.STALE;
    }
    liveBytes -= job.bytes();
    job.rare().saved = save.state();
    liveBytes += job.bytes();
    return Answer.APPLIED;
  }

  private static Answer retry(ShardJob job, Body.Retry retry) {
    if (!current(job, retry.attempt(), retry.revision())) {
      return Answer.STALE;
    }
    job.attempts = retry.attempt();
    job.dueMicros = retry.nextDue();
    clear(job, 0);
    ShardJob.Rare rare = job.rare();
    rare.lastErrorType = retry.error().type();
    String message = retry.error().message();
    rare.lastErrorMessage =
        message.length() <= REMEMBERED_MESSAGE_CHARS
            ? message
            : message.substring(0, REMEMBERED_MESSAGE_CHARS);
    return Answer.APPLIED;
  }

  private Answer replace(ShardJob job, Body.Replace replace) {
    JobSpec spec = JobSpec.decodeHead(replace.spec());
    liveBytes -= job.bytes();
    job.queue = intern(spec.queue());
    job.replaceBody(replace.spec());
    job.position = position;
    job.dueMicros = spec.dueMicros();
    job.priority = (byte) spec.priority();
    job.revision++;
    job.attempts = 0;
    job.rare = null;
    liveBytes += job.bytes();
    return Answer.APPLIED;
  }

  private static Answer cancel(ShardJob job, Body.Cancel cancel) {
    if (!job.cancelRequested()) {
      job.rare().cancelReason = cancel.reason();
    }
    return Answer.APPLIED;
  }

  private static Answer clear(ShardJob job, int markersLeft) {
    ShardJob.Rare rare = job.rare;
    if (rare != null) {
      rare.markers = Math.min(rare.markers, markersLeft);
      rare.alone = false;
      rare.markerIncarnation = 0;
      if (rare.isEmpty()) {
        job.rare = null;
      }
    }
    return Answer.APPLIED;
  }

  /** Applies an end whose body is at hand. */
  Answer end(long number, Body.End end) {
    met = live.get(number);
    return met == null ? Answer.NO_SUCH_JOB : end(met, end);
  }

  private Answer end(ShardJob job, Body.End end) {
    if (!end.state().ended()) {
      throw new DamagedException("end: state " + end.state() + " (expected: one that has ended)");
    }
    boolean byAttempt = end.attempt() != 0;
    if (byAttempt && !current(job, end.attempt(), end.revision())) {
      return Answer.STALE;
    }
    live.remove(job.number);
    if (byAttempt) {
      job.attempts = end.attempt();
    }
    lastEndMicros = Math.max(lastEndMicros, end.at());
    liveBytes -= job.bytes();
    dead += end.state() == JobState.DEAD ? 1 : 0;
    failed += end.state() == JobState.FAILED ? 1 : 0;
    keyed += job.has(JobSpec.KEYED) ? 1 : 0;
    listener.ended(job, end);
    return Answer.APPLIED;
  }

  /** A job's whole state, for compaction: what {@link #state} reads back. */
  static Frame stateOf(ShardJob job) {
    ShardJob.Rare rare = job.rare != null ? job.rare : new ShardJob.Rare();
    ByteWriter out =
        new ByteWriter(64 + job.body().length)
            .varint(job.attempts)
            .varint(job.revision)
            .i64(job.dueMicros)
            .u8(
                (rare.saved != null ? 1 : 0)
                    | (rare.cancelReason != null ? 2 : 0)
                    | (rare.lastErrorType != null ? 4 : 0)
                    | (rare.alone ? 8 : 0))
            .varint(rare.markers)
            .i64(rare.markerIncarnation);
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
    return Frame.of(Kind.STATE, job.number, out.raw(job.body()).toBytes());
  }

  private Answer state(Frame frame) {
    met = live.get(frame.job());
    if (met != null) {
      return Answer.DUPLICATE;
    }
    ByteReader in = frame.reader();
    int attempts = (int) in.varint();
    int revision = (int) in.varint();
    long due = in.i64();
    int flags = in.u8();
    ShardJob.Rare rare = new ShardJob.Rare();
    rare.markers = (int) in.varint();
    rare.markerIncarnation = in.i64();
    rare.alone = (flags & 8) != 0;
    if ((flags & 1) != 0) {
      rare.saved = in.bytes();
    }
    if ((flags & 2) != 0) {
      rare.cancelReason = in.string();
    }
    if ((flags & 4) != 0) {
      rare.lastErrorType = in.string();
      rare.lastErrorMessage = in.string();
    }
    byte[] body = in.rest();
    ShardJob job = new ShardJob(frame.job(), JobSpec.decodeHead(body), body, this::intern);
    job.attempts = attempts;
    job.revision = revision;
    job.dueMicros = due;
    job.rare = rare.isEmpty() ? null : rare;
    put(job);
    return Answer.APPLIED;
  }
}
