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
import dev.carillon.engine.history.Packed;
import dev.carillon.engine.history.Summary;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.job.ScheduleState;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Looks for the newest ended jobs and occurrences of one shard: by its footer where it is packed,
 * so that only the blocks of jobs that are shown are read; else by reading it. Holds one page, the
 * shard's dead letters and, of a packed one, eight blocks.
 */
public final class NewestScan {
  /** With more operations appended since it was packed, a shard is read as if it were not. */
  private static final int MOST_TOUCHED = 256;

  private final Store store;
  private final JobFilter filter;
  private final Predicate<JobInfo> fits;
  private final NewestJobs found;

  /**
   * Looks for jobs that {@code filter} and {@code fits} take, of which {@code found} keeps the
   * newest.
   */
  public NewestScan(Store store, JobFilter filter, Predicate<JobInfo> fits, NewestJobs found) {
    this.store = store;
    this.filter = filter;
    this.fits = fits;
    this.found = found;
  }

  /** When the jobs of a shard ended. */
  public record Span(long firstMicros, long lastMicros) {}

  /**
   * When the jobs of a shard ended that has no owner, as its head says; empty where it does not say
   * or where none ended.
   */
  public static Optional<Span> span(Head head) {
    Summary summary = Summary.read(head).orElse(null);
    if (summary == null) {
      return Optional.of(new Span(0, Long.MAX_VALUE));
    }
    Packed packed = summary.packed();
    long first = packed != null && packed.clean() ? packed.firstEndMicros() : 0;
    return summary.lastEndMicros() == 0
        ? Optional.empty()
        : Optional.of(new Span(first, summary.lastEndMicros()));
  }

  /** Looks through a shard; a shard that is gone has none. */
  public Outcome<Boolean> scan(Head listed) {
    if (!filter.mayHoldBySummary(listed)) {
      return Outcome.ok(true);
    }
    return JobReader.unlessReplaced(
        () -> {
          Outcome<Head> now = store.journals().head(listed.shard());
          if (now instanceof Outcome.Fenced<Head>) {
            return Outcome.ok(true);
          }
          return now instanceof Outcome.Ok<Head>(Head head) ? look(head) : now.map(h -> true);
        });
  }

  private Outcome<Boolean> look(Head head) {
    PackedReader packed = PackedReader.of(store, head);
    if (packed != null) {
      Outcome<Boolean> done = packed.reading(() -> byFooter(packed, head));
      if (!(done instanceof Outcome.Ok<Boolean>(Boolean enough)) || enough) {
        return done;
      }
    }
    return new Whole(head).read();
  }

  // ---- a packed shard

  /** An ended job as the footer knows it. */
  private record Candidate(NewestJobs.Place place, int[] blocks) {}

  private boolean byFooter(PackedReader packed, Head head) {
    Set<Long> touched = new LinkedHashSet<>();
    packed.tail().forEach(frame -> touched.add(frame.job()));
    if (touched.size() > MOST_TOUCHED
        || packed.tailAddsJobs()
        || packed.tailEndsOccurrences()
        || packed.catalogue().occurrences()) {
      return false; // the footer does not tell where occurrences are
    }
    if (filter.mayHold(packed.catalogue())) {
      boolean allFit = show(packed, candidates(packed, head, touched, found.limit()));
      if (!allFit) {
        show(packed, candidates(packed, head, touched, Integer.MAX_VALUE));
      }
    }
    for (long number : touched) {
      offerTouched(new JobRef(head.shard(), number));
    }
    return true;
  }

  /** The newest so many that the footer's words do not rule out, newest first. */
  private List<Candidate> candidates(PackedReader packed, Head head, Set<Long> touched, int most) {
    JobFilter.Codes codes = filter.codes(packed.catalogue());
    PriorityQueue<Candidate> newest =
        new PriorityQueue<>(Collections.reverseOrder((a, b) -> a.place.compareTo(b.place)));
    for (int i : byLastEnd(packed.catalogue().parts())) {
      Footer.Part part = packed.catalogue().parts().get(i);
      Candidate worst = newest.size() < most ? null : newest.peek();
      if (worst != null && part.lastEndMicros() < worst.place.endMicros()) {
        break; // nothing newer comes
      }
      if (part.hasEnded()
          && found.mayTake(part.firstEndMicros(), part.lastEndMicros())
          && codes.take(part)) {
        packed.eachJob(
            i,
            job -> {
              if (job.state != 0 && codes.take(job)) {
                JobRef ref = new JobRef(head.shard(), job.number);
                NewestJobs.Place place = new NewestJobs.Place(job.endMicros, ref);
                if (found.takes(place) && !touched.contains(job.number)) {
                  keep(newest, most, place, () -> job.blocks(packed.catalogue()));
                }
              }
            });
      }
    }
    List<Candidate> sorted = new ArrayList<>(newest);
    sorted.sort((a, b) -> a.place.compareTo(b.place));
    return sorted;
  }

  private static void keep(
      PriorityQueue<Candidate> newest, int most, NewestJobs.Place place, Supplier<int[]> blocks) {
    if (newest.size() >= most) {
      Candidate worst = newest.peek();
      if (worst == null || worst.place.compareTo(place) < 0) {
        return;
      }
      newest.remove();
    }
    newest.add(new Candidate(place, blocks.get()));
  }

  /** The places of the parts, that with the latest end first. */
  private static List<Integer> byLastEnd(List<Footer.Part> parts) {
    List<Integer> places = new ArrayList<>(parts.size());
    for (int i = 0; i < parts.size(); i++) {
      places.add(i);
    }
    places.sort(Comparator.comparingLong((Integer i) -> parts.get(i).lastEndMicros()).reversed());
    return places;
  }

  /**
   * Reads candidates and offers those that fit.
   *
   * @return whether all of them did
   */
  private boolean show(PackedReader packed, List<Candidate> candidates) {
    boolean all = true;
    for (Candidate candidate : candidates) {
      if (!found.takes(candidate.place)) {
        continue;
      }
      JobInfo info = JobReader.told(packed, candidate.place.ref(), candidate.blocks).orElse(null);
      if (info != null && fits.test(info)) {
        found.offer(candidate.place, info);
      } else {
        all = false;
      }
    }
    return all;
  }

  private void offerTouched(JobRef ref) {
    Outcome<Optional<JobReader.Story>> story = new JobReader(store).find(ref);
    if (!(story instanceof Outcome.Ok<Optional<JobReader.Story>>(var told))) {
      throw new PackedReader.NotRead(story);
    }
    told.map(JobReader.Story::view).map(JobView::info).ifPresent(info -> offer(ref, info));
  }

  private void offer(JobRef ref, JobInfo info) {
    if (info.endedAt() != null && fits.test(info)) {
      found.offer(new NewestJobs.Place(Micros.ceil(info.endedAt()), ref), info);
    }
  }

  // ---- any other shard

  /** Folds the whole shard. */
  private final class Whole {
    private final Head head;
    private final Map<Long, JobInfo> dead = new TreeMap<>();
    private final TreeMap<NewestJobs.Place, JobInfo> page = new TreeMap<>();
    private final LongMap<Boolean> over = new LongMap<>();
    private final ShardFold<FoldedJob> fold =
        new ShardFold<>(
            FoldedJob::new,
            new ShardFold.Listener<FoldedJob>() {
              @Override
              public void ended(FoldedJob job, OperationBody.End end) {
                Whole.this.ended(job, end);
              }

              @Override
              public void occurred(FoldedJob job, OperationBody.Next next) {
                Whole.this.occurred(job, next);
              }
            });

    Whole(Head head) {
      this.head = head;
    }

    Outcome<Boolean> read() {
      return new JobReader(store)
          .each(head.shard(), same -> {}, this::apply)
          .map(
              all -> {
                page.forEach(found::offer);
                dead.forEach((number, info) -> offer(new JobRef(head.shard(), number), info));
                return true;
              });
    }

    private void apply(Frame frame) {
      long number = frame.job();
      if (frame.kind() == Kind.STATE && over.get(number) != null) {
        return;
      }
      if (frame.kind() == Kind.ADD && over.remove(number) != null) { // told again
        page.keySet().removeIf(place -> place.ref().number() == number && place.occurrence() == 0);
      }
      boolean applied = fold.apply(frame) == ShardFold.Answer.APPLIED;
      if (applied && (frame.kind() == Kind.REPLAY || frame.kind() == Kind.DISCARD)) {
        dead.remove(number);
        over.remove(number);
      }
    }

    private void ended(FoldedJob job, OperationBody.End end) {
      over.put(job.number, true);
      JobRef ref = new JobRef(head.shard(), job.number);
      NewestJobs.Place place = new NewestJobs.Place(end.at(), ref);
      if (end.state() == JobState.DEAD) {
        dead.put(job.number, JobReader.ended(ref, head.home(), job, end).info());
      } else if (hasPlaceFor(place)) {
        put(place, JobReader.ended(ref, head.home(), job, end).info());
      }
    }

    private void occurred(FoldedJob job, OperationBody.Next next) {
      JobRef ref = new JobRef(head.shard(), job.number);
      ScheduleState move = job.move();
      NewestJobs.Place place =
          new NewestJobs.Place(next.at(), ref, move != null ? move.count() + 1 : 0);
      if (hasPlaceFor(place)) {
        put(place, JobReader.occurred(ref, head.home(), job, next));
      }
    }

    private boolean hasPlaceFor(NewestJobs.Place place) {
      return found.takes(place)
          && (page.size() < found.limit() || place.compareTo(page.lastKey()) < 0);
    }

    private void put(NewestJobs.Place place, JobInfo info) {
      if (fits.test(info)) {
        page.put(place, info);
        if (page.size() > found.limit()) {
          var unused = page.pollLastEntry();
        }
      }
    }
  }
}
