package dev.carillon;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.JobError;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.AttemptOutcome.Verdict;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.worker.WorkerHello;
import dev.carillon.engine.worker.WorkerStream;
import dev.carillon.engine.worker.Workers;
import dev.carillon.gateway.WorkerConnection;
import dev.carillon.gateway.WorkerListener;
import dev.carillon.gateway.WorkerListener.StopReason;
import dev.carillon.gateway.WorkerOutcome;
import dev.carillon.gateway.WorkerProgress;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A worker's connection to a node. What the worker says becomes an event of the loop; what the node
 * says to it is told to the gateway's listener, on the loop. Thread-safe.
 */
final class NodeConnection implements WorkerConnection {
  private final OpenNode opened;
  private final String worker;
  private final Heard heard;

  // The loop's own.
  private long id;
  private boolean over;

  NodeConnection(OpenNode opened, String worker, WorkerListener listener) {
    this.opened = opened;
    this.worker = worker;
    this.heard = new Heard(listener);
  }

  void connect(WorkerHello hello) {
    opened.post(node -> id = node.workers().connect(hello, heard));
  }

  /** Has the node hear a word of the worker; the id is that of the connection then. */
  private void say(BiConsumer<Workers, Long> word) {
    opened.post(
        node -> {
          if (!over) {
            word.accept(node.workers(), id);
          }
        });
  }

  @Override
  public void resume(List<AttemptToken> tokens) {
    List<AttemptToken> all = List.copyOf(tokens);
    say((workers, link) -> workers.resume(link, all));
  }

  @Override
  public void free(int slots, long lastSeen) {
    say((workers, link) -> workers.free(link, slots, lastSeen));
  }

  @Override
  public void accepted(AttemptToken token) {
    Limits.checkPresent("token", token);
    say((workers, link) -> workers.accepted(link, token));
  }

  @Override
  public void outcome(AttemptToken token, WorkerOutcome outcome) {
    Limits.checkPresent("token", token);
    switch (Limits.checkPresent("outcome", outcome)) {
      case WorkerOutcome.Succeeded(RawPayload result) -> outcome(token, succeeded(result));
      case WorkerOutcome.Failed failed ->
          say(
              (workers, link) ->
                  workers.outcome(
                      link,
                      token,
                      new AttemptOutcome.Failed(
                          failed.error(), verdict(failed, workers.policy(link, token)))));
      case WorkerOutcome.Again(Instant due, String note) -> {
        long micros = Micros.ceil(Limits.checkDue(due));
        outcome(token, new AttemptOutcome.Again(micros, Limits.checkMessage(note)));
      }
      case WorkerOutcome.Undecodable(JobError error) ->
          outcome(token, new AttemptOutcome.Undecodable(error));
      case WorkerOutcome.GivenBack back -> outcome(token, new AttemptOutcome.Interrupted());
    }
  }

  private void outcome(AttemptToken token, AttemptOutcome outcome) {
    say((workers, link) -> workers.outcome(link, token, outcome));
  }

  /** A result that cannot be kept ends the job: trying again would repeat work that is done. */
  private AttemptOutcome succeeded(RawPayload result) {
    byte[] bytes = opened.payloads.encode(result, RawPayload.class);
    try {
      Limits.checkPayload(bytes.length);
      return new AttemptOutcome.Succeeded(bytes);
    } catch (InvalidJobException e) {
      return new AttemptOutcome.Failed(JobError.of(e), new Verdict.NotRetryable());
    }
  }

  /** The policy is null where the attempt is not known: then the outcome is not taken. */
  private static Verdict verdict(WorkerOutcome.Failed failed, @Nullable FailurePolicy policy) {
    boolean excepted =
        policy != null && failed.kinds().stream().anyMatch(policy.except()::contains);
    return switch (failed.next()) {
      case WorkerOutcome.Next.ByPolicy(Instant notBefore) ->
          excepted
              ? new Verdict.NotRetryable()
              : notBefore == null
                  ? new Verdict.ByPolicy()
                  : new Verdict.ByPolicyFrom(FailureVerdicts.dueMicros(notBefore));
      case WorkerOutcome.Next.Never never -> new Verdict.NotRetryable();
      case WorkerOutcome.Next.At(Instant due) ->
          new Verdict.RetryAt(FailureVerdicts.dueMicros(due));
      case WorkerOutcome.Next.GiveUp giveUp -> new Verdict.GiveUp();
    };
  }

  @Override
  public void refuse(AttemptToken token) {
    Limits.checkPresent("token", token);
    say((workers, link) -> workers.refuse(link, token));
  }

  @Override
  public void save(AttemptToken token, RawPayload state, Consumer<SaveAnswer> answer) {
    Limits.checkPresent("token", token);
    byte[] bytes = opened.payloads.encode(Limits.checkPresent("state", state), RawPayload.class);
    Limits.checkPayload(bytes.length);
    say(
        (workers, link) ->
            workers.save(link, token, bytes, outcome -> answer(answer, saved(outcome))));
  }

  private static SaveAnswer saved(Outcome<Boolean> outcome) {
    return switch (outcome) {
      case Outcome.Ok<Boolean>(Boolean current) -> current ? SaveAnswer.SAVED : SaveAnswer.STALE;
      case Outcome.Unknown<Boolean> unknown -> SaveAnswer.UNKNOWN;
      default -> SaveAnswer.UNAVAILABLE;
    };
  }

  private void answer(Consumer<SaveAnswer> answer, SaveAnswer saved) {
    try {
      answer.accept(saved);
    } catch (Throwable e) {
      opened.reports.report("a gateway failed at an answer for worker " + worker, e);
    }
  }

  @Override
  public void progress(AttemptToken token, WorkerProgress progress) {
    Limits.checkPresent("token", token);
    Report report = new Report(progress.done(), progress.total(), progress.message(), null, false);
    say((workers, link) -> workers.report(link, token, () -> report));
  }

  @Override
  public void beat(long number) {
    say((workers, link) -> workers.beat(link, number));
  }

  @Override
  public void drain() {
    say(Workers::drain);
  }

  @Override
  public void gone() {
    say(
        (workers, link) -> {
          over = true;
          workers.gone(link);
        });
  }

  @Override
  public void whenHeard(Runnable then) {
    opened.post(node -> then.run());
  }

  /** What the node says, on the loop; a listener that throws loses its worker and nothing else. */
  private final class Heard implements WorkerStream {
    private final WorkerListener listener;

    Heard(WorkerListener listener) {
      this.listener = listener;
    }

    private void tell(Runnable word) {
      if (over) {
        return;
      }
      try {
        word.run();
      } catch (Throwable e) {
        opened.reports.report("a gateway failed; its connection of worker " + worker + " ends", e);
        gone();
      }
    }

    @Override
    public void give(Attempt attempt, long number) {
      tell(() -> listener.given(new WorkerAttempt(attempt, number, opened.payloads)));
    }

    @Override
    public void leased(AttemptToken token, long lengthMicros) {
      tell(() -> listener.leased(token, Duration.ofNanos(lengthMicros * 1000)));
    }

    @Override
    public void stop(AttemptToken token, Attempt.StopCause why) {
      tell(() -> listener.stop(token, reason(why)));
    }

    @Override
    public void told(AttemptToken token, Word word) {
      tell(
          () -> {
            switch (word) {
              case SETTLED -> listener.settled(token);
              case STALE -> listener.stale(token);
              case MOVED -> listener.moved(token);
            }
          });
    }

    @Override
    public void beat(long number) {
      tell(() -> listener.beat(number));
    }

    @Override
    public void drain() {
      tell(listener::drain);
    }

    @Override
    public void close(String why) {
      tell(() -> listener.close(why));
      over = true;
    }
  }

  private static StopReason reason(Attempt.StopCause why) {
    return switch (why) {
      case CANCEL -> StopReason.CANCELLED;
      case TIMEOUT -> StopReason.TIMED_OUT;
      case DEADLINE -> StopReason.EXPIRED;
      case PAUSE -> StopReason.PAUSED;
      case SHUTDOWN -> StopReason.SHUTDOWN;
      case FENCED -> StopReason.ELSEWHERE;
    };
  }
}
