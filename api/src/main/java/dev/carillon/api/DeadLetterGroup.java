package dev.carillon.api;

import java.time.Instant;
import java.util.Objects;

/**
 * Dead letters that failed alike.
 *
 * @param fingerprint what they have in common: the error's class, its message without numbers and
 *     ids, and where it was thrown
 * @param type the type of the jobs
 * @param count how many there are
 * @param latest one of them, the last that ended
 * @param latestAt when that was
 * @param error what it failed with
 */
public record DeadLetterGroup(
    String fingerprint, String type, long count, JobId latest, Instant latestAt, JobError error) {

  /** Checks the parts. */
  public DeadLetterGroup {
    Objects.requireNonNull(fingerprint, "fingerprint");
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(latest, "latest");
    Objects.requireNonNull(latestAt, "latestAt");
    Objects.requireNonNull(error, "error");
  }
}
