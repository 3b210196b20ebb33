package dev.carillon;

import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Page;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.Node;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.history.DamagedHead;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.life.EndedJobs;
import dev.carillon.engine.query.NewestJobs;
import dev.carillon.engine.query.NewestScan;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lists ended jobs, the newest first: shards by their latest end, until no other can contribute. An
 * end never changes, so the place of a cursor stays what it was however jobs come and go. Shards
 * that heads or footers rule out are not read.
 */
final class NewestLister {
  private static final char MARK = 'e';

  /** The latest end that a cursor can stand behind. */
  private static final long LAST = Long.MAX_VALUE - 1;

  private static final Set<JobState> ONLY_DEAD = EnumSet.of(JobState.DEAD);

  private final Store store;
  private final Supplier<Map<ShardId, EndedJobs>> ended;
  private final Predicate<Head> over;
  private final Predicate<JobInfo> gone;

  /**
   * A lister.
   *
   * @param ended asks the node for what the heads of its shards do not say
   * @param over whether only the dead and failed jobs of a shard are still to be shown
   * @param gone whether a dead or failed job is past its retention
   */
  NewestLister(
      Store store,
      Supplier<Map<ShardId, EndedJobs>> ended,
      Predicate<Head> over,
      Predicate<JobInfo> gone) {
    this.store = store;
    this.ended = ended;
    this.over = over;
    this.gone = gone;
  }

  /** A shard and when its jobs ended. */
  private record Candidate(Head head, NewestScan.Span span) {}

  Page<JobInfo> list(JobQuery asked) {
    JobQuery query = onlyEnded(asked);
    if (query.states().isEmpty()) {
      return new Page<>(List.of(), null, List.of());
    }
    PageBudget budget = new PageBudget(store, query);
    List<String> unreadable = new ArrayList<>();
    NewestJobs found =
        new NewestJobs(query.limit(), micros(query.endedFrom(), 0), to(query), after(query));
    NewestScan any = scan(budget.store(), query, found);
    JobQuery ofEvidence = onlyEvidence(query);
    NewestScan evidence = scan(budget.store(), ofEvidence, found);
    ShardId only = shardOf(query.occurrencesOf());
    boolean begun = false;
    for (Candidate candidate : candidates(query, unreadable)) {
      if (only != null && !only.equals(candidate.head().shard())) {
        continue; // occurrences are where their recurring job is
      }
      NewestScan.Span span = candidate.span();
      boolean isOver = over.test(candidate.head());
      if (found.mayTake(span.firstMicros(), span.lastMicros())
          && !(isOver && ofEvidence.states().isEmpty())) {
        // Shards come by their latest end: what ended later than this one's is complete.
        NewestJobs.Place rest = NewestJobs.Place.before(Math.min(span.lastMicros(), LAST));
        if (begun && budget.isSpent() && found.isBehindBegin(rest)) {
          return new Page<>(found.itemsBefore(rest), text(rest), unreadable);
        }
        begun = true;
        Outcome<Boolean> outcome = (isOver ? evidence : any).scan(candidate.head());
        if (outcome instanceof Outcome.Damaged<?>(String where)) {
          unreadable.add(where);
        } else {
          var unused = StoreAnswers.get(outcome);
        }
      }
    }
    NewestJobs.Place last = found.last();
    String next = found.isFull() && last != null ? text(last) : null;
    return new Page<>(found.items(), next, unreadable);
  }

  private static @Nullable ShardId shardOf(@Nullable JobId recurring) {
    JobRef ref = recurring != null ? Node.ref(recurring) : null;
    return ref != null ? ref.shard() : null;
  }

  private NewestScan scan(Store read, JobQuery query, NewestJobs found) {
    Conditions conditions = new Conditions(query);
    return new NewestScan(
        read,
        conditions.filter(),
        info -> query.states().contains(info.state()) && conditions.fit(info) && !gone.test(info),
        found);
  }

  /** The same for ended jobs only. */
  private static JobQuery onlyEnded(JobQuery query) {
    Set<JobState> states = EnumSet.allOf(JobState.class);
    if (!query.states().isEmpty()) {
      states.retainAll(query.states());
    }
    states.removeIf(state -> !state.ended());
    return query.states(states);
  }

  private static JobQuery onlyEvidence(JobQuery query) {
    Set<JobState> states = EnumSet.copyOf(query.states());
    states.retainAll(EnumSet.of(JobState.DEAD, JobState.FAILED));
    return query.states(states);
  }

  private static long micros(@Nullable Instant instant, long otherwise) {
    return instant == null ? otherwise : Micros.ceil(instant);
  }

  private static long to(JobQuery query) {
    return micros(query.endedTo(), Long.MAX_VALUE);
  }

  /** All shards in which such jobs may have ended, that with the latest end first. */
  private List<Candidate> candidates(JobQuery query, List<String> unreadable) {
    Map<ShardId, EndedJobs> here = ended.get();
    var heads = StoreAnswers.get(DamagedHead.around(store, null, Integer.MAX_VALUE));
    heads.damaged().forEach(shard -> unreadable.add("head of shard " + shard));
    List<Candidate> candidates = new ArrayList<>();
    for (Head head : heads.intact()) {
      EndedJobs known = here.get(head.shard());
      if (known != null || !head.released()) {
        long last = known != null ? known.lastMicros() : Long.MAX_VALUE;
        if (last != 0 && !isWithout(known, query)) {
          candidates.add(new Candidate(head, new NewestScan.Span(0, last)));
        }
      } else {
        NewestScan.span(head).ifPresent(span -> candidates.add(new Candidate(head, span)));
      }
    }
    candidates.sort(
        Comparator.comparingLong((Candidate candidate) -> candidate.span().lastMicros())
            .reversed());
    return candidates;
  }

  /** Whether the node knows that a shard of its has no such job. */
  private static boolean isWithout(@Nullable EndedJobs known, JobQuery query) {
    return known != null && known.dead() == 0 && query.states().equals(ONLY_DEAD);
  }

  // ---- cursors

  private static String text(NewestJobs.Place place) {
    JobRef ref = place.ref();
    return MARK
        + Long.toString(place.endMicros(), 32)
        + "-"
        + ref.shard()
        + Long.toString(ref.number(), 32)
        + (place.occurrence() != 0 ? "." + Long.toString(place.occurrence(), 32) : "");
  }

  private static NewestJobs.@Nullable Place after(JobQuery query) {
    String text = query.cursor();
    if (text == null) {
      return null;
    }
    try {
      int dash = text.indexOf('-');
      int numberAt = dash + 1 + ShardId.TEXT_LENGTH;
      if (text.charAt(0) != MARK) {
        throw new IllegalArgumentException("mark: " + text.charAt(0));
      }
      int dot = text.indexOf('.', numberAt);
      return new NewestJobs.Place(
          Long.parseLong(text.substring(1, dash), 32),
          new JobRef(
              ShardId.parse(text.substring(dash + 1, numberAt)),
              Long.parseLong(text.substring(numberAt, dot < 0 ? text.length() : dot), 32)),
          dot < 0 ? 0 : Long.parseLong(text.substring(dot + 1), 32));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw InvalidArgumentException.of("cursor", text, "what Page.next() gave");
    }
  }
}
