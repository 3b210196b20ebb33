package dev.carillon.engine.fold;

import dev.carillon.api.Concurrency;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.ScheduleState;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A job that has not ended, as the operations of its journal made it: one entry of the state
 * machine. It knows no node; {@code NodeJob} adds what a node does with it.
 *
 * <p>Owned by the loop, or by whoever folds before handing it to the loop. A million of these are
 * held at once: mind every field.
 */
public class FoldedJob {
  private static final byte[] STRIPPED = {};
  private static final int MARKED = 128;
  private static final int UNSETTLED = 128;

  /** Starts cut off by a crash after which the job is next started alone. */
  private static final int MARKERS_BEFORE_ALONE = 2;

  /** Entries are numbered from 1. */
  public static final long NO_POSITION = 0;

  public final long number;
  public final String type;
  public final String namespace;
  public String queue;

  /**
   * Its spec, encoded; without the payload where {@link UncommonState#payload} says where that is.
   */
  private byte[] body;

  /** What of its spec it has to itself. */
  public int bodyBytes;

  /** Those of its spec, at hand without its body, and {@link #MARKED}. */
  private byte flags;

  /** Which parts of {@link OptionalSpec} its spec has, and {@link #UNSETTLED}. */
  private byte more;

  /** The entry that holds its body, {@link #NO_POSITION} where that is not known. */
  public long position;

  public long dueMicros;
  public byte priority;
  public int revision;
  public int attempts;
  public @Nullable UncommonState rare;

  public FoldedJob(long number, JobSpec spec, byte[] body, UnaryOperator<String> intern) {
    this.number = number;
    this.type = intern.apply(spec.type());
    this.namespace = intern.apply(spec.namespace());
    this.queue = intern.apply(spec.queue());
    this.body = body;
    this.bodyBytes = body.length;
    this.flags = (byte) JobSpec.flags(body);
    this.more = (byte) spec.more().mask();
    this.dueMicros = spec.dueMicros();
    this.priority = (byte) spec.priority();
    begin(spec);
  }

  private void begin(JobSpec spec) {
    OptionalSpec.Recurring recurring = spec.more().recurring();
    if (recurring != null) {
      rare().moved(ScheduleState.first(spec, recurring));
    }
    if (spec.more().concurrency() != null) {
      rare().concurrency = spec.more().concurrency();
    }
    if (spec.more().occurrence() != null) {
      rare().occurrence = spec.more().occurrence();
    }
    if (!spec.more().after().isEmpty()) {
      rare().awaited = new Awaited(spec.more().after());
    }
    spec.more().waiters().forEach(this::waiter);
  }

  /** Another job waits for the end of this one. */
  final void waiter(JobRef waiter) {
    UncommonState kept = rare();
    if (kept.waiters == null) {
      kept.waiters = new LinkedHashSet<>(2);
    }
    kept.waiters.add(waiter);
  }

  /** The jobs that wait for its end. */
  public Set<JobRef> waiters() {
    return rare != null && rare.waiters != null ? rare.waiters : Set.of();
  }

  /** The jobs that it waits for, or waited for; null where there are none. */
  public @Nullable Awaited awaited() {
    return rare != null ? rare.awaited : null;
  }

  /** Whether a job that it waits for has not ended. */
  public boolean isDependent() {
    return rare != null && rare.awaited != null && !rare.awaited.allMet();
  }

  /** What most jobs never have. */
  public static final class UncommonState {
    public byte @Nullable [] saved;
    public @Nullable String cancelReason;

    /** Whether it is a workflow that ends without its code. */
    public boolean terminated;

    public @Nullable String lastErrorType;
    public @Nullable String lastErrorMessage;

    /** Starts that no end followed. */
    public int markers;

    public boolean alone;
    public long markerIncarnation;

    /** Why it does not start until it is resumed; null where it may. */
    public @Nullable String pauseReason;

    /** Whether it is paused since the workflow is that started it, and goes on with that. */
    boolean pausedWithParent;

    /** How much later than its time the next attempt is due. */
    long jitterMicros;

    /** Where a recurring job stands. */
    @Nullable ScheduleState move;

    /** How often somebody gave a recurring job another definition. */
    int version;

    /** The jobs that it waits for. */
    @Nullable Awaited awaited;

    /** The jobs that wait for its end. */
    @Nullable Set<JobRef> waiters;

    /** How many jobs like it run at once; from its spec, at hand without its body. */
    @Nullable Concurrency concurrency;

    /** Which time of which recurring job it is; from its spec, at hand without its body. */
    @Nullable OccurrenceSpec occurrence;

    /** Where its payload is, if that is not in its own body. */
    @Nullable Payload payload;

    /** What it waits for and remembers, if it is a workflow. */
    @Nullable WorkflowState workflow;

    /** What it reported of itself. */
    @Nullable Reported reported;

    /** By which a worker runs its attempt. */
    @Nullable Lease lease;

    /** How many of its last attempts lost their workers. */
    int workersLost;

    /** No worker has its attempt any more. */
    void leaseOver(int lost) {
      lease = null;
      workersLost = lost;
    }

    /** The recurring job has another occurrence from now on. */
    void moved(ScheduleState next) {
      move = next;
      jitterMicros = next.jitterMicros();
    }

    boolean isEmpty() {
      return saved == null
          && cancelReason == null
          && lastErrorType == null
          && markers == 0
          && pauseReason == null
          && jitterMicros == 0
          && move == null
          && version == 0
          && awaited == null
          && waiters == null
          && concurrency == null
          && occurrence == null
          && payload == null
          && workflow == null
          && reported == null
          && lease == null
          && workersLost == 0;
    }
  }

  /** The end of some bytes, of an encoded spec say: occurrences share that of a recurring job. */
  public record Payload(byte[] bytes, int offset) {
    static Payload in(byte[] spec) {
      return new Payload(spec, JobSpec.payloadOffset(spec));
    }

    public int length() {
      return bytes.length - offset;
    }

    public byte[] behind(byte[] head) {
      byte[] whole = Arrays.copyOf(head, head.length + length());
      System.arraycopy(bytes, offset, whole, head.length, length());
      return whole;
    }
  }

  public final UncommonState rare() {
    UncommonState found = rare;
    if (found == null) {
      found = new UncommonState();
      rare = found;
    }
    return found;
  }

  /** Its spec, encoded; without content where it is stripped. */
  public byte[] body() {
    Payload elsewhere = rare != null ? rare.payload : null;
    return elsewhere != null ? elsewhere.behind(body) : body;
  }

  /** Its spec without the payload, encoded. */
  public byte[] ownHead() {
    return sharesPayload() ? body : Arrays.copyOf(body, JobSpec.payloadOffset(body));
  }

  /** Where its payload is. */
  public Payload payload() {
    return rare != null && rare.payload != null ? rare.payload : Payload.in(body);
  }

  /** Has this payload, which is not in its body. */
  void share(Payload payload) {
    rare().payload = payload;
  }

  public boolean sharesPayload() {
    return rare != null && rare.payload != null;
  }

  /** Has another schedule; what it shares with its occurrences stays shared. */
  void reschedule(byte[] schedule) {
    Payload same = payload();
    body = head().withSchedule(schedule).encode();
    bodyBytes = body.length;
    share(same);
    rare().version++;
  }

  /**
   * Has another spec from now on, and forgets what it did under the last; stays paused if it is.
   */
  void replace(JobSpec spec, byte[] newBody) {
    String pauseReason = rare != null ? rare.pauseReason : null;
    boolean withParent = rare != null && rare.pausedWithParent;
    int version = version();
    boolean recurred = isRecurring();
    body = newBody;
    bodyBytes = newBody.length;
    flags = (byte) (JobSpec.flags(newBody) | (flags & MARKED));
    more = (byte) (spec.more().mask() | (more & UNSETTLED));
    dueMicros = spec.dueMicros();
    priority = (byte) spec.priority();
    revision++;
    attempts = 0;
    Set<JobRef> stillWait = waiters();
    rare = null;
    begin(spec);
    stillWait.forEach(this::waiter);
    if (pauseReason != null) {
      rare().pauseReason = pauseReason;
      rare().pausedWithParent = withParent;
    }
    if (recurred || isRecurring()) {
      rare().version = version + 1;
    }
  }

  /** How often somebody gave a recurring job another definition; 0 for any other job. */
  public int version() {
    return rare != null ? rare.version : 0;
  }

  /**
   * Has another spec from now on, as a recurring job that goes on as it did; a priority that
   * somebody gave it stays unless the spec brings another one than before.
   */
  void update(JobSpec spec, byte[] newBody) {
    if (spec.priority() != head().priority()) {
      priority = (byte) spec.priority();
    }
    body = newBody;
    bodyBytes = newBody.length;
    flags = (byte) (JobSpec.flags(newBody) | (flags & MARKED));
    more = (byte) (spec.more().mask() | (more & UNSETTLED));
    UncommonState kept = rare();
    kept.version++;
    kept.payload = null;
    kept.concurrency = spec.more().concurrency();
  }

  /** Whether {@code spec} is its own but for the payload. */
  boolean isRenewedBy(JobSpec spec, byte[] newBody) {
    return spec.type().equals(type)
        && spec.namespace().equals(namespace)
        && spec.queue().equals(queue)
        && JobSpec.flags(newBody) == (flags & 0xFF & ~MARKED)
        && spec.more().mask() == (more & 0xFF & ~UNSETTLED);
  }

  /** Goes on from its beginning with another input; what it remembers of its code is gone. */
  void renew(byte[] newBody, long at) {
    body = newBody;
    bodyBytes = newBody.length;
    dueMicros = at;
    revision++;
    attempts = 0;
    UncommonState kept = rare();
    kept.workflow = kept.workflow != null ? kept.workflow.begunAnew() : null;
    kept.reported = kept.reported != null ? kept.reported.begunAnew() : null;
    kept.payload = null;
    kept.saved = null;
    kept.jitterMicros = 0;
    kept.markers = 0;
    kept.alone = false;
    kept.leaseOver(0);
  }

  /** Whether an operation of this attempt and revision is about the job as it is now. */
  boolean isAt(int attempt, int ofRevision) {
    return attempt == attempts + 1 && ofRevision == revision && !isTerminated();
  }

  /** No more than {@code left} of its starts count as cut off by a crash. */
  void clearMarkers(int left) {
    UncommonState kept = rare;
    if (kept != null) {
      kept.markers = Math.min(kept.markers, left);
      kept.alone = false;
      kept.markerIncarnation = 0;
      if (kept.isEmpty()) {
        rare = null;
      }
    }
  }

  /** It waits for an attempt, and not for what the code of its workflow named. */
  void runs() {
    WorkflowState workflow = workflow();
    if (workflow != null) {
      workflow.runs();
    }
  }

  /** Whether it starts with a durable marker, until an attempt of it has ended. */
  public boolean isMarked() {
    return (flags & MARKED) != 0;
  }

  /** Whether an earlier owner may have died of it, or of what it did there is not known yet. */
  public boolean isSuspected() {
    return isMarked() || isUnsettled();
  }

  /** Whether so many crashes cut off its starts that nothing else may run beside the next one. */
  public boolean startsAlone() {
    return rare != null && rare.markers >= MARKERS_BEFORE_ALONE;
  }

  public void mark(boolean marked) {
    flags = (byte) (marked ? flags | MARKED : flags & ~MARKED);
  }

  /**
   * Whether an attempt under an earlier owner may have been completed by a transaction: nothing
   * starts or ends the job before that is known.
   */
  public boolean isUnsettled() {
    return (more & UNSETTLED) != 0;
  }

  public void settled(boolean settled) {
    more = (byte) (settled ? more & ~UNSETTLED : more | UNSETTLED);
  }

  /** Lets go of its body. */
  public void strip() {
    body = STRIPPED;
  }

  /** Has its body again. */
  public void restore(byte[] sameBody) {
    body = sameBody;
  }

  public @SuppressWarnings("ReferenceEquality") // there is one such array
  boolean isStripped() {
    return body == STRIPPED;
  }

  /** What it takes in a journal, about. */
  long bytes() {
    UncommonState kept = rare;
    if (kept == null) {
      return (long) Frame.HEADER_BYTES + bodyBytes;
    }
    return (long) Frame.HEADER_BYTES
        + bodyBytes
        + (kept.saved != null ? kept.saved.length : 0)
        + (kept.workflow != null ? kept.workflow.bytes() : 0)
        + (kept.reported != null ? kept.reported.publishedBytes() : 0);
  }

  /** What it reported of itself; null where that is nothing. */
  public @Nullable Reported reported() {
    return rare != null ? rare.reported : null;
  }

  /** By which a worker runs its attempt; null where none does, or nothing of it is written. */
  public @Nullable Lease lease() {
    return rare != null ? rare.lease : null;
  }

  /** How many of its last attempts lost their workers, one after the other. */
  public int workersLost() {
    return rare != null ? rare.workersLost : 0;
  }

  /** What it waits for and remembers, if it is a workflow; null where it is none, or not yet. */
  public @Nullable WorkflowState workflow() {
    return rare != null ? rare.workflow : null;
  }

  /** Whether it is a workflow whose code has run: it is asked to stop, and not ended by others. */
  public boolean hasBegun() {
    WorkflowState workflow = workflow();
    return workflow != null && workflow.begun();
  }

  /** Whether it is a workflow that ends without its code: no attempt of it counts any more. */
  public boolean isTerminated() {
    return rare != null && rare.terminated;
  }

  /** Whether its code ends it once it is asked to stop: others do not. */
  public boolean endsByItsCode() {
    return hasBegun() && !isTerminated();
  }

  /** Whether it is a workflow that waits for something that its code named. */
  public boolean isWaiting() {
    WorkflowState workflow = workflow();
    return workflow != null && workflow.waits() != null;
  }

  /** It is a workflow, or one is signalled before its code runs. */
  WorkflowState asWorkflow() {
    UncommonState kept = rare();
    WorkflowState found = kept.workflow;
    if (found == null) {
      found = new WorkflowState();
      kept.workflow = found;
    }
    return found;
  }

  public boolean isPaused() {
    return rare != null && rare.pauseReason != null;
  }

  public boolean cancelRequested() {
    return rare != null && rare.cancelReason != null;
  }

  public boolean hasName() {
    return (flags & (JobSpec.NAMED | JobSpec.KEYED)) != 0;
  }

  /** Where it stands if it is recurring; null if it is not. */
  public @Nullable ScheduleState move() {
    return rare != null ? rare.move : null;
  }

  public boolean isRecurring() {
    return (more & OptionalSpec.RECURRING) != 0;
  }

  /** Whether it was started as the child of a workflow. */
  public boolean isChild() {
    return (more & OptionalSpec.CHILD) != 0;
  }

  /** Whether it is one time of a recurring job. */
  public boolean isOccurrence() {
    return (more & OptionalSpec.OCCURRENCE) != 0;
  }

  /** Which time of which recurring job it is; null where it is none. */
  public @Nullable OccurrenceSpec occurrence() {
    return rare != null ? rare.occurrence : null;
  }

  /** How many jobs like it run at once; null where nobody counts them. */
  public @Nullable Concurrency concurrency() {
    return rare != null ? rare.concurrency : null;
  }

  public boolean hasPolicy() {
    return (more & OptionalSpec.POLICY) != 0;
  }

  /** Whether its body stays in memory: its end needs it, or what it came from does not hold it. */
  public boolean keepsBody() {
    return hasName()
        || (more & (OptionalSpec.RECURRING | OptionalSpec.CONCURRENCY | OptionalSpec.AFTER)) != 0
        || sharesPayload()
        || lease() != null; // its owner judges it at any time
  }

  /** When its next attempt is to be, without the jitter that it is due later. */
  public long timeMicros() {
    return rare != null ? dueMicros - rare.jitterMicros : dueMicros;
  }

  public boolean has(int flag) {
    return (flags & flag) != 0;
  }

  public JobSpec spec() {
    return JobSpec.decode(body());
  }

  /** Its spec, all but the payload and the lists of the jobs before and after it. */
  public JobSpec facts() {
    return JobSpec.decodeFacts(body);
  }

  /** Its spec, all but the payload. */
  public JobSpec head() {
    return JobSpec.decodeHead(body);
  }
}
