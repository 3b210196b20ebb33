package dev.carillon.engine.attempt;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.commit.AtomicAdds;
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
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what the code of a workflow did since its last checkpoint: a CHECKPOINT, and behind it in
 * the same entry of the journal the ADDs of the children that it starts.
 *
 * <p>A turn that is too large for an entry goes as several checkpoints, one behind the other, which
 * break only between calls.
 *
 * <p>A checkpoint with children is written only if the fold will take it ({@link Operation#guard}),
 * so no journal has a child whose workflow does not know it. Beyond {@value #MOST_CHILDREN_HERE}
 * live children in the shard of their workflow, the next go to other shards of this node: one
 * transaction writes the checkpoint and their ADDs ({@link AtomicAdds}).
 *
 * <table>
 * <caption>what if the process dies</caption>
 * <tr><td>before a checkpoint is durable</td><td>its calls are made again</td></tr>
 * <tr><td>between two checkpoints of a turn</td><td>the first have their results, and the code runs
 * again up to the others, which it makes again: it had seen none of them</td></tr>
 * </table>
 */
final class TurnWriter {
  /** What one checkpoint takes with its children, unless a single call takes more. */
  static final int MOST_BYTES = 4 << 20;

  /** Live children of one workflow in its own shard. */
  static final int MOST_CHILDREN_HERE = 1_000;

  private static final byte[] NOTHING = {};

  /** More than an entry takes beside its result: names are short. */
  private static final int ROUGH_BYTES = 1 << 10;

  private final NodeEnvironment env;
  private final Committer committer;
  private final Shards shards;
  private final Attempts.Children children;
  private final Consumer<Attempt> written;

  /**
   * Writes turns.
   *
   * @param written hears of every attempt whose checkpoint was taken
   */
  TurnWriter(Attempts.Room room, Consumer<Attempt> written) {
    this.written = written;
    this.env = room.basics().env();
    this.committer = room.parts().committer();
    this.shards = room.parts().shards();
    this.children = room.parts().children();
  }

  /**
   * One piece of a turn: an entry, or a child with the entry that says that it was started.
   *
   * @param beside the shard that the child goes to; null for that of its workflow
   */
  private record Piece(HistoryEntry entry, @Nullable Frame add, @Nullable Shard beside) {
    Piece(HistoryEntry entry, @Nullable Frame add) {
      this(entry, add, null);
    }

    boolean isOfChild() {
      return entry instanceof HistoryEntry.ChildStarted || entry instanceof HistoryEntry.ChildEnded;
    }

    int bytes() {
      return entry.bytes() + addBytes();
    }

    private int addBytes() {
      return add != null ? add.frameBytes() : 0;
    }

    /** More than that it does not take; cheap to ask for. */
    int bytesAtMost() {
      boolean small =
          entry instanceof HistoryEntry.TimerSet
              || entry instanceof HistoryEntry.TimerFired
              || entry instanceof HistoryEntry.Begun;
      int result = entry instanceof HistoryEntry.StepDone done ? done.result().length : 0;
      boolean known = small || result > 0 || entry instanceof HistoryEntry.ChildStarted;
      return (known ? ROUGH_BYTES + result : entry.bytes()) + addBytes();
    }
  }

  /**
   * Writes a turn; {@code answer} hears true once all of it is durable, false where it was refused.
   *
   * @param sent runs when it stands in the queue of the journal: what it queues comes behind
   */
  void write(Attempt attempt, WorkflowTurn turn, Consumer<Outcome<Boolean>> answer, Runnable sent) {
    int beside = besideItsShard(attempt.job(), turn);
    if (beside == 0) {
      write(attempt, turn, List.of(), answer, sent);
    } else {
      boolean over = attempt.over;
      Consumer<Outcome<Boolean>> then =
          outcome -> {
            answer.accept(outcome);
            sent.run(); // it goes another way to the journal than what is queued
          };
      findShards(attempt, over, turn, beside, then);
    }
  }

  /** How many of the children, the last ones, go to other shards. */
  private static int besideItsShard(NodeJob job, WorkflowTurn turn) {
    if (turn.children().isEmpty()) {
      return 0;
    }
    WorkflowState workflow = job.workflow();
    Shard shard = job.shard();
    int here = 0;
    if (workflow != null) {
      for (JobRef child : workflow.children().values()) {
        here += child.shard().equals(shard.id) ? 1 : 0;
      }
    }
    return Math.clamp(
        here + turn.children().size() - MOST_CHILDREN_HERE, 0, turn.children().size());
  }

  /** Shards for the last children of a turn, one each; tries again when one has been made. */
  private void findShards(
      Attempt attempt,
      boolean over,
      WorkflowTurn turn,
      int beside,
      Consumer<Outcome<Boolean>> answer) {
    Shard own = attempt.job().shard();
    if (attempt.over != over || !own.owned()) {
      answer.accept(Outcome.ok(false));
      return;
    }
    int first = turn.children().size() - beside;
    List<@Nullable Shard> found = new ArrayList<>(turn.children().size());
    for (int i = 0; i < turn.children().size(); i++) {
      WorkflowTurn.ChildStart start = turn.children().get(i);
      if (i < first || start.found() != null) {
        found.add(null); // a name is reserved for a number of its own shard
        continue;
      }
      Shard shard =
          shards.forDueBeside(
              own, start.spec().dueMicros(), () -> findShards(attempt, over, turn, beside, answer));
      if (shard == null) {
        String full = shards.full();
        if (full != null) {
          answer.accept(new Outcome.Full<>(full));
        }
        return;
      }
      found.add(shard);
    }
    write(attempt, turn, found, answer, () -> {});
  }

  private void write(
      Attempt attempt,
      WorkflowTurn turn,
      List<@Nullable Shard> beside,
      Consumer<Outcome<Boolean>> answer,
      Runnable sent) {
    Shard shard = attempt.job().shard();
    List<Piece> children = new ArrayList<>(turn.children().size());
    Map<Shard, Long> awakeBy = new LinkedHashMap<>(2);
    for (int i = 0; i < turn.children().size(); i++) {
      WorkflowTurn.ChildStart start = turn.children().get(i);
      Shard elsewhere = beside.isEmpty() ? null : beside.get(i);
      child(attempt.job(), start, elsewhere, children);
      boolean joins = start.found() instanceof WorkflowTurn.Found.Joins;
      awakeBy.merge(
          elsewhere != null ? elsewhere : shard,
          joins ? Shards.ALWAYS_AWAKE : start.spec().dueMicros(),
          Math::min);
    }
    Answers answers = new Answers(answer);
    List<List<Operation>> written = new ArrayList<>(2);
    for (List<Piece> part : parts(turn.entries(), children)) {
      written.add(operations(attempt, part, answers));
    }
    answers.left = written.size();
    Runnable send =
        () -> {
          if (beside.isEmpty()) {
            written.forEach(part -> committer.add(shard.journal, part.getFirst()));
          } else {
            written.forEach(part -> committer.addTogether(together(shard, part)));
          }
          sent.run();
        };
    whenAwake(awakeBy, send);
  }

  /** Runs {@code then} once all shards are awake by their times, which keeps them here. */
  private void whenAwake(Map<Shard, Long> awakeBy, Runnable then) {
    int[] left = {awakeBy.size()};
    if (left[0] == 0) {
      then.run();
      return;
    }
    List<Shard> held = List.copyOf(awakeBy.keySet());
    held.forEach(Shard::hold);
    Runnable one =
        () -> {
          if (--left[0] == 0) {
            held.forEach(Shard::unhold);
            then.run();
          }
        };
    awakeBy.forEach((shard, due) -> shards.ensureAwakeBy(shard, due, one));
  }

  private static AtomicAdds together(Shard own, List<Operation> part) {
    AtomicAdds together = new AtomicAdds();
    for (Operation operation : part) {
      Shard shard = operation.listener instanceof Besides added ? added.shard : own;
      together.add(shard.journal, operation);
    }
    return together;
  }

  private void child(
      NodeJob parent, WorkflowTurn.ChildStart start, @Nullable Shard beside, List<Piece> pieces) {
    Shard shard = parent.shard();
    switch (start.found()) {
      case null -> {
        if (start.isNamed()) {
          throw new IllegalArgumentException(
              "child of call " + start.call() + ": a name (expected: one that was looked up)");
        }
        Shard in = beside != null ? beside : shard;
        JobRef child = in.ref(in.nextNumber());
        JobSpec spec = start.spec().withMore(start.spec().more().childOf(shard.ref(parent.number)));
        Frame add = Frame.of(Kind.ADD, child.number(), spec.encode());
        in.added++;
        in.addedBytes += add.frameBytes();
        pieces.add(new Piece(started(start, child, true), add, beside));
      }
      case WorkflowTurn.Found.Free(long number, byte[] body) ->
          pieces.add(
              new Piece(started(start, shard.ref(number), true), Frame.of(Kind.ADD, number, body)));
      case WorkflowTurn.Found.Joins(JobRef job) ->
          pieces.add(new Piece(started(start, job, false), null));
      case WorkflowTurn.Found.Taken(JobRef by, JobError error) -> {
        pieces.add(new Piece(started(start, by, false), null));
        pieces.add(
            new Piece(
                new HistoryEntry.ChildEnded(
                    env.wallMicros(), start.call(), JobState.FAILED, error, NOTHING),
                null));
      }
    }
  }

  private HistoryEntry started(WorkflowTurn.ChildStart start, JobRef child, boolean own) {
    return new HistoryEntry.ChildStarted(
        env.wallMicros(), start.call(), start.spec().type(), child, own);
  }

  private static List<List<Piece>> parts(List<HistoryEntry> entries, List<Piece> children) {
    List<Piece> pieces = new ArrayList<>(entries.size() + children.size());
    entries.forEach(entry -> pieces.add(new Piece(entry, null)));
    pieces.addAll(children);
    if (pieces.size() <= 1) {
      return List.of(pieces);
    }
    long bytes = 0;
    for (Piece piece : pieces) {
      bytes += piece.bytesAtMost();
    }
    return bytes <= MOST_BYTES ? List.of(pieces) : split(inOrderOfTheCode(pieces));
  }

  private static List<List<Piece>> split(List<Piece> pieces) {
    List<List<Piece>> parts = new ArrayList<>();
    List<Piece> part = new ArrayList<>();
    long partBytes = 0;
    for (Piece piece : pieces) {
      int bytes = piece.bytes();
      if (!part.isEmpty() && partBytes + bytes > MOST_BYTES) {
        parts.add(part);
        part = new ArrayList<>();
        partBytes = 0;
      }
      part.add(piece);
      partBytes += bytes;
    }
    parts.add(part);
    return parts;
  }

  /**
   * A child stands before the entries of later calls: of a turn that a crash cuts in two the
   * history must have no later call without an earlier one.
   */
  private static List<Piece> inOrderOfTheCode(List<Piece> pieces) {
    List<Piece> ordered = new ArrayList<>(pieces.size());
    List<Piece> children = new ArrayList<>();
    for (Piece piece : pieces) {
      (piece.isOfChild() ? children : ordered).add(piece);
    }
    children.sort(Comparator.comparingInt(piece -> piece.entry.call()));
    int place = 0;
    for (Piece child : children) {
      while (place < ordered.size() && ordered.get(place).entry.call() < child.entry.call()) {
        place++;
      }
      ordered.add(place++, child);
    }
    return ordered;
  }

  /** A checkpoint, with the ADDs of children behind it, and those that go to other shards. */
  private List<Operation> operations(Attempt attempt, List<Piece> part, Answers answers) {
    Shard shard = attempt.job().shard();
    List<HistoryEntry> entries = new ArrayList<>(part.size());
    List<Frame> adds = new ArrayList<>(0);
    List<Operation> beside = new ArrayList<>(0);
    boolean joins = false;
    for (Piece piece : part) {
      entries.add(piece.entry);
      joins |= piece.entry instanceof HistoryEntry.ChildStarted started && !started.own();
      if (piece.add != null && piece.beside != null) {
        beside.add(new Operation(piece.add, new Besides(piece.beside)));
      } else if (piece.add != null) {
        adds.add(piece.add);
      }
    }
    int before = attempt.nextEntry(0);
    Frame frame = checkpoint(attempt, entries);
    shard.addedBytes += frame.frameBytes();
    Operation operation = new Operation(frame, adds, new Written(attempt, adds, joins, answers));
    if (!adds.isEmpty() || !beside.isEmpty()) {
      operation.guard = () -> isTaken(attempt, before);
    }
    List<Operation> all = new ArrayList<>(1 + beside.size());
    all.add(operation);
    all.addAll(beside);
    return all;
  }

  private static boolean isTaken(Attempt attempt, int before) {
    ShardFold<NodeJob> fold = attempt.job().shard().fold;
    return fold != null
        && fold.takesCheckpoint(attempt.job().number, attempt.number(), attempt.revision(), before);
  }

  /** A checkpoint of these entries, behind those that the attempt has written or sent. */
  Frame checkpoint(Attempt attempt, List<HistoryEntry> entries) {
    OperationBody.Checkpoint body =
        new OperationBody.Checkpoint(
            attempt.number(),
            attempt.revision(),
            attempt.nextEntry(entries.size()),
            env.wallMicros(),
            entries);
    return Frame.of(Kind.CHECKPOINT, attempt.job().number, body.encode());
  }

  /** Gathers what became of the checkpoints of a turn. */
  private static final class Answers {
    private final Consumer<Outcome<Boolean>> answer;
    int left;
    private Outcome<Boolean> said = Outcome.ok(true);

    Answers(Consumer<Outcome<Boolean>> answer) {
      this.answer = answer;
    }

    void hears(Outcome<Boolean> one) {
      boolean sound = said instanceof Outcome.Ok<Boolean>(Boolean taken) && taken;
      said = sound ? one : said;
      if (--left == 0) {
        answer.accept(said);
      }
    }
  }

  /** What becomes of a checkpoint. */
  private final class Written implements Operation.Listener {
    private final Attempt attempt;
    private final Shard shard;
    private final List<Frame> adds;
    private final boolean joins;
    private final Answers answers;

    Written(Attempt attempt, List<Frame> adds, boolean joins, Answers answers) {
      this.attempt = attempt;
      this.shard = attempt.job().shard();
      this.adds = adds;
      this.joins = joins;
      this.answers = answers;
    }

    @Override
    public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
      if (attempt.marked && !attempt.over) { // what got this far does not kill its node
        attempt.marked = false;
        attempt.job().mark(false);
        attempt.grant().endAlone();
      }
      for (Frame add : adds) {
        NodeJob child = shard.job(add.job());
        if (child != null) {
          env.metrics().count("jobs.added", 1);
          children.added(shard, child);
        }
      }
      if (applied == ShardFold.Answer.APPLIED) {
        if (joins) {
          children.joined(shard, attempt.job());
        }
        written.accept(attempt);
      }
      answers.hears(Outcome.ok(applied == ShardFold.Answer.APPLIED));
    }

    @Override
    public void lost(Operation.Loss loss, String why) {
      answers.hears(loss.outcome(why));
    }
  }

  /** What becomes of a child in another shard than its workflow's. */
  private final class Besides implements Operation.Listener {
    private final Shard shard;

    Besides(Shard shard) {
      this.shard = shard;
    }

    @Override
    public void applied(ShardFold.Answer answer, @Nullable FoldedJob job) {
      env.metrics().count("jobs.added", 1);
      if (job != null) {
        children.added(shard, NodeJob.of(job));
      }
    }

    @Override
    public void lost(Operation.Loss loss, String why) {} // its checkpoint is lost with it
  }
}
