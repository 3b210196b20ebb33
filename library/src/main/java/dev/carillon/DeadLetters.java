package dev.carillon;

import dev.carillon.api.ControlResult;
import dev.carillon.api.DeadLetterGroup;
import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.Page;
import dev.carillon.engine.job.JobEdit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that were given up: kept with their input and every attempt's error until they are replayed,
 * discarded or past their retention. Made by {@link Carillon#deadLetters()}. Thread-safe.
 *
 * <p>A replay is the same job, with its id and history, due at once, as if it had not been tried.
 * It has no name, key and deadline any more: those ended with its first life.
 */
public final class DeadLetters {
  private static final Pattern NUMBERS =
      Pattern.compile("\\b(?:0[xX])?[0-9a-fA-F]*[0-9][0-9a-fA-F-]*\\b");
  private static final int FINGERPRINT_MESSAGE_CHARS = 200;

  private static final Duration MOST_TIME = Duration.ofHours(1);
  private static final int FIRST_ITEMS = 50;
  private static final int FEW_BLOCKS = 20;

  private final OpenNode opened;
  private final JobQueries queries;
  private final JobControl control;

  DeadLetters(OpenNode opened, JobQueries queries, JobControl control) {
    this.opened = opened;
    this.queries = queries;
    this.control = control;
  }

  /**
   * A page of dead letters.
   *
   * @param query which, and where to begin; its states do not matter
   * @return the page
   */
  public Page<JobInfo> list(JobQuery query) {
    return queries.list(Limits.checkPresent("query", query).states(JobState.DEAD));
  }

  /**
   * Dead letters by what they failed with, the largest group first. Reads all that fit the query.
   *
   * @param query which
   * @return the groups
   */
  public List<DeadLetterGroup> groups(JobQuery query) {
    return groups(query, MOST_TIME).items();
  }

  /**
   * The same for a limited time, that which was given up last first: the groups of the dead letters
   * that were read within it. Where there is more, they hold all that ended after the earliest of
   * theirs, and the next page has the groups of those before, some perhaps of a fingerprint that
   * was on this page. So that such a look costs the store little, it also ends after 500 blocks of
   * journals for each second.
   *
   * @param query which, and where to begin
   * @param time how long to read; at least one page of jobs is read
   * @return the groups, the largest first, and where to go on
   */
  public Page<DeadLetterGroup> groups(JobQuery query, Duration time) {
    return new Grouping(Limits.checkPresent("query", query), Limits.checkPresent("time", time))
        .read();
  }

  /** Dead letters being grouped. */
  private final class Grouping {
    private final long begun = System.nanoTime();
    private final long mostNanos;
    private final long mostBlocks;
    private final JobQuery query;
    private final CountedReads reads = new CountedReads(opened.store);
    private final Map<String, DeadLetterGroup> groups = new LinkedHashMap<>();
    private final Set<String> unreadable = new LinkedHashSet<>();

    Grouping(JobQuery query, Duration time) {
      boolean limited = time.compareTo(MOST_TIME) < 0;
      this.mostNanos = limited ? time.toNanos() : Long.MAX_VALUE;
      this.mostBlocks = limited ? PageBudget.blocks(time) : Long.MAX_VALUE;
      this.query = query.states(JobState.DEAD);
    }

    Page<DeadLetterGroup> read() {
      int size = FIRST_ITEMS;
      String cursor = query.cursor();
      boolean goesOn = true;
      while (goesOn) {
        long nanosBefore = nanos();
        long blocksBefore = reads.blocks();
        Page<JobInfo> page = queries.newest(query.limit(size).cursor(cursor).within(left()), reads);
        page.items().stream().filter(DeadLetters::isJob).forEach(this::add);
        unreadable.addAll(page.unreadable());
        cursor = page.next();
        long blocks = reads.blocks() - blocksBefore;
        if (blocks <= FEW_BLOCKS) {
          size = Math.min(2 * size, Limits.PAGE_MAX_ITEMS);
        }
        // One more like this one has to fit.
        goesOn =
            cursor != null
                && 2 * nanos() - nanosBefore < mostNanos
                && reads.blocks() + blocks <= mostBlocks;
      }
      List<DeadLetterGroup> sorted = new ArrayList<>(groups.values());
      sorted.sort(Comparator.comparingLong(DeadLetterGroup::count).reversed());
      return new Page<>(sorted, cursor, List.copyOf(unreadable));
    }

    private long nanos() {
      return System.nanoTime() - begun;
    }

    private Duration left() {
      long left = Math.min(mostNanos - nanos(), Limits.PAGE_TIME.toNanos());
      return Duration.ofNanos(Math.max(1, left));
    }

    private void add(JobInfo job) {
      DeadLetterGroup one = group(job);
      groups.merge(job.type() + "\n" + one.fingerprint(), one, DeadLetterGroup::and);
    }
  }

  /** An occurrence that its recurring job ran itself is none. */
  private static boolean isJob(JobInfo listed) {
    OccurrenceInfo occurrence = listed.occurrence();
    return occurrence == null || !occurrence.schedule().equals(listed.id());
  }

  /**
   * What the group of a dead letter is called; see {@link DeadLetterGroup#fingerprint()}.
   *
   * @param dead the dead letter
   * @return its fingerprint
   */
  public static String fingerprint(JobInfo dead) {
    return fingerprint(errorOf(dead));
  }

  private static JobError errorOf(JobInfo job) {
    return job.lastError() != null ? job.lastError() : poison(job);
  }

  private static DeadLetterGroup group(JobInfo job) {
    JobError error = errorOf(job);
    return DeadLetterGroup.of(
        fingerprint(error),
        job.type(),
        job.id(),
        Objects.requireNonNullElse(job.endedAt(), Instant.EPOCH),
        error);
  }

  /** What killed its node left no error behind. */
  private static JobError poison(JobInfo job) {
    return new JobError("poison", job.reason() != null ? job.reason() : "", "");
  }

  private static String fingerprint(JobError error) {
    String message = error.message();
    int cut = Math.min(message.length(), FINGERPRINT_MESSAGE_CHARS);
    String alike = NUMBERS.matcher(message.substring(0, cut)).replaceAll("#");
    String thrownAt =
        error
            .stack()
            .lines()
            .map(String::strip)
            .filter(line -> line.startsWith("at "))
            .findFirst()
            .orElse("");
    return error.type() + ": " + alike + (thrownAt.isEmpty() ? "" : " " + thrownAt);
  }

  /**
   * Tries a dead letter again.
   *
   * @param id the job
   * @return {@link ControlResult#DONE}, or why not
   */
  public ControlResult replay(JobId id) {
    return replay(id, opened.options.nodeId(), null);
  }

  /**
   * Tries a dead letter again with another input.
   *
   * @param id the job
   * @param job of the same type; only its input counts
   * @return {@link ControlResult#DONE}, or why not
   * @throws dev.carillon.api.error.CodecException if the input cannot be encoded
   */
  public ControlResult replay(JobId id, Job<?> job) {
    return replay(id, opened.options.nodeId(), Limits.checkPresent("job", job));
  }

  ControlResult replay(JobId id, String who, @Nullable Job<?> job) {
    JobEdit edit = job != null ? edit(job) : null;
    opened.requireOpen();
    return control.change(
        id, "replaying", (node, ref, answer) -> node.replay(ref, who, edit, answer));
  }

  private JobEdit edit(Job<?> job) {
    byte[] payload = opened.payloads.encodeInput(job.input(), job.inputType().type());
    Limits.checkPayload(payload.length);
    return new JobEdit(job.typeName(), job.typeVersion(), payload);
  }

  /**
   * Tries all dead letters again that fit a query.
   *
   * @param query which
   * @return how many
   */
  public long replayAll(JobQuery query) {
    return each(query, job -> replay(job.id()) == ControlResult.DONE);
  }

  /**
   * Lets go of a dead letter: it is not found any more.
   *
   * @param id the job
   * @return {@link ControlResult#DONE}, or why not
   */
  public ControlResult discard(JobId id) {
    return discard(id, opened.options.nodeId());
  }

  ControlResult discard(JobId id, String who) {
    opened.requireOpen();
    return control.change(id, "discarding", (node, ref, answer) -> node.discard(ref, who, answer));
  }

  /**
   * Lets go of all dead letters that fit a query.
   *
   * @param query which
   * @return how many
   */
  public long discardAll(JobQuery query) {
    return each(query, job -> discard(job.id()) == ControlResult.DONE);
  }

  /** How many of the query's dead letters {@code action} says true of. */
  private long each(JobQuery query, Function<JobInfo, Boolean> action) {
    long done = 0;
    String cursor = Limits.checkPresent("query", query).cursor();
    do {
      Page<JobInfo> page = list(query.cursor(cursor));
      for (JobInfo job : page.items()) {
        done += action.apply(job) ? 1 : 0;
      }
      cursor = page.next();
    } while (cursor != null);
    return done;
  }
}
