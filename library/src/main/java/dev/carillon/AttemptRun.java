package dev.carillon;

import dev.carillon.api.JobError;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.Limits;
import dev.carillon.api.error.RunAgainException;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.replay.WorkflowRun;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One attempt on its thread: decodes the input, calls the handler, encodes the result, and becomes
 * the event that tells the loop how it went. Whatever is thrown, the loop is told.
 */
final class AttemptRun extends Event implements Runnable, RunningAttempt, Gathered {
  private static final ThreadFactory ANY_THREADS = Thread.ofVirtual().factory();

  /** How long after an executor refused an attempt the job is due again. */
  private static final long REJECTED_WAIT_MICROS = 1_000_000;

  /** Prepared: when the heap is full there may be no room to say so. */
  private static final AttemptOutcome NO_MEMORY =
      new AttemptOutcome.Failed(
          new JobError(OutOfMemoryError.class.getName(), "no memory left to tell more", ""),
          new AttemptOutcome.Verdict.ByPolicy());

  private static final StackTraceElement[] NO_STACK = {};
  private static final String REPLAY = WorkflowRun.class.getPackageName() + ".";

  private final HandlerRunner runner;
  private final Attempt attempt;
  private final @Nullable Registration registration;
  private final FailureVerdicts verdicts;
  private AttemptOutcome outcome = NO_MEMORY;

  /** Whether a thread of an executor has taken it, or the executor refused it. */
  private boolean taken;

  private volatile @Nullable Thread thread;
  private volatile boolean interruptRequested;
  private volatile boolean pauseSeen;
  private volatile boolean over;

  /** Null where it has reported nothing. */
  private @Nullable ReportRelay reports;

  /** Its timeout has come: nobody asks about what it throws now. */
  private volatile boolean timedOut;

  AttemptRun(HandlerRunner runner, Attempt attempt) {
    this.runner = runner;
    this.attempt = attempt;
    this.registration = runner.registration(attempt.type());
    this.verdicts = new FailureVerdicts(runner, attempt);
  }

  @Override
  public Attempt attempt() {
    return attempt;
  }

  @Override
  public AttemptOutcome outcome() {
    return outcome;
  }

  @Override
  public HandlerRunner runner() {
    return runner;
  }

  /** Starts it on a thread of its own, or hands it to its executor. */
  @Override
  public void go() {
    try {
      Executor executor = executor();
      if (executor == null) {
        threads().newThread(this).start();
      } else {
        // Not here: an executor may make its caller wait, or run the handler itself.
        Thread.ofVirtual().name("carillon-starter").start(() -> runOn(executor));
      }
    } catch (Throwable e) {
      failedToStart(e);
    }
  }

  private ThreadFactory threads() {
    return registration != null ? registration.threads() : ANY_THREADS;
  }

  private @Nullable Executor executor() {
    return registration != null ? registration.executor() : null;
  }

  /** Has an executor of the user's run this; where it refuses, the job is due again soon. */
  private void runOn(Executor executor) {
    try {
      executor.execute(this::runOnce);
    } catch (RejectedExecutionException e) {
      if (take()) {
        long due = runner.wallMicros() + REJECTED_WAIT_MICROS;
        outcome = new AttemptOutcome.Again(due, "the executor of its handler is full or shut down");
        runner.loop().post(this);
      }
    } catch (Throwable e) {
      if (take()) {
        failedToStart(e);
      }
    }
  }

  /** The node hears of an attempt exactly once, whatever its executor does. */
  private synchronized boolean take() {
    boolean first = !taken;
    taken = true;
    return first;
  }

  private void runOnce() {
    if (take()) {
      ClassLoader before = Thread.currentThread().getContextClassLoader();
      try {
        run();
      } finally {
        Thread.currentThread().setContextClassLoader(before);
      }
    }
  }

  /** Whether the calling thread runs a handler. */
  static boolean isOnTheStack() {
    return StackWalker.getInstance().walk(frames -> frames.anyMatch(AttemptRun::callsAHandler));
  }

  private static boolean callsAHandler(StackWalker.StackFrame frame) {
    String type = frame.getClassName();
    return (type.equals(AttemptRun.class.getName()) && frame.getMethodName().equals("attempted"))
        || type.startsWith(REPLAY);
  }

  @Override
  public synchronized ReportRelay reports() {
    ReportRelay made = reports;
    if (made == null) {
      made = new ReportRelay(runner.loop());
      reports = made;
    }
    return made;
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public String stack() {
    Thread running = thread;
    StringBuilder out = new StringBuilder();
    for (StackTraceElement frame : running == null ? NO_STACK : running.getStackTrace()) {
      out.append("\tat ").append(frame).append('\n');
    }
    return out.toString();
  }

  // ---- interrupts

  @Override
  public boolean requestInterrupt() {
    boolean first = !interruptRequested;
    interruptRequested = true;
    return first;
  }

  /** Interrupts the thread if it is still the handler's; that of an executor serves others next. */
  @Override
  public synchronized void interrupt() {
    Thread running = thread;
    if (running != null && !over) {
      running.interrupt();
    }
  }

  /** From here on the thread is not interrupted for this attempt. */
  private void leaveThread() {
    if (executor() == null) {
      over = true; // its own thread ends with it
      return;
    }
    synchronized (this) {
      over = true;
    }
    boolean unused = Thread.interrupted(); // was meant for this attempt
  }

  @Override
  public boolean interruptRequested() {
    return interruptRequested;
  }

  @Override
  public void pauseSeen() {
    pauseSeen = true;
  }

  // ---- on the attempt's thread

  @Override
  public void run() {
    try {
      Thread self = Thread.currentThread();
      if (registration != null) {
        self.setContextClassLoader(registration.classLoader());
      }
      thread = self;
      if (interruptRequested) {
        self.interrupt();
      }
      outcome = attempted();
    } catch (Throwable e) {
      outcome = NO_MEMORY;
    }
    leaveThread();
    runner.loop().post(this);
  }

  /** Instead of {@link #run} where no thread could be had. */
  private void failedToStart(Throwable why) {
    outcome = failed(why, new AttemptOutcome.Verdict.ByPolicy());
    runner.loop().post(this);
  }

  private AttemptOutcome attempted() {
    Registration handler = registration;
    if (handler == null) {
      return new AttemptOutcome.Undecodable(
          new JobError("no handler", "no handler is registered for " + attempt.type(), ""));
    }
    if (attempt.ofWorkflow) {
      return new AttemptOutcome.Undecodable(
          new JobError(
              "no workflow",
              attempt.type() + ": a handler (expected: a workflow; the job has a history of one)",
              ""));
    }
    JobSpec spec;
    Object input;
    try {
      spec = attempt.spec();
      input = handler.decode(spec, runner.payloads());
    } catch (OutOfMemoryError e) {
      return failed(e, new AttemptOutcome.Verdict.ByPolicy());
    } catch (Throwable e) {
      return new AttemptOutcome.Undecodable(JobError.of(e));
    }
    long now = runner.wallMicros();
    if (!attempt.isDue(now)) {
      return new AttemptOutcome.TooEarly();
    }
    if (attempt.isTooLate(runner.monotonicNanos())) {
      return new AttemptOutcome.TooLate();
    }
    AttemptContext job = new AttemptContext(this, spec);
    attempt.called(now);
    boolean inLogContext = JobContextMap.put(attempt, spec.namespace());
    try {
      return called(handler, input, job);
    } finally {
      if (inLogContext && executor() != null) { // the entries of its own thread end with it
        JobContextMap.remove();
      }
    }
  }

  private AttemptOutcome called(Registration handler, @Nullable Object input, AttemptContext job) {
    Object result;
    try {
      result = call(handler, input, job);
      attempt.returned(runner.wallMicros());
    } catch (Throwable e) {
      attempt.returned(runner.wallMicros());
      return thrown(handler, job, e);
    }
    return succeeded(handler, result);
  }

  private @Nullable Object call(Registration handler, @Nullable Object input, AttemptContext job)
      throws Exception {
    List<JobInterceptor> interceptors = runner.interceptors();
    if (interceptors.isEmpty()) {
      return handler.handler().run(input, job);
    }
    JobInterceptor.Invocation next = () -> handler.handler().run(input, job);
    for (JobInterceptor interceptor : interceptors.reversed()) {
      JobInterceptor.Invocation inner = next;
      next = () -> interceptor.around(job, inner);
    }
    return next.proceed();
  }

  private AttemptOutcome thrown(Registration handler, AttemptContext job, Throwable e) {
    boolean pause = pauseSeen || attempt.pauseRequested();
    boolean stopping = pause && !attempt.cancellationRequested();
    if (stopping && (interruptRequested || isInterrupt(e))) {
      return new AttemptOutcome.Interrupted();
    }
    if (e instanceof RunAgainException again) {
      Instant due = again.from(Micros.toInstant(runner.loop().nowMicros()));
      return new AttemptOutcome.Again(Micros.ceil(due), Objects.requireNonNull(again.getMessage()));
    }
    return failed(e, timedOut ? verdicts.byPolicy(e) : verdicts.of(handler, job, e));
  }

  private static AttemptOutcome failed(Throwable e, AttemptOutcome.Verdict verdict) {
    return new AttemptOutcome.Failed(JobError.of(e), verdict);
  }

  private static boolean isInterrupt(Throwable e) {
    Throwable link = e;
    for (int i = 0; link != null && i < 16; i++) {
      if (link instanceof InterruptedException) {
        return true;
      }
      link = link.getCause();
    }
    return false;
  }

  /** A result that cannot be kept ends the job: trying again would repeat work that is done. */
  private AttemptOutcome succeeded(Registration handler, @Nullable Object result) {
    try {
      return new AttemptOutcome.Succeeded(encode(handler, result));
    } catch (Throwable e) {
      return failed(e, new AttemptOutcome.Verdict.NotRetryable());
    }
  }

  private byte[] encode(Registration handler, @Nullable Object result) {
    Object kept = handler.output() == Void.class ? null : result;
    byte[] encoded = runner.payloads().encode(kept, handler.output());
    Limits.checkPayload(encoded.length);
    return encoded;
  }

  @Override
  public byte[] encode(@Nullable Object result) {
    return encode(Objects.requireNonNull(registration, "registration"), result);
  }

  // ---- on the loop

  @Override
  public void judgeTimeout(Consumer<AttemptOutcome.Verdict> answer) {
    timedOut = true;
    verdicts.judgeTimeout(registration, () -> new AttemptContext(this, attempt.spec()), answer);
  }

  @Override
  void happen() {
    runner.loop().finished(this);
  }
}
