package dev.carillon;

import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.workflow.StepBody;
import dev.carillon.api.workflow.StepContext;
import dev.carillon.api.workflow.Workflow;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.replay.JobFacts;
import dev.carillon.replay.WorkflowCode;
import dev.carillon.replay.WorkflowHost;
import dev.carillon.replay.WorkflowRun;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Collections;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A workflow on this node, for one run of its code: the code with the job's input, and what the run
 * needs of the node. Thread-safe.
 */
final class WorkflowJob implements WorkflowHost, WorkflowCode {
  private final HandlerRunner runner;
  private final Registration registration;
  private final JobSpec spec;
  private final JobFacts facts;
  private final ReportRelay reports;

  /** The attempt that it is in, or was in last. */
  private volatile @Nullable WorkflowAttempt current;

  /**
   * A workflow as its first attempt on this node finds it.
   *
   * @throws RuntimeException if the stored job cannot be read
   */
  WorkflowJob(HandlerRunner runner, Registration registration, Attempt first) {
    this.runner = runner;
    this.registration = registration;
    this.spec = first.spec();
    this.reports = new ReportRelay(runner.loop());
    this.facts =
        new JobFacts(
            first.id(),
            first.type(),
            spec.namespace(),
            spec.queue(),
            spec.name(),
            Collections.unmodifiableMap(spec.metadata()),
            first.revision());
  }

  Registration registration() {
    return registration;
  }

  JobSpec spec() {
    return spec;
  }

  void enters(WorkflowAttempt attempt) {
    current = attempt;
  }

  private WorkflowAttempt current() {
    return Objects.requireNonNull(current, "current");
  }

  // ---- its code

  @Override
  public @Nullable Object input() {
    return registration.decode(spec, runner.payloads());
  }

  /** Interceptors are around the code from its beginning: again whenever it runs again. */
  @Override
  public @Nullable Object run(@Nullable Object input, Workflow wf) throws Exception {
    ActivationContext job = new ActivationContext(() -> current().context());
    JobInterceptor.Invocation next = () -> registration.flow().run(input, wf);
    for (JobInterceptor interceptor : runner.interceptors().reversed()) {
      JobInterceptor.Invocation inner = next;
      next = () -> interceptor.around(job, inner);
    }
    return next.proceed();
  }

  @Override
  public @Nullable Object runStep(String name, StepContext step, StepBody<?> body)
      throws Exception {
    if (runner.interceptors().isEmpty()) {
      return body.run(step);
    }
    ActivationContext job = new ActivationContext(() -> current().context());
    JobInterceptor.Invocation next = () -> body.run(step);
    for (JobInterceptor interceptor : runner.interceptors().reversed()) {
      JobInterceptor.Invocation inner = next;
      next = () -> interceptor.aroundStep(job, name, step, inner);
    }
    return next.proceed();
  }

  @Override
  public byte[] encodeResult(@Nullable Object result) {
    return encodeResult(registration, runner.payloads(), result);
  }

  static byte[] encodeResult(
      Registration registration, Payloads payloads, @Nullable Object result) {
    Object kept = registration.output() == Void.class ? null : result;
    byte[] encoded = payloads.encode(kept, registration.output());
    Limits.checkPayload(encoded.length);
    return encoded;
  }

  @Override
  public byte[] encodeInput(@Nullable Object input) {
    byte[] encoded = runner.payloads().encodeInput(input, registration.input());
    Limits.checkPayload(encoded.length);
    return encoded;
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

  @Override
  public long wallMicros() {
    return runner.wallMicros();
  }

  @Override
  public long random() {
    return ThreadLocalRandom.current().nextLong();
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
    return child(runner, job);
  }

  /**
   * A child as it is scheduled.
   *
   * @throws InvalidJobException for what no child can be
   */
  static JobSpec child(HandlerRunner runner, Job<?> job) {
    refuse("schedule", job.schedule());
    if (job.ifExists() == IfExists.REPLACE || job.ifExists() == IfExists.UPDATE) {
      refuse("ifExists", job.ifExists());
    }
    if (!job.dependencies().isEmpty()) {
      refuse("dependencies", job.dependencies().size());
    }
    return runner.spec(runner.scheduling(job));
  }

  private static void refuse(String what, @Nullable Object value) {
    if (value != null) {
      throw new InvalidJobException(
          "%s: %s (expected: another or none for the child of a workflow; schedule such a job in a step)"
              .formatted(what, value));
    }
  }

  @Override
  public JobError error(Throwable thrown) {
    return JobError.of(thrown).on(runner.loop().nodeId());
  }

  @Override
  public Thread newThread(Runnable step) {
    return registration
        .threads()
        .newThread(
            () -> {
              current().entered();
              step.run();
            });
  }

  /** On a virtual thread, which costs next to nothing and may block while it interrupts. */
  @Override
  public Cancellable after(Duration delay, Runnable action) {
    Thread timer =
        Thread.ofVirtual()
            .name("carillon-step-timeout")
            .start(
                () -> {
                  try {
                    Thread.sleep(delay);
                    action.run();
                  } catch (InterruptedException e) {
                    // the try has ended in time
                  }
                });
    return timer::interrupt;
  }

  /** On the loop with all others that go on after the turn. */
  @Override
  public void wake(WorkflowRun run) {
    if (runner.loop().isOnLoop()) {
      runner.gather(run::wake);
    } else {
      run.wake();
    }
  }

  @Override
  public void report(Report report) {
    reports.report(current().attempt(), report);
  }

  /** What it and its steps report. */
  ReportRelay reports() {
    return reports;
  }
}
