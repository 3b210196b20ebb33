package dev.carillon.engine.request;

import dev.carillon.api.Concurrency;
import dev.carillon.api.IfExists;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.engine.commit.Basics;
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
import dev.carillon.engine.job.Ticket;
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

  /** Who asks where nobody is named. */
  private final String nodeId;

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
      Basics basics,
      MemberStatus status,
      Adds.Parts parts,
      Updates updates,
      Consumer<AddRequest> again) {
    this.env = basics.env();
    this.nodeId = basics.options().nodeId();
    this.status = status;
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.life = parts.life();
    this.updates = updates;
    this.again = again;
  }

  /** Whether the job that the request is to change is there no more, and it was told so. */
  boolean isOver(AddRequest request) {
    if (request.expected() == null) {
      return false;
    }
    changed(request, "the job of the name has ended");
    return true;
  }

  /** Whether the name is another job's than the one that is to be changed, and it was told so. */
  boolean isOther(AddRequest request, JobRef job) {
    AddRequest.Expected expected = request.expected();
    if (expected == null || expected.job().equals(job)) {
      return false;
    }
    changed(request, "another job has the name");
    return true;
  }

  private static void changed(AddRequest request, String now) {
    request.refused(
        new ChangedMeanwhileException(
            "version: " + now + " (expected: the one that was seen); nothing was changed"));
  }

  /** Asks another node for it. */
  RemoteRequest.Replace remote(AddRequest request, JobRef job) {
    AddRequest.Expected expected = request.expected();
    return new RemoteRequest.Replace(
        job,
        by(request),
        request.ifExists == IfExists.UPDATE,
        expected != null ? expected.version() : null,
        request.body);
  }

  private String by(AddRequest request) {
    String by = request.by();
    return by != null ? by : nodeId;
  }

  /** Exchanges a live job's input and times. */
  void replace(AddRequest request, Shard shard, NodeJob job) {
    JobSpec old = job.head();
    JobSpec spec = request.spec;
    AddRequest.Expected expected = request.expected();
    if (expected != null && !expected.equals(version(shard, job))) {
      changed(request, "another one");
      return;
    }
    if (expected != null && !Updates.fits(job, spec)) {
      changed(request, "the job recurs no more");
      return;
    }
    if (job.hasBegun() && !(request.ifExists == IfExists.UPDATE && Updates.fits(job, spec))) {
      String name = old.name();
      request.refused(
          NameTakenException.begun(
              name != null ? name : "", Ticket.id(shard.ref(job.number), old.key())));
      return;
    }
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
    OperationBody.Replace body =
        new OperationBody.Replace(env.wallMicros(), by(request), request.body);
    long awakeBy = spec.more().after().isEmpty() ? spec.dueMicros() : Shards.ALWAYS_AWAKE;
    exchange(
        new Exchange(request, shard, job),
        Frame.of(Kind.REPLACE, job.number, body.encode()),
        awakeBy);
  }

  /**
   * Answers another node that replaces a job: byte 0 where it does not live, byte 1, whether it is
   * a new job, and the job; or byte 2 and what is wrong; or byte 3 and what changed meanwhile; or
   * byte 4, name and id of a workflow that has begun.
   */
  void serve(RemoteRequest.Replace asked, Consumer<Outcome<byte[]>> answer) {
    JobRef job = asked.job();
    AddRequest request =
        new AddRequest(
            JobSpec.decode(asked.body()),
            asked.update() ? IfExists.UPDATE : IfExists.REPLACE,
            new ForAnother(answer));
    request.askedBy(asked.by());
    Integer version = asked.version();
    if (version != null) {
      request.expecting(new AddRequest.Expected(job, version));
    }
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
            case InvalidJobException invalid -> problem(2, message);
            case ChangedMeanwhileException changed -> problem(3, message);
            case NameTakenException taken ->
                Outcome.ok(
                    new ByteWriter(64)
                        .u8(4)
                        .string(taken.name())
                        .string(taken.existing().value())
                        .toBytes());
            default -> new Outcome.Unavailable<>(message);
          });
    }

    private static Outcome<byte[]> problem(int code, String message) {
      return Outcome.ok(new ByteWriter(16 + message.length()).u8(code).string(message).toBytes());
    }
  }

  private static AddRequest.Expected version(Shard shard, NodeJob job) {
    return new AddRequest.Expected(shard.ref(job.number), job.version());
  }

  private void update(AddRequest request, Shard shard, NodeJob job) {
    AddRequest.Expected expected = request.expected();
    Updates.Asker who =
        new Updates.Asker(by(request), expected != null ? expected.version() : null);
    OperationBody.Update update;
    try {
      update = updates.of(job, request.spec, who, status.nowMicros());
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
