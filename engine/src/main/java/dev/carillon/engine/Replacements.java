package dev.carillon.engine;

import dev.carillon.api.Concurrency;
import dev.carillon.api.IfExists;
import dev.carillon.api.InvalidJobException;
import dev.carillon.api.OutcomeUnknownException;
import dev.carillon.api.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the input and times of a live job by those of an add under the same name, or updates a
 * recurring job that is declared again.
 *
 * <p>Crash table: the exchange is one operation; before it the job is as it was, after it as asked.
 */
final class Replacements {
  private final NodeEnvironment env;
  private final MemberStatus status;
  private final Shards shards;
  private final Committer committer;
  private final JobLife life;
  private final Updates updates;

  Replacements(NodeEnvironment env, MemberStatus status, Adds.Parts parts, Updates updates) {
    this.env = env;
    this.status = status;
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.life = parts.life();
    this.updates = updates;
  }

  /**
   * Exchanges a live job's input and times.
   *
   * @param again adds the request anew, where the job is not there any more
   */
  void replace(AddRequest request, Shard shard, ShardJob job, Runnable again) {
    JobSpec old = job.head();
    JobSpec spec = request.spec;
    if (!old.type().equals(spec.type())) {
      request.refused(
          new InvalidJobException(
              "type: " + spec.type() + " (expected: " + old.type() + ", as the job it replaces)"));
      return;
    }
    if (request.ifExists == IfExists.UPDATE && Updates.fits(job, spec)) {
      update(request, shard, job, again);
      return;
    }
    JobSpec.setStamp(request.body, old.stamp());
    JobSpec.setAccepted(request.body, status.nowMicros());
    Body.Replace body = new Body.Replace(env.wallMicros(), request.body);
    long awakeBy = spec.more().after().isEmpty() ? spec.dueMicros() : Shards.ALWAYS_AWAKE;
    exchange(
        new Exchange(request, shard, job, again),
        Frame.of(Kind.REPLACE, job.number, body.encode()),
        awakeBy);
  }

  private void update(AddRequest request, Shard shard, ShardJob job, Runnable again) {
    Body.Update update;
    try {
      update = updates.of(job, request.spec, status.nowMicros());
    } catch (InvalidJobException e) {
      request.refused(e);
      return;
    }
    if (update == null) {
      request.added(shard.ref(job.number), false);
      return;
    }
    Move move = update.move();
    long due = move != null ? move.timeMicros() + move.jitterMicros() : job.dueMicros;
    exchange(
        new Exchange(request, shard, job, again),
        Frame.of(Kind.UPDATE, job.number, update.encode()),
        due);
  }

  private void exchange(Exchange exchange, Frame frame, long awakeBy) {
    ShardJob job = exchange.job;
    Shard shard = exchange.shard;
    job.busy++;
    life.withdraw(job); // what orders it in line changes with the replace
    Operation operation = new Operation(frame, exchange);
    exchange.request.replaces(shard, operation);
    shards.ensureAwakeBy(shard, awakeBy, () -> committer.add(shard.journal, operation));
  }

  /** An exchange on its way to the journal. */
  private final class Exchange implements Operation.Listener {
    private final AddRequest request;
    private final Shard shard;
    private final ShardJob job;
    private final Runnable again;
    private final int bytesBefore;
    private final @Nullable Concurrency concurrencyBefore;

    Exchange(AddRequest request, Shard shard, ShardJob job, Runnable again) {
      this.request = request;
      this.shard = shard;
      this.job = job;
      this.again = again;
      this.bytesBefore = job.bodyBytes;
      this.concurrencyBefore = job.concurrency();
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable ShardJob met) {
      job.busy--;
      if (answer != ShardFold.Answer.APPLIED) {
        request.replaces(null, null);
        again.run();
        return;
      }
      life.replaced(job, bytesBefore, concurrencyBefore);
      request.added(shard.ref(job.number), false);
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      job.busy--;
      if (job.phase == ShardJob.Phase.READY || job.phase == ShardJob.Phase.LIMITED) {
        life.schedule(job); // its lane or its handler's line may have passed it over
      }
      request.refused(
          loss == Operation.Loss.UNKNOWN
              ? new OutcomeUnknownException(why)
              : new StoreUnavailableException(why));
    }
  }
}
