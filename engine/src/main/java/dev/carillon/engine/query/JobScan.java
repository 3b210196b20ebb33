package dev.carillon.engine.query;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.format.LongMap;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.history.Footer;
import dev.carillon.engine.history.Selection;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.JobRef;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A page of the jobs of one shard, ended ones too, by number: what lists are made of. Holds the
 * live jobs of the shard and one page while it reads, whatever the shard's age.
 */
public final class JobScan {
  private final ShardId shard;
  private final JobFilter filter;
  private final int limit;
  private final BiFunction<JobRef, JobInfo, @Nullable JobInfo> show;
  private final TreeMap<Long, JobInfo> page = new TreeMap<>();
  private final LongMap<Boolean> over = new LongMap<>();

  /** Dead letters, which may still be replayed or discarded. */
  private final TreeMap<Long, JobInfo> dead = new TreeMap<>();

  private final ShardFold<FoldedJob> fold = new ShardFold<>(FoldedJob::new, this::ended);
  private final Selection selection;

  /** Where attempts ran that do not say. */
  private String home = "";

  private JobScan(ShardId shard, Selection selection, Wish wish) {
    this.shard = shard;
    this.selection = selection;
    this.filter = wish.filter();
    this.limit = wish.limit();
    this.show = wish.show();
  }

  /** What a page is made of. */
  public record Wish(
      JobFilter filter,
      long after,
      int limit,
      BiFunction<JobRef, JobInfo, @Nullable JobInfo> show) {}

  /**
   * The first jobs with a number above {@code after} that the filter takes and {@code show} does
   * not turn to null, up to {@code limit}; a shard that is gone has none.
   */
  public static Outcome<List<Map.Entry<JobRef, JobInfo>>> page(
      Store store, ShardId shard, Wish wish) {
    return JobReader.unlessReplaced(
        () -> {
          PackedReader packed =
              !wish.filter().isAll()
                      && store.journals().head(shard) instanceof Outcome.Ok<Head>(Head head)
                  ? PackedReader.of(store, head)
                  : null;
          if (packed != null) {
            var found = packed.reading(() -> byFooter(packed, shard, wish));
            if (!(found instanceof Outcome.Ok<Optional<List<Map.Entry<JobRef, JobInfo>>>>(var page))
                || page.isPresent()) {
              return found.map(Optional::orElseThrow);
            }
          }
          return read(store, shard, wish);
        });
  }

  /** By the footer of a packed shard; empty where operations were appended to it since. */
  private static Optional<List<Map.Entry<JobRef, JobInfo>>> byFooter(
      PackedReader packed, ShardId shard, Wish wish) {
    if (!packed.tail().isEmpty()) {
      return Optional.empty();
    }
    JobFilter.Codes codes = wish.filter().codes(packed.catalogue());
    List<Map.Entry<JobRef, JobInfo>> page = new ArrayList<>();
    List<Footer.Part> parts = packed.catalogue().parts();
    int first = Math.max(0, packed.catalogue().entryOf(wish.after()));
    for (int i = first; i < parts.size() && page.size() < wish.limit(); i++) {
      if (codes.take(parts.get(i))) {
        packed.eachJob(
            i,
            job -> {
              if (job.number > wish.after() && page.size() < wish.limit() && codes.take(job)) {
                JobRef ref = new JobRef(shard, job.number);
                JobReader.told(packed, ref, job.blocks(packed.catalogue()))
                    .map(info -> wish.show().apply(ref, info))
                    .ifPresent(info -> page.add(Map.entry(ref, info)));
              }
            });
      }
    }
    return Optional.of(page);
  }

  private static Outcome<List<Map.Entry<JobRef, JobInfo>>> read(
      Store store, ShardId shard, Wish wish) {
    Selection selection = new Selection(number -> number > wish.after());
    JobScan scan = new JobScan(shard, selection, wish);
    Outcome<Boolean> read = scan.each(store);
    if (selection.cameTooLate()) {
      JobScan again = new JobScan(shard, selection.again(), wish);
      return again.each(store).map(all -> again.result());
    }
    return read.map(all -> scan.result());
  }

  private Outcome<Boolean> each(Store store) {
    return new JobReader(store).each(shard, head -> home = head.home(), this::apply);
  }

  /** The end of the slice of time that the shard was made for, microseconds since 1970. */
  public static long endMicros(Head head) {
    long start = head.shard().startSeconds();
    long width = Summary.read(head).map(Summary::widthSeconds).orElse(0);
    return (start + width) * Micros.PER_SECOND;
  }

  private void apply(Frame any) {
    Frame frame = selection.of(any);
    if (frame == null) {
      return;
    }
    long number = frame.job();
    if (frame.kind() == Kind.STATE && over.get(number) != null) {
      return;
    }
    if (frame.kind() == Kind.ADD) {
      page.remove(number); // a newer generation tells the whole story again
    }
    boolean applied = fold.apply(frame) == ShardFold.Answer.APPLIED;
    if (applied && (frame.kind() == Kind.REPLAY || frame.kind() == Kind.DISCARD)) {
      dead.remove(number);
      over.remove(number);
    }
  }

  private void ended(FoldedJob job, OperationBody.End end) {
    over.put(job.number, true);
    JobRef ref = new JobRef(shard, job.number);
    if (end.state() == JobState.DEAD) {
      dead.put(job.number, JobReader.ended(ref, home, job, end).info());
    } else if (hasPlaceFor(ref)) {
      offer(ref, JobReader.ended(ref, home, job, end).info());
    }
  }

  private boolean hasPlaceFor(JobRef ref) {
    return selection.wants(ref.number()) && (page.size() < limit || ref.number() < page.lastKey());
  }

  private void offer(JobRef ref, JobInfo info) {
    JobInfo shown = filter.takes(info) ? show.apply(ref, info) : null;
    if (shown != null) {
      page.put(ref.number(), shown);
      if (page.size() > limit) {
        var unused = page.pollLastEntry();
      }
    }
  }

  private List<Map.Entry<JobRef, JobInfo>> result() {
    dead.forEach(
        (number, info) -> {
          JobRef ref = new JobRef(shard, number);
          if (hasPlaceFor(ref)) {
            offer(ref, info);
          }
        });
    fold.live()
        .forEach(
            job -> {
              JobRef ref = new JobRef(shard, job.number);
              if (hasPlaceFor(ref)) {
                offer(ref, JobReader.live(ref, job, null));
              }
            });
    return page.entrySet().stream()
        .map(entry -> Map.entry(new JobRef(shard, entry.getKey()), entry.getValue()))
        .toList();
  }
}
