package dev.carillon.replay;

import dev.carillon.api.JobError;
import dev.carillon.api.Limits;
import dev.carillon.api.workflow.StepContext;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One try of a step, on whatever thread makes it. */
final class StepTry implements StepContext {
  private static final int KINDS_MAX = 32;

  private final WorkflowRun run;
  private final WorkflowHost host;
  private final StepCall call;
  private final int number;
  private final long dueMicros;
  private @Nullable Object value;

  /**
   * A try to be made.
   *
   * @param number 1 for the first
   * @param dueMicros when it was to be; 0 for now
   */
  StepTry(WorkflowRun run, WorkflowHost host, StepCall call, int number, long dueMicros) {
    this.run = run;
    this.host = host;
    this.call = call;
    this.number = number;
    this.dueMicros = dueMicros;
  }

  /** Makes the try; returns what is to be recorded of it. */
  HistoryEntry make() {
    long started = host.wallMicros();
    TryGuard guard = new TryGuard(Thread.currentThread());
    Duration timeout = call.options().timeout();
    WorkflowHost.Cancellable timer =
        timeout == null ? () -> {} : host.after(timeout, guard::interrupt);
    Object result = null;
    Throwable thrown = null;
    try {
      result = host.runStep(call.name(), this, call.body());
    } catch (Throwable e) {
      thrown = e;
    }
    timer.cancel();
    boolean timedOut = guard.end();
    if (thrown == null) {
      return done(started, result);
    }
    return failed(started, timedOut ? tookTooLong(timeout, thrown) : thrown);
  }

  private static Throwable tookTooLong(@Nullable Duration timeout, Throwable thrown) {
    TimeoutException late = new TimeoutException("try took longer than its timeout of " + timeout);
    late.initCause(thrown);
    return late;
  }

  /** What the code is given that does not read the result from the history. */
  @Nullable Object value() {
    return value;
  }

  private HistoryEntry done(long started, @Nullable Object result) {
    try {
      byte[] encoded = host.encode(call.type() == Void.class ? null : result, call.type());
      Limits.checkPayload(encoded.length);
      value = host.decode(encoded, call.type());
      return new StepDone(host.wallMicros(), call.number(), call.name(), number, started, encoded);
    } catch (Throwable e) {
      return entry(started, e, StepRetries.NONE);
    }
  }

  private HistoryEntry failed(long started, Throwable thrown) {
    boolean retried =
        call.options().policy().retries(thrown) && !(thrown instanceof MisusedContext);
    long ended = host.wallMicros();
    long due = dueMicros == 0 ? started : dueMicros;
    long next =
        retried
            ? StepRetries.after(
                call.options().policy(),
                new StepRetries.Failure(number, due, started, ended),
                host.random())
            : StepRetries.NONE;
    return entry(started, thrown, next);
  }

  private HistoryEntry entry(long started, Throwable thrown, long nextAt) {
    return failure(host.wallMicros(), started, host.error(thrown), kinds(thrown), nextAt);
  }

  /** A failure of this try. */
  HistoryEntry failure(long at, long started, JobError error, List<String> kinds, long nextAt) {
    return new StepFailed(at, call.number(), call.name(), number, started, error, kinds, nextAt);
  }

  /** This try was not made: the one before it is the last, and the next is due at once. */
  HistoryEntry notMade(long at, JobError error, List<String> kinds) {
    return new StepFailed(at, call.number(), call.name(), number - 1, at, error, kinds, at);
  }

  private static List<String> kinds(Throwable thrown) {
    List<String> names = new ArrayList<>();
    Class<?> type = thrown.getClass();
    while (type != null && type != Object.class && names.size() < KINDS_MAX) {
      names.add(type.getName());
      type = type.getSuperclass();
    }
    return names;
  }

  // ---- what the body sees

  @Override
  public String key() {
    JobFacts job = host.job();
    return job.round() == 0
        ? job.id() + "/" + call.number()
        : job.id() + "/" + job.round() + "/" + call.number();
  }

  @Override
  public int attempt() {
    return number;
  }

  @Override
  public boolean cancellationRequested() {
    return run.isUnwinding() || run.cancelTold() || run.activation().cancellationRequested();
  }

  @Override
  public boolean pauseRequested() {
    return !run.isUnwinding() && run.activation().pauseRequested();
  }

  @Override
  public void progress(long done, long total, String message) {
    run.reporting().report(Reporting.progress(done, total, message), false);
  }

  @Override
  public void progress(String message) {
    run.reporting().report(Reporting.progress(message), false);
  }
}
