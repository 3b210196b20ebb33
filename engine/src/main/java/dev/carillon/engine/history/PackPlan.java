package dev.carillon.engine.history;

import dev.carillon.api.JobState;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.format.WordFilter;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.store.Entry;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How a generation of many small entries becomes one of a few blocks: the same operations in the
 * same order, and a {@link Footer} that says which jobs are in which. Made beside the loop by
 * reading and folding the generation once, without writing anything; the blocks are then copied one
 * by one, so that no call takes long.
 *
 * @param blocks what each block holds
 * @param footers the data of the entries behind them
 * @param packed what the head is to say
 * @param bytes of all blocks and footers
 */
public record PackPlan(List<Block> blocks, List<byte[]> footers, Packed packed, long bytes) {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int PAGE_BYTES = 512 << 10;

  /** A block has no more, unless it is one operation: stores refuse larger entries. */
  private static final int MOST_BYTES = 4 << 20;

  /** What is packed: a generation up to an entry. */
  public record Source(ShardId shard, long epoch, int generation, long tail) {}

  /**
   * Operations that follow each other.
   *
   * @param entry where the first stands
   * @param skip operations before it in that entry
   * @param operations how many
   */
  public record Block(long entry, int skip, int operations) {}

  /** Reads the generation and makes the plan; jobs can be found by the metadata of those keys. */
  public static Outcome<PackPlan> of(Store store, Source source, Set<String> metadataKeys) {
    return of(store, source, metadataKeys, BLOCK_BYTES);
  }

  /** The same with blocks of about that size. */
  public static Outcome<PackPlan> of(
      Store store, Source source, Set<String> metadataKeys, int blockBytes) {
    Maker maker = new Maker(metadataKeys, blockBytes);
    return each(store, source, 1, (entry, frames) -> maker.take(entry, frames))
        .map(read -> maker.plan());
  }

  /** The data of a block. */
  public static Outcome<byte[]> data(Store store, Source source, Block block) {
    List<Frame> taken = new ArrayList<>(block.operations());
    int[] skip = {block.skip()};
    return each(
            store,
            source,
            block.entry(),
            (entry, frames) -> {
              int from = Math.min(skip[0], frames.size());
              int most = from + block.operations() - taken.size();
              taken.addAll(frames.subList(from, Math.min(frames.size(), most)));
              skip[0] = 0;
              return taken.size() < block.operations();
            })
        .map(read -> Frame.encode(taken));
  }

  private interface Use {
    /** Whether to go on. */
    boolean take(Entry entry, List<Frame> frames);
  }

  private static Outcome<Boolean> each(Store store, Source source, long from, Use use) {
    long next = from;
    while (next <= source.tail()) {
      Outcome<ReadPage> outcome =
          store.journals().read(source.shard(), source.generation(), next, PAGE_BYTES);
      if (!(outcome instanceof Outcome.Ok<ReadPage>(ReadPage page))) {
        return outcome.map(p -> false);
      }
      if (page.entries().isEmpty()) {
        return new Outcome.Damaged<>("shard " + source.shard() + ": entry " + next + " is missing");
      }
      for (Entry entry : page.entries()) {
        if (entry.number() > source.tail()) {
          return Outcome.ok(true);
        }
        try {
          if (!use.take(entry, operations(entry))) {
            return Outcome.ok(true);
          }
        } catch (DamagedException | UnknownFormatException | IllegalArgumentException e) {
          return new Outcome.Damaged<>(
              "shard " + source.shard() + ", entry " + entry.number() + ": " + e.getMessage());
        }
      }
      next = page.entries().getLast().number() + 1;
    }
    return Outcome.ok(true);
  }

  /** The operations of an entry, without a footer that it was packed with before. */
  private static List<Frame> operations(Entry entry) {
    List<Frame> frames = Frame.decode(entry.data());
    frames.removeIf(frame -> frame.kind() == Kind.FOOTER);
    return frames;
  }

  /** Folds the operations and notes where each is going to be. */
  private static final class Maker {
    private final Set<String> metadataKeys;
    private final int fullBytes;
    private final ShardFold<FoldedJob> fold =
        new ShardFold<>(
            FoldedJob::new,
            new ShardFold.Listener<FoldedJob>() {
              @Override
              public void ended(FoldedJob job, OperationBody.End end) {
                Maker.this.ended(job, end);
              }

              @Override
              public void occurred(FoldedJob job, OperationBody.Next next) {
                Maker.this.occurred(next);
              }
            });

    /** How occurrences that recurring jobs ran themselves ended, a bit each by code. */
    private int occurred;

    private long firstOccurredMicros = Long.MAX_VALUE;
    private final Map<Long, Footer.Job> jobs = new LinkedHashMap<>();
    private final Footer.Words types = new Footer.Words();
    private final Footer.Words namespaces = new Footer.Words();
    private final Footer.Words queues = new Footer.Words();
    private final WordFilter words = WordFilter.empty();
    private final List<Block> blocks = new ArrayList<>();
    private final Map<Long, Integer> payloadBlocks = new LinkedHashMap<>();
    private long blockEntry;
    private int blockSkip;
    private int blockOperations;
    private int blockBytes;
    private long bytes;

    Maker(Set<String> metadataKeys, int fullBytes) {
      this.metadataKeys = metadataKeys;
      this.fullBytes = fullBytes;
    }

    boolean take(Entry entry, List<Frame> frames) {
      for (int i = 0; i < frames.size(); i++) {
        Frame frame = frames.get(i);
        if (blockOperations > 0 && blockBytes + frame.frameBytes() > MOST_BYTES) {
          endBlock();
        }
        if (blockOperations == 0) {
          blockEntry = entry.number();
          blockSkip = i;
        }
        blockOperations++;
        blockBytes += frame.frameBytes();
        bytes += frame.frameBytes();
        apply(frame, blocks.size() + 1);
        if (blockBytes >= fullBytes) {
          endBlock();
        }
      }
      return true;
    }

    private void endBlock() {
      blocks.add(new Block(blockEntry, blockSkip, blockOperations));
      blockOperations = 0;
      blockBytes = 0;
    }

    private void apply(Frame frame, int block) {
      notePayload(frame, block);
      ShardFold.Answer answer = fold.apply(frame);
      FoldedJob met = fold.met();
      boolean applied = answer == ShardFold.Answer.APPLIED;
      if (applied && met != null && bringsSpec(frame.kind())) {
        describe(enter(frame.job()), met);
      }
      Footer.Job job = jobs.get(frame.job());
      if (job != null) {
        job.in(block);
      }
      if (applied) {
        switch (frame.kind()) {
          case DISCARD -> jobs.remove(frame.job());
          case NEXT -> occurrences(frame, block);
          default -> {}
        }
      }
    }

    private static boolean bringsSpec(Kind kind) {
      return switch (kind) {
        case ADD, STATE, REPLACE, REPLAY, UPDATE -> true;
        default -> false;
      };
    }

    private Footer.Job enter(long number) {
      return jobs.computeIfAbsent(number, Footer.Job::new);
    }

    /** Notes its words; where nothing later needs its body, that is let go. */
    private void describe(Footer.Job job, FoldedJob from) {
      job.state = 0;
      job.endMicros = 0;
      job.type = code(types, WordFilter.Of.TYPE, from.type);
      job.namespace = code(namespaces, WordFilter.Of.NAMESPACE, from.namespace);
      job.queue = code(queues, WordFilter.Of.QUEUE, from.queue);
      if (from.has(JobSpec.METADATA) && !metadataKeys.isEmpty()) {
        job.metadata = metadata(from);
      }
      if (!from.keepsBody()) {
        from.strip();
      }
    }

    private List<Long> metadata(FoldedJob from) {
      List<Long> hashes = new ArrayList<>();
      from.head()
          .metadata()
          .forEach(
              (key, value) -> {
                if (metadataKeys.contains(key)) {
                  hashes.add(MetadataFilter.hash(key, value));
                }
              });
      return hashes;
    }

    private int code(Footer.Words known, WordFilter.Of of, String word) {
      int before = known.size();
      int code = known.code(word);
      if (known.size() > before || code == Footer.OTHERS) {
        words.add(of, word);
      }
      return code;
    }

    /** The block of the payload that it shares tells of a job too. */
    private void notePayload(Frame frame, int block) {
      if (frame.kind() == Kind.PAYLOAD) {
        payloadBlocks.put(frame.job(), block);
      } else if (!payloadBlocks.isEmpty()
          && (frame.kind() == Kind.ADD || frame.kind() == Kind.STATE)) {
        Integer payload = payloadBlocks.get(JobSpec.sharedPayload(ShardFold.bodyIn(frame)));
        if (payload != null) {
          enter(frame.job()).in(payload);
        }
      }
    }

    private void occurrences(Frame frame, int block) {
      for (OperationBody.Next.Child child : OperationBody.Next.decode(frame.reader()).children()) {
        Footer.Job job = enter(child.number());
        job.schedule = frame.job();
        job.in(block);
        FoldedJob live = fold.job(child.number());
        if (live != null) {
          describe(job, live);
        }
      }
    }

    private void ended(FoldedJob job, OperationBody.End end) {
      Footer.Job noted = jobs.get(job.number);
      if (noted == null) {
        noted = enter(job.number); // an occurrence that is dead from its first operation on
        describe(noted, job);
      }
      noted.state = end.state().code();
      noted.endMicros = end.at();
    }

    private void occurred(OperationBody.Next next) {
      JobState outcome = next.outcome();
      if (outcome != null) {
        occurred |= 1 << outcome.code();
        firstOccurredMicros = Math.min(firstOccurredMicros, next.at());
      }
    }

    /** When the first job or occurrence ended; 0 where none has. */
    private long firstEndMicros(List<Footer.Job> all) {
      long ofJobs = Footer.firstEndMicros(all);
      if (occurred == 0) {
        return ofJobs;
      }
      return ofJobs == 0 ? firstOccurredMicros : Math.min(ofJobs, firstOccurredMicros);
    }

    PackPlan plan() {
      if (blockOperations > 0) {
        endBlock();
      }
      List<Footer.Job> all = List.copyOf(jobs.values());
      int states = occurred;
      for (Footer.Job job : all) {
        states |= 1 << job.state;
      }
      Footer.Draft draft =
          new Footer.Draft(
              blocks.size(), occurred != 0, types, namespaces, queues, metadataKeys, all);
      List<byte[]> footers = Footer.encode(draft);
      for (byte[] footer : footers) {
        bytes += footer.length;
      }
      return new PackPlan(
          List.copyOf(blocks),
          footers,
          new Packed(blocks.size(), footers.size(), true, states, firstEndMicros(all), words),
          bytes);
    }
  }

  /** How many entries the new generation has. */
  public long entries() {
    return packed.entries();
  }
}
