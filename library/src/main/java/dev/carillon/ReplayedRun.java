package dev.carillon;

import dev.carillon.WorkflowReplay.End;
import dev.carillon.WorkflowReplay.Result;
import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepContext;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.AttemptOutcome.Verdict;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.replay.Activation;
import dev.carillon.replay.JobFacts;
import dev.carillon.replay.WorkflowCode;
import dev.carillon.replay.WorkflowHost;
import dev.carillon.replay.WorkflowRun;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One run of a workflow's code against a recorded history. It does nothing that has effects. */
final class ReplayedRun implements WorkflowHost, WorkflowCode, Activation {
  /** In real time: code that takes longer between two calls waits for something outside. */
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final Registration registration;
  private final HandlerRunner runner;
  private final RecordedWorkflow history;
  private final JobFacts facts;
  private final long wallMicros;
  private final CompletableFuture<AttemptOutcome> outcome = new CompletableFuture<>();
  private volatile @Nullable WorkflowTurn asked;

  ReplayedRun(HandlerRunner runner, Registration registration, RecordedWorkflow history) {
    this.runner = runner;
    this.registration = registration;
    this.history = history;
    JobSpec spec = history.spec();
    this.facts =
        new JobFacts(
            history.id(),
            spec.type(),
            spec.namespace(),
            spec.queue(),
            spec.name(),
            Collections.unmodifiableMap(spec.metadata()),
            history.round());
    this.wallMicros =
        history.entries().stream().mapToLong(HistoryEntry::at).max().orElse(spec.dueMicros());
  }

  /** Runs it once. */
  Result run() {
    WorkflowRun run = new WorkflowRun(this, this);
    run.begin(history.entries(), this);
    registration.threads().newThread(run).start();
    try {
      return result(outcome.get(LONGEST.toSeconds(), TimeUnit.SECONDS));
    } catch (TimeoutException e) {
      run.unwind("the replay is over");
      run.interrupt();
      throw new IllegalStateException(
          "replay of %s: not over after %s; the code is at%n%s"
              .formatted(facts.type(), LONGEST, run.stack()),
          e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("replay of " + facts.type(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      run.unwind("the replay is over");
      throw new IllegalStateException("replay of " + facts.type() + ": interrupted", e);
    }
  }

  private Result result(AttemptOutcome how) {
    WorkflowTurn beyond = asked;
    if (how instanceof AttemptOutcome.Diverged(JobError error)) {
      return new Result(End.DIVERGED, error.message(), null);
    }
    if (how instanceof AttemptOutcome.Undecodable(JobError error)) {
      return new Result(End.UNDECODABLE, error.type() + ": " + error.message(), null);
    }
    if (beyond != null) {
      return new Result(End.GOES_ON, describe(beyond), null);
    }
    return switch (how) {
      case AttemptOutcome.Succeeded done ->
          new Result(End.RETURNED, "", decode(done.result(), registration.output()));
      case AttemptOutcome.Waiting waiting when !waiting.turn().isEmpty() ->
          new Result(End.GOES_ON, describe(waiting.turn()), null);
      case AttemptOutcome.Waiting waiting -> new Result(End.WAITS, "", null);
      case AttemptOutcome.WorkflowFailed failed when !failed.turn().isEmpty() ->
          new Result(End.GOES_ON, describe(failed.turn()), null);
      case AttemptOutcome.WorkflowFailed failed ->
          new Result(End.THREW, failed.error().type() + ": " + failed.error().message(), null);
      case AttemptOutcome.Renewed renewed -> new Result(End.BEGINS_ANEW, "", null);
      case AttemptOutcome.Compensated compensated ->
          new Result(
              End.COMPENSATED,
              compensated.failure() == null ? "" : compensated.failure().message(),
              null);
      default -> throw new IllegalStateException("replay of " + facts.type() + ": " + how);
    };
  }

  private static String describe(WorkflowTurn turn) {
    List<String> calls = new ArrayList<>();
    for (HistoryEntry entry : turn.entries()) {
      calls.add(
          switch (entry) {
            case HistoryEntry.StepFailed e -> "step \"" + e.name() + "\"";
            case HistoryEntry.StepBegun e -> "step \"" + e.name() + "\"";
            default -> RecordedWorkflow.describe(entry);
          });
    }
    turn.children().forEach(child -> calls.add("child \"" + child.spec().type() + "\""));
    return String.join(", ", calls);
  }

  // ---- its activation

  @Override
  public void entered() {}

  /** The code goes beyond its history: no further. */
  @Override
  public void checkpoint(WorkflowTurn turn, Consumer<CheckpointAnswer> answer) {
    if (asked == null) {
      asked = turn;
    }
    answer.accept(CheckpointAnswer.LOST);
  }

  @Override
  public void ended(AttemptOutcome how) {
    outcome.complete(how);
  }

  @Override
  public boolean pauseRequested() {
    return false;
  }

  @Override
  public boolean cancellationRequested() {
    return false;
  }

  @Override
  public Verdict verdict(Throwable thrown) {
    return new Verdict.ByPolicy();
  }

  // ---- its code

  @Override
  public @Nullable Object input() {
    return registration.decode(history.spec(), runner.payloads());
  }

  @Override
  public @Nullable Object run(@Nullable Object input, Workflow wf) throws Exception {
    return registration.flow().run(input, wf);
  }

  @Override
  public @Nullable Object runStep(String name, StepContext step, StepBody<?> body) {
    throw new UnsupportedOperationException("step " + name + ": not run by a replay");
  }

  @Override
  public byte[] encodeResult(@Nullable Object result) {
    return WorkflowJob.encodeResult(registration, runner.payloads(), result);
  }

  @Override
  public byte[] encodeInput(@Nullable Object input) {
    return runner.payloads().encodeInput(input, registration.input());
  }

  @Override
  public int typeVersion() {
    return registration.version();
  }

  // ---- its node

  @Override
  public JobFacts job() {
    return facts;
  }

  /** Stands still at the last entry: what is due later is not due yet. */
  @Override
  public long wallMicros() {
    return wallMicros;
  }

  @Override
  public long random() {
    return 0;
  }

  @Override
  public byte[] encode(@Nullable Object value, Type type) {
    return runner.payloads().encode(value, type);
  }

  @Override
  public @Nullable Object decode(byte[] stored, Type type) {
    return runner.payloads().decode(stored, type);
  }

  @Override
  public JobSpec child(Job<?> job) {
    return WorkflowJob.child(runner, job);
  }

  @Override
  public JobError error(Throwable thrown) {
    return JobError.of(thrown);
  }

  @Override
  public Thread newThread(Runnable step) {
    return registration.threads().newThread(step);
  }

  @Override
  public Cancellable after(Duration delay, Runnable action) {
    return () -> {};
  }

  @Override
  public void wake(WorkflowRun run) {
    run.wake();
  }

  @Override
  public void report(Report report) {}
}
