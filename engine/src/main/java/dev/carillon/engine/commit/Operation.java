package dev.carillon.engine.commit;

import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.store.Outcome;
import dev.carillon.store.Transactions.Rider;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An operation on its way to a journal. Written first, then applied in journal order; whoever
 * caused it is answered from the fold, once.
 */
public final class Operation {
  public final Frame frame;

  /** Adds of jobs that it starts, which stand behind it in the same entry of the journal. */
  public final List<Frame> adds;

  public final Listener listener;

  /** The spec of an add, which saves decoding it again. */
  public final @Nullable JobSpec spec;

  /** The body of an end, for the same reason. */
  public final OperationBody.@Nullable End end;

  public Stage stage = Stage.MADE;

  /** The adds that must be committed together with this one, if any. */
  @Nullable AtomicAdds together;

  /** What goes with it in the same transaction, if anything. */
  public @Nullable Rider rider;

  /**
   * Whether the fold would take it, asked just before it is sent, with nothing of its job on the
   * way: where not, it is not written, and its listener hears {@link ShardFold.Answer#STALE}. For
   * what brings operations along that must not be there without it. Null for always.
   */
  public @Nullable BooleanSupplier guard;

  public Operation(Frame frame, Listener listener) {
    this(frame, null, null, List.of(), listener);
  }

  /** One that starts jobs. */
  public Operation(Frame frame, List<Frame> adds, Listener listener) {
    this(frame, null, null, adds, listener);
  }

  public Operation(Frame frame, JobSpec spec, Listener listener) {
    this(frame, spec, null, List.of(), listener);
  }

  public Operation(Frame frame, OperationBody.End end, Listener listener) {
    this(frame, null, end, List.of(), listener);
  }

  private Operation(
      Frame frame,
      @Nullable JobSpec spec,
      OperationBody.@Nullable End end,
      List<Frame> adds,
      Listener listener) {
    this.frame = frame;
    this.adds = adds;
    this.spec = spec;
    this.end = end;
    this.listener = listener;
  }

  /** Where it is. */
  public enum Stage {
    /** Not with the committer yet: may be taken back. */
    MADE,
    /** Not sent: may still be taken back. */
    QUEUED,
    /** Sent, and its fate not settled. */
    SENT,
    /** Applied or lost. */
    SETTLED
  }

  /** Who waits for an operation. Exactly one of the two is called, on the loop. */
  public interface Listener {
    /** It is durable; the fold answered {@code answer}, {@code job} is what it met, if anything. */
    void applied(ShardFold.Answer answer, @Nullable FoldedJob job);

    /** It is not, or nobody can say. */
    void lost(Loss loss, String why);
  }

  /** Why an operation was not applied. */
  public enum Loss {
    /** Definitely not written. */
    NOT_WRITTEN,
    /** Definitely not written: the store has no room. */
    FULL,
    /** The shard went to another owner before its fate was known. */
    UNKNOWN;

    public <T> Outcome<T> outcome(String why) {
      return switch (this) {
        case NOT_WRITTEN -> new Outcome.Unavailable<>(why);
        case FULL -> new Outcome.Full<>(why);
        case UNKNOWN -> new Outcome.Unknown<>(why);
      };
    }
  }

  /** The fold would refuse it: it is not written. */
  void refused() {
    stage = Stage.SETTLED;
    listener.applied(ShardFold.Answer.STALE, null);
  }

  boolean isRefused() {
    return guard != null && !guard.getAsBoolean();
  }

  /** What it takes in an entry. */
  long bytes() {
    long bytes = frame.frameBytes();
    for (Frame add : adds) {
      bytes += add.frameBytes();
    }
    return bytes;
  }

  /** Whether it takes a row out of the inbox. */
  boolean takesRow() {
    return rider != null && !rider.rows().isEmpty();
  }

  boolean isAdd() {
    return frame.kind() == Kind.ADD;
  }
}
