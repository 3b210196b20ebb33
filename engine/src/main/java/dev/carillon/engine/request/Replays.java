package dev.carillon.engine.request;

import dev.carillon.api.ControlResult;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobEdit;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.Resumption;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequestFormat;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.query.DeadWorkflow;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Replays and discards dead letters. A workflow goes on where it failed ({@link Resumption}): its
 * REPLAY is followed, in the same entry of the journal, by what it remembers (RESTORED), its
 * history (HISTORY), what it published (REPORT) and the children that are started again (ADD).
 *
 * <p>Crash table: what is read of the dead letter changes nothing. The replay is one entry: before
 * it the job is dead, after it all of it is there. Two replays of one job go one after the other,
 * so none goes by a history that the one before has continued.
 */
public final class Replays {
  /** A larger history does not fit into an entry of the journal with the rest. */
  private static final int MOST_HISTORY_BYTES = 3 << 20;

  private static final int PART_BYTES = 128 << 10;

  /** Of a workflow that begins anew because it was undone. */
  private static final DeadWorkflow.Kept FORGOTTEN = new DeadWorkflow.Kept(List.of(), null);

  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final RemoteRequests requests;
  private final JobLookup lookup;
  private final JobLife life;

  /** Replays under way, and those that wait for them. */
  private final Map<JobRef, ArrayDeque<Runnable>> underWay = new LinkedHashMap<>();

  public Replays(NodeEnvironment env, Controls.Parts parts) {
    this.env = env;
    this.shards = parts.shards();
    this.committer = parts.committer();
    this.requests = parts.requests();
    this.lookup = parts.lookup();
    this.life = parts.life();
  }

  /** What is done about a dead letter: operations that go together, made for its shard. */
  private interface Maker {
    /** Null where it cannot be done. */
    @Nullable Replayed make(Shard shard);
  }

  /** An operation and those behind it in the same entry. */
  private record Replayed(Frame frame, List<Frame> behind) {}

  /** A dead letter lives again, as it was or with another input. */
  public void replay(
      JobRef ref, String by, @Nullable JobEdit edit, Consumer<Outcome<ControlResult>> answer) {
    ArrayDeque<Runnable> before = underWay.get(ref);
    if (before != null) {
      before.add(() -> replay(ref, by, edit, answer));
      return;
    }
    underWay.put(ref, new ArrayDeque<>(1));
    begin(
        new RemoteRequest.Replay(ref, by, edit),
        outcome -> {
          ArrayDeque<Runnable> waiting = underWay.remove(ref);
          answer.accept(outcome);
          if (waiting != null) {
            waiting.forEach(Runnable::run);
          }
        });
  }

  private void begin(RemoteRequest.Replay request, Consumer<Outcome<ControlResult>> answer) {
    JobRef ref = request.job();
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> new JobReader(store).ended(ref),
        outcome -> {
          if (!(outcome
              instanceof Outcome.Ok<Optional<JobReader.Ended>>(Optional<JobReader.Ended> found))) {
            answer.accept(outcome.map(body -> ControlResult.NOT_FOUND));
          } else if (found.isEmpty()) {
            answerNotDead(ref, answer);
          } else if (found.get().isWorkflow()) {
            readWorkflow(request, answer);
          } else {
            replay(request, JobSpec.decode(found.get().body()), answer, shard -> List.of());
          }
        });
  }

  private void readWorkflow(RemoteRequest.Replay request, Consumer<Outcome<ControlResult>> answer) {
    JobRef ref = request.job();
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> DeadWorkflow.find(store, ref),
        outcome -> {
          if (!(outcome
              instanceof
              Outcome.Ok<Optional<DeadWorkflow.Found>>(Optional<DeadWorkflow.Found> found))) {
            answer.accept(outcome.map(body -> ControlResult.NOT_FOUND));
          } else if (found.isEmpty()) {
            answerNotDead(ref, answer);
          } else {
            DeadWorkflow.Found dead = found.get();
            Resumption resumption = Resumption.of(dead.entries(), dead.failedBy());
            replay(
                request,
                JobSpec.decode(dead.spec()),
                answer,
                shard -> behind(shard, ref, dead, resumption));
          }
        });
  }

  /** Makes what stands behind a REPLAY. */
  private interface Behind {
    /** Null where the workflow cannot go on. */
    @Nullable List<Frame> make(Shard shard);
  }

  private void replay(
      RemoteRequest.Replay request,
      JobSpec spec,
      Consumer<Outcome<ControlResult>> answer,
      Behind behind) {
    JobEdit edit = request.edit();
    if (edit != null && !edit.type().equals(spec.type())) {
      answer.accept(Outcome.ok(ControlResult.OTHER_TYPE));
      return;
    }
    long now = env.wallMicros();
    JobSpec again =
        spec.replayed(now, edit != null ? edit.version() : 0, edit != null ? edit.payload() : null);
    OperationBody.Replay replay = new OperationBody.Replay(now, request.by(), again.encode());
    Frame frame = Frame.of(Kind.REPLAY, request.job().number(), replay.encode());
    onDead(
        request,
        shard -> {
          List<Frame> frames = behind.make(shard);
          return frames == null ? null : new Replayed(frame, frames);
        },
        answer);
  }

  /** What the workflow remembers, its history, and the children that are started again. */
  private @Nullable List<Frame> behind(
      Shard shard, JobRef ref, DeadWorkflow.Found dead, Resumption resumption) {
    int revision =
        dead.revision() + (resumption.anew() ? 1 : 0); // its steps have keys of their own
    Map<JobRef, JobRef> restarted = new LinkedHashMap<>();
    List<Frame> adds = new ArrayList<>();
    for (JobRef child : resumption.restarted()) {
      byte[] spec = dead.children().get(child);
      if (spec == null || JobSpec.sharedPayload(spec) != 0) {
        return null;
      }
      JobRef fresh = shard.ref(shard.nextNumber());
      JobSpec asked = JobSpec.decode(spec).replayed(env.wallMicros(), 0, null);
      JobSpec added = asked.withMore(asked.more().childOf(ref));
      restarted.put(child, fresh);
      adds.add(Frame.of(Kind.ADD, fresh.number(), added.encode()));
    }
    List<HistoryEntry> entries =
        resumption.entries().stream().map(entry -> startedAgain(entry, restarted)).toList();
    DeadWorkflow.Kept kept = resumption.anew() ? FORGOTTEN : dead.kept();
    List<Frame> frames = new ArrayList<>();
    frames.add(
        Frame.of(
            Kind.RESTORED, ref.number(), WorkflowState.restored(revision, kept.keys(), entries)));
    long bytes = write(ref.number(), entries, frames);
    byte[] published = kept.published();
    if (published != null) {
      Report report = new Report(Report.UNKNOWN, Report.UNKNOWN, null, published, false);
      Report.Recorded again = new Report.Recorded(revision, env.wallMicros(), false, report);
      frames.add(Frame.of(Kind.REPORT, ref.number(), again.encode()));
      bytes += published.length;
    }
    frames.addAll(adds);
    return bytes > MOST_HISTORY_BYTES ? null : frames;
  }

  private static HistoryEntry startedAgain(HistoryEntry entry, Map<JobRef, JobRef> again) {
    if (entry instanceof HistoryEntry.ChildStarted child) {
      JobRef fresh = again.get(child.child());
      return fresh == null
          ? child
          : new HistoryEntry.ChildStarted(child.at(), child.call(), child.type(), fresh);
    }
    return entry;
  }

  /** Adds a history, a part at a time; says how large it is. */
  private static long write(long number, List<HistoryEntry> entries, List<Frame> frames) {
    long bytes = 0;
    List<HistoryEntry> part = new ArrayList<>();
    int partBytes = 0;
    for (HistoryEntry entry : entries) {
      part.add(entry);
      partBytes += entry.bytes();
      if (partBytes >= PART_BYTES) {
        bytes += partBytes;
        frames.add(Frame.of(Kind.HISTORY, number, HistoryEntry.encode(part)));
        part.clear();
        partBytes = 0;
      }
    }
    if (!part.isEmpty()) {
      frames.add(Frame.of(Kind.HISTORY, number, HistoryEntry.encode(part)));
    }
    return bytes + partBytes;
  }

  /** A dead letter is no longer kept. */
  public void discard(JobRef ref, String by, Consumer<Outcome<ControlResult>> answer) {
    OperationBody.Discard discard = new OperationBody.Discard(env.wallMicros(), by);
    Frame frame = Frame.of(Kind.DISCARD, ref.number(), discard.encode());
    onDead(new RemoteRequest.Discard(ref, by), shard -> new Replayed(frame, List.of()), answer);
  }

  private void onDead(RemoteRequest request, Maker maker, Consumer<Outcome<ControlResult>> answer) {
    JobRef ref = request.job();
    shards.withLoaded(
        ref.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            if (shard.fold == null || !shard.fold.isDead(ref.number())) {
              none();
            } else if (shard.journal.isRewriting()) {
              // It may be left out: whoever reads both generations must not see it live again.
              shards.whenFree(shard, () -> onDead(request, maker, answer));
            } else {
              append(shard, ref, maker.make(shard), answer);
            }
          }

          @Override
          public void none() {
            answerNotDead(ref, answer);
          }

          @Override
          public void elsewhere(Head head) {
            requests.send(
                head,
                request,
                outcome -> answer.accept(outcome.map(RemoteRequestFormat::controlResult)),
                () -> onDead(request, maker, answer));
          }
        });
  }

  private void append(
      Shard shard,
      JobRef ref,
      @Nullable Replayed replayed,
      Consumer<Outcome<ControlResult>> answer) {
    if (replayed == null) {
      answer.accept(Outcome.ok(ControlResult.NOT_RESUMABLE));
      return;
    }
    for (Frame frame : replayed.behind()) {
      if (frame.kind() == Kind.ADD) {
        shard.added++;
      }
      shard.addedBytes += frame.frameBytes();
    }
    // The shard may sleep for ever, with nothing but dead letters in it.
    Operation operation =
        new Operation(
            replayed.frame(), replayed.behind(), new Dead(shard, ref, replayed.behind(), answer));
    shards.ensureAwakeBy(shard, 0, () -> committer.add(shard.journal, operation));
  }

  /** What becomes of it. */
  private final class Dead implements Operation.Listener {
    private final Shard shard;
    private final JobRef ref;
    private final List<Frame> behind;
    private final Consumer<Outcome<ControlResult>> answer;

    Dead(Shard shard, JobRef ref, List<Frame> behind, Consumer<Outcome<ControlResult>> answer) {
      this.shard = shard;
      this.ref = ref;
      this.behind = behind;
      this.answer = answer;
    }

    @Override
    public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
      shard.evidence = false; // it retires again when its jobs have ended
      if (applied == ShardFold.Answer.APPLIED && met != null) {
        life.added(shard, NodeJob.of(met));
      }
      for (Frame frame : behind) {
        NodeJob child = frame.kind() == Kind.ADD ? shard.job(frame.job()) : null;
        if (child != null) {
          life.added(shard, child);
        }
      }
      if (applied == ShardFold.Answer.APPLIED) {
        answer.accept(Outcome.ok(ControlResult.DONE));
      } else {
        answerNotDead(ref, answer);
      }
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      answer.accept(loss.outcome(why));
    }
  }

  private void answerNotDead(JobRef ref, Consumer<Outcome<ControlResult>> answer) {
    lookup.find(
        ref,
        outcome ->
            answer.accept(
                outcome.map(
                    found ->
                        found.isPresent() ? ControlResult.NOT_DEAD : ControlResult.NOT_FOUND)));
  }
}
