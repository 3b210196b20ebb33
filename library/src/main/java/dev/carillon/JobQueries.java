package dev.carillon;

import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.Limits;
import dev.carillon.api.Page;
import dev.carillon.api.TypeToken;
import dev.carillon.api.UpcomingJob;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.engine.history.PublishedValue;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.query.HistoryReader;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.query.NamedJobs;
import dev.carillon.engine.shard.Retention;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads jobs: snapshots, lists, histories and inputs. The journal in the store tells the past of a
 * job, the node knows whether the job runs now. Blocks its caller; thread-safe.
 */
final class JobQueries {
  private final OpenNode opened;
  private final JobLister lister;
  private final Inputs inputs;

  JobQueries(OpenNode opened) {
    this.opened = opened;
    this.lister =
        new JobLister(
            opened,
            head -> Retention.isOver(opened.options, head, opened.time.wallMicros()),
            this::isOver);
    this.inputs = new Inputs(opened.store, opened.reads, opened.payloads);
  }

  private boolean isOver(JobInfo job) {
    return Retention.isOver(opened.options, job, opened.time.wallMicros());
  }

  Optional<JobInfo> get(JobId id) {
    opened.requireOpen();
    Limits.checkPresent("id", id);
    Optional<JobInfo> untaken = opened.tickets.untaken(id);
    if (untaken.isPresent()) {
      return untaken;
    }
    JobRef ref = opened.tickets.place(id);
    if (ref == null) {
      return Optional.empty();
    }
    Optional<JobInfo> found =
        opened
            .loop
            .post(
                new Ask<Optional<JobInfo>>(
                    opened.loop,
                    "reading job " + id,
                    Ask.Effect.READS,
                    (node, asked) ->
                        node.get(
                            ref,
                            outcome ->
                                StoreAnswers.pass(
                                    outcome.map(view -> view.map(JobView::info)), asked))))
            .await();
    OthersPhases others = new OthersPhases(opened);
    return found.filter(others::mayDiffer).isEmpty()
        ? found
        : opened.reads.await("job " + id, () -> found.map(job -> others.complete(ref, job)));
  }

  <T> Optional<T> published(JobId id, TypeToken<T> type) {
    opened.requireOpen();
    Limits.checkPresent("type", type);
    JobRef ref = opened.tickets.existing(id);
    PublishedValue.Found found =
        opened
            .loop
            .post(
                new Ask<Optional<PublishedValue.Found>>(
                    opened.loop,
                    "reading what job " + id + " published",
                    Ask.Effect.READS,
                    (node, asked) ->
                        node.published(ref, outcome -> StoreAnswers.pass(outcome, asked))))
            .await()
            .orElseThrow(() -> new JobNotFoundException(id));
    byte[] value = found.value();
    return value == null
        ? Optional.empty()
        : Optional.ofNullable(opened.payloads.decode(value, type));
  }

  Optional<JobInfo> get(String namespace, String name) {
    opened.requireOpen();
    Limits.checkNamespace(namespace);
    Limits.checkName(name);
    return opened
        .reads
        .await(
            "job named " + name,
            () -> StoreAnswers.get(NamedJobs.find(opened.store, namespace, name)))
        .flatMap(found -> get(found.id()))
        .filter(job -> !job.state().ended())
        .filter(job -> job.namespace().equals(namespace) && name.equals(job.name()));
  }

  Optional<JobInfo> ofKey(String namespace, String key) {
    opened.requireOpen();
    Limits.checkNamespace(namespace);
    Limits.checkKey(key);
    return opened
        .reads
        .await(
            "job of a key", () -> StoreAnswers.get(NamedJobs.ofKey(opened.store, namespace, key)))
        .flatMap(found -> get(found.id()))
        .filter(job -> job.namespace().equals(namespace) && key.equals(job.key()));
  }

  <I> @Nullable I input(JobId id, TypeToken<I> type) {
    opened.requireOpen();
    Limits.checkPresent("type", type);
    return inputs.decoded(opened.tickets.existing(id), type);
  }

  RawPayload rawInput(JobId id) {
    opened.requireOpen();
    return inputs.raw(opened.tickets.existing(id));
  }

  <T> Optional<T> saved(JobId id, TypeToken<T> type) {
    opened.requireOpen();
    Limits.checkPresent("type", type);
    JobRef ref = opened.tickets.place(Limits.checkPresent("id", id));
    return ref == null ? Optional.empty() : inputs.saved(ref, type);
  }

  Page<JobInfo> list(JobQuery query) {
    JobQuery placed = placed(query);
    return opened.reads.await("listing jobs", () -> lister.list(placed));
  }

  /** A page of jobs that have ended, the newest first; what it reads is counted. */
  Page<JobInfo> newest(JobQuery query, CountedReads reads) {
    JobQuery placed = placed(query).newestFirst();
    return opened.reads.await("listing jobs", () -> lister.newest(placed, reads));
  }

  private JobQuery placed(JobQuery query) {
    opened.requireOpen();
    Limits.checkPresent("query", query);
    JobId recurring = query.occurrencesOf();
    return recurring != null ? query.occurrencesOf(opened.tickets.existing(recurring).id()) : query;
  }

  Stream<JobInfo> stream(JobQuery query) {
    opened.requireOpen();
    return JobStream.of(this::list, Limits.checkPresent("query", query));
  }

  List<UpcomingJob> upcoming(Instant from, Instant to, String namespace) {
    opened.requireOpen();
    TimeRange range = new TimeRange(from, to);
    Limits.checkNamespace(namespace);
    return new Upcoming(this::list).within(range, namespace);
  }

  Optional<JobHistory> history(JobId id, @Nullable String cursor) {
    opened.requireOpen();
    Limits.checkPresent("id", id);
    int before = cursor != null ? count(cursor) : Integer.MAX_VALUE;
    Optional<JobInfo> untaken = opened.tickets.untaken(id);
    if (untaken.isPresent()) {
      return untaken.map(job -> new JobHistory(job, List.of(), null));
    }
    JobRef ref = opened.tickets.place(id);
    if (ref == null) {
      return Optional.empty();
    }
    return opened.reads.await("history of job " + id, () -> history(ref, before));
  }

  Optional<RecordedWorkflow> recorded(JobId id) {
    opened.requireOpen();
    Limits.checkPresent("id", id);
    JobRef ref = opened.tickets.place(id);
    if (ref == null) {
      return Optional.empty();
    }
    return opened.reads.await(
        "recorded history of job " + id,
        () -> StoreAnswers.get(HistoryReader.read(opened.store, ref)).map(RecordedWorkflow::of));
  }

  Optional<WorkflowInfo> workflow(JobId id) {
    opened.requireOpen();
    Limits.checkPresent("id", id);
    JobRef ref = opened.tickets.place(id);
    if (ref == null) {
      return Optional.empty();
    }
    return opened.reads.await(
        "steps of job " + id,
        () ->
            StoreAnswers.get(HistoryReader.read(opened.store, ref))
                .map(found -> WorkflowInfo.of(found, opened.payloads)));
  }

  private static int count(String cursor) {
    try {
      return Math.toIntExact(Long.parseUnsignedLong(cursor));
    } catch (NumberFormatException | ArithmeticException e) {
      throw InvalidArgumentException.of("cursor", cursor, "what JobHistory.next() gave");
    }
  }

  private Optional<JobHistory> history(JobRef ref, int before) {
    Optional<JobReader.Story> story =
        StoreAnswers.get(new JobReader(opened.store).find(ref, before));
    return story
        .filter(found -> !isOver(found.view().info()))
        .map(
            found ->
                new JobHistory(
                    lister.withLivePhase(found.ref(), found.view().info()),
                    found.events(),
                    found.older() > 0 ? Integer.toString(found.older()) : null));
  }
}
