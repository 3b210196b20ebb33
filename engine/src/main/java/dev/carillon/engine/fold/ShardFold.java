package dev.carillon.engine.fold;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.LongMap;
import dev.carillon.engine.job.Debt;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.ScheduleState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The state of a shard: what its operations, applied in journal order, have made of it. Total and
 * pure: every operation yields an answer, one that no longer fits changes nothing and says so.
 * Replay, the live path, queries and the simulator all go through here.
 */
public final class ShardFold<J extends FoldedJob> {
  private static final int REMEMBERED_MESSAGE_CHARS = 200;

  /** The result of a child is remembered until its workflow has it, unless it is larger. */
  private static final int REMEMBERED_RESULT_BYTES = 4 << 10;

  private static final byte[] NOTHING = {};

  private final LongMap<J> live = new LongMap<>();
  private final Map<String, String> words = new LinkedHashMap<>();
  private final @Nullable String[] recentWords = new @Nullable String[8];
  private final Maker<J> maker;
  private Listener<J> listener;
  private @Nullable J met;
  private final List<J> spawned = new ArrayList<>(0);

  /** Live occurrences of recurring jobs that are jobs of their own, oldest first. */
  private final LongMap<List<J>> occurrences = new LongMap<>();

  private final FoldPosition position = new FoldPosition();
  private final FoldedBytes bytes = new FoldedBytes();
  private final WorkflowFold<J> workflows;
  private long added;
  private long lastEndMicros;
  private LongMap<Boolean> dead = new LongMap<>();

  /** What a compaction wrote once for several jobs, by its number. */
  private final LongMap<FoldedJob.Payload> payloads = new LongMap<>();

  private final Map<Owed, Debt> debts = new LinkedHashMap<>();
  private int failed;
  private int keyed;
  private OldestEnds oldestEnds = new OldestEnds();

  private record Owed(long number, JobRef waiter) {}

  /** Told of jobs as they leave the fold. */
  public interface Listener<J extends FoldedJob> {
    /** {@code job} has ended by {@code end}. */
    void ended(J job, OperationBody.End end);

    /**
     * A recurring job has run one of its occurrences itself, which ended by {@code next}: not as a
     * dead letter, for that is a job of its own. {@code job} still stands at that occurrence.
     */
    default void occurred(J job, OperationBody.Next next) {}

    /** The history of a workflow has an entry more, its {@code count}th. */
    default void recorded(J job, int count, HistoryEntry entry) {}

    /** A workflow has begun anew: what was recorded before is none of its history any more. */
    default void renewed(J job) {}
  }

  /** Makes the jobs of a fold. */
  public interface Maker<J extends FoldedJob> {
    /** A job by its spec, whose words are shared through {@code intern}. */
    J make(long number, JobSpec spec, byte[] body, UnaryOperator<String> intern);
  }

  public ShardFold(Maker<J> maker, Listener<J> listener) {
    this.maker = maker;
    this.listener = listener;
    this.workflows = new WorkflowFold<>(position, bytes, listener);
  }

  /** How an operation met the state. */
  public enum Answer {
    APPLIED,
    /** The job has ended, or never was. */
    NO_SUCH_JOB,
    /** It comes from an attempt or a revision that is no longer the job's. */
    STALE,
    /** An add of a number that is there already, or a signal whose key was taken before. */
    DUPLICATE,
    /** A signal to a workflow that has too many which it has not read. */
    FULL
  }

  public LongMap<J> live() {
    return live;
  }

  public @Nullable J job(long number) {
    return live.get(number);
  }

  /** The job that the last operation met, added or ended; null where there was none. */
  public @Nullable J met() {
    return met;
  }

  /** The occurrences that the last operation made live jobs of their own. */
  public List<J> spawned() {
    return spawned;
  }

  /** The live occurrences of a recurring job that are jobs of their own, oldest first. */
  public List<J> occurrences(long schedule) {
    List<J> found = occurrences.get(schedule);
    return found != null ? found : List.of();
  }

  /** All jobs ever added, also those that ended. */
  public long added() {
    return added;
  }

  public long addedBytes() {
    return bytes.added;
  }

  /** When its last job or occurrence ended, 0 if none did. */
  public long lastEndMicros() {
    return lastEndMicros;
  }

  /** How many of its jobs are dead letters. */
  public int dead() {
    return dead.size();
  }

  /** The news that others have not got yet. */
  public Collection<Debt> debts() {
    return debts.values();
  }

  /** Whether the job is a dead letter. */
  public boolean isDead(long number) {
    return dead.get(number) != null;
  }

  /** How many of its jobs ended as {@link JobState#FAILED}. */
  public int failed() {
    return failed;
  }

  /** How many of its ended jobs had an idempotency key. */
  public int keyed() {
    return keyed;
  }

  /** When the oldest of what it tells of the past took place. */
  public OldestEnds oldestEnds() {
    return oldestEnds;
  }

  /**
   * A compaction left no more of the past than {@code left}: a dead letter that is not among the
   * {@code ended} is none any more, as it is for whoever reads the new generation.
   */
  public void compacted(OldestEnds left, Iterable<Long> ended) {
    position.leave();
    oldestEnds = left;
    LongMap<Boolean> leftDead = new LongMap<>();
    for (long number : ended) {
      if (isDead(number)) {
        leftDead.put(number, true);
      }
    }
    dead = leftDead;
  }

  /** About what a compaction would keep of its live jobs. */
  public long liveBytes() {
    return bytes.live;
  }

  /** From now on {@code next} is told. */
  public void listener(Listener<J> next) {
    listener = next;
    workflows.listener(next);
  }

  public Answer apply(Frame frame) {
    position.next();
    if (!spawned.isEmpty()) {
      spawned.clear();
    }
    return switch (frame.kind()) {
      case ADD -> add(frame.job(), frame.body());
      case STATE -> state(frame);
      case REPLAY -> replay(frame.job(), OperationBody.Replay.decode(frame.reader()));
      case DISCARD -> {
        met = null;
        yield dead.remove(frame.job()) != null ? Answer.APPLIED : Answer.NO_SUCH_JOB;
      }
      case TOLD -> {
        met = null;
        JobRef waiter = OperationBody.Waiter.decode(frame.reader()).waiter();
        Debt paid = debts.remove(new Owed(frame.job(), waiter));
        yield paid != null ? Answer.APPLIED : Answer.NO_SUCH_JOB;
      }
      case PAYLOAD -> {
        met = null;
        payloads.put(frame.job(), new FoldedJob.Payload(frame.body(), 0));
        bytes.live += frame.frameBytes(); // a compaction would write it again
        yield Answer.APPLIED;
      }
      case FOOTER -> {
        met = null;
        yield Answer.APPLIED;
      }
      default -> {
        J job = live.get(frame.job());
        met = job;
        yield job == null ? Answer.NO_SUCH_JOB : change(job, frame);
      }
    };
  }

  /** A dead letter lives again, as a job that has not been tried. */
  private Answer replay(long number, OperationBody.Replay replay) {
    met = null;
    if (dead.remove(number) == null) {
      return Answer.NO_SUCH_JOB;
    }
    JobSpec spec = JobSpec.decodeHead(replay.spec());
    put(maker.make(number, spec, replay.spec(), this::intern));
    return Answer.APPLIED;
  }

  private Answer add(long number, byte[] body) {
    met = live.get(number);
    if (met != null) {
      return Answer.DUPLICATE;
    }
    J job = job(number, body);
    if (job == null) {
      return Answer.NO_SUCH_JOB;
    }
    put(job);
    pauseWithParent(job);
    return Answer.APPLIED;
  }

  /** A child that a turn in flight started when its workflow was paused is paused as well. */
  private void pauseWithParent(J job) {
    for (JobRef waiter : job.waiters()) {
      J parent = live.get(waiter.number());
      WorkflowState workflow = parent != null ? parent.workflow() : null;
      if (parent != null
          && workflow != null
          && parent.isPaused()
          && workflow.callOf(new JobRef(waiter.shard(), job.number)) != 0) {
        FoldedJob.UncommonState rare = job.rare();
        rare.pauseReason = parent.rare().pauseReason;
        rare.pausedWithParent = true;
      }
    }
  }

  /** A job with this spec; null where it shares a payload that is not here. */
  private @Nullable J job(long number, byte[] body) {
    long shared = JobSpec.sharedPayload(body);
    if (shared == 0) {
      return maker.make(number, JobSpec.decodeHead(body), body, this::intern);
    }
    FoldedJob.Payload payload = payloads.get(shared);
    if (payload == null) {
      return null;
    }
    byte[] head = JobSpec.withoutShared(body);
    J job = maker.make(number, JobSpec.decodeHead(head), head, this::intern);
    job.share(payload);
    return job;
  }

  /**
   * Whether a checkpoint of the job would be applied now.
   *
   * @param before as in {@link OperationBody.Checkpoint}
   */
  public boolean takesCheckpoint(long number, int attempt, int revision, int before) {
    J job = live.get(number);
    return job != null && WorkflowFold.takes(job, attempt, revision, before);
  }

  /** Applies an add whose spec is at hand. */
  public Answer add(long number, JobSpec spec, byte[] body) {
    position.next();
    met = live.get(number);
    if (met != null) {
      return Answer.DUPLICATE;
    }
    put(maker.make(number, spec, body, this::intern));
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

  /** The entry that the next operations stand in, all of them and in order. */
  public void at(long entryNumber) {
    position.at(entryNumber);
  }

  /** The body of a job as {@code frame} brings it, for itself; empty where it brings none. */
  public static byte[] bodyIn(Frame frame) {
    return switch (frame.kind()) {
      case ADD -> frame.body();
      case REPLACE -> OperationBody.Replace.decode(frame.reader()).spec();
      case REPLAY -> OperationBody.Replay.decode(frame.reader()).spec();
      case UPDATE -> OperationBody.Update.decode(frame.reader()).spec();
      case STATE -> StateFormat.read(frame.reader()).spec();
      case START, SAVE, RETRY, CANCEL, END, CLEAR, NEXT, AGAIN, PAUSE, RESUME, DISCARD -> NOTHING;
      case WAITER, MET, TOLD, PAYLOAD, FOOTER -> NOTHING;
      case CHECKPOINT, WAIT, SIGNAL, CHILD_ENDED, HISTORY -> NOTHING;
      case RENEW -> OperationBody.Renew.decode(frame.reader()).spec();
      case REPORT, RESTORED, LEASE -> NOTHING;
      case CHANGE -> NOTHING; // a recurring job keeps its body, nobody looks for it here
    };
  }

  private void put(J job) {
    met = job;
    job.position = position.entry();
    live.put(job.number, job);
    bytes.live += job.bytes();
    added++;
    bytes.added += job.bodyBytes + Frame.HEADER_BYTES;
    if (job.isOccurrence()) {
      long schedule = scheduleOf(job);
      List<J> siblings = occurrences.get(schedule);
      if (siblings == null) {
        siblings = new ArrayList<>(2);
        occurrences.put(schedule, siblings);
      }
      siblings.add(job);
    }
  }

  /** The number of the recurring job that {@code job} is an occurrence of. */
  public static long scheduleOf(FoldedJob job) {
    OccurrenceSpec occurrence = job.occurrence();
    return occurrence != null ? occurrence.schedule() : 0;
  }

  private Answer change(J job, Frame frame) {
    ByteReader in = frame.reader();
    return switch (frame.kind()) {
      case START -> start(job, OperationBody.Start.decode(in));
      case SAVE -> save(job, OperationBody.Save.decode(in));
      case RETRY -> retry(job, OperationBody.Retry.decode(in));
      case REPLACE -> replace(job, OperationBody.Replace.decode(in));
      case CANCEL -> cancel(job, frame, OperationBody.Cancel.decode(in));
      case END -> end(job, OperationBody.End.decode(in));
      case CLEAR -> {
        job.clearMarkers(OperationBody.Clear.decode(in).markers());
        yield Answer.APPLIED;
      }
      case NEXT -> next(job, OperationBody.Next.decode(in));
      case AGAIN -> again(job, OperationBody.Again.decode(in));
      case PAUSE -> pause(job, OperationBody.Pause.decode(in));
      case RESUME -> resume(job, OperationBody.Resume.decode(in));
      case CHANGE -> changed(job, OperationBody.Change.decode(in));
      case UPDATE -> update(job, OperationBody.Update.decode(in));
      case WAITER -> waiter(job, OperationBody.Waiter.decode(in));
      case MET -> met(job, OperationBody.Met.decode(in));
      case CHECKPOINT, WAIT, SIGNAL, CHILD_ENDED, HISTORY, RENEW -> workflows.apply(job, frame);
      case RESTORED -> workflows.apply(job, frame);
      case LEASE -> lease(job, Lease.Recorded.decode(in));
      case REPORT -> workflows.report(job, frame, Report.Recorded.decode(in));
      case ADD, STATE, REPLAY, DISCARD, TOLD, PAYLOAD, FOOTER ->
          throw new IllegalStateException("kind: " + frame.kind());
    };
  }

  private static Answer start(FoldedJob job, OperationBody.Start start) {
    if (!job.isAt(start.attempt(), start.revision())) {
      return Answer.STALE;
    }
    FoldedJob.UncommonState rare = job.rare();
    if (rare.markers == 0 || rare.markerIncarnation != start.incarnation()) {
      rare.markers++; // else the same node goes on, so the start before was cut off by no crash
    }
    rare.alone = start.alone();
    rare.markerIncarnation = start.incarnation();
    return Answer.APPLIED;
  }

  private Answer save(J job, OperationBody.Save save) {
    if (!job.isAt(save.attempt(), save.revision())) {
      return Answer.STALE;
    }
    bytes.live -= job.bytes();
    job.rare().saved = save.state();
    bytes.live += job.bytes();
    return Answer.APPLIED;
  }

  private static Answer retry(FoldedJob job, OperationBody.Retry retry) {
    if (!job.isAt(retry.attempt(), retry.revision())) {
      return Answer.STALE;
    }
    job.attempts = retry.attempt();
    job.dueMicros = retry.nextDue();
    job.runs();
    job.clearMarkers(0);
    FoldedJob.UncommonState rare = job.rare();
    rare.leaseOver(Lease.WORKER_LOST.equals(retry.error().type()) ? rare.workersLost + 1 : 0);
    rare.jitterMicros = retry.jitter();
    remember(rare, retry.error());
    return Answer.APPLIED;
  }

  private static void remember(FoldedJob.UncommonState rare, JobError error) {
    rare.lastErrorType = error.type();
    String message = error.message();
    rare.lastErrorMessage =
        message.length() <= REMEMBERED_MESSAGE_CHARS
            ? message
            : message.substring(0, REMEMBERED_MESSAGE_CHARS);
  }

  private Answer replace(J job, OperationBody.Replace replace) {
    if (job.hasBegun()) {
      return Answer.STALE; // its compensations would not run
    }
    JobSpec spec = JobSpec.decodeHead(replace.spec());
    bytes.live -= job.bytes();
    job.queue = intern(spec.queue());
    job.replace(spec, replace.spec());
    job.position = position.entry();
    bytes.live += job.bytes();
    return Answer.APPLIED;
  }

  private Answer update(J job, OperationBody.Update update) {
    Integer version = update.version();
    if (update.revision() != job.revision
        || !job.isRecurring()
        || (version != null && version != job.version())) {
      return Answer.STALE;
    }
    JobSpec spec = JobSpec.decodeHead(update.spec());
    bytes.live -= job.bytes();
    job.queue = intern(spec.queue());
    job.update(spec, update.spec());
    job.position = position.entry();
    if (update.move() != null) {
      job.rare().moved(update.move());
      job.dueMicros = update.move().timeMicros() + update.move().jitterMicros();
    }
    bytes.live += job.bytes();
    return Answer.APPLIED;
  }

  private Answer cancel(J job, Frame frame, OperationBody.Cancel cancel) {
    boolean terminates = cancel.demand() == OperationBody.Cancel.Demand.TERMINATE;
    if (terminates ? job.isTerminated() : job.cancelRequested()) {
      return Answer.APPLIED;
    }
    String reason = cancel.why().reason();
    FoldedJob.UncommonState rare = job.rare();
    rare.cancelReason = reason;
    rare.terminated = terminates;
    if (cancel.demand() == OperationBody.Cancel.Demand.COMPENSATE) {
      rare.pauseReason = null; // its compensations are to run
      rare.pausedWithParent = false;
      workflows.record(
          job, frame, new HistoryEntry.CancelRequested(cancel.at(), reason), cancel.at());
    }
    return Answer.APPLIED;
  }

  private static Answer again(FoldedJob job, OperationBody.Again again) {
    if (!job.isAt(again.attempt(), again.revision())) {
      return Answer.STALE;
    }
    job.dueMicros = again.due();
    job.runs();
    if (job.rare != null) {
      job.rare.jitterMicros = 0;
      job.rare.leaseOver(0);
    }
    job.clearMarkers(0);
    return Answer.APPLIED;
  }

  /** A worker cannot kill its server: what it runs is suspected of nothing. */
  private static Answer lease(FoldedJob job, Lease.Recorded recorded) {
    if (!job.isAt(recorded.attempt(), recorded.revision())) {
      return Answer.STALE;
    }
    Lease lease = recorded.lease();
    FoldedJob.UncommonState rare = job.rare();
    if (lease.lengthMicros() > 0) {
      rare.lease = lease;
    } else if (rare.lease != null && rare.lease.nonce() == lease.nonce()) {
      rare.lease = null;
    }
    job.clearMarkers(0);
    return Answer.APPLIED;
  }

  private static Answer pause(FoldedJob job, OperationBody.Pause pause) {
    if (!pause.withParent() || !job.isPaused()) {
      job.rare().pauseReason = pause.why().reason();
      job.rare().pausedWithParent = pause.withParent();
    }
    return Answer.APPLIED;
  }

  private static Answer resume(FoldedJob job, OperationBody.Resume resume) {
    FoldedJob.UncommonState rare = job.rare;
    if (rare != null && (!resume.withParent() || rare.pausedWithParent)) {
      rare.pauseReason = null;
      rare.pausedWithParent = false;
      job.rare = rare.isEmpty() ? null : rare;
    }
    return Answer.APPLIED;
  }

  private static Answer waiter(FoldedJob job, OperationBody.Waiter body) {
    job.waiter(body.waiter());
    return Answer.APPLIED;
  }

  private static Answer met(FoldedJob job, OperationBody.Met body) {
    Awaited awaited = job.awaited();
    return awaited != null && awaited.met(body.job(), body.state()) ? Answer.APPLIED : Answer.STALE;
  }

  private Answer changed(J job, OperationBody.Change change) {
    ScheduleState move = change.move();
    if (change.revision() != job.revision || (move != null && !job.isRecurring())) {
      return Answer.STALE;
    }
    if (change.schedule() != null && move != null) {
      bytes.live -= job.bytes();
      job.reschedule(change.schedule());
      bytes.live += job.bytes();
      job.rare().moved(move);
      job.dueMicros = move.timeMicros() + move.jitterMicros();
    }
    if (change.anew()) {
      bytes.live -= job.bytes();
      job.attempts = 0;
      job.rare().saved = null;
      job.rare().leaseOver(0);
      bytes.live += job.bytes();
    }
    if (change.due() != null) {
      job.dueMicros = change.due();
      if (job.rare != null) {
        job.rare.jitterMicros = 0;
      }
    }
    if (change.priority() != null) {
      job.priority = change.priority().byteValue();
      if (job.isRecurring()) {
        job.rare().version++;
      }
    }
    return Answer.APPLIED;
  }

  private Answer next(J job, OperationBody.Next next) {
    boolean fits =
        next.attempt() != 0
            ? job.isAt(next.attempt(), next.revision())
            : next.stays() || next.revision() == job.revision;
    if (!fits || !job.isRecurring()) {
      return Answer.STALE;
    }
    if (next.endsOccurrence()) {
      lastEndMicros = Math.max(lastEndMicros, next.at());
      listener.occurred(job, next);
    }
    next.children().forEach(child -> spawn(job, next, child));
    oldestEnds.occurred(job.number, next.at());
    met = job;
    if (next.over()) {
      ScheduleState last = job.move();
      if (last != null && next.tookPlace()) {
        job.rare().move = last.counted();
      }
      return end(
          job,
          OperationBody.End.without(JobState.SUCCEEDED, next.at(), OperationBody.SCHEDULE_OVER));
    }
    if (next.move() != null) {
      moveOn(job, next, next.move());
    }
    return Answer.APPLIED;
  }

  /** An occurrence becomes a job of its own, to be run or dead. */
  private void spawn(J job, OperationBody.Next next, OperationBody.Next.Child child) {
    byte[] head = job.head().occurrence(child.occurrence(), child.due(), next.at(), job.priority);
    J occurrence = maker.make(child.number(), JobSpec.decodeHead(head), head, this::intern);
    occurrence.share(job.payload());
    occurrence.priority = job.priority;
    put(occurrence);
    if (next.outcome() == null) {
      spawned.add(occurrence);
    } else {
      occurrence.attempts = next.attempt() - 1;
      var unused = end(occurrence, deadEnd(next));
    }
  }

  /** The end of an occurrence whose attempts are exhausted. */
  public static OperationBody.End deadEnd(OperationBody.Next next) {
    return new OperationBody.End(
        JobState.DEAD,
        next.attempt(),
        0,
        next.at(),
        next.ran(),
        next.error(),
        next.reason(),
        NOTHING);
  }

  private void moveOn(J job, OperationBody.Next next, ScheduleState move) {
    bytes.live -= job.bytes();
    job.clearMarkers(0);
    FoldedJob.UncommonState rare = job.rare();
    rare.saved = null;
    rare.leaseOver(0);
    rare.workflow = null;
    rare.reported = null;
    if (next.outcome() == JobState.SUCCEEDED) {
      rare.lastErrorType = null;
      rare.lastErrorMessage = null;
    } else if (next.error() != null) {
      remember(rare, next.error());
    }
    rare.moved(move);
    job.dueMicros = move.timeMicros() + move.jitterMicros();
    job.attempts = 0;
    job.revision++;
    bytes.live += job.bytes();
  }

  /** Applies an end whose body is at hand. */
  public Answer end(long number, OperationBody.End end) {
    position.next();
    met = live.get(number);
    return met == null ? Answer.NO_SUCH_JOB : end(met, end);
  }

  private Answer end(J job, OperationBody.End end) {
    if (!end.state().ended()) {
      throw new DamagedException("end: state " + end.state() + " (expected: one that has ended)");
    }
    boolean byAttempt = end.attempt() != 0;
    if (byAttempt && !job.isAt(end.attempt(), end.revision())) {
      return Answer.STALE;
    }
    live.remove(job.number);
    if (job.isOccurrence()) {
      leaveLine(job);
    }
    if (byAttempt) {
      job.attempts = end.attempt();
    }
    lastEndMicros = Math.max(lastEndMicros, end.at());
    bytes.live -= job.bytes();
    if (end.state() == JobState.DEAD) {
      dead.put(job.number, true);
    }
    failed += end.state() == JobState.FAILED ? 1 : 0;
    keyed += job.has(JobSpec.KEYED) ? 1 : 0;
    oldestEnds.ended(job, end);
    for (JobRef waiter : job.waiters()) {
      workflows.childEnded(job, end.state(), live.get(waiter.number()), waiter);
      debts.put(new Owed(job.number, waiter), debt(job, waiter, end));
    }
    listener.ended(job, end);
    return Answer.APPLIED;
  }

  private static Debt debt(FoldedJob job, JobRef waiter, OperationBody.End end) {
    boolean small = job.isChild() && end.result().length <= REMEMBERED_RESULT_BYTES;
    return new Debt(job.number, waiter, end.state(), small ? end.encode() : null);
  }

  private void leaveLine(J job) {
    long schedule = scheduleOf(job);
    List<J> siblings = occurrences.get(schedule);
    if (siblings != null && siblings.remove(job) && siblings.isEmpty()) {
      occurrences.remove(schedule);
    }
  }

  private Answer state(Frame frame) {
    met = live.get(frame.job());
    if (met != null) {
      return Answer.DUPLICATE;
    }
    StateFormat read = StateFormat.read(frame.reader());
    J job = job(frame.job(), read.spec());
    if (job == null) {
      return Answer.NO_SUCH_JOB;
    }
    read.applyTo(job);
    put(job);
    return Answer.APPLIED;
  }
}
