package dev.carillon;

import dev.carillon.api.JobError;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.replay.Activation;
import dev.carillon.replay.WorkflowRun;
import dev.carillon.store.Outcome;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a workflow: an activation of its run, and the event that tells the loop how it
 * went. The loop is told once, whatever becomes of the run.
 */
final class WorkflowAttempt extends Event implements Activation, RunningAttempt, Gathered {
  private final HandlerRunner runner;
  private final Attempt attempt;
  private final Registration registration;
  private final FailureVerdicts verdicts;
  private final WorkflowJob job;
  private final AttemptContext context;

  private volatile @Nullable WorkflowRun run;
  private volatile boolean resumes;

  private volatile boolean interruptRequested;
  private volatile boolean over;
  private AttemptOutcome outcome = new AttemptOutcome.Interrupted();

  WorkflowAttempt(HandlerRunner runner, Attempt attempt, WorkflowJob job) {
    this.runner = runner;
    this.attempt = attempt;
    this.job = job;
    this.registration = job.registration();
    this.verdicts = new FailureVerdicts(runner, attempt);
    this.context = new AttemptContext(this, job.spec());
  }

  AttemptContext context() {
    return context;
  }

  /** Its run; null before the history is there. Any thread. */
  @Nullable WorkflowRun run() {
    return run;
  }

  // ---- on the loop

  /** Has the run begin in it, with the next that goes off. */
  void begins(WorkflowRun with) {
    run = with;
    runner.gather(this);
  }

  /** Has the run go on in it, with the next that goes off. */
  void resumes(WorkflowRun with) {
    resumes = true;
    begins(with);
  }

  /** It ends before its code was called. */
  void endsUncalled(AttemptOutcome with) {
    ended(with);
  }

  @Override
  public boolean requestInterrupt() {
    boolean first = !interruptRequested;
    interruptRequested = true;
    WorkflowRun running = run;
    if (first && running != null && !over) {
      running.unwind("interrupted: " + attempt.stopWord());
    }
    return first;
  }

  @Override
  public void judgeTimeout(Consumer<AttemptOutcome.Verdict> answer) {
    verdicts.judgeTimeout(registration, () -> context, answer);
  }

  @Override
  void happen() {
    runner.loop().finished(this);
  }

  // ---- on whatever thread it goes off

  @Override
  public void go() {
    WorkflowRun going = Objects.requireNonNull(run, "run");
    long now = runner.wallMicros();
    if (interruptRequested) {
      ended(new AttemptOutcome.Interrupted());
    } else if (!attempt.isDue(now)) {
      ended(new AttemptOutcome.TooEarly());
    } else if (attempt.isTooLate(runner.monotonicNanos())) {
      ended(new AttemptOutcome.TooLate());
    } else {
      attempt.called(now);
      begin(going);
    }
  }

  private void begin(WorkflowRun going) {
    if (resumes) {
      if (!going.resume(this)) {
        ended(new AttemptOutcome.Interrupted()); // its code runs again from its history
      }
      return;
    }
    try {
      registration.threads().newThread(going).start();
    } catch (Throwable e) {
      ended(
          new AttemptOutcome.WorkflowFailed(
              WorkflowTurn.NOTHING, JobError.of(e), new AttemptOutcome.Verdict.ByPolicy(), true));
    }
  }

  // ---- on the workflow's threads

  @Override
  public void entered() {
    Thread.currentThread().setContextClassLoader(registration.classLoader());
    var unused = JobContextMap.put(attempt, context.namespace());
  }

  @Override
  public void checkpoint(WorkflowTurn turn, Consumer<CheckpointAnswer> answer) {
    NodeLoop loop = runner.loop();
    loop.post(
        new OnNode(
            loop,
            node -> {
              try {
                node.checkpoint(attempt, turn, outcome -> answer.accept(answer(outcome)));
              } catch (Throwable e) {
                runner.report("a checkpoint of workflow " + attempt.id() + " failed", e);
                answer.accept(CheckpointAnswer.LOST);
              }
            }));
  }

  private static CheckpointAnswer answer(Outcome<Boolean> outcome) {
    boolean written = outcome instanceof Outcome.Ok<Boolean>(Boolean current) && current;
    return written ? CheckpointAnswer.DURABLE : CheckpointAnswer.LOST;
  }

  @Override
  public void ended(AttemptOutcome how) {
    outcome = how;
    attempt.returned(runner.wallMicros());
    over = true;
    runner.loop().post(this);
  }

  @Override
  public boolean pauseRequested() {
    return attempt.pauseRequested();
  }

  @Override
  public boolean cancellationRequested() {
    return attempt.cancellationRequested() || interruptRequested;
  }

  @Override
  public AttemptOutcome.Verdict verdict(Throwable thrown) {
    return verdicts.of(registration, context, thrown);
  }

  // ---- as others see it

  @Override
  public Attempt attempt() {
    return attempt;
  }

  @Override
  public HandlerRunner runner() {
    return runner;
  }

  @Override
  public AttemptOutcome outcome() {
    return outcome;
  }

  @Override
  public byte[] encode(@Nullable Object result) {
    return job.encodeResult(result);
  }

  @Override
  public ReportRelay reports() {
    return job.reports();
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public String stack() {
    WorkflowRun running = run;
    return running == null ? "" : running.stack();
  }

  @Override
  public boolean interruptRequested() {
    return interruptRequested;
  }

  @Override
  public void interrupt() {
    WorkflowRun running = run;
    if (running != null && !over) {
      running.interrupt();
    }
  }

  @Override
  public void pauseSeen() {}
}
