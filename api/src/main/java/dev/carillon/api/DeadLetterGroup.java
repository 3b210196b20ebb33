package dev.carillon.api;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Dead letters that failed alike.
 *
 * @param fingerprint what they have in common: the error's class, its message without numbers and
 *     ids, and where it was thrown
 * @param type the type of the jobs
 * @param count how many there are
 * @param earliestAt when the first of them ended
 * @param latest one of them, the last that ended
 * @param latestAt when that was
 * @param byHour how many ended in each hour of UTC, by its begin: of the newest {@value
 *     #MOST_HOURS} hours in which any did
 * @param error what the last one failed with
 */
public record DeadLetterGroup(
    String fingerprint,
    String type,
    long count,
    Instant earliestAt,
    JobId latest,
    Instant latestAt,
    SortedMap<Instant, Long> byHour,
    JobError error) {
  /** The most hours that a group tells of. */
  public static final int MOST_HOURS = 72;

  /** Checks and copies the parts. */
  public DeadLetterGroup {
    Objects.requireNonNull(fingerprint, "fingerprint");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(earliestAt, "earliestAt");
    Objects.requireNonNull(latest, "latest");
    Objects.requireNonNull(latestAt, "latestAt");
    Objects.requireNonNull(error, "error");
    SortedMap<Instant, Long> newest = new TreeMap<>(byHour);
    while (newest.size() > MOST_HOURS) {
      newest.remove(newest.firstKey());
    }
    byHour = Collections.unmodifiableSortedMap(newest);
  }

  /**
   * A group of one.
   *
   * @param fingerprint that of its error
   * @param type its type
   * @param job the dead letter
   * @param endedAt when it ended
   * @param error what it failed with
   * @return the group
   */
  public static DeadLetterGroup of(
      String fingerprint, String type, JobId job, Instant endedAt, JobError error) {
    Instant hour = endedAt.truncatedTo(ChronoUnit.HOURS);
    return new DeadLetterGroup(
        fingerprint, type, 1, endedAt, job, endedAt, new TreeMap<>(Map.of(hour, 1L)), error);
  }

  /**
   * This group with others that failed alike.
   *
   * @param more the others
   * @return both
   */
  public DeadLetterGroup and(DeadLetterGroup more) {
    DeadLetterGroup newer = more.latestAt.isAfter(latestAt) ? more : this;
    SortedMap<Instant, Long> both = new TreeMap<>(byHour);
    more.byHour.forEach((hour, some) -> both.merge(hour, some, Long::sum));
    return new DeadLetterGroup(
        fingerprint,
        type,
        count + more.count,
        more.earliestAt.isBefore(earliestAt) ? more.earliestAt : earliestAt,
        newer.latest,
        newer.latestAt,
        both,
        newer.error);
  }
}
