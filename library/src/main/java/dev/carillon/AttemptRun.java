package dev.carillon;

import dev.carillon.api.JobError;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.Limits;
import dev.carillon.api.NotRetryableException;
import dev.carillon.api.RetryRule;
import dev.carillon.api.RunAgainException;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One attempt on its thread: decodes the input, calls the handler, encodes the result, and becomes
 * the event that tells the loop how it went. Whatever is thrown, the loop is told.
 */
final class AttemptRun extends Event implements Runnable {
  private static final ThreadFactory ANY_THREADS = Thread.ofVirtual().factory();

  /** How long after an executor refused an attempt the job is due again. */
  private static final long REJECTED_WAIT_MICROS = 1_000_000;

  /** Prepared: when the heap is full there may be no room to say so. */
  private static final AttemptOutcome NO_MEMORY =
      new AttemptOutcome.Failed(
          new JobError(OutOfMemoryError.class.getName(), "no memory left to tell more", ""),
          new AttemptOutcome.Verdict.ByPolicy());

  private static final StackTraceElement[] NO_STACK = {};

  private final HandlerRunner runner;
  private final Attempt attempt;
  private final @Nullable Registration registration;
  private AttemptOutcome outcome = NO_MEMORY;

  /** Whether a thread of an executor has taken it, or the executor refused it. */
  private boolean taken;

  private volatile @Nullable Thread thread;
  private volatile boolean interruptRequested;
  private volatile boolean pauseSeen;
  private volatile boolean over;

  /** Its timeout has come: nobody asks about what it throws now. */
  private volatile boolean timedOut;

  AttemptRun(HandlerRunner runner, Attempt attempt) {
    this.runner = runner;
    this.attempt = attempt;
    this.registration = runner.registration(attempt.type());
  }

  Attempt attempt() {
    return attempt;
  }

  AttemptOutcome outcome() {
    return outcome;
  }

  HandlerRunner runner() {
    return runner;
  }

  ThreadFactory threads() {
    return registration != null ? registration.threads() : ANY_THREADS;
  }

  @Nullable Executor executor() {
    return registration != null ? registration.executor() : null;
  }

  /** Has an executor of the user's run this; where it refuses, the job is due again soon. */
  void runOn(Executor executor) {
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
    return frame.getClassName().equals(AttemptRun.class.getName())
        && frame.getMethodName().equals("attempted");
  }

  /** Whether its handler has returned. */
  boolean isOver() {
    return over;
  }

  /** Where its handler is now. */
  String stack() {
    Thread running = thread;
    StringBuilder out = new StringBuilder();
    for (StackTraceElement frame : running == null ? NO_STACK : running.getStackTrace()) {
      out.append("\tat ").append(frame).append('\n');
    }
    return out.toString();
  }

  // ---- interrupts

  /** On the loop; false where it was asked for before. */
  boolean requestInterrupt() {
    boolean first = !interruptRequested;
    interruptRequested = true;
    return first;
  }

  /** Interrupts the thread if it is still the handler's; that of an executor serves others next. */
  synchronized void interrupt() {
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

  boolean interruptRequested() {
    return interruptRequested;
  }

  /** The handler was told of a pause: it may stop for it, even if the job is resumed meanwhile. */
  void pauseSeen() {
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
  void failedToStart(Throwable why) {
    outcome = failed(why, new AttemptOutcome.Verdict.ByPolicy());
    runner.loop().post(this);
  }

  private AttemptOutcome attempted() {
    Registration handler = registration;
    if (handler == null) {
      return new AttemptOutcome.Undecodable(
          new JobError("no handler", "no handler is registered for " + attempt.type(), ""));
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
      return handler.call().run(input, job);
    }
    JobInterceptor.Invocation next = () -> handler.call().run(input, job);
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
    return failed(e, timedOut ? byPolicy(e) : verdict(handler, job, e));
  }

  private static AttemptOutcome failed(Throwable e, AttemptOutcome.Verdict verdict) {
    return new AttemptOutcome.Failed(JobError.of(e), verdict);
  }

  private AttemptOutcome.Verdict verdict(Registration handler, AttemptContext job, Throwable e) {
    RetryRule rule = handler.options().retryRule();
    if (rule != null && !(e instanceof NotRetryableException)) {
      try {
        Optional<Instant> next = rule.retryAt(job, e);
        return next.isPresent()
            ? new AttemptOutcome.Verdict.RetryAt(dueMicros(next.get()))
            : new AttemptOutcome.Verdict.GiveUp();
      } catch (Throwable thrown) {
        runner.report("the retry rule of " + attempt.type() + " threw", thrown);
      }
    }
    return byPolicy(e);
  }

  private AttemptOutcome.Verdict byPolicy(Throwable e) {
    return attempt.policy().retries(e)
        ? new AttemptOutcome.Verdict.ByPolicy()
        : new AttemptOutcome.Verdict.NotRetryable();
  }

  /** A time that has passed means at once, however long ago; one beyond all due times is none. */
  private static long dueMicros(Instant time) {
    boolean longAgo = time.isBefore(Limits.EARLIEST_DUE);
    return Micros.ceil(longAgo ? Limits.EARLIEST_DUE : Limits.checkDue(time));
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

  /** A result as it is kept. */
  byte[] encode(@Nullable Object result) {
    return encode(Objects.requireNonNull(registration, "registration"), result);
  }

  // ---- on the loop

  /** Asks the handler's rule, if it has one, on a thread of its own: the attempt's still runs. */
  void judgeTimeout(Consumer<AttemptOutcome.Verdict> answer) {
    timedOut = true;
    TimeoutException error = new TimeoutException("attempt took longer than its timeout");
    Registration handler = registration;
    if (handler == null || handler.options().retryRule() == null) {
      answer.accept(byPolicy(error));
      return;
    }
    NodeLoop loop = runner.loop();
    loop.outsideBegins();
    try {
      threads().newThread(() -> judgeTimeout(handler, error, answer)).start();
    } catch (Throwable e) {
      loop.outsideEnds();
      runner.report("no thread to ask the retry rule of " + attempt.type(), e);
      answer.accept(byPolicy(error));
    }
  }

  private void judgeTimeout(
      Registration handler, TimeoutException error, Consumer<AttemptOutcome.Verdict> answer) {
    NodeLoop loop = runner.loop();
    try {
      Thread.currentThread().setContextClassLoader(handler.classLoader());
      AttemptContext job = new AttemptContext(this, attempt.spec());
      AttemptOutcome.Verdict verdict = verdict(handler, job, error);
      loop.post(
          new Event() {
            @Override
            void happen() {
              answer.accept(verdict);
            }
          });
    } finally {
      loop.outsideEnds();
    }
  }

  @Override
  void happen() {
    runner.loop().finished(this);
  }
}
