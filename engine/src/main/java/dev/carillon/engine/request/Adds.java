package dev.carillon.engine.request;

import dev.carillon.api.IfExists;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.OverloadedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.engine.commit.AtomicAdds;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.fold.Awaited;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Names;
import dev.carillon.engine.job.Ticket;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.life.Updates;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.Transactions.Rider;
import dev.carillon.store.Transactions.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes new jobs into shards: one, many together, and under names.
 *
 * <p><b>The name protocol.</b> (1) Put the name's record, pointing at the number the job will have,
 * in a shard that exists; (2) append the add, which carries the name and the record's version; (3)
 * answer. The append alone commits. A record whose job is not in its shard, or has ended there, is
 * taken over by its version.
 *
 * <p>Crash table: after (1) the record points at a job that never was; the next taker claims that
 * shard, which keeps the add out for ever, and takes the name. After (2) the job is there, answered
 * or not.
 */
public final class Adds {
  private static final int MAX_ROUNDS = 32;

  private static final long RETRY_NANOS = 50_000_000;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Shards shards;
  private final Committer committer;
  private final RecordChanges records;
  private final RemoteRequests requests;
  private final JobLookup lookup;
  private final JobLife life;
  private final Replacements replacements;
  private final Prerequisites prerequisites;

  /** Named adds on their way to the journal, with whoever waits to know their fate. */
  private final Map<JobRef, List<Runnable>> namedOnTheirWay = new LinkedHashMap<>();

  private long addedTotal;

  /** The parts of a node that take part in an add. */
  public record Parts(
      Shards shards,
      Committer committer,
      RemoteRequests requests,
      JobLookup lookup,
      JobLife life) {}

  public Adds(Basics basics, MemberStatus status, Parts parts, Updates updates) {
    this.env = basics.env();
    this.options = basics.options();
    this.records = basics.records();
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.requests = parts.requests();
    this.lookup = parts.lookup();
    this.life = parts.life();
    this.replacements = new Replacements(basics, status, parts, updates, this::add);
    this.prerequisites =
        new Prerequisites(basics.records(), parts.lookup(), namedOnTheirWay, this::refuse);
  }

  /** How many jobs were added through this node since it started. */
  public long addedTotal() {
    return addedTotal;
  }

  Replacements replacements() {
    return replacements;
  }

  public void add(AddRequest request) {
    if (overloaded(request)) {
      return;
    }
    if (request.hasDependencies()) {
      prerequisites.resolve(request, () -> enter(request));
    } else {
      enter(request);
    }
  }

  private void enter(AddRequest request) {
    if (request.abandoned) {
      return;
    }
    if (request.expected() != null) {
      examine(request);
    } else if (request.named()) {
      reserve(request, Stamp.ABSENT);
    } else {
      place(request);
    }
  }

  /** Adds all of them or none; the caller has seen to it that no name stands there twice. */
  public void addAll(List<AddRequest> requests) {
    AddBatch batch = new AddBatch(requests);
    for (AddRequest request : requests) {
      request.batch = batch;
    }
    for (AddRequest request : requests) {
      if (!batch.failed) {
        add(request);
      }
    }
  }

  private boolean overloaded(AddRequest request) {
    if (committer.queued() < options.maxQueued()
        && committer.queuedBytes() < options.maxQueuedBytes()) {
      return false;
    }
    refuse(
        request,
        new OverloadedException(
            "operations waiting for the store: "
                + committer.queued()
                + " of "
                + committer.queuedBytes()
                + " bytes (expected: below "
                + options.maxQueued()
                + " and "
                + options.maxQueuedBytes()
                + " bytes); the job was not scheduled"));
    return true;
  }

  /** Withdraws a request whose caller no longer waits, and says truthfully what became of it. */
  public void abandon(AddRequest request, String waited) {
    if (request.answered) {
      return;
    }
    request.abandoned = true;
    String why = "no answer from the store after " + waited;
    if (withdraw(request)) {
      withdrawn(request, why);
    } else {
      request.refused(new OutcomeUnknownException(why + "; the job may have been scheduled"));
    }
  }

  /** Withdraws a request of which nothing is on its way to the store; else leaves it waiting. */
  public void abandonUnsent(AddRequest request, String why) {
    if (!request.answered && withdraw(request)) {
      request.abandoned = true;
      withdrawn(request, "the store is away: " + why);
    }
  }

  private boolean withdraw(AddRequest request) {
    Operation operation = request.operation;
    Shard shard = request.shard;
    return !request.askedElsewhere
        && (operation == null || shard == null || committer.withdraw(shard.journal, operation));
  }

  private void withdrawn(AddRequest request, String why) {
    Operation operation = request.operation;
    if (operation != null) {
      operation.stage = Operation.Stage.SETTLED;
      gaveUp(request);
      if (request.replacing) {
        operation.listener.lost(Operation.Loss.NOT_WRITTEN, why);
      }
    }
    refuse(request, new StoreUnavailableException(why + "; the job was not scheduled"));
  }

  private void refuse(AddRequest request, CarillonException why) {
    AddBatch batch = request.batch;
    request.refused(why);
    if (batch != null && !batch.failed) {
      batch.failed = true;
      boolean perhapsWritten = why instanceof OutcomeUnknownException;
      for (AddRequest other : batch.requests) {
        unhold(other);
        other.abandoned = true;
        if (other != request && !perhapsWritten) {
          gaveUp(other); // also one whose caller has long been told something
        }
        other.refused(why);
      }
    }
  }

  // ---- without a name

  private void place(AddRequest request) {
    if (request.abandoned || refusedFull(request)) {
      return;
    }
    Shard shard = shards.forDue(request.spec.dueMicros(), () -> place(request));
    if (shard != null) {
      number(request, shard);
      placed(request);
    }
  }

  private boolean refusedFull(AddRequest request) {
    String full = shards.full();
    if (full != null) {
      refuse(request, full(full));
    }
    return full != null;
  }

  private static StoreUnavailableException full(String why) {
    return new StoreUnavailableException("the store is full, the job was not scheduled: " + why);
  }

  private static void number(AddRequest request, Shard shard) {
    request.shard = shard;
    request.number = shard.nextNumber();
    shard.added++;
    shard.addedBytes += request.body.length + Frame.HEADER_BYTES;
  }

  /** The request has its shard and number, and its name if it wants one. */
  private void placed(AddRequest request) {
    if (request.within != null) {
      request.within.free().run();
      return;
    }
    Shard shard = place(request.shard);
    Rider rider = request.row != null ? rider(request.row, request, shard) : null;
    Operation operation =
        new Operation(
            Frame.of(Kind.ADD, request.number, request.body),
            request.spec,
            new Listener(request, shard));
    operation.rider = rider;
    request.operation = operation;
    AddBatch batch = request.batch;
    if (batch == null) {
      shards.ensureAwakeBy(shard, awakeBy(request), () -> committer.add(shard.journal, operation));
    } else if (--batch.unplaced == 0) {
      addTogether(batch);
    } else {
      hold(request, shard);
    }
  }

  /** The row leaves the inbox, and the ticket's record says where the job is. */
  private Rider rider(Row row, AddRequest request, Shard shard) {
    Stamp stamp = records.stamp();
    JobSpec.setStamp(request.body, stamp);
    byte[] value = new Names.Value(shard.ref(request.number), row.ticket(), null, 0).encode();
    Change pointer = new Change(Ticket.recordKey(row.ticket()), Stamp.ABSENT, value, stamp);
    return new Rider(List.of(row.id()), List.of(pointer), List.of());
  }

  private static void hold(AddRequest request, Shard shard) {
    if (!request.holding) {
      request.holding = true;
      shard.hold();
    }
  }

  private static void unhold(AddRequest request) {
    if (request.holding) {
      request.holding = false;
      place(request.shard).unhold();
    }
  }

  private static Shard place(@Nullable Shard shard) {
    if (shard == null) {
      throw new IllegalStateException("shard: null (expected: the request was placed)");
    }
    return shard;
  }

  /**
   * One that waits for jobs outside its batch has its shard awake until they know that: else a
   * crash before would leave them to be forgotten by the time it is due.
   */
  private static long awakeBy(AddRequest request) {
    List<After> after = request.spec.more().after();
    if (after.isEmpty()) {
      return request.spec.dueMicros();
    }
    long inBatch = request.inBatch.stream().filter(each -> each.other().operation != null).count();
    return after.size() > inBatch ? Shards.ALWAYS_AWAKE : request.spec.dueMicros();
  }

  private void addTogether(AddBatch batch) {
    Prerequisites.tieTogether(batch);
    AtomicAdds together = new AtomicAdds();
    int[] waits = {1};
    Runnable go =
        () -> {
          if (--waits[0] == 0 && !batch.failed) {
            batch.requests.forEach(Adds::unhold);
            committer.addTogether(together);
          }
        };
    for (AddRequest request : batch.requests) {
      Operation operation = request.operation;
      if (operation == null) {
        continue; // it had its job already
      }
      together.add(place(request.shard).journal, operation);
    }
    for (AddRequest request : batch.requests) {
      if (request.operation != null) {
        Shard shard = place(request.shard);
        hold(request, shard); // until the others are ready too
        waits[0]++;
        shards.ensureAwakeBy(shard, awakeBy(request), go);
      }
    }
    go.run();
  }

  /** What becomes of an add. */
  private final class Listener implements Operation.Listener {
    private final AddRequest request;
    private final Shard shard;

    Listener(AddRequest request, Shard shard) {
      this.request = request;
      this.shard = shard;
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob job) {
      if (job != null) {
        Awaited awaited = job.awaited();
        if (awaited != null) {
          request.inBatch.forEach(each -> Prerequisites.arranged(awaited, each.other()));
        }
        life.added(shard, NodeJob.of(job));
      }
      env.metrics().count("jobs.added", 1);
      addedTotal++;
      request.added(shard.ref(request.number), true);
      settledName(request);
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      if (loss != Operation.Loss.UNKNOWN) {
        gaveUp(request);
      }
      settledName(request);
      refuse(
          request,
          switch (loss) {
            case NOT_WRITTEN -> new StoreUnavailableException("the job was not scheduled: " + why);
            case FULL -> full(why);
            case UNKNOWN -> new OutcomeUnknownException("the job may be scheduled: " + why);
          });
    }
  }

  // ---- under a name

  private void reserve(AddRequest request, Stamp expected) {
    AddRequest.Within within = request.within;
    if (request.abandoned
        || replacements.isOver(request)
        || (within == null && refusedFull(request))) {
      return;
    }
    if (++request.rounds > MAX_ROUNDS) {
      refuse(
          request,
          new OverloadedException(
              "name: changed hands " + MAX_ROUNDS + " times meanwhile; the job was not scheduled"));
      return;
    }
    if (!expected.equals(Stamp.ABSENT) && request.copies != records.copies()) {
      examine(request); // whoever had the name in the copy before may have it in this one
      return;
    }
    Shard shard =
        within != null
            ? within.shard()
            : shards.forDue(request.spec.dueMicros(), () -> reserve(request, expected));
    if (shard == null) {
      return;
    }
    number(request, shard);
    shard.hold();
    JobRef ref = shard.ref(request.number);
    String key = request.spec.key();
    byte[] value = new Names.Value(ref, key != null ? key : "", null, 0).encode();
    namedOnTheirWay.put(ref, new ArrayList<>());
    Stamp stamp =
        records.put(
            Names.recordKey(request.spec),
            expected,
            value,
            inEffect -> reserved(request, shard, inEffect),
            detail -> {
              shard.unhold();
              settledName(request);
              refuse(request, full(detail));
            });
    JobSpec.setStamp(request.body, stamp);
  }

  private void reserved(AddRequest request, Shard shard, boolean inEffect) {
    shard.unhold();
    if (!inEffect) {
      settledName(request);
      request.shard = null;
      examine(request);
    } else if (request.abandoned || !shard.owned()) {
      gaveUp(request);
      settledName(request);
      refuse(
          request,
          new StoreUnavailableException("its shard moved away; the job was not scheduled"));
    } else {
      placed(request);
    }
  }

  /** Finds a name for the child of a workflow: its own, or that of a job which takes its place. */
  void findName(AddRequest child) {
    enter(child);
  }

  /** Gives a name back that was put for a job which will not be. */
  void gaveUp(AddRequest request) {
    if (request.named() && request.shard != null && !request.replacing) {
      JobSpec spec = JobSpec.decodeHead(request.body);
      records.change(Names.recordKey(spec), spec.stamp(), null, inEffect -> {});
      settledName(request);
    }
  }

  /** What becomes of the job is known: those who wait for its name look again. */
  void settledName(AddRequest request) {
    Shard shard = request.shard;
    if (request.named() && shard != null) {
      List<Runnable> waiting = namedOnTheirWay.remove(shard.ref(request.number));
      if (waiting != null) {
        waiting.forEach(Runnable::run);
      }
    }
  }

  /** The record is somebody's: whose, and is that job still there? */
  private void examine(AddRequest request) {
    request.copies = records.copies();
    records.get(
        Names.recordKey(request.spec),
        found -> {
          if (found.isEmpty()) {
            reserve(request, Stamp.ABSENT);
          } else {
            examine(request, found.get());
          }
        });
  }

  private void examine(AddRequest request, Stored record) {
    if (request.abandoned) {
      return;
    }
    Names.Value value = Names.Value.decode(record.value());
    JobRef job = value.job();
    List<Runnable> waiting = namedOnTheirWay.get(job);
    if (waiting != null && request.batch != null) {
      // Two batches that wait for each other's names would wait for ever.
      refuse(request, taken(request, value));
      return;
    }
    if (waiting != null) {
      waiting.add(() -> examine(request));
      return;
    }
    if (value.outcome() != null) {
      endedBefore(request, record, new Ended(job, value.key(), value.untilMicros()));
      return;
    }
    shards.whenProven(() -> examine(request, record, value));
  }

  private void examine(AddRequest request, Stored record, Names.Value value) {
    JobRef job = value.job();
    shards.withLoaded(
        job.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            if (!request.abandoned) {
              NodeJob live = shard.job(job.number());
              if (live != null && isNamedAs(live, request)) {
                exists(request, value, shard, live);
              } else if (live == null && shard.isBehind(job.number())) {
                proveBehind(request, record, shard, job);
              } else if (live == null && shard.journal.isAddInFlight(job.number())) {
                // Another shard of its batch was lost; this one is yet to hear what became of it.
                again(() -> examine(request));
              } else {
                notLive(request, record, job);
              }
            }
          }

          @Override
          public void none() {
            String damage = shards.refused().get(job.shard());
            if (damage == null) {
              notLive(request, record, job);
            } else {
              refuse(
                  request,
                  new StoreUnavailableException(
                      "name: its job is in a damaged shard ("
                          + damage
                          + "); the job was not scheduled"));
            }
          }

          @Override
          public void elsewhere(Head head) {
            lookElsewhere(request, record, value, head);
          }
        });
  }

  private void again(Runnable action) {
    shards.at(env.monotonicNanos() + RETRY_NANOS, action);
  }

  /** The shard is another's, or the job was lost with another copy of the store. */
  private void proveBehind(AddRequest request, Stored record, Shard shard, JobRef job) {
    shards.prove(
        shard,
        () -> {
          if (shard.owned()) {
            notLive(request, record, job);
          } else {
            examine(request);
          }
        });
  }

  /** Whether the job has the name, or key, that is asked for: a replayed dead letter has none. */
  static boolean isNamedAs(NodeJob live, AddRequest request) {
    return live.hasName() // else its body may not be in memory
        && Names.recordKey(live.head()).equals(Names.recordKey(request.spec));
  }

  private void notLive(AddRequest request, Stored record, JobRef job) {
    if (request.abandoned) {
      return;
    }
    if (request.spec.key() != null) {
      lookup.endUntilAnswered(job, end -> endedUnstamped(request, record, job, end));
    } else {
      reserve(request, record.version());
    }
  }

  /**
   * The record does not tell yet how its job ended; the job's own key counts, as for a live one.
   */
  private void endedUnstamped(
      AddRequest request, Stored record, JobRef job, Optional<JobInfo> end) {
    Instant ended = end.map(JobInfo::endedAt).orElse(null);
    if (ended == null) {
      reserve(request, record.version());
    } else {
      long until = Micros.ceil(ended) + Micros.ceil(options.keyRetention());
      endedBefore(request, record, new Ended(job, end.get().key(), until));
    }
  }

  private record Ended(JobRef job, @Nullable String key, long keyUntilMicros) {}

  private void endedBefore(AddRequest request, Stored record, Ended ended) {
    String key = request.spec.key();
    if (key != null && key.equals(ended.key()) && env.wallMicros() < ended.keyUntilMicros()) {
      had(request, ended.job());
    } else {
      reserve(request, record.version());
    }
  }

  /** Asks the node that has the job of the name. */
  private void lookElsewhere(AddRequest request, Stored record, Names.Value value, Head head) {
    requests.send(
        head,
        new RemoteRequest.Look(value.job()),
        outcome -> {
          if (request.abandoned) {
            return;
          }
          if (!(outcome instanceof Outcome.Ok<byte[]>(byte[] seen))) {
            refuse(
                request,
                new StoreUnavailableException(
                    "name: the node that has its job does not answer; the job was not scheduled"));
          } else {
            ByteReader in = new ByteReader(seen);
            if (in.u8() == 0 || !in.string().equals(Names.recordKey(request.spec))) {
              notLive(request, record, value.job());
              return;
            }
            String key = in.string();
            exists(
                request,
                value,
                key.isEmpty() ? null : key,
                () -> replaceElsewhere(request, value, head));
          }
        },
        () -> examine(request));
  }

  /**
   * Answers another node: byte 0 where the job does not live or has no name, else byte 1, the key
   * of the record that names it and its own key.
   */
  void look(JobRef job, Consumer<Outcome<byte[]>> answer) {
    List<Runnable> waiting = namedOnTheirWay.get(job);
    if (waiting != null) {
      waiting.add(() -> look(job, answer));
      return;
    }
    shards.withLoaded(
        job.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob live = shard.job(job.number());
            if (live == null && shard.isBehind(job.number())) {
              shards.prove(
                  shard,
                  () -> {
                    if (shard.owned()) {
                      none();
                    } else {
                      answer.accept(new Outcome.Unavailable<>("the shard is changing hands"));
                    }
                  });
              return;
            }
            if (live == null && shard.journal.isAddInFlight(job.number())) {
              again(() -> look(job, answer)); // as in examine
              return;
            }
            if (live == null || !live.hasName()) {
              none(); // one without a name may have no body in memory
              return;
            }
            String key = live.head().key();
            answer.accept(
                Outcome.ok(
                    new ByteWriter(64)
                        .u8(1)
                        .string(Names.recordKey(live.head()))
                        .string(key != null ? key : "")
                        .toBytes()));
          }

          @Override
          public void none() {
            answer.accept(
                shards.refused().containsKey(job.shard())
                    ? new Outcome.Unavailable<>("the shard cannot be read")
                    : Outcome.ok(new byte[] {0}));
          }

          @Override
          public void elsewhere(Head head) {
            answer.accept(Shards.elsewhere(head));
          }
        });
  }

  private void replaceElsewhere(AddRequest request, Names.Value value, Head head) {
    request.askedElsewhere = true;
    requests.send(
        head,
        replacements.remote(request, value.job()),
        outcome -> {
          request.askedElsewhere = false;
          switch (outcome) {
            case Outcome.Ok<byte[]>(byte[] reply) -> replacedElsewhere(request, reply);
            case Outcome.Unknown<byte[]>(String why) ->
                request.refused(new OutcomeUnknownException("the job may be scheduled: " + why));
            default ->
                request.refused(
                    new StoreUnavailableException("the job was not scheduled: " + outcome));
          }
        },
        () -> {
          request.askedElsewhere = false;
          examine(request);
        });
  }

  private void replacedElsewhere(AddRequest request, byte[] reply) {
    ByteReader in = new ByteReader(reply);
    switch (in.u8()) {
      case 0 -> examine(request);
      case 1 -> {
        boolean created = in.u8() == 1;
        request.added(JobRef.read(in), created);
      }
      case 2 -> request.refused(new InvalidJobException(in.string()));
      case 3 -> request.refused(new ChangedMeanwhileException(in.string()));
      default -> request.refused(NameTakenException.begun(in.string(), new JobId(in.string())));
    }
  }

  private void exists(AddRequest request, Names.Value value, Shard shard, NodeJob live) {
    // The job's own key: a replace may have brought another than the record was made with.
    exists(request, value, live.head().key(), () -> replacements.replace(request, shard, live));
  }

  private void exists(
      AddRequest request, Names.Value value, @Nullable String key, Runnable replace) {
    boolean sameKey = request.spec.key() != null && request.spec.key().equals(key);
    if (sameKey || request.ifExists == IfExists.KEEP) {
      had(request, value.job());
    } else if (request.exchanges() && request.hasDependencies()) {
      refuse(
          request,
          new InvalidJobException(
              "dependencies: of \""
                  + request.spec.name()
                  + "\", which exists (expected: none for a job that replaces another)"));
    } else if (request.exchanges() && request.batch == null) {
      if (!replacements.isOther(request, value.job())) {
        replace.run();
      }
    } else {
      request.takenBy = value.job();
      refuse(request, taken(request, value));
    }
  }

  private static NameTakenException taken(AddRequest request, Names.Value value) {
    String name = request.spec.name();
    return new NameTakenException(name != null ? name : value.key(), value.job().id());
  }

  private void had(AddRequest request, JobRef job) {
    AddBatch batch = request.batch;
    request.added(job, false);
    if (batch != null && --batch.unplaced == 0) {
      addTogether(batch);
    }
  }
}
