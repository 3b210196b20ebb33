package dev.carillon;

import dev.carillon.api.JobError;
import dev.carillon.api.Metrics;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.replay.WorkflowRun;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The runs of workflows on this node, and the parked threads among them. A cache: a run goes on
 * where it was told of every entry that its job has; otherwise the code runs again from the
 * history. Of the loop, but for {@link #stop}.
 */
final class WorkflowRuns {
  /** How long after a history could not be read the job is due again. */
  private static final long UNREAD_WAIT_MICROS = 1_000_000;

  /** Whether the JVM keeps every virtual thread, so that one nobody knows is kept too. */
  private static final boolean THREADS_ARE_TRACKED =
      !"false".equalsIgnoreCase(System.getProperty("jdk.trackAllThreads"));

  private final HandlerRunner runner;
  private final Budget budget;
  private final Map<JobRef, Kept> kept = new HashMap<>();

  /** Those that wait, the one that has waited longest first. */
  private final Map<JobRef, Kept> parked = new LinkedHashMap<>();

  /** The activations that are under way. */
  private final Set<WorkflowAttempt> active = new LinkedHashSet<>();

  private boolean watched;

  /**
   * What may be kept, and who is told.
   *
   * @param parked how many runs may wait at once
   * @param metrics told of those that were given up
   * @param watch told of those that run
   */
  record Budget(int parked, Metrics metrics, CodeWatch watch) {}

  /** A run and what it was told. */
  private static final class Kept {
    final JobRef ref;
    final WorkflowJob job;
    final List<HistoryEntry> early = new ArrayList<>();
    int count;
    @Nullable WorkflowRun run;
    @Nullable WorkflowAttempt current;

    Kept(JobRef ref, WorkflowJob job, int count) {
      this.ref = ref;
      this.job = job;
      this.count = count;
    }
  }

  WorkflowRuns(HandlerRunner runner, Budget budget) {
    this.runner = runner;
    this.budget = budget;
  }

  /** An attempt begins: its run goes on, or a new one begins. */
  void start(Attempt attempt, Registration registration) {
    attempt.ofWorkflow = true;
    if (!watched) {
      watched = true;
      budget.watch().begin(() -> runner.loop().post(new WhoRuns()));
    }
    Kept found = kept.get(attempt.ref());
    WorkflowRun run = found == null ? null : found.run;
    if (found != null && run != null && goesOn(found, attempt, registration)) {
      WorkflowAttempt activation = activation(found, attempt);
      parked.remove(found.ref);
      activation.resumes(run);
      return;
    }
    if (found != null) {
      drop(found, "its history has gone on without it");
    }
    begin(attempt, registration);
  }

  private boolean goesOn(Kept found, Attempt attempt, Registration registration) {
    return parked.get(found.ref) == found
        && found.count == attempt.historyCount()
        && found.job.registration().equals(registration);
  }

  private WorkflowAttempt activation(Kept of, Attempt attempt) {
    WorkflowAttempt activation = new WorkflowAttempt(runner, attempt, of.job);
    attempt.attach(activation);
    active.add(activation);
    of.current = activation;
    of.job.enters(activation);
    return activation;
  }

  private void begin(Attempt attempt, Registration registration) {
    WorkflowJob job;
    try {
      job = new WorkflowJob(runner, registration, attempt);
    } catch (Throwable e) {
      runner.loop().post(new Unreadable(attempt, e));
      return;
    }
    Kept begun = new Kept(attempt.ref(), job, attempt.historyCount());
    kept.put(begun.ref, begun);
    WorkflowAttempt activation = activation(begun, attempt);
    if (attempt.historyCount() == 0) {
      begin(begun, activation, List.of());
      return;
    }
    try {
      runner.loop().node().history(attempt, answer -> loaded(begun, activation, answer));
    } catch (Throwable e) {
      runner.report("the history of workflow " + attempt.id() + " could not be asked for", e);
      notLoaded(activation, e.toString());
    }
  }

  private void loaded(Kept begun, WorkflowAttempt activation, Outcome<List<HistoryEntry>> answer) {
    int expected = activation.attempt().historyCount();
    if (activation.interruptRequested() || kept.get(begun.ref) != begun) {
      activation.endsUncalled(new AttemptOutcome.Interrupted());
    } else if (!(answer instanceof Outcome.Ok<List<HistoryEntry>>(List<HistoryEntry> entries))) {
      notLoaded(activation, answer.toString());
    } else if (entries.size() != expected) {
      notLoaded(activation, entries.size() + " entries (expected: " + expected + ")");
    } else {
      begin(begun, activation, entries);
    }
  }

  private void notLoaded(WorkflowAttempt activation, String why) {
    long due = runner.wallMicros() + UNREAD_WAIT_MICROS;
    activation.endsUncalled(new AttemptOutcome.Again(due, "its history could not be read: " + why));
  }

  private static void begin(Kept begun, WorkflowAttempt activation, List<HistoryEntry> entries) {
    WorkflowRun run = new WorkflowRun(begun.job, begun.job);
    List<HistoryEntry> all = new ArrayList<>(entries);
    all.addAll(begun.early);
    begun.early.clear();
    begun.run = run;
    run.begin(all, activation);
    activation.begins(run);
  }

  /** An entry of a job's history is durable. */
  void told(JobRef ref, int count, HistoryEntry entry) {
    Kept of = kept.get(ref);
    if (of == null || count <= of.count) {
      return;
    }
    if (count > of.count + 1) {
      drop(of, "an entry of its history was missed");
      return;
    }
    of.count = count;
    WorkflowRun run = of.run;
    if (run == null) {
      of.early.add(entry);
    } else {
      run.told(entry);
    }
  }

  /** The job has ended, began anew or left. */
  void forget(JobRef ref) {
    Kept of = kept.get(ref);
    if (of != null) {
      drop(of, "the job is no longer here");
    }
  }

  /** An activation is over: its run waits, or is done with. */
  void ended(WorkflowAttempt activation) {
    active.remove(activation);
    Kept of = kept.get(activation.attempt().ref());
    if (of == null || of.current != activation) {
      return;
    }
    of.current = null;
    WorkflowRun run = of.run;
    if (run != null && run.mayResume() && !activation.attempt().isBorrowed()) {
      parked.put(of.ref, of);
      evict();
    } else {
      boolean waits = run != null && run.isParked(); // of another node's job: it is gone here
      drop(of, waits, "the run is over");
    }
  }

  private void evict() {
    while (parked.size() > budget.parked()) {
      Kept oldest = parked.values().iterator().next();
      budget.metrics().count("workflows.evicted", 1);
      drop(oldest, "its thread is needed elsewhere");
    }
  }

  /** Forgets a run. One whose thread would be kept all the same is unwound. */
  private void drop(Kept of, String why) {
    drop(of, parked.remove(of.ref, of), why);
  }

  private void drop(Kept of, boolean waits, String why) {
    kept.remove(of.ref, of);
    WorkflowRun run = of.run;
    if (run != null && !run.isOver() && (!waits || THREADS_ARE_TRACKED)) {
      run.unwind(why);
    }
  }

  /** The node has stopped: no thread stays behind. After the loop. */
  void stop() {
    List.copyOf(kept.values()).forEach(of -> drop(of, "the node has stopped"));
  }

  /** Says which activations are under way. */
  private final class WhoRuns extends Event {
    @Override
    void happen() {
      budget.watch().running(List.copyOf(active));
    }
  }

  /** An attempt whose job cannot be read. */
  private final class Unreadable extends Event {
    private final Attempt attempt;
    private final Throwable why;

    Unreadable(Attempt attempt, Throwable why) {
      this.attempt = attempt;
      this.why = why;
    }

    @Override
    void happen() {
      runner.finished(
          runner.loop().node(), attempt, new AttemptOutcome.Undecodable(JobError.of(why)));
    }
  }
}
