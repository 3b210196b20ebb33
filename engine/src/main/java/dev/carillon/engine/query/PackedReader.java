package dev.carillon.engine.query;

import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.LongMap;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.history.Footer;
import dev.carillon.engine.history.Packed;
import dev.carillon.engine.history.Summary;
import dev.carillon.store.Entry;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads a packed shard by its footer: blocks instead of all of it, and what was appended since.
 * Keeps the blocks read last, so that jobs that came or ended together cost one.
 */
final class PackedReader {
  private static final int PAGE_BYTES = 4 << 20;
  private static final int KEPT_BLOCKS = 8;

  private final Store store;
  private final Head head;
  private final Packed packed;
  private Footer.@Nullable Catalogue catalogue;
  private @Nullable List<Frame> tail;
  private final Map<Integer, Block> blocks =
      new LinkedHashMap<>(2 * KEPT_BLOCKS, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Block> eldest) {
          return size() > KEPT_BLOCKS;
        }
      };

  private PackedReader(Store store, Head head, Packed packed) {
    this.store = store;
    this.head = head;
    this.packed = packed;
  }

  /** A reader of the shard, or null where not all of it is in one packed generation. */
  static @Nullable PackedReader of(Store store, Head head) {
    Packed packed = Summary.read(head).map(Summary::packed).orElse(null);
    return packed == null || head.oldestGeneration() != head.generation()
        ? null
        : new PackedReader(store, head, packed);
  }

  /** The operations of a block, also by job. */
  private record Block(List<Frame> frames, LongMap<List<Frame>> byJob) {}

  /** The store did not answer a read as hoped. */
  static final class NotRead extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Outcome<?> outcome;

    NotRead(Outcome<?> outcome) {
      super(outcome.toString(), null, false, false);
      this.outcome = outcome;
    }

    <T> Outcome<T> outcome() {
      return outcome.map(
          value -> {
            throw new IllegalStateException("outcome: " + outcome + " (expected: not ok)");
          });
    }
  }

  /** What {@code read} answers; what went wrong in it becomes an outcome. */
  <T> Outcome<T> reading(Supplier<T> read) {
    try {
      return Outcome.ok(read.get());
    } catch (NotRead e) {
      return e.outcome();
    } catch (DamagedException | UnknownFormatException | IllegalArgumentException e) {
      return new Outcome.Damaged<>("shard " + head.shard() + ": " + e.getMessage());
    }
  }

  private static <T> T value(Outcome<T> outcome) {
    if (outcome instanceof Outcome.Ok<T>(T value)) {
      return value;
    }
    throw new NotRead(outcome);
  }

  private byte[] entry(long number) {
    List<Entry> found =
        value(store.journals().read(head.shard(), head.generation(), number, 1)).entries();
    if (found.isEmpty()) {
      throw new DamagedException("entry " + number + " is missing");
    }
    return found.getFirst().data();
  }

  Footer.Catalogue catalogue() {
    Footer.Catalogue read = catalogue;
    if (read == null) {
      read = Footer.catalogue(entry(packed.blocks() + 1L));
      catalogue = read;
    }
    return read;
  }

  /** Shows {@code use} every job in the footer's {@code i}th entry with jobs. */
  void eachJob(int i, Consumer<Footer.Jobs> use) {
    Footer.Jobs jobs = new Footer.Jobs(entry(catalogue().entry(i)), catalogue());
    while (jobs.next()) {
      use.accept(jobs);
    }
  }

  /**
   * The blocks that tell of some jobs, in their order; null where the footer does not know one of
   * them that may have come since.
   */
  int @Nullable [] blocksOf(Set<Long> numbers) {
    NavigableSet<Integer> parts = new TreeSet<>();
    numbers.forEach(number -> parts.add(catalogue().entryOf(number)));
    NavigableSet<Integer> told = new TreeSet<>();
    int[] known = {0};
    for (int part : parts) {
      if (part >= 0) {
        eachJob(
            part,
            job -> {
              if (numbers.contains(job.number)) {
                known[0]++;
                Arrays.stream(job.blocks(catalogue())).forEach(told::add);
              }
            });
      }
    }
    return known[0] < numbers.size() && tailAddsJobs()
        ? null
        : told.stream().mapToInt(block -> block).toArray();
  }

  private Block block(int number) {
    Block known = blocks.get(number);
    if (known != null) {
      return known;
    }
    List<Frame> frames = Frame.decode(entry(number));
    LongMap<List<Frame>> byJob = new LongMap<>();
    for (Frame frame : frames) {
      List<Frame> own = byJob.get(frame.job());
      if (own == null) {
        own = new ArrayList<>(2);
        byJob.put(frame.job(), own);
      }
      own.add(frame);
    }
    Block read = new Block(frames, byJob);
    blocks.put(number, read);
    return read;
  }

  /** Shows {@code use} every operation in these blocks. */
  void each(int[] numbers, Consumer<Frame> use) {
    for (int number : numbers) {
      block(number).frames().forEach(use);
    }
  }

  /** Shows {@code use} the job's own operations in these blocks. */
  void eachOf(long job, int[] numbers, Consumer<Frame> use) {
    for (int number : numbers) {
      List<Frame> own = block(number).byJob().get(job);
      if (own != null) {
        own.forEach(use);
      }
    }
  }

  /** The id of the node that made the shard. */
  String home() {
    return head.home();
  }

  /** The operations appended since. */
  List<Frame> tail() {
    List<Frame> read = tail;
    if (read == null) {
      read = packed.clean() && head.released() ? List.of() : readTail();
      tail = read;
    }
    return read;
  }

  private List<Frame> readTail() {
    List<Frame> frames = new ArrayList<>();
    long next = packed.entries() + 1;
    while (true) {
      ReadPage page =
          value(store.journals().read(head.shard(), head.generation(), next, PAGE_BYTES));
      page.entries().forEach(entry -> frames.addAll(Frame.decode(entry.data())));
      if (page.complete() || page.entries().isEmpty()) {
        return frames;
      }
      next = page.entries().getLast().number() + 1;
    }
  }

  /** Whether recurring jobs have run occurrences themselves since. */
  boolean tailEndsOccurrences() {
    for (Frame frame : tail()) {
      if (frame.kind() == Kind.NEXT && OperationBody.Next.decode(frame.reader()).endsOccurrence()) {
        return true;
      }
    }
    return false;
  }

  /** Whether operations appended since made jobs that the footer does not know. */
  boolean tailAddsJobs() {
    for (Frame frame : tail()) {
      if (frame.kind() == Kind.ADD
          || frame.kind() == Kind.STATE
          || (frame.kind() == Kind.NEXT
              && !OperationBody.Next.decode(frame.reader()).children().isEmpty())) {
        return true;
      }
    }
    return false;
  }
}
