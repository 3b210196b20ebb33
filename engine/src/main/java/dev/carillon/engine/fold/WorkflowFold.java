package dev.carillon.engine.fold;

import dev.carillon.api.JobState;
import dev.carillon.engine.fold.ShardFold.Answer;
import dev.carillon.engine.fold.ShardFold.Listener;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link ShardFold} that knows workflows: what the operations about an event history
 * make of a live job. Owned by its fold, whose position and sizes it shares; it keeps nothing else.
 */
final class WorkflowFold<J extends FoldedJob> {
  private final FoldPosition position;
  private final FoldedBytes bytes;
  private Listener<J> listener;

  WorkflowFold(FoldPosition position, FoldedBytes bytes, Listener<J> listener) {
    this.position = position;
    this.bytes = bytes;
    this.listener = listener;
  }

  /** From now on {@code next} is told. */
  void listener(Listener<J> next) {
    listener = next;
  }

  /** Applies an operation that only workflows have. */
  Answer apply(J job, Frame frame) {
    ByteReader in = frame.reader();
    return switch (frame.kind()) {
      case CHECKPOINT -> checkpoint(job, frame, OperationBody.Checkpoint.decode(in));
      case WAIT -> waits(job, OperationBody.Wait.decode(in));
      case SIGNAL -> signal(job, frame, OperationBody.Signal.decode(in));
      case CHILD_ENDED -> childEnded(job, frame, OperationBody.ChildEnded.decode(in));
      case HISTORY -> history(job, frame);
      case RESTORED -> restored(job, frame.reader());
      case RENEW -> renew(job, frame, OperationBody.Renew.decode(in));
      default -> throw new IllegalStateException("kind: " + frame.kind());
    };
  }

  /** The history of a workflow has an entry more; it goes on at once if that ends its wait. */
  void record(J job, Frame frame, HistoryEntry entry, long at) {
    WorkflowState workflow = job.asWorkflow();
    grown(workflow, frame);
    if (workflow.add(entry)) {
      job.dueMicros = Math.min(job.dueMicros, at);
    }
    listener.recorded(job, workflow.entries(), entry);
  }

  private void grown(WorkflowState workflow, Frame frame) {
    int more = frame.frameBytes();
    workflow.at(position.place(), more);
    bytes.live += more;
    bytes.added += more;
  }

  static boolean takes(FoldedJob job, int attempt, int revision, int before) {
    WorkflowState workflow = job.workflow();
    int made = workflow != null ? workflow.checkpointed() : 0;
    return job.isAt(attempt, revision) && before == made;
  }

  private Answer checkpoint(J job, Frame frame, OperationBody.Checkpoint checkpoint) {
    if (!takes(job, checkpoint.attempt(), checkpoint.revision(), checkpoint.before())) {
      return Answer.STALE;
    }
    job.clearMarkers(0);
    WorkflowState known = job.asWorkflow();
    grown(known, frame);
    known.checkpointed(checkpoint.entries().size());
    for (HistoryEntry entry : checkpoint.entries()) {
      var unusedEnd = known.add(entry);
      listener.recorded(job, known.entries(), entry);
    }
    return Answer.APPLIED;
  }

  private Answer waits(J job, OperationBody.Wait wait) {
    WorkflowState workflow = job.asWorkflow();
    if (!job.isAt(wait.attempt(), wait.revision()) || wait.before() != workflow.checkpointed()) {
      return Answer.STALE;
    }
    job.dueMicros = workflow.begins(wait.waitFor()) ? wait.waitFor().untilMicros() : wait.at();
    job.rare().jitterMicros = 0;
    job.clearMarkers(0);
    return Answer.APPLIED;
  }

  /** What any job reports of itself, a workflow also what its children do. */
  Answer report(J job, Frame frame, Report.Recorded recorded) {
    if (recorded.revision() != job.revision) {
      return Answer.STALE;
    }
    FoldedJob.UncommonState rare = job.rare();
    Reported reported = rare.reported != null ? rare.reported : new Reported();
    rare.reported = reported;
    bytes.live -= job.bytes();
    boolean counts = reported.apply(recorded, position.place(), frame.frameBytes());
    bytes.live += job.bytes();
    return counts ? Answer.APPLIED : Answer.STALE;
  }

  /** The child of a workflow has ended: what it reported still counts for its parent. */
  void childEnded(J child, JobState state, @Nullable J parent, JobRef parentRef) {
    Reported reported = child.reported();
    WorkflowState workflow = parent != null ? parent.workflow() : null;
    if (reported == null || parent == null || workflow == null || !reported.hasNumbers()) {
      return;
    }
    if (workflow.callOf(new JobRef(parentRef.shard(), child.number)) != 0) {
      FoldedJob.UncommonState rare = parent.rare();
      rare.reported = rare.reported != null ? rare.reported : new Reported();
      rare.reported.childEnded(reported, state == JobState.SUCCEEDED);
    }
  }

  private Answer signal(J job, Frame frame, OperationBody.Signal signal) {
    WorkflowState workflow = job.workflow();
    if (workflow != null && workflow.hasTaken(signal.key())) {
      return Answer.DUPLICATE;
    }
    if (workflow != null && workflow.isFull()) {
      return Answer.FULL;
    }
    record(job, frame, signal.entry(), signal.at());
    return Answer.APPLIED;
  }

  private Answer childEnded(J job, Frame frame, OperationBody.ChildEnded ended) {
    WorkflowState workflow = job.workflow();
    int call = workflow != null ? workflow.callOf(ended.child()) : 0;
    if (call == 0) {
      return Answer.NO_SUCH_JOB;
    }
    record(job, frame, ended.entry(call), ended.at());
    return Answer.APPLIED;
  }

  private Answer renew(J job, Frame frame, OperationBody.Renew renew) {
    WorkflowState workflow = job.asWorkflow();
    if (!job.isAt(renew.attempt(), renew.revision())
        || renew.before() != workflow.checkpointed()
        || renew.seen() != workflow.entries()
        || !job.isRenewedBy(JobSpec.decodeHead(renew.spec()), renew.spec())) {
      return Answer.STALE;
    }
    bytes.live -= job.bytes();
    job.renew(renew.spec(), renew.at());
    job.position = position.entry();
    bytes.live += job.bytes();
    listener.renewed(job);
    for (HistoryEntry.Signalled unread : renew.unread()) {
      var unused = job.asWorkflow().add(unread);
      listener.recorded(job, job.asWorkflow().entries(), unread);
    }
    grown(job.asWorkflow(), frame);
    return Answer.APPLIED;
  }

  /** A dead letter that lives again, right behind its REPLAY; its history follows. */
  private Answer restored(J job, ByteReader in) {
    if (job.workflow() != null || job.attempts != 0) {
      return Answer.STALE;
    }
    job.revision = (int) in.varint();
    job.rare().workflow = in.remaining() > 0 ? WorkflowState.read(in) : new WorkflowState();
    return Answer.APPLIED;
  }

  /** Entries that the state of the job counts already. */
  private Answer history(J job, Frame frame) {
    grown(job.asWorkflow(), frame);
    return Answer.APPLIED;
  }
}
