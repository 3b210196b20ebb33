package dev.carillon.engine.history;

import dev.carillon.api.JobState;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.HistoryPlace;
import dev.carillon.engine.fold.OldestEnds;
import dev.carillon.engine.fold.Reported;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.StateFormat;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Report;
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
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

/**
 * Writes what is worth keeping of a generation into the next: live jobs as their state with {@link
 * PastAttempts} behind it, dead and failed ones with every operation, as evidence; jobs that ended
 * otherwise stay behind in the old generation until its retention ends. Runs beside the loop, which
 * holds appends back meanwhile.
 *
 * <p>An occurrence that became a dead letter had its attempts under its recurring job, which stays
 * behind: its story is written as a job's of its own. One that was a job of its own was added by an
 * operation of its recurring job; that operation is copied without it, if at all, and the add is
 * written apart for those that are kept. What they and their recurring job carry is written once
 * ({@link SharedPayloads}).
 *
 * <p>Crash table: until the publish takes effect the old generation is the shard, whatever was
 * staged; after it, the new one is. The publish names the tail that was read, so nothing appended
 * since can be left out.
 */
public final class Compaction {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final long[] NOWHERE = {};

  /** About how much of histories is in memory at once. */
  private static final long READ_BYTES = 4 << 20;

  private final Store store;
  private final Source source;
  private final long snapshot;
  private final Since since;
  private final List<Frame> block = new ArrayList<>();
  private int blockBytes;
  private long staged;
  private long stagedBytes;

  /** What is compacted. */
  public record Source(ShardId shard, long epoch, int generation, long tail) {}

  /**
   * What is ready to be published.
   *
   * @param oldest when the oldest ended of what is kept of ended jobs
   * @param ended the numbers of the ended jobs that are kept
   * @param histories where the event histories of its live workflows stand, by their numbers
   * @param published where the values stand that they published, by their numbers
   */
  public record Staged(
      long count,
      long bytes,
      int dead,
      int failed,
      OldestEnds oldest,
      Set<Long> ended,
      Map<Long, long[]> histories,
      Map<Long, Long> published) {
    private static final Staged NOTHING =
        new Staged(0, 0, 0, 0, new OldestEnds(), Set.of(), Map.of(), Map.of());
  }

  private Compaction(Store store, Source source, long snapshot, Since since) {
    this.store = store;
    this.source = source;
    this.snapshot = snapshot;
    this.since = since;
  }

  /**
   * What ended earlier is past its retention.
   *
   * @param keyedMicros of jobs with an idempotency key: the records of earlier ones are deleted
   */
  public record Since(long failedMicros, long deadMicros, long keyedMicros) {}

  /** Stages the next generation as {@code snapshot}. */
  public static Outcome<Staged> stage(Store store, Source source, long snapshot, Since since) {
    return new Compaction(store, source, snapshot, since).stage();
  }

  private Outcome<Staged> stage() {
    Set<Long> evidence = new LinkedHashSet<>();
    Set<Long> dead = new LinkedHashSet<>();
    Set<Long> keyed = new LinkedHashSet<>();
    int[] failed = new int[1];
    OldestEnds oldest = new OldestEnds();
    ShardFold<FoldedJob> fold =
        new ShardFold<>(
            FoldedJob::new,
            (job, end) -> {
              boolean needed = job.has(JobSpec.KEYED) && end.at() >= since.keyedMicros();
              if (end.state() == JobState.DEAD && end.at() >= since.deadMicros()) {
                dead.add(job.number);
                if (needed) {
                  keyed.add(job.number);
                }
              } else if (end.state() == JobState.FAILED && end.at() >= since.failedMicros()) {
                failed[0]++;
                evidence.add(job.number);
              } else if (needed) {
                evidence.add(job.number);
              } else {
                return;
              }
              oldest.ended(job, end);
            });
    PastAttempts past = new PastAttempts();
    Outcome<Boolean> folded =
        read(
            fold::at,
            frame -> {
              var unused = past.note(frame, fold.apply(frame), fold);
            });
    if (!folded.isOk()) {
      return folded.map(ok -> Staged.NOTHING);
    }
    dead.removeIf(number -> !fold.isDead(number)); // replayed or discarded since
    evidence.addAll(dead);
    keyed.removeIf(number -> fold.job(number) != null); // a replayed one is written as it is now
    evidence.addAll(keyed);
    List<Outcome<Long>> failures = new ArrayList<>();
    SharedPayloads payloads = new SharedPayloads(frame -> write(frame, failures));
    writeStates(fold, payloads, failures);
    Map<Long, long[]> histories = new LinkedHashMap<>();
    writeHistories(fold, histories, failures);
    Map<Long, Long> published = new LinkedHashMap<>();
    writePublished(fold, published, failures);
    OccurrenceStories stories =
        new OccurrenceStories(evidence::contains, payloads, frame -> write(frame, failures));
    long[] place = {-1};
    Outcome<Boolean> copied =
        read(
            entry -> {},
            frame -> {
              place[0]++;
              stories.apply(frame);
              if (evidence.contains(frame.job()) || past.isAt(frame.job(), place[0])) {
                write(stories.alone(frame), failures);
              }
            });
    if (!copied.isOk()) {
      return copied.map(ok -> Staged.NOTHING);
    }
    flush(failures);
    return failures.isEmpty()
        ? Outcome.ok(
            new Staged(
                staged,
                stagedBytes,
                dead.size(),
                failed[0],
                oldest,
                evidence,
                histories,
                published))
        : failures
            .getFirst()
            .map(
                n -> {
                  throw new IllegalStateException("compaction: a failure that is none: " + n);
                });
  }

  /** Before anything is copied, because past attempts stand behind the state that counts them. */
  private void writeStates(
      ShardFold<FoldedJob> fold, SharedPayloads payloads, List<Outcome<Long>> failures) {
    for (FoldedJob job : sorted(fold, job -> true)) {
      byte[] spec = payloads.spec(job);
      write(Frame.of(Kind.STATE, job.number, StateFormat.write(job, spec)), failures);
    }
  }

  /** The history of each live workflow, put together: a replay reads little else. */
  private void writeHistories(
      ShardFold<FoldedJob> fold, Map<Long, long[]> histories, List<Outcome<Long>> failures) {
    List<FoldedJob> some = new ArrayList<>();
    long bytes = 0;
    for (FoldedJob job : sorted(fold, job -> job.workflow() != null)) {
      WorkflowState workflow = Objects.requireNonNull(job.workflow());
      if (workflow.entries() == 0) {
        histories.put(job.number, NOWHERE); // its new beginning stays in the old generation
        continue;
      }
      some.add(job);
      bytes += workflow.bytes();
      if (bytes >= READ_BYTES) {
        writeHistories(some, histories, failures);
        some.clear();
        bytes = 0;
      }
    }
    writeHistories(some, histories, failures);
  }

  /** Those of a few, which are read together. */
  private void writeHistories(
      List<FoldedJob> jobs, Map<Long, long[]> histories, List<Outcome<Long>> failures) {
    List<WorkflowHistory.Place> places = new ArrayList<>(jobs.size());
    for (FoldedJob job : jobs) {
      WorkflowState workflow = Objects.requireNonNull(job.workflow());
      places.add(
          new WorkflowHistory.Place(
              source.shard(), source.generation(), workflow.places(), workflow.entries()));
    }
    List<Outcome<List<HistoryEntry>>> read =
        WorkflowHistory.readAll(store, source.shard(), source.generation(), places);
    for (int i = 0; i < jobs.size() && failures.isEmpty(); i++) {
      if (read.get(i) instanceof Outcome.Ok<List<HistoryEntry>>(List<HistoryEntry> history)) {
        long number = jobs.get(i).number;
        histories.put(number, write(number, history, failures));
      } else {
        failures.add(read.get(i).map(entries -> 0L));
      }
    }
  }

  /** The value that each live workflow published last. */
  private void writePublished(
      ShardFold<FoldedJob> fold, Map<Long, Long> published, List<Outcome<Long>> failures) {
    for (FoldedJob job : sorted(fold, job -> job.reported() != null)) {
      Reported reported = Objects.requireNonNull(job.reported());
      if (!reported.hasPublished()) {
        continue;
      }
      PublishedValue.Place place =
          new PublishedValue.Place(source.shard(), source.generation(), reported.publishedPlace());
      Outcome<byte[]> read = PublishedValue.read(store, place);
      if (!(read instanceof Outcome.Ok<byte[]>(byte[] value))) {
        failures.add(read.map(bytes -> 0L));
        return;
      }
      Report report = new Report(Report.UNKNOWN, Report.UNKNOWN, null, value, false);
      published.put(job.number, HistoryPlace.of(staged + 1, block.size()));
      write(
          Frame.of(
              Kind.REPORT,
              job.number,
              new Report.Recorded(job.revision, 0, false, report).encode()),
          failures);
    }
  }

  private static List<FoldedJob> sorted(ShardFold<FoldedJob> fold, Predicate<FoldedJob> wanted) {
    List<FoldedJob> found = new ArrayList<>();
    fold.live()
        .forEach(
            job -> {
              if (wanted.test(job)) {
                found.add(job);
              }
            });
    found.sort((a, b) -> Long.compare(a.number, b.number));
    return found;
  }

  /** Writes a history, a part at a time; returns where it stands, as {@link HistoryPlace}s. */
  private long[] write(long number, List<HistoryEntry> history, List<Outcome<Long>> failures) {
    List<Long> places = new ArrayList<>();
    List<HistoryEntry> part = new ArrayList<>();
    int partBytes = 0;
    for (HistoryEntry entry : history) {
      part.add(entry);
      partBytes += entry.bytes();
      if (partBytes >= BLOCK_BYTES / 2) {
        places.add(HistoryPlace.of(staged + 1, block.size()));
        write(Frame.of(Kind.HISTORY, number, HistoryEntry.encode(part)), failures);
        part.clear();
        partBytes = 0;
      }
    }
    if (!part.isEmpty()) {
      places.add(HistoryPlace.of(staged + 1, block.size()));
      write(Frame.of(Kind.HISTORY, number, HistoryEntry.encode(part)), failures);
    }
    return places.stream().mapToLong(Long::longValue).toArray();
  }

  private Outcome<Boolean> read(LongConsumer entryBegins, Consumer<Frame> use) {
    long next = 1;
    while (next <= source.tail()) {
      Outcome<ReadPage> outcome =
          store.journals().read(source.shard(), source.generation(), next, ShardLoad.PAGE_BYTES);
      if (!(outcome instanceof Outcome.Ok<ReadPage>(ReadPage page)) || page.entries().isEmpty()) {
        return outcome.map(p -> false);
      }
      for (Entry entry : page.entries()) {
        if (entry.number() > source.tail()) {
          break;
        }
        try {
          entryBegins.accept(entry.number());
          Frame.decode(entry.data()).forEach(use);
        } catch (DamagedException | UnknownFormatException e) {
          return new Outcome.Damaged<>(
              "shard " + source.shard() + ", entry " + entry.number() + ": " + e.getMessage());
        }
      }
      next = page.entries().getLast().number() + 1;
    }
    return Outcome.ok(true);
  }

  private void write(Frame frame, List<Outcome<Long>> failures) {
    block.add(frame);
    blockBytes += frame.frameBytes();
    if (blockBytes >= BLOCK_BYTES) {
      flush(failures);
    }
  }

  private void flush(List<Outcome<Long>> failures) {
    if (block.isEmpty() || !failures.isEmpty()) {
      return;
    }
    Outcome<Long> outcome =
        store
            .journals()
            .stage(
                source.shard(),
                source.epoch(),
                source.generation(),
                snapshot,
                staged + 1,
                Frame.encode(block));
    if (outcome.isOk()) {
      staged++;
      stagedBytes += blockBytes;
    } else {
      failures.add(outcome);
    }
    block.clear();
    blockBytes = 0;
  }
}
