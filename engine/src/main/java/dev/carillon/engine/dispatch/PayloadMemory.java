package dev.carillon.engine.dispatch;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which bodies of loaded jobs are in memory: all of them while they fit a budget; beyond it only
 * those due soon, and those of a backlog that are next in line. The rest are known by their entry's
 * number and read again: what becomes due once a load horizon, a backlog as it moves on.
 *
 * <p>Some keep theirs, those with a name, a schedule, a key or dependencies among them: see {@link
 * NodeJob#keepsBody}.
 */
public final class PayloadMemory {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final long RETRY_NANOS = 50_000_000;

  /** Shares of the budget that the fronts of all lanes have, and each of them at most. */
  private static final int FRONTS_SHARE = 2;

  private static final int FRONT_SHARE = 8;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Host host;
  private final Set<Shard> wanting = new LinkedHashSet<>();
  private final Map<Shard, Waiting> waiting = new LinkedHashMap<>();
  private final long budgetBytes;
  private final long horizonMicros;
  private long resident;
  private long fronts;

  /** Who waits for bodies of one shard. */
  private static final class Waiting {
    /** Due jobs, and the lanes that keep a place for them at the front. */
    final Map<NodeJob, @Nullable Lane> lanes = new LinkedHashMap<>();

    /** Actions that wait for the body of a job, which need not be due. */
    final Map<NodeJob, List<Runnable>> actions = new LinkedHashMap<>();

    boolean isEmpty() {
      return lanes.isEmpty() && actions.isEmpty();
    }
  }

  /** The node, as far as this needs it. */
  public interface Host {
    /** The shard may be another's. */
    void doubt(Shard shard);

    /** A paused job has its body again. */
    void paused(NodeJob job);

    /** A job that is due has its body again. */
    void ready(NodeJob job);

    /** The lane has fewer jobs at its front than before. */
    void refill(Lane lane);
  }

  public PayloadMemory(NodeEnvironment env, NodeOptions options, Timers timers, Host host) {
    this.env = env;
    this.timers = timers;
    this.host = host;
    this.budgetBytes = options.bodyBudgetBytes();
    this.horizonMicros = Micros.ceil(options.loadHorizon());
  }

  public long resident() {
    return resident;
  }

  /** A job came into memory. */
  public void arrived(Shard shard, NodeJob job, long nowMicros) {
    boolean far = job.dueMicros > nowMicros + 2 * horizonMicros;
    if (far && resident + job.bodyBytes > budgetBytes && !job.keepsBody()) {
      job.strip();
      shard.stripped++;
    } else {
      resident += job.bodyBytes;
    }
  }

  /** A job left memory, or is about to have another body. */
  public void left(Shard shard, NodeJob job) {
    if (job.isStripped()) {
      shard.stripped--;
    } else {
      resident -= job.bodyBytes;
    }
  }

  /** A job in memory has another body now. */
  public void resized(int moreBytes) {
    resident += moreBytes;
  }

  // ---- backlogs

  /** A job stands far behind in its line: its body goes if there are too many. */
  void letGo(NodeJob job) {
    Shard shard = job.shard();
    boolean keeps =
        job.keepsBody() || job.position == FoldedJob.NO_POSITION || shard.journal.isRewriting();
    if (resident > budgetBytes && !job.isStripped() && !keeps) {
      resident -= job.bodyBytes;
      job.strip();
      shard.stripped++;
    }
  }

  /** How much one line may have in its front, unless one job has more. */
  long frontBytesOfALine() {
    return Math.max(1, budgetBytes / FRONT_SHARE);
  }

  boolean frontHasRoom() {
    return fronts < budgetBytes / FRONTS_SHARE;
  }

  /** So many bytes more are in the front of a line, or on their way there. */
  void front(long moreBytes) {
    fronts += moreBytes;
  }

  // ---- fetching

  /**
   * A job that is due has no body: it is ready again once it has.
   *
   * @param lane keeps a place for it at its front; null where none does
   */
  public void await(NodeJob job, @Nullable Lane lane) {
    Shard shard = job.shard();
    giveUpPlace(job, waitingFor(shard).lanes.put(job, lane));
    wanting.add(shard);
  }

  /**
   * Runs {@code then} once the job's body is here, or the job is not: it looks. The shard stays
   * loaded until then.
   */
  public void whenHere(NodeJob job, Runnable then) {
    Shard shard = job.shard();
    shard.hold();
    waitingFor(shard).actions.computeIfAbsent(job, j -> new ArrayList<>(1)).add(then);
    wanting.add(shard);
  }

  private Waiting waitingFor(Shard shard) {
    return waiting.computeIfAbsent(shard, s -> new Waiting());
  }

  /** The job no longer waits in line for its body. */
  void forget(NodeJob job) {
    Waiting waits = waiting.isEmpty() ? null : waiting.get(job.shard);
    if (waits != null && waits.lanes.containsKey(job)) {
      giveUpPlace(job, waits.lanes.remove(job));
    }
  }

  private void giveUpPlace(NodeJob job, @Nullable Lane lane) {
    if (lane != null) {
      lane.gaveUp(job);
      host.refill(lane);
    }
  }

  /** Reads what was asked for since the last turn. */
  public void turn() {
    if (!wanting.isEmpty()) {
      List<Shard> now = List.copyOf(wanting);
      wanting.clear();
      now.forEach(shard -> fetch(shard, wantedNow(shard), Long.MIN_VALUE));
    }
  }

  private Map<Long, Long> wantedNow(Shard shard) {
    Map<Long, Long> wanted = new LinkedHashMap<>();
    Waiting waits = waiting.get(shard);
    if (waits != null) {
      waits.lanes.keySet().forEach(job -> want(job, wanted));
      waits.actions.keySet().forEach(job -> want(job, wanted));
    }
    return wanted;
  }

  private static void want(NodeJob job, Map<Long, Long> wanted) {
    if (job.isStripped() && job.phase() != NodeJob.Phase.GONE) {
      wanted.put(job.number, job.position);
    }
  }

  /** Fetches what is due soon; at most once a shard and load horizon. */
  public void fetchDueSoon(Shard shard, long nowMicros) {
    if (shard.stripped > 0
        && shard.loaded()
        && nowMicros + horizonMicros >= shard.bodiesUntilMicros) {
      fetch(shard, wantedSoon(shard, nowMicros), nowMicros + 2 * horizonMicros);
    }
  }

  /** What is due already waits in its line, without a body until it is near the front. */
  private Map<Long, Long> wantedSoon(Shard shard, long nowMicros) {
    Map<Long, Long> wanted = wantedNow(shard);
    ShardFold<NodeJob> fold = shard.fold;
    long until = nowMicros + 2 * horizonMicros;
    if (fold != null) {
      fold.live()
          .forEach(
              job -> {
                boolean comes = job.phase() == NodeJob.Phase.SCHEDULED && job.dueMicros > nowMicros;
                if (job.dueMicros <= until && (comes || job.phase() == NodeJob.Phase.PAUSED)) {
                  want(job, wanted);
                }
              });
    }
    return wanted;
  }

  /**
   * Reads the bodies in {@code wanted}.
   *
   * @param until up to which due time this is all there is to read; {@link Long#MIN_VALUE} where it
   *     is not
   */
  private void fetch(Shard shard, Map<Long, Long> wanted, long until) {
    if (shard.fetching) {
      return; // whoever still waits then is looked at when it is done
    }
    if (shard.fold == null || wanted.isEmpty()) {
      fetched(shard, wanted, until, Outcome.ok(Map.of()));
      return;
    }
    shard.fetching = true;
    ShardId id = shard.id;
    int generation = shard.journal.generation();
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> read(store, id, generation, wanted),
        outcome -> fetched(shard, wanted, until, outcome));
  }

  private void fetched(
      Shard shard, Map<Long, Long> wanted, long until, Outcome<Map<Long, byte[]>> outcome) {
    shard.fetching = false;
    ShardFold<NodeJob> fold = shard.fold;
    if (fold == null) {
      settle(shard);
      return;
    }
    if (outcome instanceof Outcome.Ok<Map<Long, byte[]>>(Map<Long, byte[]> bodies)) {
      if (until != Long.MIN_VALUE) {
        shard.bodiesUntilMicros = until;
      }
      bodies.forEach(
          (number, body) -> {
            NodeJob job = fold.job(number);
            if (job != null
                && job.isStripped()
                && Objects.equals(wanted.get(number), job.position)) {
              restore(shard, job, body);
            }
          });
    } else if (outcome instanceof Outcome.Conflict) {
      host.doubt(shard); // its generation is gone: another node may have it, and this one not know
    } else {
      env.report("bodies of shard " + shard.id + " could not be read: " + outcome, null);
    }
    settle(shard);
    boolean again = wantedNow(shard).keySet().stream().anyMatch(wanted::containsKey);
    if (again && (outcome instanceof Outcome.Ok || outcome instanceof Outcome.Damaged)) {
      giveUpPlaces(shard);
    }
    if (again) {
      timers.at(env.monotonicNanos() + RETRY_NANOS, () -> wanting.add(shard));
    } else if (waiting.containsKey(shard)) {
      wanting.add(shard);
    }
  }

  private void restore(Shard shard, NodeJob job, byte[] body) {
    job.restore(body);
    shard.stripped--;
    resident += job.bodyBytes;
    if (job.phase() == NodeJob.Phase.PAUSED) {
      host.paused(job);
    }
  }

  /** Lets go on whose body is here, and whose shard is not. */
  private void settle(Shard shard) {
    Waiting waits = waiting.get(shard);
    if (waits == null) {
      return;
    }
    boolean all = shard.fold == null;
    Map<NodeJob, @Nullable Lane> lanes = new LinkedHashMap<>(waits.lanes);
    lanes.forEach(
        (job, lane) -> {
          boolean gone = all || job.phase() == NodeJob.Phase.GONE;
          if ((gone || !job.isStripped()) && waits.lanes.containsKey(job)) {
            waits.lanes.remove(job);
            comeBack(job, lane);
          }
        });
    List<Runnable> told = new ArrayList<>();
    waits
        .actions
        .entrySet()
        .removeIf(
            entry -> {
              NodeJob job = entry.getKey();
              boolean done = all || job.phase() == NodeJob.Phase.GONE || !job.isStripped();
              return done && told.addAll(entry.getValue());
            });
    if (waits.isEmpty()) {
      waiting.remove(shard);
    }
    told.forEach(action -> shard.unhold());
    told.forEach(Runnable::run);
  }

  /** The job stands in line again, if it is still to, before another comes to the front. */
  private void comeBack(NodeJob job, @Nullable Lane lane) {
    if (lane != null) {
      lane.fetched(job);
    }
    if (job.phase() == NodeJob.Phase.READY) {
      host.ready(job);
    }
    if (lane != null) {
      host.refill(lane);
    }
  }

  /** What cannot be read must not hold up the jobs of other shards in the same lanes. */
  private void giveUpPlaces(Shard shard) {
    Waiting waits = waiting.get(shard);
    if (waits != null) {
      Map<NodeJob, @Nullable Lane> lanes = new LinkedHashMap<>(waits.lanes);
      waits.lanes.replaceAll((job, lane) -> null);
      lanes.forEach(this::giveUpPlace);
    }
  }

  /** The bodies of the jobs in {@code wanted}, which says in which entry each stands. */
  private static Outcome<Map<Long, byte[]>> read(
      Store store, ShardId shard, int generation, Map<Long, Long> wanted) {
    Map<Long, byte[]> bodies = new LinkedHashMap<>();
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
