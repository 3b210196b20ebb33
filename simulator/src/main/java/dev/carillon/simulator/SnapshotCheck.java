package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.JobState;
import dev.carillon.store.Entry;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Compares a published snapshot with the shard it stands for: live jobs and evidence are in it. */
final class SnapshotCheck {
  private final ModelShard shard;
  private final Map<Long, JournalFormat.State> states = new HashMap<>();
  private final Set<Long> told = new HashSet<>();
  private final Set<Long> toldWhole = new HashSet<>();

  SnapshotCheck(ModelShard shard) {
    this.shard = shard;
  }

  void compare(List<Entry> snapshot) {
    for (Entry entry : snapshot) {
      for (JournalFormat.Op operation : JournalFormat.read(entry.data())) {
        if (operation instanceof JournalFormat.State state) {
          states.put(state.job(), state);
        } else {
          told.add(operation.job());
        }
        if (operation instanceof JournalFormat.Add) {
          toldWhole.add(operation.job());
        }
        if (operation instanceof JournalFormat.End end) {
          states.remove(end.job()); // evidence may begin with the state an earlier one left
        }
      }
    }
    for (ModelJob job : shard.jobs.values()) {
      compare(job);
    }
  }

  private void compare(ModelJob job) {
    JournalFormat.State state = states.get(job.number);
    if (job.live()) {
      if (state == null) {
        throw new Violation(Guarantee.FOLD, job + " is live and not in the snapshot");
      }
      compare(job, state);
      return;
    }
    check(state == null, Guarantee.FOLD, () -> job + " has ended and is live in the snapshot");
    boolean evidence = job.end == JobState.DEAD || job.end == JobState.FAILED;
    check(
        !evidence || told.contains(job.number),
        Guarantee.RETENTION,
        () -> "the evidence of " + job + " is not in the snapshot");
    if (!told.contains(job.number) && job.goneFrom == 0) {
      job.goneFrom = shard.generation + 1;
    }
    if (toldWhole.contains(job.number)) {
      job.toldFrom = shard.generation + 1;
    }
  }

  private static void compare(ModelJob job, JournalFormat.State state) {
    boolean same =
        state.attempts() == job.attempts
            && state.revision() == job.revision
            && state.due() == job.due
            && state.jitter() == job.jitter
            && state.markers() == job.markers
            && state.alone() == job.alone
            && Arrays.equals(state.saved(), job.saved)
            && Objects.equals(state.cancelReason(), job.cancelReason)
            && ModelJob.requestOf(state.spec()) == job.request;
    check(same, Guarantee.FOLD, () -> job + " is otherwise in the snapshot: " + state);
  }
}
