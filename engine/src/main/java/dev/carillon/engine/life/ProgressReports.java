package dev.carillon.engine.life;

import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.Reported;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Records what jobs report of themselves: their progress, and what workflows publish. The first
 * report of a job is recorded at once, later ones together once a second, and the last one before
 * the end of the job. A job that reports nothing costs nothing.
 *
 * <p>The progress of a workflow that reports none is recorded here too, after that of its children:
 * their numbers added up.
 *
 * <p>Crash table: the process dies: what was reported within the last second is gone; code that
 * runs again reports anew, and the fold keeps the larger part. The shard is to leave: it is held
 * until what was reported is written. The store does not answer: later reports take the place of
 * those that wait. The outcome of a record is unknown: the shard has gone, and so have its reports.
 */
public final class ProgressReports implements Attempts.LastReport {
  /** So far apart are two records of a job, but for the last. */
  private static final long INTERVAL_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Committer committer;
  private final Shards shards;
  private final Watchers watchers;

  /** The jobs that reported something within the last second. */
  private final Map<JobRef, Recent> recent = new LinkedHashMap<>();

  public ProgressReports(Basics basics, Committer committer, Shards shards, Watchers watchers) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.committer = committer;
    this.shards = shards;
    this.watchers = watchers;
  }

  /** A job that reported of late. */
  private static final class Recent {
    final JobRef ref;
    final Shard shard;
    final int revision;
    Report.@Nullable Source source;

    /** What an earlier attempt reported and nobody has recorded. */
    Report earlier = Report.NOTHING;

    /** Whether there is something to record; the shard is held then. */
    boolean wants;

    /** How many records are on their way to the journal. */
    int writing;

    /** Whether the last one is less than a second ago. */
    boolean rests;

    Recent(JobRef ref, Shard shard, int revision) {
      this.ref = ref;
      this.shard = shard;
      this.revision = revision;
    }

    /** All that is to be recorded. */
    Report take() {
      Report all = source != null ? earlier.then(source.take()) : earlier;
      earlier = Report.NOTHING;
      return all;
    }
  }

  /** An attempt has something to report, which {@code source} has. */
  public void report(Attempt attempt, Report.Source source) {
    NodeJob job = attempt.job();
    Shard shard = job.shard;
    if (shard == null || !shard.owned() || attempt.over || job.revision != attempt.revision()) {
      var unused = source.take();
      return;
    }
    Recent of = recent(shard, job);
    if (of.source != null && !of.source.equals(source)) {
      of.earlier = of.earlier.then(of.source.take());
    }
    of.source = source;
    wants(of);
  }

  private Recent recent(Shard shard, NodeJob job) {
    JobRef ref = shard.ref(job.number);
    Recent known = recent.get(ref);
    if (known != null && known.shard == shard && known.revision == job.revision) {
      return known;
    }
    if (known != null) {
      forget(known);
    }
    Recent fresh = new Recent(ref, shard, job.revision);
    recent.put(ref, fresh);
    return fresh;
  }

  private void wants(Recent of) {
    if (!of.wants) {
      of.wants = true;
      of.shard.hold();
    }
    settle(of);
  }

  private void settle(Recent of) {
    if (of.writing > 0 || of.rests) {
      return;
    }
    if (of.wants) {
      write(of);
    }
    if (of.writing == 0 && !of.rests) {
      recent.remove(of.ref, of);
    }
  }

  /** The job is about to end, or to begin anew: what it reported last stands before that. */
  @Override
  public void write(NodeJob job) {
    if (recent.isEmpty()) {
      return;
    }
    Shard shard = job.shard;
    Recent of = shard != null ? recent.get(shard.ref(job.number)) : null;
    if (of != null && of.wants) {
      write(of);
    }
  }

  private void write(Recent of) {
    of.wants = false;
    NodeJob job = of.shard.job(of.ref.number());
    if (job == null || job.revision != of.revision || !of.shard.owned()) {
      unhold(of);
      return;
    }
    Reported reported = job.reported();
    boolean ofChildren = of.source == null;
    Report report = ofChildren ? ofChildren(of.shard, job) : of.take();
    boolean changes =
        reported == null ? !isEmpty(report) : reported.wouldChange(report, ofChildren);
    if (changes) {
      of.writing++;
      of.rests = true;
      timers.at(env.monotonicNanos() + INTERVAL_NANOS, () -> rested(of));
      Report.Recorded recorded =
          new Report.Recorded(of.revision, env.wallMicros(), ofChildren, report);
      Frame frame = Frame.of(Kind.REPORT, job.number, recorded.encode());
      committer.add(of.shard.journal, new Operation(frame, new Written(of)));
    }
    unhold(of);
  }

  private static boolean isEmpty(Report report) {
    return !report.isOfProgress() && report.published() == null;
  }

  private void unhold(Recent of) {
    of.shard.unhold();
    shards.changed(of.shard.journal);
  }

  private void forget(Recent of) {
    recent.remove(of.ref, of);
    if (of.wants) {
      of.wants = false;
      unhold(of);
    }
  }

  private void rested(Recent of) {
    of.rests = false;
    if (recent.get(of.ref) == of) {
      settle(of);
    } else if (of.wants) {
      forget(of);
    }
  }

  /** What becomes of a record. */
  private final class Written implements Operation.Listener {
    private final Recent of;

    Written(Recent of) {
      this.of = of;
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
      of.writing--;
      NodeJob job = of.shard.job(of.ref.number());
      if (answer == ShardFold.Answer.APPLIED && job != null) {
        watchers.changed(job);
        tellParent(of.shard, job);
      }
      settle(of);
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      of.writing--;
      settle(of);
    }
  }

  // ---- the children of workflows

  /** The job has ended: what it reported counts for its parent as it does now. */
  void ended(Shard shard, NodeJob job) {
    if (job.reported() != null) {
      tellParent(shard, job);
    }
  }

  private void tellParent(Shard shard, NodeJob child) {
    Reported reported = child.reported();
    if (reported == null || !reported.hasNumbers()) {
      return;
    }
    for (JobRef waiter : child.waiters()) {
      NodeJob parent = waiter.shard().equals(shard.id) ? shard.job(waiter.number()) : null;
      if (parent != null && shard.owned() && countsFor(parent, shard.ref(child.number))) {
        wants(recent(shard, parent));
      }
    }
  }

  /** Whether it is the child of that workflow, which reports nothing itself. */
  private static boolean countsFor(NodeJob parent, JobRef child) {
    WorkflowState workflow = parent.workflow();
    Reported reported = parent.reported();
    return workflow != null
        && workflow.callOf(child) != 0
        && (reported == null || !reported.isOwn());
  }

  private static Report ofChildren(Shard shard, NodeJob parent) {
    Reported own = parent.reported();
    long done = own != null ? own.endedDone() : 0;
    long total = own != null ? own.endedTotal() : 0;
    WorkflowState workflow = parent.workflow();
    List<JobRef> children =
        workflow != null ? List.copyOf(workflow.children().values()) : List.of();
    for (JobRef ref : children) {
      NodeJob child = ref.shard().equals(shard.id) ? shard.job(ref.number()) : null;
      Reported reported = child != null ? child.reported() : null;
      if (reported != null && reported.hasNumbers()) {
        done += reported.done();
        total += reported.total();
      }
    }
    return total == 0 ? Report.NOTHING : new Report(done, total, null, null, false);
  }
}
