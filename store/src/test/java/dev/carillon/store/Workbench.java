package dev.carillon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.StoreTck.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The store under test in one case, and what the case's callers do with it. In mode FAULTY they see
 * it through a {@link FaultyStore}: {@link #ask} and {@link #settle} are how a correct caller comes
 * to a definite answer there. Thread-safe, but for {@link #reopen}.
 */
public final class Workbench implements AutoCloseable {

  /** A wake time far enough from both ends that cases can move it either way. */
  static final long WAKE = 1_000_000_000L;

  static final byte[] NO_WORDS = new byte[0];

  private static final int MAX_REPEATS = 1_000;
  private static final int PAGE_BYTES = 256 << 10;
  private static final int MAX_SPINS = 2_000;
  private static final int WAIT_MINUTES = 20;

  private final StoreTck tck;
  private final Path folder;
  private final long seed;
  private final AtomicLong ids = new AtomicLong();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Store bare;
  private FaultyStore faulty;

  Workbench(StoreTck tck, Path folder, long seed) {
    this.tck = tck;
    this.folder = folder;
    this.seed = seed;
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    use(tck.opener().open(folder));
  }

  private void use(Store opened) {
    bare = opened;
    faulty = tck.mode() == Mode.FAULTY ? SeededFaults.wrap(opened, seed) : null;
  }

  /** The store as callers see it. */
  public Store store() {
    return faulty == null ? bare : faulty;
  }

  /** The store without faults. */
  public Store bare() {
    return bare;
  }

  /** Where the store's data is. */
  public Path folder() {
    return folder;
  }

  Journals journals() {
    return store().journals();
  }

  Records records() {
    return store().records();
  }

  boolean isFaulty() {
    return faulty != null;
  }

  /** The store as a caller sees it to whose next {@code operation} {@code fault} will happen. */
  FaultyStore scripted(Operation operation, Fault fault) {
    ScriptedFaults script = new ScriptedFaults();
    script.expect(operation, fault);
    return new FaultyStore(store(), script);
  }

  /** The process dies, another one opens the store. */
  void reopen() {
    // Calls under way may still get through before the end of the connection, or never.
    if (faulty != null && ids.get() % 2 == 0) {
      faulty.deliverLate();
    }
    use(tck.reopen(bare, folder));
  }

  /** A number that was not given before in this case, not zero, the same in each run. */
  long id() {
    return new Random(seed * 31 + ids.incrementAndGet()).nextLong() | 1;
  }

  Random random() {
    return new Random(id());
  }

  /** Makes the call until its answer is definite: right for all that is settled by repeating. */
  <T> Outcome<T> ask(Supplier<Outcome<T>> call) {
    for (int i = 0; i < MAX_REPEATS; i++) {
      Outcome<T> outcome = call.get();
      if (isDefinite(outcome)) {
        return outcome;
      }
    }
    throw new AssertionError("no definite answer in " + MAX_REPEATS + " calls");
  }

  <T> T ok(Supplier<Outcome<T>> call) {
    return ask(call).orThrow();
  }

  static boolean isDefinite(Outcome<?> outcome) {
    return switch (outcome) {
      case Outcome.Unavailable<?> unused -> false;
      case Outcome.Unknown<?> unused -> false;
      case Outcome.Full<?> unused -> false;
      default -> true;
    };
  }

  /**
   * Submits the append until its answer is definite, resolving what is unknown. One that was
   * resolved as absent is submitted once more: the refusal says what the tail is, and must come.
   */
  Outcome<Long> settle(Append append) {
    return settle(append, () -> {});
  }

  /** As {@link #settle(Append)}; says when an answer was unknown. */
  Outcome<Long> settle(Append append, Runnable whenUnknown) {
    for (int i = 0; i < MAX_REPEATS; i++) {
      Outcome<Long> outcome = journals().append(List.of(append), false).getFirst();
      if (outcome instanceof Outcome.Unknown<Long>) {
        whenUnknown.run();
        Outcome<Resolution> resolution = ask(() -> journals().resolve(append));
        if (!resolution.isOk() || resolution.orThrow() == Resolution.COMMITTED) {
          return resolution.map(committed -> append.number());
        }
      } else if (isDefinite(outcome)) {
        return outcome;
      }
    }
    throw new AssertionError("no definite answer in " + MAX_REPEATS + " calls");
  }

  /** Submits an all-or-nothing group until it is in, refused for good, or resolved as absent. */
  List<Outcome<Long>> settleTogether(List<Append> group) {
    for (int i = 0; i < MAX_REPEATS; i++) {
      List<Outcome<Long>> outcomes = journals().append(group, true);
      if (outcomes.stream().anyMatch(Outcome.Unknown.class::isInstance)) {
        List<Outcome<Long>> resolved = new ArrayList<>();
        for (Append append : group) {
          resolved.add(
              ask(() -> journals().resolve(append))
                  .map(resolution -> resolution == Resolution.COMMITTED ? append.number() : -1));
        }
        if (resolved.stream().allMatch(o -> o.isOk() && o.orThrow() > 0)) {
          return resolved;
        }
      } else if (outcomes.stream().anyMatch(Workbench::isDefinite)) {
        return outcomes;
      }
    }
    throw new AssertionError("no definite answer in " + MAX_REPEATS + " calls");
  }

  /** Makes ids of shards as one start of a node does. */
  ShardMaker maker() {
    return new ShardMaker(id());
  }

  /** One start of a node, as far as shard ids go. */
  static final class ShardMaker {
    final long incarnation;
    private int sequence;

    ShardMaker(long incarnation) {
      this.incarnation = incarnation;
    }

    ShardId next() {
      return nextAt(1_700_000_000L);
    }

    ShardId nextAt(long startSeconds) {
      return new ShardId(startSeconds, incarnation, ++sequence);
    }
  }

  /** A new shard, owned by the one who writes. */
  JournalWriter create() {
    return create(maker().next());
  }

  JournalWriter create(ShardId shard) {
    Head head = ok(() -> journals().create(shard, "home", WAKE, NO_WORDS));
    return new JournalWriter(this, head, 0);
  }

  /** Takes the shard over from whoever has it. */
  JournalWriter claim(ShardId shard) {
    return claim(shard, head(shard).epoch());
  }

  JournalWriter claim(ShardId shard, long epoch) {
    long owner = id();
    Journals.Claim claim = ok(() -> journals().claim(shard, epoch, owner));
    return new JournalWriter(this, claim.head(), claim.tail());
  }

  Head head(ShardId shard) {
    return ok(() -> journals().head(shard));
  }

  RecordWriter recordWriter() {
    return new RecordWriter(this, id());
  }

  /** All entries of a generation. */
  List<Entry> read(ShardId shard, int generation) {
    return read(journals(), shard, generation, 1);
  }

  List<Entry> read(Journals journals, ShardId shard, int generation, long from) {
    List<Entry> entries = new ArrayList<>();
    boolean complete = false;
    while (!complete) {
      long next = from + entries.size();
      ReadPage page = ok(() -> journals.read(shard, generation, next, PAGE_BYTES));
      entries.addAll(page.entries());
      complete = page.complete();
    }
    return entries;
  }

  /** The batches in a generation, without the empty entries that resolutions left. */
  List<Long> batches(ShardId shard, int generation) {
    return read(shard, generation).stream().map(Entry::batch).filter(batch -> batch != 0).toList();
  }

  /** Everything that is acknowledged is in the current generation, and nothing else. */
  void assertHoldsExactly(JournalWriter writer) {
    assertHoldsExactly(writer, writer.acknowledged());
  }

  void assertHoldsExactly(JournalWriter writer, List<Append> expected) {
    List<Entry> entries =
        read(writer.shard(), writer.generation()).stream()
            .filter(entry -> entry.batch() != 0 && entry.epoch() != 0)
            .toList();
    assertThat(entries.stream().map(Entry::batch))
        .containsExactlyElementsOf(expected.stream().map(Append::batch).toList());
    for (int i = 0; i < entries.size(); i++) {
      assertThat(entries.get(i).number()).isEqualTo(expected.get(i).number());
      assertThat(entries.get(i).epoch()).isEqualTo(expected.get(i).epoch());
      assertThat(entries.get(i).data()).isEqualTo(expected.get(i).data());
    }
  }

  /** Runs all tasks at once, each on a thread; answers their results in order. */
  <T> List<T> together(List<Callable<T>> tasks) {
    CyclicBarrier start = new CyclicBarrier(tasks.size());
    AtomicInteger awake = new AtomicInteger();
    List<Future<T>> futures = new ArrayList<>();
    for (Callable<T> task : tasks) {
      futures.add(
          threads.submit(
              () -> {
                start.await();
                awake.incrementAndGet();
                // A barrier wakes one after the other; two of them can still meet in the same
                // instant.
                for (int i = 0; i < MAX_SPINS && awake.get() < tasks.size(); i++) {
                  Thread.onSpinWait();
                }
                return task.call();
              }));
    }
    List<T> results = new ArrayList<>();
    for (Future<T> future : futures) {
      results.add(await(future));
    }
    return results;
  }

  /** Starts one task beside the case. */
  <T> Future<T> beside(Callable<T> task) {
    return threads.submit(task);
  }

  static <T> T await(Future<T> future) {
    try {
      return future.get(WAIT_MINUTES, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Inspects the whole store, delivers what is still late and inspects it again: every unknown
   * outcome was settled, so nothing may have changed. Only a wake time may be lower.
   */
  void settleAndInspect() {
    Map<String, String> before = Invariants.inspect(bare);
    if (faulty != null) {
      faulty.deliverLate();
      assertThat(Invariants.withoutWakes(Invariants.inspect(bare)))
          .as("the store after late calls were delivered")
          .isEqualTo(Invariants.withoutWakes(before));
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    bare.close();
  }
}
