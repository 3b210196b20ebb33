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
import dev.carillon.api.Page;
import dev.carillon.engine.job.JobEdit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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
    return groups(query, ChronoUnit.FOREVER.getDuration()).items();
  }

  /**
   * The same for a limited time: the groups of the dead letters that were read within it. The next
   * page has the groups of those after them, some perhaps of a fingerprint that was on this page.
   *
   * @param query which, and where to begin
   * @param time how long to read; at least one page of jobs is read
   * @return the groups, the largest first, and where to go on
   */
  public Page<DeadLetterGroup> groups(JobQuery query, Duration time) {
    long begun = System.nanoTime();
    Limits.checkPresent("time", time);
    Map<String, DeadLetterGroup> groups = new LinkedHashMap<>();
    Set<String> unreadable = new LinkedHashSet<>();
    String cursor = Limits.checkPresent("query", query).cursor();
    do {
      Page<JobInfo> page = list(query.cursor(cursor));
      for (JobInfo job : page.items()) {
        DeadLetterGroup one = group(job);
        groups.merge(job.type() + "\n" + one.fingerprint(), one, DeadLetters::merge);
      }
      unreadable.addAll(page.unreadable());
      cursor = page.next();
    } while (cursor != null && time.compareTo(Duration.ofNanos(System.nanoTime() - begun)) > 0);
    List<DeadLetterGroup> sorted = new ArrayList<>(groups.values());
    sorted.sort(Comparator.comparingLong(DeadLetterGroup::count).reversed());
    return new Page<>(sorted, cursor, List.copyOf(unreadable));
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
    return new DeadLetterGroup(
        fingerprint(error),
        job.type(),
        1,
        job.id(),
        Objects.requireNonNullElse(job.endedAt(), Instant.EPOCH),
        error);
  }

  /** What killed its node left no error behind. */
  private static JobError poison(JobInfo job) {
    return new JobError("poison", job.reason() != null ? job.reason() : "", "");
  }

  private static DeadLetterGroup merge(DeadLetterGroup a, DeadLetterGroup b) {
    DeadLetterGroup newer = b.latestAt().isAfter(a.latestAt()) ? b : a;
    return new DeadLetterGroup(
        a.fingerprint(),
        a.type(),
        a.count() + b.count(),
        newer.latest(),
        newer.latestAt(),
        newer.error());
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
