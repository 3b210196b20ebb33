package dev.carillon.engine.life;

import dev.carillon.api.CancelResult;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends jobs of shards that are not loaded: their operations are read, their ends are appended, the
 * shard stays unloaded.
 *
 * <p>Visits of a shard go one at a time, so that nothing but adds can come between the look and the
 * ends. Cancels that come meanwhile are looked up together by the next visit, up to {@value
 * #MOST_AT_ONCE}: with many of them the shard is read once for all and not once for each.
 *
 * <p>Crash table: the node dies, or loses the shard, before the ends are durable: nothing has
 * happened, and whoever asked hears that it is unknown or asks the next owner. Between the ends of
 * a visit: each is an operation of its own, some took effect.
 */
final class CancelVisits {
  private static final int MOST_AT_ONCE = 256;

  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final Cancels cancels;
  private final JobLife life;

  /** What the next visit of a shard is for. */
  private final Map<ShardId, List<Wish>> waiting = new LinkedHashMap<>();

  /** A cancel of a job. */
  record Wish(JobRef job, Why why, Consumer<Outcome<CancelResult>> answer) {}

  CancelVisits(
      NodeEnvironment env, Shards shards, Committer committer, Cancels cancels, JobLife life) {
    this.env = env;
    this.shards = shards;
    this.committer = committer;
    this.cancels = cancels;
    this.life = life;
  }

  void visit(Shard shard, Wish wish) {
    if (shard.visited) {
      await(shard, wish);
    } else {
      begin(shard, List.of(wish));
    }
  }

  private void await(Shard shard, Wish wish) {
    List<Wish> others = waiting.get(shard.id);
    if (others != null) {
      others.add(wish);
      return;
    }
    List<Wish> first = new ArrayList<>();
    first.add(wish);
    waiting.put(shard.id, first);
    shard.visitors.add(() -> visitNext(shard));
  }

  /** The visit before is over. */
  private void visitNext(Shard shard) {
    List<Wish> wishes = waiting.remove(shard.id);
    if (wishes == null) {
      return;
    }
    if (!canVisit(shard) || shard.visited) {
      wishes.forEach(this::again);
      return;
    }
    Map<Long, Wish> together = new LinkedHashMap<>();
    List<Wish> later = new ArrayList<>();
    for (Wish wish : wishes) {
      if (together.size() == MOST_AT_ONCE
          || together.putIfAbsent(wish.job().number(), wish) != null) {
        later.add(wish);
      }
    }
    begin(shard, List.copyOf(together.values()));
    later.forEach(wish -> await(shard, wish));
  }

  private static boolean canVisit(Shard shard) {
    return shard.owned() && !shard.loaded() && !shard.loading();
  }

  private void again(Wish wish) {
    cancels.cancel(wish.job(), wish.why(), wish.answer());
  }

  private void begin(Shard shard, List<Wish> wishes) {
    shard.visited = true;
    shard.hold();
    long[] numbers = wishes.stream().mapToLong(wish -> wish.job().number()).toArray();
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> new JobReader(store, NodeJob::new).live(shard.id, numbers),
        found -> new Visit(shard, wishes).seen(found));
  }

  /** One visit. */
  private final class Visit {
    private final Shard shard;
    private final List<Wish> wishes;

    /** What follows when nobody visits any more. */
    private final List<Runnable> after = new ArrayList<>();

    private int open = 1;

    Visit(Shard shard, List<Wish> wishes) {
      this.shard = shard;
      this.wishes = wishes;
    }

    void seen(Outcome<Map<Long, FoldedJob>> outcome) {
      if (!canVisit(shard)) {
        wishes.forEach(wish -> after.add(() -> again(wish)));
      } else if (outcome instanceof Outcome.Ok<Map<Long, FoldedJob>>(Map<Long, FoldedJob> found)) {
        wishes.forEach(wish -> seen(wish, found.get(wish.job().number())));
      } else {
        Outcome<CancelResult> none = outcome.map(jobs -> new CancelResult.NotFound());
        wishes.forEach(wish -> after.add(() -> wish.answer().accept(none)));
      }
      done();
    }

    private void seen(Wish wish, @Nullable FoldedJob found) {
      if (found == null) {
        after.add(() -> cancels.answerEnded(wish.job(), wish.answer()));
      } else if (!found.waiters().isEmpty() || found.hasBegun()) {
        // Others are to be told, or its code: the shard is loaded for that.
        after.add(() -> shards.loadFor(shard, () -> again(wish)));
      } else {
        end(wish, NodeJob.of(found));
      }
    }

    private void end(Wish wish, NodeJob job) {
      open++;
      OperationBody.End end = OperationBody.End.cancelled(env.wallMicros(), wish.why());
      committer.add(
          shard.journal,
          new Operation(
              Frame.of(Kind.END, job.number, end.encode()),
              new Operation.Listener() {
                @Override
                public void applied(ShardFold.Answer applied, @Nullable FoldedJob met) {
                  after.add(() -> ended(wish, job, end, applied, met));
                  done();
                }

                @Override
                public void lost(Operation.Loss loss, String problem) {
                  after.add(() -> wish.answer().accept(loss.outcome(problem)));
                  done();
                }
              }));
    }

    private void ended(
        Wish wish,
        NodeJob job,
        OperationBody.End end,
        ShardFold.Answer applied,
        @Nullable FoldedJob met) {
      if (applied != ShardFold.Answer.APPLIED) {
        cancels.answerEnded(wish.job(), wish.answer());
        return;
      }
      shard.lastEndMicros = Math.max(shard.lastEndMicros, end.at());
      if (met == null) {
        life.ended(shard, job, end);
      }
      wish.answer().accept(Outcome.ok(new CancelResult.Cancelled()));
    }

    private void done() {
      if (--open == 0) {
        shard.unhold();
        shards.leave(shard);
        after.forEach(Runnable::run);
      }
    }
  }
}
