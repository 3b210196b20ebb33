package dev.carillon.engine.shard;

import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.job.JobSpec;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A job in a shard of this node: the folded job, and what the node is doing with it, which is in no
 * journal. The phases are a state machine: a job changes its phase only by {@link #enter}, along
 * the legal pairs.
 */
public final class NodeJob extends FoldedJob {
  private Phase phase = Phase.SCHEDULED;

  /** How many operations on it are on their way to the journal: it is not dispatched then. */
  public short busy;

  /** How many of those are checkpoints of its workflow's code. */
  public short checkpoints;

  public @Nullable Shard shard;

  /** Its line among due jobs, whether it stands in it or not. */
  public @Nullable JobPlace lane;

  /** The slot of its type's handler. */
  public @Nullable JobPlace handler;

  /** The attempt that is under way. */
  public @Nullable JobPlace attempt;

  /** Whether people were told that its history is long. */
  public boolean longHistoryTold;

  /** While a due queue is swept: whether it has come across it. */
  public boolean seen;

  /** Ends it at its deadline while it waits for a slot or a handler. */
  public Timers.@Nullable Timer expiry;

  public NodeJob(long number, JobSpec spec, byte[] body, UnaryOperator<String> intern) {
    super(number, spec, body, intern);
  }

  /** The job, which a shard of this node has folded. */
  public static NodeJob of(FoldedJob job) {
    return (NodeJob) job;
  }

  /** What the node is doing with a job. */
  public enum Phase {
    /** Waiting for its time. */
    SCHEDULED,
    /** Its time has come; in a lane. */
    READY,
    /** An attempt is under way or its outcome is not durable yet. */
    RUNNING,
    /** Due, but its handler is not registered. */
    NO_HANDLER,
    /** Due, but its payload does not decode. */
    UNDECODABLE,
    /** Due, but the code of its workflow does not fit its history. */
    DIVERGED,
    /** Due, but the history of its workflow has reached its limit. */
    HISTORY_FULL,
    /** Due, but its handler or its key has no room, or the occurrence before it has not ended. */
    LIMITED,
    /** Due, but a job that it waits for has not ended. */
    DEPENDENCY,
    /** Does not start until it is resumed. */
    PAUSED,
    /** No longer in the fold. */
    GONE
  }

  public Phase phase() {
    return phase;
  }

  /**
   * The job goes on to another phase.
   *
   * @throws IllegalStateException if that phase cannot follow: an attempt starts only from a lane,
   *     and a job that is gone stays gone
   */
  public void enter(Phase next) {
    if (!mayFollow(phase, next)) {
      throw new IllegalStateException(
          "phase of job " + number + ": " + next + " (expected: one that follows " + phase + ")");
    }
    phase = next;
  }

  /** The table of legal pairs: whether a job may go from one phase to the other at once. */
  public static boolean mayFollow(Phase from, Phase next) {
    return switch (next) {
      case GONE -> true;
      case SCHEDULED, PAUSED -> from != Phase.GONE;
      case READY -> from != Phase.GONE && from != Phase.RUNNING;
      case RUNNING -> from == Phase.READY;
      case LIMITED, DEPENDENCY -> isDue(from) || from == next;
      case NO_HANDLER -> isDue(from) || from == Phase.LIMITED || from == next;
      case HISTORY_FULL -> isDue(from) || from == next;
      case UNDECODABLE, DIVERGED -> isDue(from) || from == Phase.RUNNING || from == next;
    };
  }

  /** Whether the node decides what becomes of a due job. */
  private static boolean isDue(Phase phase) {
    return phase == Phase.SCHEDULED || phase == Phase.READY;
  }

  /**
   * Whether it is a workflow whose code has run, also by what is on its way to the journal: it is
   * asked to stop, and not ended by others.
   */
  public boolean mayHaveBegun() {
    return checkpoints > 0 || hasBegun();
  }

  /** Whether it is in this phase and nothing of it is on its way to the journal. */
  public boolean isIdle(Phase expected) {
    return phase == expected && busy == 0;
  }

  /** The shard that this node loaded it with. */
  public Shard shard() {
    Shard found = shard;
    if (found == null) {
      throw new IllegalStateException("job " + number + ": not in this node's hands");
    }
    return found;
  }
}
