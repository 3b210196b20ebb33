package dev.carillon.engine.job;

import dev.carillon.api.JobState;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.engine.job.HistoryEntry.CancelRequested;
import dev.carillon.engine.job.HistoryEntry.ChildEnded;
import dev.carillon.engine.job.HistoryEntry.ChildStarted;
import dev.carillon.engine.job.HistoryEntry.GivenUp;
import dev.carillon.engine.job.HistoryEntry.StepBegun;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * How the history of a dead workflow goes on when it is replayed: at the step or child by whose
 * failure it died, as if that had not been tried. What was recorded before stays.
 *
 * <ol>
 *   <li>Where compensations have run, or the job was cancelled, nothing stays: it begins anew.
 *   <li>The step that failed last is forgotten with all of its tries, if its failure ended the job.
 *       Calls that the code made after that failure are forgotten too: they were its answer to it.
 *   <li>Children that had not succeeded then, and were not given up by earlier code, are started
 *       again, as new jobs under the calls that they had. A job that took the place of a child is
 *       asked again how it ended.
 *   <li>A failure outside of steps forgets nothing: the code goes on behind its last entry.
 * </ol>
 *
 * @param anew whether the workflow begins anew
 * @param entries what stays, in order
 * @param restarted the children among them that are to be started again
 */
public record Resumption(boolean anew, List<HistoryEntry> entries, Set<JobRef> restarted) {
  private static final Resumption ANEW = new Resumption(true, List.of(), Set.of());

  public Resumption {
    entries = List.copyOf(entries);
    restarted = Collections.unmodifiableSet(new LinkedHashSet<>(restarted));
  }

  /**
   * Of a history.
   *
   * @param failedBy the class of what its last attempt failed with
   */
  public static Resumption of(List<HistoryEntry> history, String failedBy) {
    if (isUndone(history)) {
      return ANEW;
    }
    boolean recorded =
        failedBy.equals(StepFailedException.class.getName())
            || failedBy.equals(ChildFailedException.class.getName());
    int failure = recorded ? lastFailure(history) : history.size();
    int lastOwn = lastOwnBefore(history, failure);
    Set<Integer> forgotten = callsAfter(history, failure);
    if (failure < history.size() && history.get(failure) instanceof StepFailed failed) {
      forgotten.add(failed.call());
    }
    Set<Integer> ended = new LinkedHashSet<>();
    for (int i = 0; i < history.size(); i++) {
      if (history.get(i) instanceof ChildEnded child && (isSuccess(child) || i < lastOwn)) {
        ended.add(child.call());
      }
    }
    List<HistoryEntry> left = new ArrayList<>();
    Set<JobRef> restarted = new LinkedHashSet<>();
    for (HistoryEntry entry : history) {
      boolean goes =
          entry instanceof GivenUp
              || forgotten.contains(entry.call())
              || (entry instanceof ChildEnded child && !ended.contains(child.call()));
      if (!goes) {
        left.add(entry);
        if (entry instanceof ChildStarted child && child.own() && !ended.contains(child.call())) {
          restarted.add(child.child());
        }
      }
    }
    return new Resumption(false, left, restarted);
  }

  /** Whether compensations have run, or are to. */
  private static boolean isUndone(List<HistoryEntry> history) {
    boolean givenUp = false;
    for (HistoryEntry entry : history) {
      boolean ran =
          entry instanceof StepDone || entry instanceof StepFailed || entry instanceof StepBegun;
      if (entry instanceof CancelRequested || (givenUp && ran)) {
        return true;
      }
      givenUp |= entry instanceof GivenUp;
    }
    return false;
  }

  private static boolean isSuccess(ChildEnded child) {
    return child.state() == JobState.SUCCEEDED;
  }

  /** Where the last step or child failed for good; behind the end where none did. */
  private static int lastFailure(List<HistoryEntry> history) {
    for (int i = history.size() - 1; i >= 0; i--) {
      HistoryEntry entry = history.get(i);
      if ((entry instanceof StepFailed failed && failed.nextAt() == 0)
          || (entry instanceof ChildEnded child && !isSuccess(child))) {
        return i;
      }
    }
    return history.size();
  }

  /** Where the code made its last entry before that place; -1 where it made none. */
  private static int lastOwnBefore(List<HistoryEntry> history, int place) {
    for (int i = Math.min(place, history.size()) - 1; i >= 0; i--) {
      HistoryEntry entry = history.get(i);
      if (entry.call() != 0 && !(entry instanceof ChildEnded)) {
        return i;
      }
    }
    return -1;
  }

  /** The calls that have no entry before that place. */
  private static Set<Integer> callsAfter(List<HistoryEntry> history, int place) {
    Set<Integer> calls = new LinkedHashSet<>();
    for (int i = place + 1; i < history.size(); i++) {
      calls.add(history.get(i).call());
    }
    for (int i = 0; i <= Math.min(place, history.size() - 1); i++) {
      calls.remove(history.get(i).call());
    }
    calls.remove(0);
    return calls;
  }
}
