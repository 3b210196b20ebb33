package dev.carillon.engine.attempt;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobId;
import dev.carillon.api.JobMeter;
import dev.carillon.engine.dispatch.Grant;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.Awaited;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.history.WorkflowHistory;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.job.Ticket;
import dev.carillon.engine.message.Loan;
import dev.carillon.engine.message.RunningJob;
import dev.carillon.engine.shard.JobPlace;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.Transactions.Completion;
import dev.carillon.store.Transactions.Permit;
import dev.carillon.store.Transactions.Place;
import dev.carillon.store.Transactions.Rider;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One try to run a job. The handler's thread reads what it is about and whether the loop asks it to
 * stop or to pause. All other fields that change belong to the loop. The {@link Grant} has the job
 * and what the attempt holds of limits.
 */
public final class Attempt implements Grant.Run, JobPlace {
  private final JobRef ref;
  private final byte[] body;
  private final byte @Nullable [] saved;
  private final String type;
  private final long epoch;
  private final int number;
  private final int revision;
  private final long nonce;
  private final long dueMicros;
  private final long timeMicros;
  private final @Nullable ScheduleState move;
  private final List<DependencyInfo> dependencies;

  /** Null where this node runs it for another. */
  private final @Nullable Grant grant;

  private volatile long startedMicros;

  /** When its handler returned, written by its thread before the loop is told; 0 before. */
  private long endedMicros;

  private FailurePolicy policy;
  private final @Nullable Long startBy;
  private final @Nullable Permit permit;

  /** Its outcome is decided; what comes later is refused. */
  public boolean over;

  /** Its handler has returned. */
  boolean returned;

  /** Its outcome is durable, or there will be none. */
  boolean settled;

  /** Its handler was called. */
  boolean called;

  /** When that was, by the clock that only moves forward. */
  public long startedNanos;

  /** Where it stands in its {@link AttemptSet}; -1 where it does not. */
  int place = -1;

  /** Its timeout, its deadline and its time alone, while it runs. */
  final List<Timers.Timer> timers = new ArrayList<>(0);

  /** Its start was written to the journal. */
  boolean marked;

  /** How many start markers its job had before that. */
  int markersBefore;

  /** Why the loop asked the handler to stop, if it did. */
  public @Nullable StopCause stopCause;

  /** Why the occurrence is not to go on, if so; its recurring job does. */
  @Nullable String stopReason;

  /** The node that runs it in the place of this one; 0 for this one. */
  public long lentTo;

  /** The id of that node, if it is known. */
  String borrower = "";

  /** The worker that runs it in the place of a node; null where a node does. */
  public @Nullable WorkerRun worker;

  /** Nothing else is to run beside it where it is lent to. */
  boolean lentAlone;

  /** Whether its job is a workflow: the runner says so when it starts it. */
  public boolean ofWorkflow;

  /** Its handler threw, and no compensation is registered. */
  boolean nothingToUndo;

  /** What the code of its workflow did, and which goes with what it ends in. */
  List<HistoryEntry> unwritten = List.of();

  /** How many entries the code of its workflow has made. */
  private int checkpointed;

  private final int historyCount;

  /** Where that stands, of an attempt that this node runs for another. */
  private final WorkflowHistory.@Nullable Place history;

  /** The node that it was lent to has died. */
  public boolean lost;

  /** Where its figures go. */
  JobMeter meter = JobMeter.none();

  /** How it failed, if so, and what follows. */
  NodeEvent.@Nullable AttemptFailed failure;

  /** The transaction that it waits for has to end before anything else becomes of it. */
  boolean settling;

  /** What goes with its outcome. */
  @Nullable Rider rider;

  /** Whether the handler completes it in a transaction; the loop's and the handler's thread's. */
  private final AtomicInteger completion = new AtomicInteger();

  private @Nullable Object attachment;
  private volatile boolean cancellationRequested;
  private volatile boolean pauseRequested;
  private volatile boolean mayBeElsewhere;

  /** Why a running attempt is asked to stop. */
  public enum StopCause {
    CANCEL,
    TIMEOUT,
    DEADLINE,
    SHUTDOWN,
    PAUSE,
    /** The node may be dead to others: another may run the job. */
    FENCED
  }

  Attempt(Grant grant, FailurePolicy policy, Origin at) {
    NodeJob job = grant.job();
    this.grant = grant;
    this.policy = policy;
    this.ref = at.ref();
    this.body = job.body();
    this.saved = job.rare != null ? job.rare.saved : null;
    this.type = job.type;
    this.epoch = at.epoch();
    this.number = job.attempts + 1;
    this.revision = job.revision;
    this.nonce = at.nonce();
    this.dueMicros = job.dueMicros;
    this.timeMicros = job.timeMicros();
    this.move = job.move();
    this.startedMicros = at.startedMicros();
    this.startBy = at.startBy();
    this.permit = null;
    Awaited awaited = job.awaited();
    this.dependencies = awaited != null ? awaited.infos() : List.of();
    WorkflowState workflow = job.workflow();
    this.history = null;
    this.historyCount = workflow != null ? workflow.entries() : 0;
    this.checkpointed = workflow != null ? workflow.checkpointed() : 0;
    this.ofWorkflow = job.hasBegun();
  }

  /**
   * Where and when one is that this node runs for another.
   *
   * @param permit without which no transaction completes it; null where there are none
   */
  public record Borrowed(long startedMicros, @Nullable Long startBy, @Nullable Permit permit) {}

  /** One that this node runs for another. */
  public Attempt(Loan loan, String type, FailurePolicy policy, Borrowed at) {
    this.grant = null;
    this.policy = policy;
    this.ref = loan.ref();
    this.body = loan.body();
    this.saved = loan.saved();
    this.type = type;
    this.epoch = loan.epoch();
    this.number = loan.number();
    this.revision = loan.revision();
    this.nonce = loan.nonce();
    this.dueMicros = loan.dueMicros();
    this.timeMicros = loan.timeMicros();
    this.move = loan.move();
    this.startedMicros = at.startedMicros();
    this.startBy = at.startBy();
    this.permit = at.permit();
    this.dependencies = loan.dependencies();
    this.history = loan.history();
    this.historyCount = history != null ? history.count() : 0;
  }

  /** It as it is lent to another node. */
  public Loan loan() {
    NodeJob own = job();
    return new Loan(
        ref,
        epoch,
        nonce,
        number,
        revision,
        dueMicros,
        timeMicros,
        move,
        PolicyFormat.encode(policy),
        own.hasPolicy(),
        own.isMarked() || lentAlone,
        lentAlone,
        saved,
        dependencies,
        historyOf(own),
        body);
  }

  private static WorkflowHistory.@Nullable Place historyOf(NodeJob own) {
    WorkflowState workflow = own.workflow();
    if (workflow == null || workflow.entries() == 0) {
      return null;
    }
    Shard shard = own.shard();
    return new WorkflowHistory.Place(
        shard.id, shard.journal.generation(), workflow.places(), workflow.entries());
  }

  /** The node that ran it says when, and by which policy it judges failures. */
  public void ranElsewhere(long started, long ended, FailurePolicy by) {
    startedMicros = started != 0 ? started : startedMicros;
    endedMicros = ended;
    policy = by;
  }

  /** Why its handler is asked to stop, in a word; on the loop. */
  public String stopWord() {
    return stopCause == null ? "shutdown" : stopCause.name().toLowerCase(Locale.ROOT);
  }

  /** Whether the journal has the worker that runs it: a later owner goes on with it. */
  public boolean isLeased() {
    Lease lease = job().lease();
    return worker != null && lease != null && lease.nonce() == nonce;
  }

  /** Whether a worker has it and nothing of it is open here: a later owner goes on, or need not. */
  public boolean isSafe() {
    if (worker == null || settled) {
      return worker != null;
    }
    boolean stale = job().revision != revision;
    return !over && !worker.leasing && (stale || isLeased());
  }

  /** Whether its shard may go now: besides, no other node answers beats for it any more. */
  public boolean mayBeLeft() {
    return isSafe() && (worker == null || settled || !worker.renewedElsewhere);
  }

  void fate(WorkerRun.Fate now) {
    if (worker != null) {
      worker.fate(now);
    }
  }

  /** Whether its handler was called and has not returned, or its outcome is on its way. */
  public boolean wasCalled() {
    return called;
  }

  /** Whether its handler has returned. */
  public boolean hasReturned() {
    return returned;
  }

  /** Whether it waits for the end of a transaction. */
  public boolean waitsForTransaction() {
    return settling;
  }

  /** The id of the node that it is lent to; empty where it is not, or that is not known. */
  public String borrower() {
    return borrower;
  }

  /** Whether this node runs it for another. */
  public boolean isBorrowed() {
    return grant == null;
  }

  /**
   * Where and when it is.
   *
   * @param startBy before which its handler is called, by the clock that only moves forward; null
   *     for any time
   */
  record Origin(JobRef ref, long epoch, long nonce, long startedMicros, @Nullable Long startBy) {}

  /** What it holds of this node's limits, for a job of this node. */
  public Grant grant() {
    return Objects.requireNonNull(grant, "grant");
  }

  public NodeJob job() {
    return grant().job();
  }

  /** The lane whose gates it entered; its job may have moved to another since. */
  Lane lane() {
    return grant().lane;
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public boolean isStopped() {
    return stopReason != null;
  }

  /** Of its shard, under which it began. */
  long epoch() {
    return epoch;
  }

  public long nonce() {
    return nonce;
  }

  public int revision() {
    return revision;
  }

  /** When its handler was called; before that, when its node meant to call it. */
  @Override
  public long startedMicros() {
    return startedMicros;
  }

  /** When its handler returned; 0 before, or where only its node knows. */
  public long endedMicros() {
    return endedMicros;
  }

  /** The handler's thread calls the handler at this time of the wall clock. */
  public void called(long wallMicros) {
    startedMicros = wallMicros;
  }

  /** The handler has returned at this time of the wall clock; its thread says so. */
  public void returned(long wallMicros) {
    endedMicros = wallMicros;
  }

  public void requestStop(StopCause cause) {
    stopCause = cause;
    if (cause == StopCause.SHUTDOWN || cause == StopCause.PAUSE) {
      pauseRequested = true;
    } else {
      cancellationRequested = true;
    }
  }

  /** Another node may have its job: its handler should stop, also where it was asked to pause. */
  void fence() {
    if (stopCause == null) {
      requestStop(StopCause.FENCED);
    }
    mayBeElsewhere = true;
  }

  /** The job was resumed before the attempt was over. */
  public void pauseOver() {
    if (stopCause == StopCause.PAUSE) {
      stopCause = null;
      pauseRequested = false;
    }
  }

  /** The id of its job. */
  public JobId id() {
    boolean keyed = (JobSpec.flags(body) & JobSpec.KEYED) != 0;
    return keyed ? Ticket.id(ref, JobSpec.decodeHead(body).key()) : ref.id();
  }

  /** The id of another job of the same shard. */
  public JobId sibling(long jobNumber) {
    return new JobRef(ref.shard(), jobNumber).id();
  }

  /** It as it is told to whoever asks what runs on this node. */
  public RunningJob asRunning(String namespace, String queue) {
    return new RunningJob(id(), type, namespace, queue, number, dueMicros, startedMicros);
  }

  /** The attempt of a job that is under way; null where none is. */
  public static @Nullable Attempt of(NodeJob job) {
    return (Attempt) job.attempt;
  }

  /** What an outcome must show to be accepted. */
  public AttemptToken token() {
    return new AttemptToken(id(), epoch, number, nonce);
  }

  /** The name of the job's type. */
  public String type() {
    return type;
  }

  /** What was asked for; decoded anew at each call. */
  public JobSpec spec() {
    return grant == null
        ? JobSpec.decode(body)
        : JobSpec.decode(body, new JobSpec.Words(type, grant.lane.namespace, grant.lane.queue));
  }

  /** What follows if it fails. */
  public FailurePolicy policy() {
    return policy;
  }

  /** 1 for the first. */
  public int number() {
    return number;
  }

  /** When it was to be, without the jitter that it was due later. */
  long timeMicros() {
    return timeMicros;
  }

  /** When this attempt was to be. */
  public Instant scheduledTime() {
    return Micros.toInstant(timeMicros);
  }

  /** Which occurrence of its recurring job it runs, from 1; 0 where the job is not recurring. */
  public long occurrence() {
    return move != null ? move.count() + 1 : 0;
  }

  /** When that occurrence was to be; null where the job is not recurring. */
  public @Nullable Instant occurrenceTime() {
    return move != null ? Micros.toInstant(move.timeMicros()) : null;
  }

  /** The jobs that it waited for. */
  public List<DependencyInfo> dependencies() {
    return dependencies;
  }

  /** Whether its handler may be called at this time of the wall clock. */
  public boolean isDue(long wallMicros) {
    return wallMicros >= dueMicros;
  }

  /**
   * Whether it is too late, by the clock that only moves forward, to call its handler: another node
   * may have its job.
   */
  public boolean isTooLate(long monotonicNanos) {
    return startBy != null && monotonicNanos - startBy >= 0;
  }

  /** What the job's handler saved last, if anything. */
  public byte @Nullable [] saved() {
    return saved;
  }

  /** Whether the handler should stop because its job is cancelled, timed out or expired. */
  public boolean cancellationRequested() {
    return cancellationRequested;
  }

  /** Whether it was asked to stop because another node may have its job: its failure is none. */
  public boolean isFenced() {
    return stopCause == StopCause.FENCED;
  }

  /** Whether another node may have its job, whatever the handler was asked to stop for before. */
  public boolean mayBeElsewhere() {
    return mayBeElsewhere;
  }

  /** Whether the handler should save and return because its node stops. */
  public boolean pauseRequested() {
    return pauseRequested;
  }

  /** The handler may be about to complete it. */
  private static final int CALLED = 1;

  /** It is about to. */
  private static final int CALLING = 2;

  /** It no longer can. */
  private static final int CLOSED = 4;

  /**
   * The handler is about to write its completion; {@link #endCompleting} follows.
   *
   * @return false where the attempt is over
   */
  public boolean beginCompleting() {
    int before =
        completion.getAndUpdate(state -> (state & CLOSED) != 0 ? state : state | CALLED | CALLING);
    return (before & CLOSED) == 0;
  }

  /** The completion is written, or was not. */
  public void endCompleting() {
    completion.getAndUpdate(state -> state & ~CALLING);
  }

  /** The node that ran it says that a transaction may have completed it. */
  public void mayBeCompleted() {
    completion.getAndUpdate(state -> state | CALLED);
  }

  /** From now on no completion is begun; says whether one ever was. */
  public boolean closeCompletion() {
    return (completion.getAndUpdate(state -> state | CLOSED) & CALLED) != 0;
  }

  /** Whether a completion is being written. */
  public boolean isCompleting() {
    return (completion.get() & CALLING) != 0;
  }

  /** What its handler, on the node of that id, writes to complete it. */
  public Completion completion(byte[] result, String node) {
    byte[] outcome = new Completed(number, revision, startedMicros, node, result).encode();
    return new Completion(place(), epoch, nonce, outcome);
  }

  /** Without which no transaction completes it; null where its own node runs it. */
  public @Nullable Permit permit() {
    return permit;
  }

  Place place() {
    return new Place(ref.shard(), ref.number());
  }

  /** Where its job is. */
  public JobRef ref() {
    return ref;
  }

  /** Where the history stands of a workflow that this node runs for another; null for none. */
  public WorkflowHistory.@Nullable Place history() {
    return history;
  }

  /** How many entries the history of its workflow had when it began; 0 for none. */
  public int historyCount() {
    return historyCount;
  }

  /**
   * The number of the next entry that its workflow's code makes, which makes so many: how many were
   * made before, also by what is on its way to the journal.
   */
  public int nextEntry(int entries) {
    int before = checkpointed;
    checkpointed += entries;
    return before;
  }

  /** What its code did and nobody has written, and then that. */
  List<HistoryEntry> unwrittenWith(HistoryEntry last) {
    List<HistoryEntry> entries = new ArrayList<>(unwritten);
    entries.add(last);
    unwritten = List.of();
    return entries;
  }

  /**
   * Whether the code of a workflow has made entries, also ones that are on their way to the journal
   * and not known to be there: only the code ends it then.
   */
  boolean mayHaveBegun() {
    return checkpointed > 0 || job().hasBegun();
  }

  /** Keeps what the runner needs to find again, such as the thread; the loop's, like this. */
  public void attach(Object kept) {
    attachment = kept;
  }

  /** What the runner attached, or null. */
  public @Nullable Object attachment() {
    return attachment;
  }
}
