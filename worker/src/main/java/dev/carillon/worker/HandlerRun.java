package dev.carillon.worker;

import dev.carillon.api.JobError;
import dev.carillon.api.JobInterceptor;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.RetryAfterException;
import dev.carillon.api.error.RunAgainException;
import dev.carillon.protocol.Again;
import dev.carillon.protocol.Failed;
import dev.carillon.protocol.Interrupted;
import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Payload;
import dev.carillon.protocol.Succeeded;
import dev.carillon.protocol.Undecodable;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The handler of an attempt on its thread: decodes the input, calls it, encodes the result.
 * Whatever is thrown, the worker is told how it went.
 */
final class HandlerRun implements Runnable {
  private static final int MOST_KINDS = 32;
  private static final String JOB = "carillon.job";
  private static final String TYPE = "carillon.type";
  private static final String ATTEMPT = "carillon.attempt";
  private static final String NAMESPACE = "carillon.namespace";

  private final Run run;
  private final Registered handler;
  private final Parts parts;
  private final BiConsumer<Run, Outcome> ended;
  private @Nullable Thread thread;
  private boolean interrupted;
  private boolean over;

  /** What handlers of a worker share. */
  record Parts(
      WorkerPayloads payloads, List<JobInterceptor> interceptors, RemoteContext.Ways ways) {}

  HandlerRun(Run run, Registered handler, Parts parts, BiConsumer<Run, Outcome> ended) {
    this.run = run;
    this.handler = handler;
    this.parts = parts;
    this.ended = ended;
  }

  /** Interrupts the handler, now or as it begins. */
  void interrupt() {
    Thread running;
    synchronized (this) {
      interrupted = true;
      running = over ? null : thread;
    }
    if (running != null) {
      running.interrupt();
    }
  }

  synchronized boolean isInterrupted() {
    return interrupted;
  }

  private synchronized void begins() {
    thread = Thread.currentThread();
    if (interrupted) {
      thread.interrupt();
    }
  }

  private synchronized void ends() {
    over = true;
  }

  @Override
  public void run() {
    Outcome outcome;
    try {
      begins();
      outcome = attempted();
    } catch (Throwable e) {
      outcome = failed(e).build();
    }
    ends();
    ended.accept(run, outcome);
  }

  /** Instead of {@link #run} where no thread could be had. */
  void failedToStart(Throwable why) {
    ended.accept(run, failed(why).build());
  }

  private Outcome.Builder outcome() {
    return Outcome.newBuilder().setToken(run.token());
  }

  private Outcome attempted() {
    Object input;
    try {
      input = handler.decode(run.given, parts.payloads());
    } catch (OutOfMemoryError e) {
      return failed(e).build();
    } catch (Throwable e) {
      return outcome()
          .setUndecodable(Undecodable.newBuilder().setError(error(JobError.of(e))))
          .build();
    }
    RemoteContext job = new RemoteContext(run, parts.payloads(), parts.ways(), this::isInterrupted);
    MDC.put(JOB, run.token().getJob());
    MDC.put(TYPE, run.given.getType());
    MDC.put(ATTEMPT, Integer.toString(run.token().getAttempt()));
    MDC.put(NAMESPACE, run.given.getNamespace());
    Object result;
    try {
      result = call(input, job);
    } catch (Throwable e) {
      return thrown(e);
    }
    return succeeded(result);
  }

  private @Nullable Object call(@Nullable Object input, RemoteContext job) throws Exception {
    JobInterceptor.Invocation next = () -> handler.call().run(input, job);
    for (JobInterceptor interceptor : parts.interceptors().reversed()) {
      JobInterceptor.Invocation inner = next;
      next = () -> interceptor.around(job, inner);
    }
    return next.proceed();
  }

  /** A result that cannot be kept ends the job: trying again would repeat work that is done. */
  private Outcome succeeded(@Nullable Object result) {
    try {
      Payload encoded =
          parts.payloads().encode(handler.output() == Void.class ? null : result, handler.output());
      return outcome().setSucceeded(Succeeded.newBuilder().setResult(encoded)).build();
    } catch (Throwable e) {
      Outcome.Builder failed = failed(e);
      failed.getFailedBuilder().setNever(true);
      return failed.build();
    }
  }

  private Outcome thrown(Throwable e) {
    boolean stopping = run.elsewhere || (run.paused && !run.cancelled);
    if (stopping && (isInterrupted() || isInterrupt(e))) {
      return outcome().setInterrupted(Interrupted.getDefaultInstance()).build();
    }
    if (e instanceof RunAgainException again) {
      Instant now = Instant.now();
      Duration wait = Duration.between(now, again.from(now));
      return outcome()
          .setAgain(
              Again.newBuilder()
                  .setAfterMillis(millis(wait))
                  .setNote(Objects.requireNonNullElse(again.getMessage(), "")))
          .build();
    }
    return failed(e).build();
  }

  private Outcome.Builder failed(Throwable e) {
    Failed.Builder failed = Failed.newBuilder().setError(error(JobError.of(e)));
    Class<?> kind = e.getClass();
    for (int i = 0; i < MOST_KINDS && kind != null && kind != Throwable.class; i++) {
      failed.addKinds(kind.getName());
      kind = kind.getSuperclass();
    }
    if (e instanceof NotRetryableException) {
      failed.setNever(true);
    } else if (e instanceof RetryAfterException later) {
      Instant now = Instant.now();
      failed.setNotBeforeMillis(millis(Duration.between(now, later.from(now))));
    }
    return outcome().setFailed(failed);
  }

  /** Rounded up, so that nothing is earlier than it was meant to be. */
  private static long millis(Duration wait) {
    return wait.isNegative() ? 0 : wait.plusNanos(999_999).toMillis();
  }

  private static dev.carillon.protocol.Error error(JobError error) {
    return dev.carillon.protocol.Error.newBuilder()
        .setType(error.type())
        .setMessage(error.message())
        .setStack(error.stack())
        .build();
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
}
