package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.WaitReason;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Why a job does not run, or where it does: what {@link Carillon#why} answers. A look from memory,
 * of one moment: by the time that it is read things may have changed.
 *
 * @param job the job as it stands
 * @param at when the answer was made
 * @param node the id of the node that has the job's shard and answered; null where none did
 * @param run the attempt that runs; null where none does
 * @param reasons everything that keeps the job from starting, in the order in which it would have
 *     to go. Empty where the job runs or has ended
 */
public record WhyInfo(
    JobInfo job, Instant at, @Nullable String node, @Nullable Run run, List<Reason> reasons) {

  /** Copies the list. */
  public WhyInfo {
    reasons = List.copyOf(reasons);
  }

  /**
   * One thing that keeps a job from starting.
   *
   * @param reason what kind
   * @param detail the evidence, for people
   * @param facts the evidence, for programs, such as how many run of how many that may
   * @param since since when it has kept the job, at the earliest; null where that is not known
   * @param until when it goes by itself; null where it does not, or nobody knows
   * @param ends what would end it
   */
  public record Reason(
      WaitReason reason,
      String detail,
      Map<String, String> facts,
      @Nullable Instant since,
      @Nullable Instant until,
      String ends) {

    /** Copies the facts. */
    public Reason {
      facts = Map.copyOf(facts);
    }

    /** The same with one fact more. */
    Reason with(String name, String value) {
      Map<String, String> more = new TreeMap<>(facts);
      more.put(name, value);
      return new Reason(reason, detail, more, since, until, ends);
    }
  }

  /**
   * An attempt that runs.
   *
   * @param node the id of the node that runs it; empty where that is not known
   * @param attempt which attempt it is, from 1
   * @param startedAt when its handler was called, by the clock of its owner
   * @param returned whether the handler has returned, and its outcome is on its way to the store
   */
  public record Run(String node, int attempt, Instant startedAt, boolean returned) {}
}
