package dev.carillon.engine;

import dev.carillon.store.Entry;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Which bodies of loaded jobs are in memory: all of them while they fit a budget; beyond it only
 * those due soon, the rest by their entry's number, read again once a load horizon.
 *
 * <p>Named and recurring jobs keep theirs, and occurrences: see {@link ShardJob#keepsBody}.
 */
final class Bodies {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final long RETRY_NANOS = 50_000_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Consumer<ShardJob> ready;
  private final long budgetBytes;
  private final long horizonMicros;
  private long resident;

  /**
   * Counts and strips for a node.
   *
   * @param ready told of due jobs whose body has come
   */
  Bodies(NodeEnvironment env, NodeOptions options, Timers timers, Consumer<ShardJob> ready) {
    this.env = env;
    this.timers = timers;
    this.ready = ready;
    this.budgetBytes = options.bodyBudgetBytes();
    this.horizonMicros = Micros.ceil(options.loadHorizon());
  }

  long resident() {
    return resident;
  }

  /** A job came into memory. */
  void arrived(Shard shard, ShardJob job, long nowMicros) {
    boolean far = job.dueMicros > nowMicros + 2 * horizonMicros;
    if (far && resident + job.bodyBytes > budgetBytes && !job.keepsBody()) {
      job.strip();
      shard.stripped++;
    } else {
      resident += job.bodyBytes;
    }
  }

  /** A job left memory, or is about to have another body. */
  void left(Shard shard, ShardJob job) {
    if (job.isStripped()) {
      shard.stripped--;
    } else {
      resident -= job.bodyBytes;
    }
  }

  /** A job in memory has another body now. */
  void resized(int moreBytes) {
    resident += moreBytes;
  }

  /** A job that is due has no body: {@code ready} is told once it has. */
  void await(Shard shard, ShardJob job) {
    shard.awaitBody.add(job);
    fetch(shard, env.wallMicros());
  }

  /** Fetches what is due soon; at most once a shard and load horizon. */
  void fetchDueSoon(Shard shard, long nowMicros) {
    if (shard.stripped > 0
        && shard.loaded()
        && nowMicros + horizonMicros >= shard.bodiesUntilMicros) {
      fetch(shard, nowMicros);
    }
  }

  private void fetch(Shard shard, long nowMicros) {
    ShardFold fold = shard.fold;
    if (shard.fetching || fold == null) {
      return;
    }
    shard.fetching = true;
    long until = nowMicros + 2 * horizonMicros;
    Map<Long, Long> wanted = new HashMap<>();
    fold.live()
        .forEach(
            job -> {
              if (job.isStripped() && job.dueMicros <= until) {
                wanted.put(job.number, job.position);
              }
            });
    ShardId id = shard.id;
    int generation = shard.generation;
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> read(store, id, generation, wanted),
        outcome -> fetched(shard, until, outcome));
  }

  private void fetched(Shard shard, long until, Outcome<Map<Long, byte[]>> outcome) {
    shard.fetching = false;
    ShardFold fold = shard.fold;
    if (fold == null) {
      shard.awaitBody.clear();
      return;
    }
    if (!(outcome instanceof Outcome.Ok<Map<Long, byte[]>>(Map<Long, byte[]> bodies))) {
      env.report("bodies of shard " + shard.id + " could not be read: " + outcome, null);
      timers.at(env.monotonicNanos() + RETRY_NANOS, () -> fetch(shard, env.wallMicros()));
      return;
    }
    shard.bodiesUntilMicros = until;
    bodies.forEach(
        (number, body) -> {
          ShardJob job = fold.job(number);
          if (job != null && job.isStripped()) {
            job.restore(body);
            shard.stripped--;
            resident += job.bodyBytes;
            if (job.phase == ShardJob.Phase.PAUSED) {
              ready.accept(job); // its deadline counts from here
            }
          }
        });
    List<ShardJob> waiting = List.copyOf(shard.awaitBody);
    shard.awaitBody.clear();
    for (ShardJob job : waiting) {
      if (job.phase == ShardJob.Phase.READY) {
        ready.accept(job);
      }
    }
  }

  /** The bodies of the jobs in {@code wanted}, which says in which entry each stands. */
  private static Outcome<Map<Long, byte[]>> read(
      Store store, ShardId shard, int generation, Map<Long, Long> wanted) {
    Map<Long, byte[]> bodies = new HashMap<>();
    TreeSet<Long> positions = new TreeSet<>(wanted.values());
    while (!positions.isEmpty()) {
      Outcome<ReadPage> outcome =
          store.journals().read(shard, generation, positions.first(), BLOCK_BYTES);
      if (!(outcome instanceof Outcome.Ok<ReadPage>(ReadPage page)) || page.entries().isEmpty()) {
        return outcome.map(p -> bodies);
      }
      for (Entry entry : page.entries()) {
        if (positions.remove(entry.number())) {
          try {
            collect(entry, wanted, bodies);
          } catch (DamagedException | UnknownFormatException e) {
            return new Outcome.Damaged<>(
                "shard " + shard + ", entry " + entry.number() + ": " + e.getMessage());
          }
        }
      }
    }
    return Outcome.ok(bodies);
  }

  private static void collect(Entry entry, Map<Long, Long> wanted, Map<Long, byte[]> bodies) {
    for (Frame frame : Frame.decode(entry.data())) {
      Long position = wanted.get(frame.job());
      if (position != null && position == entry.number()) {
        byte[] body = ShardFold.bodyIn(frame);
        if (body.length > 0) {
          bodies.put(frame.job(), body);
        }
      }
    }
  }
}
