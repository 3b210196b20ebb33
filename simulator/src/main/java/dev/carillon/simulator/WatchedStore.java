package dev.carillon.simulator;

import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.ForwardingStore;
import dev.carillon.store.Head;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The store below the fault wrapper: it tells the model what took effect, whoever asked for it and
 * however late.
 */
final class WatchedStore extends ForwardingStore {
  private static final List<ClassValue<String>> BY =
      IntStream.range(0, Seed.MOST_NODES).mapToObj(i -> words("node " + i + ": ")).toList();

  private static final ClassValue<String> WORDS = words("");

  private MemoryStore store;
  private final World world;
  private final Model model;
  private final Trace trace;

  WatchedStore(MemoryStore store, World world) {
    super(store);
    this.store = store;
    this.world = world;
    this.model = world.model;
    this.trace = world.trace;
  }

  /** The same unwatched, to be read only. */
  MemoryStore now() {
    return store;
  }

  /** The data is that of another copy from now on. */
  void exchange(MemoryStore copy) {
    store = copy;
  }

  @Override
  protected Store store() {
    return store;
  }

  /** How a call went, and whose it was where there are several. */
  private String word(Outcome<?> outcome) {
    Life writer = world.writer;
    ClassValue<String> words =
        writer == null || world.climate.nodes == 1 ? WORDS : BY.get(writer.nodeIndex);
    return words.get(outcome.getClass());
  }

  /** Made once: they are hashed with every call. */
  private static ClassValue<String> words(String before) {
    return new ClassValue<>() {
      @Override
      protected String computeValue(Class<?> outcome) {
        return before + outcome.getSimpleName();
      }
    };
  }

  private <T> Outcome<T> note(String call, ShardId shard, long number, Outcome<T> outcome) {
    ModelShard known = model.shard(shard);
    trace.note(call, known != null ? known.index : -2, number, word(outcome));
    return outcome;
  }

  @Override
  public Outcome<Head> create(ShardId shard, String home, long wakeMicros, byte[] summary) {
    Outcome<Head> outcome = super.create(shard, home, wakeMicros, summary);
    if (outcome.isOk()) {
      model.created(shard, home, wakeMicros);
    }
    return note("create", shard, wakeMicros, outcome);
  }

  @Override
  public Outcome<Claim> claim(ShardId shard, long expectedEpoch, long owner) {
    Outcome<Claim> outcome = super.claim(shard, expectedEpoch, owner);
    if (outcome instanceof Outcome.Ok<Claim>(Claim claim)) {
      model.claimed(shard, claim.head().epoch(), owner);
    }
    return note("claim", shard, expectedEpoch, outcome);
  }

  @Override
  public List<Outcome<Long>> append(List<Append> group, boolean allOrNothing) {
    List<Outcome<Long>> outcomes = super.append(group, allOrNothing);
    for (int i = 0; i < group.size(); i++) {
      Append append = group.get(i);
      note(
          allOrNothing ? "append together" : "append",
          append.shard(),
          append.number(),
          outcomes.get(i));
      if (outcomes.get(i).isOk()) {
        model.appended(append);
      }
    }
    model.groupDone();
    return outcomes;
  }

  @Override
  public Outcome<Resolution> resolve(Append unknown) {
    Outcome<Resolution> outcome = super.resolve(unknown);
    if (outcome instanceof Outcome.Ok<Resolution>(Resolution resolution)
        && resolution == Resolution.ABSENT) {
      model.resolvedAbsent(unknown);
    }
    return note("resolve", unknown.shard(), unknown.number(), outcome);
  }

  @Override
  public Outcome<Head> lowerWake(ShardId shard, long epoch, long wakeMicros) {
    Outcome<Head> outcome = super.lowerWake(shard, epoch, wakeMicros);
    if (outcome.isOk()) {
      model.loweredWake(shard, epoch, wakeMicros);
    }
    return note("lowerWake", shard, wakeMicros, outcome);
  }

  @Override
  public Outcome<Head> seal(ShardId shard, long epoch, byte[] summary) {
    Outcome<Head> outcome = super.seal(shard, epoch, summary);
    if (outcome.isOk()) {
      model.sealed(shard, epoch);
    }
    return note("seal", shard, epoch, outcome);
  }

  @Override
  public Outcome<Head> release(ShardId shard, long epoch, long expectedTail, byte[] summary) {
    Outcome<Head> outcome = super.release(shard, epoch, expectedTail, summary);
    if (outcome.isOk()) {
      model.released(shard, epoch);
    }
    return note("release", shard, epoch, outcome);
  }

  /** Each release is watched. */
  @Override
  public List<Outcome<Head>> releaseAll(List<Release> releases) {
    return releaseEach(releases);
  }

  @Override
  public Outcome<ReadPage> read(ShardId shard, int generation, long from, int maxBytes) {
    return note("read", shard, from, super.read(shard, generation, from, maxBytes));
  }

  @Override
  public Outcome<Long> stage(
      ShardId shard, long epoch, int generation, long snapshot, long number, byte[] data) {
    return note(
        "stage", shard, number, super.stage(shard, epoch, generation, snapshot, number, data));
  }

  @Override
  public Outcome<Head> publish(Publication publication) {
    Outcome<Head> outcome = super.publish(publication);
    if (outcome instanceof Outcome.Ok<Head>(Head head)) {
      ReadPage page =
          store
              .journals()
              .read(publication.shard(), head.generation(), 1, Integer.MAX_VALUE)
              .orThrow();
      List<Entry> snapshot = page.entries().subList(0, (int) publication.count());
      model.published(publication, snapshot, () -> replaced(publication));
    }
    return note("publish", publication.shard(), publication.count(), outcome);
  }

  private List<Entry> replaced(Publication publication) {
    return store
        .journals()
        .read(publication.shard(), publication.generation(), 1, Integer.MAX_VALUE)
        .orThrow()
        .entries();
  }

  @Override
  public Outcome<Head> dropGenerations(ShardId shard, long epoch, int oldest) {
    Outcome<Head> outcome = super.dropGenerations(shard, epoch, oldest);
    if (outcome.isOk()) {
      model.droppedGenerations(shard, epoch, oldest);
    }
    return note("dropGenerations", shard, oldest, outcome);
  }

  @Override
  public Outcome<Boolean> drop(ShardId shard, long epoch) {
    Outcome<Boolean> outcome = super.drop(shard, epoch);
    if (outcome.isOk()) {
      model.dropped(shard, epoch);
    }
    return note("drop", shard, epoch, outcome);
  }

  @Override
  public Outcome<Head> head(ShardId shard) {
    return note("head", shard, 0, super.head(shard));
  }

  @Override
  public Outcome<List<Head>> listByWake(long beforeMicros, @Nullable Head after, int limit) {
    Outcome<List<Head>> outcome = super.listByWake(beforeMicros, after, limit);
    trace.note("listByWake", outcome.isOk() ? outcome.orThrow().size() : -1, word(outcome));
    return outcome;
  }

  @Override
  public Outcome<List<Head>> listById(@Nullable ShardId after, int limit) {
    Outcome<List<Head>> outcome = super.listById(after, limit);
    trace.note("listById", outcome.isOk() ? outcome.orThrow().size() : -1, word(outcome));
    return outcome;
  }

  @Override
  public Outcome<Optional<Stored>> get(String key) {
    Outcome<Optional<Stored>> outcome = super.get(key);
    trace.note("records.get", key.hashCode(), word(outcome));
    return outcome;
  }

  @Override
  public List<Outcome<Stamp>> apply(List<Change> changes) {
    List<Outcome<Stamp>> outcomes = super.apply(changes);
    for (int i = 0; i < changes.size(); i++) {
      Change change = changes.get(i);
      trace.note(
          change.value() != null ? "records.put" : "records.delete",
          change.stamp().sequence(),
          change.key().hashCode(),
          word(outcomes.get(i)));
      if (outcomes.get(i).isOk()) {
        world.names.changed(change);
        world.members.changed(
            change, world.writer != null ? world.writtenNanos : world.clock.nanos());
        Life life = world.life(change.stamp().writer());
        world.flow.changed(change, life != null ? life.index : 0);
      }
    }
    return outcomes;
  }

  @Override
  public Outcome<Boolean> resolve(Change unknown) {
    Outcome<Boolean> outcome = super.resolve(unknown);
    trace.note(
        "records.resolve",
        unknown.stamp().sequence(),
        unknown.key().hashCode(),
        outcome.toString());
    return outcome;
  }
}
