package dev.carillon.engine.query;

import dev.carillon.api.JobState;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.history.Selection;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the event history of one workflow as its journal has it, also of one that has ended: what a
 * replay outside of a node needs. Reads the whole shard. Claims nothing and changes nothing.
 */
public final class HistoryReader {

  /**
   * A workflow as its journal tells it.
   *
   * @param revision counts how often it began anew
   * @param waitsFor what it waits for; null where it has to run, has ended or is no workflow
   * @param entries of its event history since it began anew last; empty where its code never ran,
   *     and of a job that is no workflow
   */
  public record Recorded(
      JobRef job,
      JobSpec spec,
      int revision,
      JobState state,
      List<HistoryEntry> entries,
      @Nullable WorkflowWait waitsFor) {}

  private final JobRef ref;
  private final Selection selection;
  private final List<HistoryEntry> entries = new ArrayList<>();
  private final ShardFold<FoldedJob> fold;
  private @Nullable Recorded ended;

  private HistoryReader(JobRef ref, Selection selection) {
    this.ref = ref;
    this.selection = selection;
    this.fold =
        new ShardFold<>(
            FoldedJob::new,
            new ShardFold.Listener<>() {
              @Override
              public void ended(FoldedJob job, OperationBody.End end) {
                if (job.number == ref.number()) {
                  ended = told(job, end.state());
                }
              }

              @Override
              public void recorded(FoldedJob job, int count, HistoryEntry entry) {
                if (job.number == ref.number()) {
                  keep(count, entry);
                }
              }
            });
  }

  /** The workflow, if its shard is there and has it. */
  public static Outcome<Optional<Recorded>> read(Store store, JobRef job) {
    return JobReader.unlessReplaced(
        () -> {
          HistoryReader first =
              new HistoryReader(job, new Selection(number -> number == job.number()));
          Outcome<Boolean> read = first.each(store);
          if (!first.selection.cameTooLate()) {
            return read.map(all -> first.found());
          }
          HistoryReader again = new HistoryReader(job, first.selection.again());
          return again.each(store).map(all -> again.found());
        });
  }

  private Outcome<Boolean> each(Store store) {
    return new JobReader(store).each(ref.shard(), head -> {}, this::apply);
  }

  private void apply(Frame any) {
    Frame frame = selection.of(any);
    if (frame == null) {
      return;
    }
    boolean own = frame.job() == ref.number();
    ShardFold.Answer answer = fold.apply(frame);
    if (own && frame.kind() == Kind.STATE) {
      // All of its history follows, also where the generation before told of the job.
      ended = null;
      entries.clear();
    }
    if (!own || answer != ShardFold.Answer.APPLIED) {
      return;
    }
    switch (frame.kind()) {
      // Another generation tells it again from here on, or the job is asked for anew.
      case ADD, REPLAY -> {
        ended = null;
        entries.clear();
      }
      case DISCARD -> ended = null;
      case HISTORY -> entries.addAll(OperationBody.History.decode(frame.reader()).entries());
      default -> {}
    }
  }

  /** What was recorded before a new beginning is told again under the same numbers. */
  private void keep(int count, HistoryEntry entry) {
    if (count <= entries.size()) {
      entries.subList(count - 1, entries.size()).clear();
    }
    entries.add(entry);
  }

  private Recorded told(FoldedJob job, JobState state) {
    WorkflowState workflow = job.workflow();
    int count = workflow == null ? 0 : Math.min(workflow.entries(), entries.size());
    return new Recorded(
        ref,
        JobSpec.decode(job.body()),
        job.revision,
        state,
        entries.stream().limit(count).collect(Collectors.toUnmodifiableList()),
        workflow == null || state.ended() ? null : workflow.waits());
  }

  private Optional<Recorded> found() {
    FoldedJob live = fold.job(ref.number());
    if (live == null) {
      return Optional.ofNullable(ended);
    }
    JobState waits = live.isWaiting() ? JobState.WAITING : JobState.SCHEDULED;
    return Optional.of(told(live, live.isPaused() ? JobState.PAUSED : waits));
  }
}
