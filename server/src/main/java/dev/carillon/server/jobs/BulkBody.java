package dev.carillon.server.jobs;

import dev.carillon.DeadLetters;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An action on all jobs that fit a query. */
final class BulkBody {
  static final Shape<BulkBody> SHAPE =
      Shape.of(BulkBody::new)
          .constant("action", BulkAction.class, (b, v) -> b.action = v)
          .object("query", Query.SHAPE, (b, v) -> b.query = v)
          .text("reason", (b, v) -> b.reason = v)
          .integer("priority", (b, v) -> b.priority = v)
          .time("at", (b, v) -> b.at = v)
          .flag("dryRun", (b, v) -> b.dryRun = v);

  private @Nullable BulkAction action;
  private @Nullable Query query;
  private @Nullable String reason;
  private @Nullable Integer priority;
  private @Nullable Instant at;
  private boolean dryRun;

  boolean dryRun() {
    return dryRun;
  }

  /** What is to be done; refused where something is missing, or given that nobody asks for. */
  BulkAction action() {
    if (action == null) {
      throw new InvalidBody("action: missing (expected: one of " + BulkAction.names() + ")");
    }
    wanted("reason", reason != null, action.takesReason(), false);
    wanted("priority", priority != null, action == BulkAction.PRIORITISE, true);
    wanted("at", at != null, action == BulkAction.RESCHEDULE, true);
    return action;
  }

  private void wanted(String field, boolean given, boolean takes, boolean needs) {
    if (given && !takes) {
      throw new InvalidBody(field + ": given (expected: none for " + action + ")");
    }
    if (takes && needs && !given) {
      throw new InvalidBody(field + ": missing (expected: one for " + action + ")");
    }
  }

  String reason() {
    return reason != null ? reason : "";
  }

  int priority() {
    return priority != null ? priority : 0;
  }

  Instant at() {
    return at != null ? at : Instant.EPOCH;
  }

  /** The jobs of the namespace that it is about. */
  JobQuery query(String namespace) {
    if (query == null) {
      throw new InvalidBody("query: missing (expected: which jobs; {} for all)");
    }
    return query.jobs(namespace, action());
  }

  /** Whether it is about a job that the query found: one of the group of dead letters, if any. */
  boolean isAbout(JobInfo job) {
    String wanted = query != null ? query.fingerprint : null;
    return wanted == null || wanted.equals(DeadLetters.fingerprint(job));
  }

  /** Whether another one asks for the same. */
  boolean isSameAs(BulkBody other) {
    return action == other.action
        && priority() == other.priority()
        && at().equals(other.at())
        && reason().equals(other.reason())
        && (query == null ? other.query == null : query.isSameAs(other.query));
  }

  /** Which jobs, by the names of the query parameters of a list. */
  static final class Query {
    static final Shape<Query> SHAPE =
        Shape.of(Query::new)
            .constants("state", JobState.class, (q, v) -> q.states = v)
            .text("type", (q, v) -> q.jobs = q.jobs.type(v))
            .text("queue", (q, v) -> q.jobs = q.jobs.queue(v))
            .text("namePrefix", (q, v) -> q.jobs = q.jobs.namePrefix(v))
            .time("dueFrom", (q, v) -> q.jobs = q.jobs.dueFrom(v))
            .time("dueTo", (q, v) -> q.jobs = q.jobs.dueTo(v))
            .time("endedFrom", (q, v) -> q.jobs = q.jobs.endedFrom(v))
            .time("endedTo", (q, v) -> q.jobs = q.jobs.endedTo(v))
            .text("occurrencesOf", (q, v) -> q.jobs = q.jobs.occurrencesOf(new JobId(v)))
            .text("fingerprint", (q, v) -> q.fingerprint = v)
            .map("meta", Query::metadata);

    private JobQuery jobs = JobQuery.all();
    private List<JobState> states = List.of();
    private @Nullable String fingerprint;

    private boolean isSameAs(@Nullable Query other) {
      return other != null
          && jobs.equals(other.jobs)
          && Set.copyOf(states).equals(Set.copyOf(other.states))
          && Objects.equals(fingerprint, other.fingerprint);
    }

    private void metadata(Map<String, String> entries) {
      entries.forEach((key, value) -> jobs = jobs.meta(key, value));
    }

    JobQuery jobs(String namespace, BulkAction action) {
      if (fingerprint != null && !action.isOfDead()) {
        throw new InvalidBody(
            "query.fingerprint: given (expected: none for %s; it is that of dead letters)"
                .formatted(action));
      }
      for (JobState state : states) {
        if (!action.states().contains(state)) {
          throw new InvalidBody(
              "query.state: %s (expected for %s: one of %s)"
                  .formatted(state, action, action.states()));
        }
      }
      return jobs.namespace(namespace).states(states.isEmpty() ? action.states() : states);
    }
  }
}
