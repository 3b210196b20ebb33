package dev.carillon;

import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.engine.query.JobFilter;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a query asks of a job, but for its state. */
final class Conditions {
  private final JobQuery query;

  Conditions(JobQuery query) {
    this.query = query;
  }

  /** What of it heads and footers can tell. */
  JobFilter filter() {
    return new JobFilter(
        query.type(), query.namespace(), query.queue(), query.metadata(), query.states());
  }

  boolean fit(JobInfo info) {
    return (query.type() == null || query.type().equals(info.type()))
        && (query.namespace() == null || query.namespace().equals(info.namespace()))
        && (query.queue() == null || query.queue().equals(info.queue()))
        && within(info.dueAt(), query.dueFrom(), query.dueTo())
        && fitsEnd(info.endedAt())
        && fitsName(info.name())
        && fitsOccurrence(info.occurrence())
        && info.metadata().entrySet().containsAll(query.metadata().entrySet());
  }

  private boolean fitsEnd(@Nullable Instant endedAt) {
    return endedAt == null
        ? query.endedFrom() == null && query.endedTo() == null
        : within(endedAt, query.endedFrom(), query.endedTo());
  }

  private static boolean within(Instant at, @Nullable Instant from, @Nullable Instant to) {
    return (from == null || !at.isBefore(from)) && (to == null || at.isBefore(to));
  }

  private boolean fitsOccurrence(@Nullable OccurrenceInfo occurrence) {
    JobId recurring = query.occurrencesOf();
    return recurring == null || (occurrence != null && recurring.equals(occurrence.schedule()));
  }

  private boolean fitsName(@Nullable String name) {
    String prefix = query.namePrefix();
    return prefix == null || (name != null && name.startsWith(prefix));
  }
}
