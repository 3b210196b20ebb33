package dev.carillon.engine.request;

import dev.carillon.api.CarillonException;
import dev.carillon.api.Concurrency;
import dev.carillon.api.IfExists;
import dev.carillon.api.InvalidJobException;
import dev.carillon.api.OutcomeUnknownException;
import dev.carillon.api.StoreUnavailableException;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.Updates;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.util.function.Consumer;
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
  private final Consumer<AddRequest> again;

  /**
   * Replacements of a node's jobs.
   *
   * @param again adds a request anew whose job is not there any more
   */
  Replacements(
      NodeEnvironment env,
      MemberStatus status,
      Adds.Parts parts,
      Updates updates,
      Consumer<AddRequest> again) {
    this.env = env;
    this.status = status;
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.life = parts.life();
    this.updates = updates;
    this.again = again;
  }

  /** Exchanges a live job's input and times. */
  void replace(AddRequest request, Shard shard, NodeJob job) {
    JobSpec old = job.head();
    JobSpec spec = request.spec;
    if (!old.type().equals(spec.type())) {
      request.refused(
          new InvalidJobException(
              "type: " + spec.type() + " (expected: " + old.type() + ", as the job it replaces)"));
      return;
    }
    if (request.ifExists == IfExists.UPDATE && Updates.fits(job, spec)) {
      update(request, shard, job);
      return;
    }
    JobSpec.setStamp(request.body, old.stamp());
    JobSpec.setAccepted(request.body, status.nowMicros());
    OperationBody.Replace body = new OperationBody.Replace(env.wallMicros(), request.body);
    long awakeBy = spec.more().after().isEmpty() ? spec.dueMicros() : Shards.ALWAYS_AWAKE;
    exchange(
        new Exchange(request, shard, job),
        Frame.of(Kind.REPLACE, job.number, body.encode()),
        awakeBy);
  }

  /**
   * Answers another node that replaces a job: byte 0 where it does not live, byte 1, whether it is
   * a new job, and the job; or byte 2 and what is wrong.
   */
  void serve(RemoteRequest.Replace asked, Consumer<Outcome<byte[]>> answer) {
    JobRef job = asked.job();
    AddRequest request =
        new AddRequest(
            JobSpec.decode(asked.body()),
            asked.update() ? IfExists.UPDATE : IfExists.REPLACE,
            new ForAnother(answer));
    shards.withLoaded(
        job.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob live = shard.job(job.number());
            if (live == null || !Adds.isNamedAs(live, request)) {
              none();
            } else {
              replace(request, shard, live);
            }
          }

          @Override
          public void none() {
            answer.accept(Outcome.ok(new byte[] {0}));
          }

          @Override
          public void elsewhere(Head head) {
            answer.accept(Shards.elsewhere(head));
          }
        });
  }

  /** Tells another node what came of a replace. */
  private record ForAnother(Consumer<Outcome<byte[]>> answer) implements AddRequest.Answer {
    @Override
    public void added(JobRef job, boolean created) {
      ByteWriter out = new ByteWriter(2 + JobRef.MAX_BYTES).u8(1).u8(created ? 1 : 0);
      job.write(out);
      answer.accept(Outcome.ok(out.toBytes()));
    }

    @Override
    public void refused(CarillonException why) {
      String message = why.getMessage() + "";
      answer.accept(
          switch (why) {
            case OutcomeUnknownException unknown -> new Outcome.Unknown<>(message);
            case InvalidJobException invalid ->
                Outcome.ok(new ByteWriter(16 + message.length()).u8(2).string(message).toBytes());
            default -> new Outcome.Unavailable<>(message);
          });
    }
  }

  private void update(AddRequest request, Shard shard, NodeJob job) {
    OperationBody.Update update;
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
    ScheduleState move = update.move();
    long due = move != null ? move.timeMicros() + move.jitterMicros() : job.dueMicros;
    exchange(
        new Exchange(request, shard, job), Frame.of(Kind.UPDATE, job.number, update.encode()), due);
  }

  private void exchange(Exchange exchange, Frame frame, long awakeBy) {
    NodeJob job = exchange.job;
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
    private final NodeJob job;
    private final int bytesBefore;
    private final @Nullable Concurrency concurrencyBefore;

    Exchange(AddRequest request, Shard shard, NodeJob job) {
      this.request = request;
      this.shard = shard;
      this.job = job;
      this.bytesBefore = job.bodyBytes;
      this.concurrencyBefore = job.concurrency();
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
      job.busy--;
      if (answer != ShardFold.Answer.APPLIED) {
        waitAgain();
        request.replaces(null, null);
        again.accept(request);
        return;
      }
      life.replaced(job, bytesBefore, concurrencyBefore);
      request.added(shard.ref(job.number), false);
    }

    /** Its lane or its handler's line may have passed the job over while it was busy. */
    private void waitAgain() {
      if (job.phase() == NodeJob.Phase.READY || job.phase() == NodeJob.Phase.LIMITED) {
        life.schedule(job);
      }
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      job.busy--;
      waitAgain();
      request.refused(
          loss == Operation.Loss.UNKNOWN
              ? new OutcomeUnknownException(why)
              : new StoreUnavailableException(why));
    }
  }
}
