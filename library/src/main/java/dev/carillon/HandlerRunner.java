package dev.carillon;

import dev.carillon.api.Job;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.Limits;
import dev.carillon.engine.Node;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.AttemptRunner;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.store.Store;
import dev.carillon.store.Transactions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs handlers, each attempt on a virtual thread of its own unless its handler's options say
 * otherwise.
 *
 * <p>Attempts that start in one turn are gathered. A few are started by the loop itself; many are
 * handed to one virtual thread that starts the others, which costs the loop less.
 */
final class HandlerRunner implements AttemptRunner {
  private static final int STARTED_BY_LOOP = 4;

  private final Store store;
  private final Payloads payloads;
  private final List<JobInterceptor> interceptors;
  private final TimeSource time;
  private final Reports reports;
  private final HandlerWatch watch;
  private final WorkerLoop interrupter;
  private final WorkflowRuns workflows;
  private final Map<String, Registration> handlers = new ConcurrentHashMap<>();
  private @Nullable NodeLoop loop;
  private @Nullable Specs specs;

  // The loop's own.
  private final List<Gathered> gathered = new ArrayList<>();
  private int running;

  HandlerRunner(
      Store store,
      Payloads payloads,
      List<JobInterceptor> interceptors,
      TimeSource time,
      Reports reports,
      HandlerWatch watch,
      WorkflowRuns.Budget parked) {
    this.store = store;
    this.payloads = payloads;
    this.interceptors = List.copyOf(interceptors);
    this.time = time;
    this.reports = reports;
    this.watch = watch;
    this.interrupter = new WorkerLoop("carillon-interrupter", reports);
    this.workflows = new WorkflowRuns(this, parked);
  }

  /** Called once, before the loop starts. */
  void start(NodeLoop ofAttempts) {
    loop = ofAttempts;
    specs = new Specs(payloads, ofAttempts::nowMicros, new Tickets(store, ofAttempts));
    interrupter.start();
  }

  /** Keeps a handler; false where its type has one already. */
  boolean register(Registration registration) {
    return handlers.putIfAbsent(registration.name(), registration) == null;
  }

  /** Forgets a handler; on the loop, so that no attempt of it is about to start. */
  boolean unregister(Registration registration) {
    return handlers.remove(registration.name(), registration);
  }

  @Nullable Registration registration(String type) {
    return handlers.get(type);
  }

  Payloads payloads() {
    return payloads;
  }

  /** What users' transactions share with the store. */
  Transactions transactions() {
    return Tickets.transactions(store);
  }

  /** What is scheduled where the caller asked for {@code job}. */
  <O> Job<O> scheduling(Job<O> job) {
    Job<O> asked = job;
    for (JobInterceptor interceptor : interceptors) {
      asked = Limits.checkPresent("job of an interceptor", interceptor.scheduling(asked));
    }
    return asked;
  }

  /** A job as it is stored. */
  JobSpec spec(Job<?> job) {
    return Objects.requireNonNull(specs, "specs").of(job);
  }

  List<JobInterceptor> interceptors() {
    return interceptors;
  }

  NodeLoop loop() {
    return Objects.requireNonNull(loop, "loop");
  }

  void report(String problem, Throwable cause) {
    reports.report(problem, cause);
  }

  long wallMicros() {
    return time.wallMicros();
  }

  long monotonicNanos() {
    return time.monotonicNanos();
  }

  /** Handlers that have not returned; on the loop. */
  int running() {
    return running;
  }

  @Override
  public void start(Attempt attempt) {
    running++;
    Registration registration = handlers.get(attempt.type());
    if (registration != null && registration.isWorkflow()) {
      workflows.start(attempt, registration);
      return;
    }
    AttemptRun run = new AttemptRun(this, attempt);
    attempt.attach(run);
    gathered.add(run);
  }

  @Override
  public void told(JobRef job, int count, HistoryEntry entry) {
    workflows.told(job, count, entry);
  }

  @Override
  public void forget(JobRef job) {
    workflows.forget(job);
  }

  /** Has something go off with all that goes off after this turn; on the loop. */
  void gather(Gathered starting) {
    gathered.add(starting);
  }

  /** Starts what has gathered, and what that gathers; on the loop, after each turn. */
  void startGathered() {
    while (!gathered.isEmpty()) {
      Gathered[] starting = gathered.toArray(Gathered[]::new);
      gathered.clear();
      if (starting.length <= STARTED_BY_LOOP) {
        startAll(starting);
      } else {
        startBeside(starting);
      }
    }
  }

  private void startBeside(Gathered[] starting) {
    try {
      Thread.ofVirtual().name("carillon-starter").start(() -> startAll(starting));
    } catch (Throwable e) {
      reports.report("no thread to start handlers with", e);
      startAll(starting);
    }
  }

  /** One that cannot start does not keep the others from it. */
  private void startAll(Gathered[] starting) {
    for (Gathered each : starting) {
      try {
        each.go();
      } catch (Throwable e) {
        reports.report("a handler could not be started", e);
      }
    }
  }

  @Override
  public void interrupt(Attempt attempt) {
    if (attempt.attachment() instanceof RunningAttempt run && run.requestInterrupt()) {
      watch.interrupted(run, attempt.stopWord());
      // Not here: interrupting a thread may close the channel that it is blocked on.
      interrupter.post(
          new Event() {
            @Override
            void happen() {
              run.interrupt();
            }
          });
    }
  }

  @Override
  public void judgeTimeout(Attempt attempt, Consumer<AttemptOutcome.Verdict> answer) {
    if (attempt.attachment() instanceof RunningAttempt run) {
      run.judgeTimeout(answer);
    } else {
      answer.accept(new AttemptOutcome.Verdict.ByPolicy());
    }
  }

  /** An attempt's thread is done with it; on the loop. */
  void finished(Node node, RunningAttempt run) {
    if (run instanceof WorkflowAttempt activation) {
      workflows.ended(activation);
    }
    finished(node, run.attempt(), run.outcome());
  }

  /** The same of one that had no thread. */
  void finished(Node node, Attempt attempt, AttemptOutcome outcome) {
    running--;
    node.finished(attempt, outcome);
  }

  void stop() {
    workflows.stop();
    interrupter.stop();
  }
}
