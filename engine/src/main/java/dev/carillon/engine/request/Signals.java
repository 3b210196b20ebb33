package dev.carillon.engine.request;

import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequestFormat;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Brings signals to workflows: messages that are kept in the journal of the job until its code
 * takes them, in the order of the journal.
 *
 * <p>Crash table: before the operation is durable the signal is not there, and its sender gets no
 * answer or is told that nobody knows. A sender that asks again under the same key brings it once.
 * The shard is awake before a signal is written, so a signal ends a wait at any crash.
 */
public final class Signals {
  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final RemoteRequests requests;
  private final JobLookup lookup;
  private final JobLife life;

  public Signals(NodeEnvironment env, Controls.Parts parts) {
    this.env = env;
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.requests = parts.requests();
    this.lookup = parts.lookup();
    this.life = parts.life();
  }

  /** Brings a signal to a job, wherever its shard is. */
  public void signal(RemoteRequest.Signal signal, Consumer<Outcome<SignalResult>> answer) {
    shards.withLoaded(
        signal.job().shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob job = shard.job(signal.job().number());
            if (job == null) {
              none();
            } else {
              shards.ensureAwakeBy(shard, 0, () -> append(shard, job, signal, answer));
            }
          }

          @Override
          public void none() {
            lookup.find(signal.job(), outcome -> answer.accept(answer(outcome)));
          }

          @Override
          public void elsewhere(Head head) {
            requests.send(
                head,
                signal,
                outcome -> answer.accept(outcome.map(RemoteRequestFormat::signalResult)),
                () -> signal(signal, answer));
          }
        });
  }

  /** The job is not live here: it has ended, or never was, or its shard is changing hands. */
  private static Outcome<SignalResult> answer(Outcome<Optional<JobReader.Story>> outcome) {
    if (outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found)
        && found.isPresent()
        && !found.get().view().info().state().ended()) {
      return new Outcome.Unavailable<>("the job's shard is changing hands");
    }
    return outcome.map(story -> story.isPresent() ? SignalResult.ENDED : SignalResult.NOT_FOUND);
  }

  private void append(
      Shard shard,
      NodeJob job,
      RemoteRequest.Signal signal,
      Consumer<Outcome<SignalResult>> answer) {
    OperationBody.Signal body =
        new OperationBody.Signal(
            env.wallMicros(), signal.type(), signal.key(), signal.by(), signal.payload());
    job.busy++;
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.SIGNAL, job.number, body.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
                job.busy--;
                life.wake(job);
                life.goOnIfPassedOver(job);
                switch (applied) {
                  case APPLIED -> answer.accept(Outcome.ok(SignalResult.DONE));
                  case DUPLICATE -> answer.accept(Outcome.ok(SignalResult.TAKEN_BEFORE));
                  case FULL -> answer.accept(Outcome.ok(SignalResult.TOO_MANY));
                  case NO_SUCH_JOB, STALE -> answer.accept(Outcome.ok(SignalResult.ENDED));
                }
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                job.busy--;
                life.goOnIfPassedOver(job);
                answer.accept(loss.outcome(why));
              }
            }));
  }
}
