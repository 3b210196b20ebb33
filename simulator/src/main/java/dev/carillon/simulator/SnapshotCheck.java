package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobEvent;
import dev.carillon.api.JobState;
import dev.carillon.store.Entry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Compares a published snapshot with the shard it stands for: live jobs and evidence are in it. */
final class SnapshotCheck {
  private static final int MOST_ATTEMPTS = 50;

  private final ModelShard shard;
  private final long keepFailedSince;
  private final Map<Long, JournalFormat.State> states = new LinkedHashMap<>();

  /** What several jobs carry, by its number. */
  private final Map<Long, byte[]> payloads = new LinkedHashMap<>();

  /** What it tells of the attempts before a state, by job. */
  private final Map<Long, List<JournalFormat.Retry>> tried = new LinkedHashMap<>();

  /** Jobs that the snapshot leaves live without saying their state. */
  private final Set<Long> unended = new LinkedHashSet<>();

  /** Dead letters as far as it has been read. */
  private final Set<Long> dead = new LinkedHashSet<>();

  /** Jobs that the snapshot tells how they began. */
  private final Set<Long> begun = new LinkedHashSet<>();

  private final Set<Long> told = new LinkedHashSet<>();
  private final Set<Long> toldWhole = new LinkedHashSet<>();
  private final List<ModelJob> leftOut = new ArrayList<>();
  private final WorkflowModel.Snapshot workflows;

  /** Checks a snapshot of {@code shard}, in which jobs that failed since then must be. */
  SnapshotCheck(ModelShard shard, long keepFailedSince) {
    this.shard = shard;
    this.workflows = new WorkflowModel.Snapshot(shard);
    this.keepFailedSince = keepFailedSince;
  }

  void compare(List<Entry> snapshot) {
    for (Entry entry : snapshot) {
      JournalFormat.read(entry.data()).forEach(this::note);
    }
    for (ModelJob job : shard.jobs.values()) {
      compare(job);
    }
    workflows.compare();
    shard.model.world.workers.compare(shard, states);
    check(
        unended.isEmpty(),
        Guarantee.FOLD,
        () -> "shard " + shard.index + ": a snapshot leaves jobs live that are not: " + unended);
  }

  /** The ended jobs that the snapshot is the first to be without. */
  List<ModelJob> leftOut() {
    return leftOut;
  }

  private void note(JournalFormat.Op operation) {
    if (workflows.note(operation) || shard.workerJobs.containsKey(operation.job())) {
      if (operation instanceof JournalFormat.State state) {
        states.put(state.job(), state);
      } else if (operation instanceof JournalFormat.End end) {
        states.remove(end.job());
      }
      return;
    }
    switch (operation) {
      case JournalFormat.Payload payload -> payloads.put(payload.job(), payload.bytes());
      case JournalFormat.State state -> {
        states.put(state.job(), state);
        tried.put(state.job(), new ArrayList<>());
        begun.add(state.job());
      }
      case JournalFormat.Add add -> {
        begun.add(add.job());
        toldWhole.add(add.job());
        unended.add(add.job());
      }
      case JournalFormat.End end -> {
        states.remove(end.job()); // evidence may begin with the state an earlier one left
        unended.remove(end.job());
        if (end.state() == JobState.DEAD) {
          dead.add(end.job());
        }
      }
      case JournalFormat.Discard discard -> dead.remove(discard.job());
      case JournalFormat.Replay replay -> {
        if (dead.remove(replay.job())) {
          unended.add(replay.job());
        }
      }
      case JournalFormat.Next next -> {
        for (JournalFormat.Child child : next.children()) {
          begun.add(child.number());
          told.add(child.number());
          if (next.outcome() == null) {
            unended.add(child.number());
          }
        }
        if (next.over()) {
          states.remove(next.job());
          unended.remove(next.job());
        }
      }
      case JournalFormat.Retry retry -> {
        if (tried.containsKey(retry.job())) {
          tried.get(retry.job()).add(retry);
        }
      }
      default -> {}
    }
    if (!(operation instanceof JournalFormat.State) && begun.contains(operation.job())) {
      told.add(operation.job());
    }
  }

  private void compare(ModelJob job) {
    JournalFormat.State state = states.get(job.number);
    if (job.live()) {
      if (state == null) {
        throw new Violation(Guarantee.FOLD, job + " is live and not in the snapshot");
      }
      compare(job, state);
      attempts(job);
      unended.remove(job.number);
      return;
    }
    check(state == null, Guarantee.FOLD, () -> job + " has ended and is live in the snapshot");
    boolean evidence =
        (job.end == JobState.DEAD && !job.discarded)
            || (job.end == JobState.FAILED && job.endAt >= keepFailedSince);
    check(
        !evidence || told.contains(job.number),
        Guarantee.RETENTION,
        () -> "the evidence of " + job + " is not in the snapshot");
    if (!told.contains(job.number) && job.goneFrom == 0) {
      job.goneFrom = shard.generation + 1;
      leftOut.add(job);
    }
    if (told.contains(job.number)) {
      job.keepInherited(
          toldWhole.contains(job.number)
              ? EnumSet.of(JobEvent.Kind.SCHEDULED, JobEvent.Kind.RETRIED, JobEvent.Kind.DEAD)
              : EnumSet.of(JobEvent.Kind.RETRIED, JobEvent.Kind.DEAD));
      job.tellOn();
    }
  }

  /** The last attempts that failed are told as they were, behind the state, and nothing else is. */
  private void attempts(ModelJob job) {
    List<JournalFormat.Retry> last =
        job.tried.subList(Math.max(0, job.tried.size() - MOST_ATTEMPTS), job.tried.size());
    check(
        last.equals(tried.get(job.number)),
        Guarantee.HISTORY,
        () -> job + " was tried " + last + " and the snapshot tells " + tried.get(job.number));
    job.tellAttemptsOn(MOST_ATTEMPTS);
  }

  private void compare(ModelJob job, JournalFormat.State state) {
    boolean same =
        state.attempts() == job.attempts
            && state.revision() == job.revision
            && state.due() == job.due
            && state.priority() == job.priority
            && state.jitter() == job.jitter
            && state.markers() == job.markers
            && state.alone() == job.alone
            && Objects.equals(state.lease(), job.lease)
            && state.workersLost() == job.workersLost
            && Arrays.equals(state.saved(), job.saved)
            && Objects.equals(state.cancelReason(), job.cancelReason)
            && Objects.equals(state.pauseReason(), job.pauseReason)
            && Objects.equals(state.move(), job.move)
            && new LinkedHashSet<>(state.waiters()).equals(job.waiters)
            && Arrays.equals(state.met(), met(job))
            && Objects.equals(state.spec().more(), job.spec.more())
            && requestOf(state) == job.request;
    check(same, Guarantee.FOLD, () -> job + " is otherwise in the snapshot: " + state);
  }

  private long requestOf(JournalFormat.State state) {
    byte[] payload = state.spec().payload();
    if (state.spec().sharesPayload()) {
      payload = payloads.get(ByteBuffer.wrap(payload).getLong());
    }
    if (payload == null) {
      throw new Violation(Guarantee.FOLD, "it shares a payload that is not there: " + state);
    }
    return ByteBuffer.wrap(payload).getLong();
  }

  private static byte[] met(ModelJob job) {
    byte[] codes = new byte[job.awaited.size()];
    int i = 0;
    for (ModelJob.Awaited one : job.awaited.values()) {
      JobState state = one.state;
      codes[i++] = (byte) (!one.met ? 0 : state == null ? 255 : state.code());
    }
    return codes;
  }
}
