package dev.carillon.api;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.internal.Check;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs to list: those that fit every condition given. Start from {@link #all()}; each method
 * returns a copy.
 *
 * <p>Listing reads a page at a time, with the same fold that runs the jobs. Jobs that change while
 * pages are read may be seen in either state.
 *
 * @param states the states to list; empty means every state
 * @param type the type name, or null
 * @param namespace the namespace, or null
 * @param queue the queue, or null
 * @param dueFrom the earliest due time, inclusive, or null
 * @param dueTo the end of due times, exclusive, or null
 * @param namePrefix how the name begins, or null; given, jobs without a name are left out
 * @param metadata entries that the job's metadata must have
 * @param endedFrom the earliest end, inclusive, or null; given, jobs that have not ended are left
 *     out
 * @param endedTo the end of ends, exclusive, or null; given, jobs that have not ended are left out
 * @param occurrencesOf the recurring job whose occurrences are listed, or null; given, all other
 *     jobs are left out
 * @param newest whether the job that ended last comes first; jobs that have not ended are left out
 *     then, and occurrences that their recurring job ran itself are listed too. Otherwise the order
 *     is stable and of no meaning
 * @param limit the most items on a page, from 1 to {@link Limits#PAGE_MAX_ITEMS}
 * @param within about how long the reading of a page may take, up to {@link Limits#PAGE_TIME}: one
 *     that takes longer is given as it is, with the cursor to go on from
 * @param cursor where the page begins: {@link Page#next()} of the one before, or null for the first
 */
public record JobQuery(
    Set<JobState> states,
    @Nullable String type,
    @Nullable String namespace,
    @Nullable String queue,
    @Nullable Instant dueFrom,
    @Nullable Instant dueTo,
    @Nullable String namePrefix,
    Map<String, String> metadata,
    @Nullable Instant endedFrom,
    @Nullable Instant endedTo,
    @Nullable JobId occurrencesOf,
    boolean newest,
    int limit,
    Duration within,
    @Nullable String cursor) {

  private static final JobQuery ALL =
      new JobQuery(
          Set.of(),
          null,
          null,
          null,
          null,
          null,
          null,
          Map.of(),
          null,
          null,
          null,
          false,
          Limits.PAGE_DEFAULT_ITEMS,
          Limits.PAGE_TIME,
          null);

  /**
   * Checks the ranges and copies the states.
   *
   * @throws InvalidArgumentException if the limit or the time is out of range, or a range of times
   *     is reversed
   */
  public JobQuery {
    states = copy(states);
    Check.argument("metadata", metadata);
    metadata = Check.sorted(metadata);
    if (limit < 1 || limit > Limits.PAGE_MAX_ITEMS) {
      throw InvalidArgumentException.of("limit", limit, "1 to " + Limits.PAGE_MAX_ITEMS);
    }
    Check.argument("within", within);
    if (!within.isPositive() || within.compareTo(Limits.PAGE_TIME) > 0) {
      throw InvalidArgumentException.of("within", within, "above zero, up to " + Limits.PAGE_TIME);
    }
    if (dueFrom != null && dueTo != null && dueFrom.isAfter(dueTo)) {
      throw InvalidArgumentException.of("dueFrom", dueFrom, "not after dueTo, " + dueTo);
    }
    if (endedFrom != null && endedTo != null && endedFrom.isAfter(endedTo)) {
      throw InvalidArgumentException.of("endedFrom", endedFrom, "not after endedTo, " + endedTo);
    }
  }

  /**
   * Every job, {@link Limits#PAGE_DEFAULT_ITEMS} to a page.
   *
   * @return the query without conditions
   */
  public static JobQuery all() {
    return ALL;
  }

  /**
   * Only jobs in these states.
   *
   * @param states the states; none means every state
   * @return a copy
   */
  public JobQuery states(JobState... states) {
    return states(Arrays.asList(Check.argument("states", states)));
  }

  /**
   * Only jobs in these states.
   *
   * @param states the states; none means every state
   * @return a copy
   */
  public JobQuery states(Collection<JobState> states) {
    return with(draft -> draft.states = copy(states));
  }

  /**
   * Only jobs of a type.
   *
   * @param type the type name
   * @return a copy
   */
  public JobQuery type(String type) {
    Check.argument("type", type);
    return with(draft -> draft.type = type);
  }

  /**
   * Only jobs of a namespace.
   *
   * @param namespace the namespace
   * @return a copy
   */
  public JobQuery namespace(String namespace) {
    Check.argument("namespace", namespace);
    return with(draft -> draft.namespace = namespace);
  }

  /**
   * Only jobs of a queue.
   *
   * @param queue the queue
   * @return a copy
   */
  public JobQuery queue(String queue) {
    Check.argument("queue", queue);
    return with(draft -> draft.queue = queue);
  }

  /**
   * Only jobs due at a time or later.
   *
   * @param dueFrom the earliest due time, inclusive
   * @return a copy
   * @throws InvalidArgumentException if it is after the end of due times
   */
  public JobQuery dueFrom(Instant dueFrom) {
    Check.argument("dueFrom", dueFrom);
    return with(draft -> draft.dueFrom = dueFrom);
  }

  /**
   * Only jobs due before a time.
   *
   * @param dueTo the end of due times, exclusive
   * @return a copy
   * @throws InvalidArgumentException if it is before the earliest due time
   */
  public JobQuery dueTo(Instant dueTo) {
    Check.argument("dueTo", dueTo);
    return with(draft -> draft.dueTo = dueTo);
  }

  /**
   * Only jobs whose name begins so.
   *
   * @param namePrefix the beginning, compared by character; empty means any name
   * @return a copy
   */
  public JobQuery namePrefix(String namePrefix) {
    Check.argument("namePrefix", namePrefix);
    return with(draft -> draft.namePrefix = namePrefix);
  }

  /**
   * Only jobs that ended at a time or later.
   *
   * @param endedFrom the earliest end, inclusive
   * @return a copy
   * @throws InvalidArgumentException if it is after the end of ends
   */
  public JobQuery endedFrom(Instant endedFrom) {
    Check.argument("endedFrom", endedFrom);
    return with(draft -> draft.endedFrom = endedFrom);
  }

  /**
   * Only jobs that ended before a time.
   *
   * @param endedTo the end of ends, exclusive
   * @return a copy
   * @throws InvalidArgumentException if it is before the earliest end
   */
  public JobQuery endedTo(Instant endedTo) {
    Check.argument("endedTo", endedTo);
    return with(draft -> draft.endedTo = endedTo);
  }

  /**
   * Only occurrences of a recurring job. Most of them are no jobs of their own, and are listed with
   * {@link #newestFirst()} only.
   *
   * @param recurring the recurring job
   * @return a copy
   */
  public JobQuery occurrencesOf(JobId recurring) {
    Check.argument("recurring", recurring);
    return with(draft -> draft.occurrencesOf = recurring);
  }

  /**
   * Only jobs that have ended, the one that ended last first.
   *
   * @return a copy
   */
  public JobQuery newestFirst() {
    return with(draft -> draft.newest = true);
  }

  /**
   * Only jobs with this metadata, in addition to what was asked for already.
   *
   * @param key the key of the entry
   * @param value its value
   * @return a copy
   */
  public JobQuery meta(String key, String value) {
    Map<String, String> more = new TreeMap<>(metadata);
    more.put(Check.argument("key", key), Check.argument("value", value));
    return with(draft -> draft.metadata = more);
  }

  /**
   * With a page size.
   *
   * @param limit the most items on a page, from 1 to {@link Limits#PAGE_MAX_ITEMS}
   * @return a copy
   * @throws InvalidArgumentException if it is out of range
   */
  public JobQuery limit(int limit) {
    return with(draft -> draft.limit = limit);
  }

  /**
   * With a limit of time for a page, for those who would rather have a short page soon. At least
   * one step is made, so that pages come to an end.
   *
   * @param within about how long reading a page may take, up to {@link Limits#PAGE_TIME}
   * @return a copy
   * @throws InvalidArgumentException if it is out of range
   */
  public JobQuery within(Duration within) {
    return with(draft -> draft.within = within);
  }

  /**
   * The page that begins at a cursor; keep the conditions of the page before.
   *
   * @param cursor {@link Page#next()} of the page before, or null for the first page
   * @return a copy
   */
  public JobQuery cursor(@Nullable String cursor) {
    return with(draft -> draft.cursor = cursor);
  }

  private static Set<JobState> copy(Collection<JobState> states) {
    var copy = EnumSet.noneOf(JobState.class);
    for (JobState state : Check.argument("states", states)) {
      copy.add(Check.argument("state", state));
    }
    return Collections.unmodifiableSet(copy);
  }

  private JobQuery with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.query();
  }

  /** A query that can still be changed. */
  private static final class Draft {
    private Set<JobState> states;
    private @Nullable String type;
    private @Nullable String namespace;
    private @Nullable String queue;
    private @Nullable Instant dueFrom;
    private @Nullable Instant dueTo;
    private @Nullable String namePrefix;
    private Map<String, String> metadata;
    private @Nullable Instant endedFrom;
    private @Nullable Instant endedTo;
    private @Nullable JobId occurrencesOf;
    private boolean newest;
    private int limit;
    private Duration within;
    private @Nullable String cursor;

    Draft(JobQuery from) {
      this.states = from.states;
      this.type = from.type;
      this.namespace = from.namespace;
      this.queue = from.queue;
      this.dueFrom = from.dueFrom;
      this.dueTo = from.dueTo;
      this.namePrefix = from.namePrefix;
      this.metadata = from.metadata;
      this.endedFrom = from.endedFrom;
      this.endedTo = from.endedTo;
      this.occurrencesOf = from.occurrencesOf;
      this.newest = from.newest;
      this.limit = from.limit;
      this.within = from.within;
      this.cursor = from.cursor;
    }

    JobQuery query() {
      return new JobQuery(
          states,
          type,
          namespace,
          queue,
          dueFrom,
          dueTo,
          namePrefix,
          metadata,
          endedFrom,
          endedTo,
          occurrencesOf,
          newest,
          limit,
          within,
          cursor);
    }
  }
}
