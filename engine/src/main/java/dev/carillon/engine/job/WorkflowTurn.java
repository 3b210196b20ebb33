package dev.carillon.engine.job;

import dev.carillon.api.JobError;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the code of a workflow did since its last checkpoint: it is written in one operation, all of
 * it or nothing.
 *
 * @param entries in the order of the code
 * @param children to be scheduled; each gets its place and its {@link HistoryEntry.ChildStarted}
 *     from the node
 */
public record WorkflowTurn(List<HistoryEntry> entries, List<ChildStart> children) {
  /** Nothing. */
  public static final WorkflowTurn NOTHING = new WorkflowTurn(List.of(), List.of());

  public WorkflowTurn {
    entries = List.copyOf(entries);
    children = List.copyOf(children);
  }

  /**
   * A child that the call of this number starts.
   *
   * @param keeps whether a job that has its name already takes its place
   * @param found what became of its name; null where it has none, or that is not known yet
   */
  public record ChildStart(int call, JobSpec spec, boolean keeps, @Nullable Found found) {
    /** One whose name nobody may have. */
    public ChildStart(int call, JobSpec spec) {
      this(call, spec, false, null);
    }

    /** Whether it has a name or a key, which has to be its own before it is written. */
    public boolean isNamed() {
      return spec.name() != null || spec.key() != null;
    }

    public ChildStart with(Found what) {
      return new ChildStart(call, spec, keeps, what);
    }
  }

  /** What became of the name or key of a child. */
  public sealed interface Found {
    /**
     * It is its own: the child gets this number.
     *
     * @param body its spec with the version of the record
     */
    @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
    record Free(long number, byte[] body) implements Found {}

    /** That job has it and takes the place of the child. */
    record Joins(JobRef job) implements Found {}

    /** That job has it: there is no child. */
    record Taken(JobRef by, JobError error) implements Found {}
  }

  /** Whether there is nothing to write. */
  public boolean isEmpty() {
    return entries.isEmpty() && children.isEmpty();
  }
}
