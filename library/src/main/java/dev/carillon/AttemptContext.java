package dev.carillon;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobContext;
import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.StaleAttemptException;
import dev.carillon.engine.Node;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.OccurrenceSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.store.Outcome;
import dev.carillon.store.Transactions;
import java.sql.Connection;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An attempt as its handler sees it. */
final class AttemptContext implements JobContext {
  private final RunningAttempt run;
  private final Attempt attempt;
  private final JobSpec spec;
  private volatile byte @Nullable [] saved;

  AttemptContext(RunningAttempt run, JobSpec spec) {
    this.run = run;
    this.attempt = run.attempt();
    this.spec = spec;
    this.saved = attempt.saved();
  }

  @Override
  public JobId id() {
    return attempt.id();
  }

  @Override
  public AttemptToken token() {
    return attempt.token();
  }

  @Override
  public String type() {
    return attempt.type();
  }

  @Override
  public String namespace() {
    return spec.namespace();
  }

  @Override
  public String queue() {
    return spec.queue();
  }

  @Override
  public @Nullable String name() {
    return spec.name();
  }

  @Override
  public int attempt() {
    return attempt.number();
  }

  @Override
  public Instant scheduledTime() {
    return attempt.scheduledTime();
  }

  @Override
  public @Nullable OccurrenceInfo occurrence() {
    return occurrence(attempt, spec);
  }

  static @Nullable OccurrenceInfo occurrence(Attempt attempt, JobSpec spec) {
    OccurrenceSpec own = spec.more().occurrence();
    if (own != null) {
      JobId schedule = attempt.sibling(own.schedule());
      return new OccurrenceInfo(schedule, own.number(), Micros.toInstant(own.timeMicros()));
    }
    Instant time = attempt.occurrenceTime();
    return time == null ? null : new OccurrenceInfo(attempt.id(), attempt.occurrence(), time);
  }

  @Override
  public List<DependencyInfo> dependencies() {
    return attempt.dependencies();
  }

  @Override
  public Map<String, String> metadata() {
    return Collections.unmodifiableMap(spec.metadata());
  }

  @Override
  public boolean cancellationRequested() {
    return attempt.cancellationRequested() || run.interruptRequested();
  }

  @Override
  public boolean pauseRequested() {
    boolean requested = attempt.pauseRequested();
    if (requested) {
      run.pauseSeen();
    }
    return requested;
  }

  @Override
  public void progress(long done, long total, String message) {
    Limits.checkProgress(done, total);
    report(new Report(done, total, Limits.checkMessage(message), null, false));
  }

  @Override
  public void progress(String message) {
    String checked = Limits.checkMessage(message);
    report(new Report(Report.UNKNOWN, Report.UNKNOWN, checked, null, false));
  }

  private void report(Report report) {
    run.reports().report(attempt, report);
  }

  @Override
  public void save(Object state) {
    Limits.checkPresent("state", state);
    byte[] bytes = run.runner().payloads().encode(state, state.getClass());
    Limits.checkPayload(bytes.length);
    NodeLoop loop = run.runner().loop();
    var unused = loop.post(new Save(loop, bytes)).await();
    saved = bytes;
  }

  @Override
  public void completeIn(Connection connection, @Nullable Object result) {
    Limits.checkPresent("connection", connection);
    byte[] encoded = run.encode(result);
    Transactions transactions = run.runner().transactions();
    if (!attempt.beginCompleting()) {
      throw new StaleAttemptException(token());
    }
    Transactions.Answer answer;
    try {
      Transactions.Completion completion =
          attempt.completion(encoded, run.runner().loop().nodeId());
      answer = transactions.complete(connection, completion, attempt.permit());
    } finally {
      attempt.endCompleting();
    }
    switch (answer) {
      case NOTED -> {}
      case STALE -> throw new StaleAttemptException(token());
      case COMPLETED ->
          throw new IllegalStateException(
              "job " + id() + ": completed already (expected: one completion of a job)");
    }
  }

  @Override
  public <T> Optional<T> saved(TypeToken<T> type) {
    byte[] bytes = saved;
    return bytes == null
        ? Optional.empty()
        : Optional.ofNullable(run.runner().payloads().decode(bytes, type));
  }

  private final class Save extends Pending<Boolean> {
    private final byte[] state;

    Save(NodeLoop loop, byte[] state) {
      super(loop, null);
      this.state = state;
    }

    @Override
    void ask(Node node) {
      node.save(
          attempt,
          state,
          outcome -> {
            if (!(outcome instanceof Outcome.Ok<Boolean>(Boolean current))) {
              fail(StoreAnswers.notWritten(what(), outcome));
            } else if (current) {
              answer(true);
            } else {
              fail(new StaleAttemptException(token()));
            }
          });
    }

    @Override
    void giveUp(Node node, String waited) {
      fail(unknown("no answer from the store after " + waited));
    }

    /**
     * A handler that was interrupted because its node stops must be able to save. Any other
     * interrupt means that another attempt of the job, or of its concurrency key, may start soon:
     * after a timeout, a cancel, or when the node has lost touch with the others.
     */
    @Override
    boolean givesUpWhenInterrupted() {
      boolean stops = attempt.pauseRequested() && !attempt.cancellationRequested();
      return !stops || attempt.mayBeElsewhere();
    }

    @Override
    boolean changesSomething() {
      return true;
    }

    @Override
    String what() {
      return "saving the position of job " + id();
    }
  }
}
