package dev.carillon.engine.shard;

import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.ShardJournal;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.history.PackPlan;
import dev.carillon.engine.history.Packed;
import dev.carillon.engine.history.Summary;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Publication;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Packs shards that have become idle, one at a time and with pauses: those whose jobs have all
 * ended, and those that are sealed and sleep. See {@link PackPlan} for what packing is.
 *
 * <p>A drained shard is released with the wake time it has, which is early, so that the next look
 * finds it again whatever happens to this node. Packed, it has the wake time of its retention. A
 * packing that meets anything else gives up: whoever appends to the shard or loads it comes first.
 *
 * <p>Crash table: until the publish takes effect the old generation is the shard, whatever was
 * staged; after it, the new one is, which holds everything of the old one. The publish names the
 * tail that was read, so nothing appended since can be left out.
 */
final class Packs {
  private static final long RETRY_NANOS = 50_000_000;
  private static final int REST = 3;
  private static final long SHORTEST_REST_NANOS = 1_000_000;
  private static final long LONGEST_REST_NANOS = 100_000_000;

  /** With so many operations waiting for the store, packing all but stands still. */
  private static final long BUSY_FROM_QUEUED = 1_000;

  private static final long BUSY_REST_NANOS = 250_000_000;
  private static final int MOST_WAITING = 4_096;

  private final NodeEnvironment env;
  private final NodeOptions options;
  private final Shards shards;
  private final Committer committer;
  private final Retention retention;
  private final ArrayDeque<ShardId> waiting = new ArrayDeque<>();
  private final Set<ShardId> offered = new LinkedHashSet<>();
  private boolean busy;
  private boolean claiming;
  private boolean publishing;
  private boolean stopping;

  Packs(
      NodeEnvironment env,
      NodeOptions options,
      Shards shards,
      Committer committer,
      Retention retention) {
    this.env = env;
    this.options = options;
    this.shards = shards;
    this.committer = committer;
    this.retention = retention;
  }

  /** One packing. */
  private record Work(
      Shard shard, PackPlan.Source source, long snapshot, @Nullable Summary drained) {

    /** Whether the shard is still as it was read, and nobody else is at it. */
    boolean fits() {
      return shard.owned()
          && !shard.loaded()
          && !shard.loading()
          && (drained == null || shard.drainedAs() != null)
          && shard.journal.tail() == source.tail()
          && shard.journal.generation() == source.generation();
    }
  }

  /**
   * Whether a drained shard is worth being packed.
   *
   * @param older generations that it has besides the current one
   */
  boolean wants(Summary summary, int older) {
    long jobs = summary.evidence() ? summary.dead() + summary.failed() : summary.added();
    Packed packed = summary.packed();
    return (packed == null || packed.hasLive()) && older == 0 && jobs >= options.packFromJobs();
  }

  /** A drained shard that nobody owns is to be packed. */
  void offer(Head head) {
    offer(head.shard());
  }

  private void offer(ShardId id) {
    if (waiting.size() < MOST_WAITING && offered.add(id)) {
      waiting.add(id);
      next();
    }
  }

  /** A shard that is owned is to be packed if it sleeps. */
  void consider(Shard shard, long nowMicros) {
    if (sleeps(shard, nowMicros)) {
      offer(shard.id);
    }
  }

  private boolean sleeps(Shard shard, long nowMicros) {
    return shard.sealed
        && shard.packed == null
        && shard.drainedAs() == null
        && shard.journal.olderGenerations() == 0
        && shard.added >= options.packFromJobs()
        && shard.journal.wakeMicros() > nowMicros + 2 * Micros.ceil(options.loadHorizon())
        && mayBegin(shard);
  }

  private void next() {
    while (!busy && !stopping && !waiting.isEmpty()) {
      ShardId id = waiting.remove();
      offered.remove(id);
      Shard known = shards.known(id);
      if (known == null) {
        busy = true;
        claiming = true;
        shards.withOwned(id, new Claimed());
      } else if (sleeps(known, env.wallMicros())) {
        busy = true;
        begin(known, null);
      }
    }
  }

  private final class Claimed implements Shards.ShardAccess {
    @Override
    public void use(Shard shard) {
      claimed(shard);
    }

    @Override
    public void none() {
      claiming = false;
      rest(0);
    }

    @Override
    public void elsewhere(Head head) {
      none(); // whoever has it packs it
    }
  }

  private void claimed(Shard shard) {
    claiming = false;
    Summary drained = shard.drainedAs();
    if (drained == null) {
      rest(0);
    } else if (wants(drained, shard.journal.olderGenerations()) && mayBegin(shard)) {
      begin(shard, drained);
    } else {
      letGo(shard);
      rest(0);
    }
  }

  private boolean mayBegin(Shard shard) {
    return !stopping && shard.quiet() && !shard.loaded() && !shard.visited;
  }

  private void begin(Shard shard, @Nullable Summary drained) {
    PackPlan.Source source =
        new PackPlan.Source(
            shard.id, shard.journal.epoch(), shard.journal.generation(), shard.journal.tail());
    Work work = new Work(shard, source, env.random() | 1, drained);
    env.submit(
        NodeEnvironment.Channel.PACK,
        store -> PackPlan.of(store, source, options.indexedMetadata()),
        outcome -> {
          switch (outcome) {
            case Outcome.Ok<PackPlan>(PackPlan plan) -> stage(work, plan, 1);
            case Outcome.Fenced<PackPlan> fenced -> lost(work);
            case Outcome.Damaged<PackPlan>(String where) -> refuse(work, where);
            default -> giveUp(work);
          }
        });
  }

  /** Puts the entries aside one by one, from {@code number} on. */
  private void stage(Work work, PackPlan plan, long number) {
    if (stopping || !work.fits()) {
      giveUp(work);
      return;
    }
    if (number > plan.entries()) {
      publishWhenQuiet(work, plan);
      return;
    }
    long began = env.monotonicNanos();
    env.submit(
        NodeEnvironment.Channel.PACK,
        store -> stage(store, work, plan, number),
        outcome -> {
          switch (outcome) {
            case Outcome.Ok<Long> ok ->
                shards.at(restAfter(began), () -> stage(work, plan, number + 1));
            case Outcome.Fenced<Long> fenced -> lost(work);
            case Outcome.Damaged<Long>(String where) -> refuse(work, where);
            case Outcome.Unavailable<Long> unavailable -> again(work, plan, number);
            case Outcome.Unknown<Long> unknown -> again(work, plan, number);
            default -> giveUp(work);
          }
        });
  }

  private static Outcome<Long> stage(Store store, Work work, PackPlan plan, long number) {
    PackPlan.Source source = work.source();
    int blocks = plan.blocks().size();
    Outcome<byte[]> data =
        number <= blocks
            ? PackPlan.data(store, source, plan.blocks().get((int) number - 1))
            : Outcome.ok(plan.footers().get((int) number - blocks - 1));
    return data instanceof Outcome.Ok<byte[]>(byte[] bytes)
        ? store
            .journals()
            .stage(
                source.shard(), source.epoch(), source.generation(), work.snapshot(), number, bytes)
        : data.map(bytes -> 0L);
  }

  private void again(Work work, PackPlan plan, long number) {
    shards.later(() -> stage(work, plan, number));
  }

  /** Three times as long as the step took, so that packing takes a quarter of the time at most. */
  private long restAfter(long began) {
    long now = env.monotonicNanos();
    if (committer.queued() >= BUSY_FROM_QUEUED) {
      return now + BUSY_REST_NANOS;
    }
    return now + Math.clamp(REST * (now - began), SHORTEST_REST_NANOS, LONGEST_REST_NANOS);
  }

  // ---- publishing

  private void publishWhenQuiet(Work work, PackPlan plan) {
    Shard shard = work.shard();
    if (stopping || !work.fits()) {
      giveUp(work);
    } else if (!shard.quiet() || shard.visited) {
      shards.later(() -> publishWhenQuiet(work, plan));
    } else {
      publishing = true;
      shard.journal.beginRewrite();
      shard.visited = true; // nobody reads or loads it while it changes
      Summary summary = shard.summary().rewritten(plan.bytes(), plan.packed());
      publish(work, plan, summary, publication(work, plan, summary));
    }
  }

  private Publication publication(Work work, PackPlan plan, Summary summary) {
    PackPlan.Source source = work.source();
    return new Publication(
        source.shard(),
        source.epoch(),
        source.generation(),
        source.tail(),
        work.snapshot(),
        plan.entries(),
        work.drained() != null ? retention.keepUntil(summary) : work.shard().journal.wakeMicros(),
        summary.encode());
  }

  /** Repeats the publish until it is answered: it is idempotent, and nothing is appended before. */
  private void publish(Work work, PackPlan plan, Summary summary, Publication publication) {
    Shard shard = work.shard();
    if (!shard.owned()) {
      lost(work);
      return;
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().publish(publication),
        outcome -> {
          if (!shard.owned()) {
            lost(work);
            return;
          }
          switch (outcome) {
            case Outcome.Ok<Head>(Head head) -> published(work, plan, summary, head);
            case Outcome.Fenced<Head> fenced -> lost(work);
            case Outcome.Conflict<Head> conflict -> unstaged(work);
            case Outcome.Damaged<Head>(String where) -> refuse(work, where);
            default -> shards.later(() -> publish(work, plan, summary, publication));
          }
        });
  }

  private void published(Work work, PackPlan plan, Summary summary, Head head) {
    Shard shard = work.shard();
    env.metrics().count("shards.packed", 1);
    shard.journal.published(head, plan.entries(), plan.bytes());
    shard.packed = plan.packed();
    shard.drainedAs(work.drained() != null ? summary : null);
    dropReplaced(work);
  }

  /** The new generation holds everything of the one it replaces. */
  private void dropReplaced(Work work) {
    Shard shard = work.shard();
    ShardJournal journal = shard.journal;
    shards.write(
        shard,
        store -> store.journals().dropGenerations(shard.id, journal.epoch(), journal.generation()),
        head -> {
          if (shard.owned()) {
            journal.droppedBefore(journal.generation());
            done(work);
          } else {
            lost(work);
          }
        },
        () -> lost(work));
  }

  /** What was staged is gone; see {@link Retention}: an entry bars what may come late. */
  private void unstaged(Work work) {
    ShardJournal journal = work.shard().journal;
    committer.raiseWake(journal, journal.wakeMicros());
    done(work);
  }

  private void done(Work work) {
    unlock(work);
    giveUp(work);
  }

  private void unlock(Work work) {
    if (publishing) {
      publishing = false;
      work.shard().journal.endRewrite();
      committer.touch(work.shard().journal);
      shards.leave(work.shard());
    }
  }

  // ---- the end of a packing

  /** Leaves the shard to others, or as it was found. */
  private void giveUp(Work work) {
    if (work.drained() != null) {
      letGo(work.shard());
    }
    rest(RETRY_NANOS);
  }

  /** Gives a drained shard back that nobody needs. */
  private void letGo(Shard shard) {
    if (stopping || !shard.owned() || shard.loaded() || shard.loading()) {
      return;
    }
    Summary drained = shard.drainedAs();
    if (drained != null && shard.quiet() && !shard.awaited() && !shard.visitorsWait()) {
      shards.settling.releaseAs(shard, drained, head -> {});
    } else {
      shards.loads.load(shard); // something came up: it settles again
    }
  }

  private void lost(Work work) {
    shards.lost(work.shard());
    unlock(work);
    rest(RETRY_NANOS);
  }

  private void refuse(Work work, String where) {
    shards.refuse(work.shard(), where);
    unlock(work);
    rest(RETRY_NANOS);
  }

  private void rest(long nanos) {
    shards.at(
        env.monotonicNanos() + nanos,
        () -> {
          busy = false;
          next();
        });
  }

  /** Begins nothing more. */
  void stop() {
    stopping = true;
  }

  /** Whether a shard is changing hands or generations. */
  boolean isUnsettled() {
    return claiming || publishing;
  }
}
