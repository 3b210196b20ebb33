package dev.carillon.engine.query;

import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter as a replay needs it: its spec, and of a workflow the event history that it died
 * with and the specs of its children. Reads the shard beside the loop and changes nothing.
 */
public final class DeadWorkflow {
  private DeadWorkflow() {}

  /**
   * What there is.
   *
   * @param revision of the job when it died
   * @param failedBy the class of what its last attempt failed with; empty for nothing
   * @param entries of its history, oldest first; empty where its code never began
   * @param children the specs of its children, encoded, by where they are
   * @param kept what it remembers beside its history
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  public record Found(
      byte[] spec,
      int revision,
      String failedBy,
      List<HistoryEntry> entries,
      Map<JobRef, byte[]> children,
      Kept kept) {}

  /**
   * What a workflow keeps when it begins anew.
   *
   * @param keys of the signals that it has taken, oldest first
   * @param published what it published last; null for nothing
   */
  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  public record Kept(List<String> keys, byte @Nullable [] published) {}

  /** The job that has ended; empty where there is none. */
  public static Outcome<Optional<Found>> find(Store store, JobRef ref) {
    JobReader reader = new JobReader(store);
    return JobReader.unlessReplaced(
        () -> {
          Reading reading = new Reading(ref);
          return reader
              .each(ref.shard(), head -> {}, reading::apply)
              .map(all -> Optional.ofNullable(reading.found));
        });
  }

  /** Folds the operations of the job and of its children. */
  private static final class Reading {
    private final JobRef ref;
    private final List<HistoryEntry> entries = new ArrayList<>();
    private final Map<JobRef, byte[]> children = new LinkedHashMap<>();
    private final Set<Long> numbers = new LinkedHashSet<>();
    private final ShardFold<FoldedJob> fold;
    private byte @Nullable [] published;
    private @Nullable Found found;

    Reading(JobRef ref) {
      this.ref = ref;
      this.fold =
          new ShardFold<>(
              FoldedJob::new,
              new ShardFold.Listener<FoldedJob>() {
                @Override
                public void ended(FoldedJob job, OperationBody.End end) {
                  Reading.this.ended(job, end);
                }

                @Override
                public void recorded(FoldedJob job, int count, HistoryEntry entry) {
                  if (job.number == ref.number()) {
                    entries.add(entry);
                  }
                }
              });
    }

    private void ended(FoldedJob job, OperationBody.End end) {
      if (job.number == ref.number()) {
        String failedBy = end.error() != null ? end.error().type() : "";
        WorkflowState workflow = job.workflow();
        List<String> keys = workflow != null ? workflow.keys() : List.of();
        found =
            new Found(
                job.body(),
                job.revision,
                failedBy,
                List.copyOf(entries),
                new LinkedHashMap<>(children),
                new Kept(keys, published));
      }
    }

    void apply(Frame frame) {
      boolean own = frame.job() == ref.number();
      if (own) {
        applyOwn(frame);
      } else if (frame.kind() == Kind.PAYLOAD || isOfChild(frame)) {
        var unused = fold.apply(frame);
      }
    }

    private void applyOwn(Frame frame) {
      List<HistoryEntry> before = List.copyOf(entries);
      switch (frame.kind()) {
        case ADD, STATE, REPLAY, REPLACE, RENEW -> entries.clear();
        default -> {}
      }
      if (fold.apply(frame) != ShardFold.Answer.APPLIED) {
        // The state of a job that the generation before told of: all of its history follows.
        if (frame.kind() != Kind.STATE) {
          entries.clear();
          entries.addAll(before);
        }
        return;
      }
      switch (frame.kind()) {
        case HISTORY -> entries.addAll(OperationBody.History.decode(frame.reader()).entries());
        case REPORT -> reported(Report.Recorded.decode(frame.reader()).report());
        case REPLAY, ADD -> {
          found = null;
          published = null;
        }
        case STATE -> published = null; // it follows
        default -> {}
      }
    }

    private void reported(Report report) {
      if (report.published() != null || report.withdraws()) {
        published = report.published();
      }
    }

    private boolean isOfChild(Frame frame) {
      if (frame.kind() != Kind.ADD && frame.kind() != Kind.STATE) {
        return numbers.contains(frame.job());
      }
      byte[] spec = ShardFold.bodyIn(frame);
      byte[] head = JobSpec.sharedPayload(spec) != 0 ? JobSpec.withoutShared(spec) : spec;
      boolean child =
          (JobSpec.flags(head) & JobSpec.MORE) != 0
              && JobSpec.decodeHead(head).more().waiters().contains(ref);
      if (child) {
        numbers.add(frame.job());
        children.put(new JobRef(ref.shard(), frame.job()), spec);
      }
      return child;
    }
  }
}
