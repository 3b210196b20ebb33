package dev.carillon;

import dev.carillon.api.JobContext;
import dev.carillon.api.Limits;
import dev.carillon.api.RetryRule;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.error.RetryAfterException;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome.Verdict;
import dev.carillon.engine.format.Micros;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What follows a failed attempt: the handler's own rule is asked before any policy. */
final class FailureVerdicts {
  private final HandlerRunner runner;
  private final Attempt attempt;

  FailureVerdicts(HandlerRunner runner, Attempt attempt) {
    this.runner = runner;
    this.attempt = attempt;
  }

  Verdict of(Registration handler, JobContext job, Throwable e) {
    RetryRule rule = handler.options().retryRule();
    if (rule != null && !(e instanceof NotRetryableException)) {
      try {
        Optional<Instant> next = rule.retryAt(job, e);
        return next.isPresent() ? new Verdict.RetryAt(dueMicros(next.get())) : new Verdict.GiveUp();
      } catch (Throwable thrown) {
        runner.report("the retry rule of " + attempt.type() + " threw", thrown);
      }
    }
    return byPolicy(e);
  }

  Verdict byPolicy(Throwable e) {
    if (!attempt.policy().retries(e)) {
      return new Verdict.NotRetryable();
    }
    return e instanceof RetryAfterException later
        ? new Verdict.ByPolicyFrom(
            dueMicros(later.from(Micros.toInstant(runner.loop().nowMicros()))))
        : new Verdict.ByPolicy();
  }

  /** A time that has passed means at once, however long ago; one beyond all due times is none. */
  static long dueMicros(Instant time) {
    boolean longAgo = time.isBefore(Limits.EARLIEST_DUE);
    return Micros.ceil(longAgo ? Limits.EARLIEST_DUE : Limits.checkDue(time));
  }

  /** Asks the handler's rule, if it has one, on a thread of its own: the attempt's still runs. */
  void judgeTimeout(
      @Nullable Registration handler, Supplier<JobContext> job, Consumer<Verdict> answer) {
    TimeoutException error = new TimeoutException("attempt took longer than its timeout");
    if (handler == null || handler.options().retryRule() == null) {
      answer.accept(byPolicy(error));
      return;
    }
    NodeLoop loop = runner.loop();
    loop.outsideBegins();
    try {
      handler.threads().newThread(() -> ask(handler, job, error, answer)).start();
    } catch (Throwable e) {
      loop.outsideEnds();
      runner.report("no thread to ask the retry rule of " + attempt.type(), e);
      answer.accept(byPolicy(error));
    }
  }

  private void ask(
      Registration handler,
      Supplier<JobContext> job,
      TimeoutException error,
      Consumer<Verdict> answer) {
    NodeLoop loop = runner.loop();
    try {
      Thread.currentThread().setContextClassLoader(handler.classLoader());
      Verdict verdict = of(handler, job.get(), error);
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
}
