package dev.carillon.testkit;

import dev.carillon.api.CancelResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobScheduler;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.Subscription;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.schedule.Due;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A {@link JobScheduler} that remembers what it was asked for and runs nothing, for unit tests of
 * code that schedules. Names and idempotency keys count as they do in Carillon. Thread-safe.
 *
 * <p>Nothing is encoded, so it does not notice an input that Carillon would refuse; {@link
 * CarillonTest} does, and runs handlers.
 */
public final class RecordingScheduler implements JobScheduler {
  private final Instant now;
  private final List<Recorded> all = new ArrayList<>();

  /** One that takes every job at the beginning of 1970. */
  public RecordingScheduler() {
    this(Instant.EPOCH);
  }

  /**
   * One that takes every job at a time.
   *
   * @param now when jobs are scheduled, from which delays count
   */
  public RecordingScheduler(Instant now) {
    this.now = Limits.checkPresent("now", now);
  }

  /**
   * The jobs that were scheduled, in order; those that a name or key already had are left out.
   *
   * @return a copy
   */
  public synchronized List<Job<?>> scheduled() {
    return all.stream().<Job<?>>map(recorded -> recorded.job).toList();
  }

  /**
   * The jobs that were cancelled, or replaced under their names, in the order of their scheduling.
   *
   * @return a copy
   */
  public synchronized List<Job<?>> cancelled() {
    return all.stream().filter(each -> each.reason != null).<Job<?>>map(each -> each.job).toList();
  }

  @Override
  public synchronized <O> JobHandle<O> schedule(Job<O> job) {
    Limits.checkPresent("job", job);
    Recorded same = find(other -> job.key() != null && sameKey(other.job, job));
    if (same != null) {
      return new Handle<>(same, false);
    }
    Recorded named = find(other -> other.isLive() && job.name() != null && sameName(other, job));
    if (named != null && job.ifExists() == IfExists.FAIL) {
      throw new NameTakenException(Objects.requireNonNull(job.name()), named.id);
    }
    if (named != null && job.ifExists() != IfExists.REPLACE) {
      return new Handle<>(named, false);
    }
    if (named != null) {
      named.reason = "replaced";
    }
    Recorded recorded = new Recorded(new JobId("recorded-" + (all.size() + 1)), job);
    all.add(recorded);
    return new Handle<>(recorded, true);
  }

  @Override
  public synchronized List<JobHandle<?>> scheduleAll(List<? extends Job<?>> jobs) {
    Limits.checkBatch(Limits.checkPresent("jobs", jobs).size());
    jobs.forEach(job -> Limits.checkPresent("job", job));
    List<JobHandle<?>> handles = new ArrayList<>();
    jobs.forEach(job -> handles.add(schedule(job)));
    return handles;
  }

  @Override
  public synchronized CancelResult cancel(JobId id, String reason) {
    Limits.checkPresent("id", id);
    Limits.checkReason(reason);
    Recorded found = find(other -> other.id.equals(id));
    if (found == null) {
      return new CancelResult.NotFound();
    }
    if (!found.isLive()) {
      return new CancelResult.Ended(JobState.CANCELLED);
    }
    found.reason = reason;
    return new CancelResult.Cancelled();
  }

  @Override
  public synchronized Optional<JobInfo> get(JobId id) {
    Limits.checkPresent("id", id);
    return Optional.ofNullable(find(other -> other.id.equals(id))).map(this::info);
  }

  @Override
  public synchronized Optional<JobInfo> get(String namespace, String name) {
    Limits.checkNamespace(namespace);
    Limits.checkName(name);
    return Optional.ofNullable(find(other -> other.isLive() && other.isNamed(namespace, name)))
        .map(this::info);
  }

  private @Nullable Recorded find(Predicate<Recorded> which) {
    return all.stream().filter(which).findFirst().orElse(null);
  }

  private static boolean sameKey(Job<?> a, Job<?> b) {
    return Objects.equals(a.key(), b.key())
        && a.namespace().equals(b.namespace())
        && Objects.equals(a.name(), b.name());
  }

  private static boolean sameName(Recorded other, Job<?> job) {
    return other.isNamed(job.namespace(), Objects.requireNonNull(job.name()));
  }

  private JobInfo info(Recorded recorded) {
    Job<?> job = recorded.job;
    boolean live = recorded.isLive();
    Due due = job.due();
    return new JobInfo(
        recorded.id,
        job.typeName(),
        job.typeVersion(),
        job.namespace(),
        job.queue(),
        job.priority(),
        job.name(),
        job.key(),
        job.metadata(),
        live ? JobState.SCHEDULED : JobState.CANCELLED,
        null,
        now,
        due.from(now),
        0,
        null,
        live ? null : now,
        null,
        null,
        recorded.reason,
        job.timeout(),
        job.deadline(),
        !live,
        null,
        null,
        List.of(),
        null);
  }

  private static final class Recorded {
    final JobId id;
    final Job<?> job;

    /** Why it was cancelled; null while it lives. */
    @Nullable String reason;

    Recorded(JobId id, Job<?> job) {
      this.id = id;
      this.job = job;
    }

    boolean isLive() {
      return reason == null;
    }

    boolean isNamed(String namespace, String name) {
      return job.namespace().equals(namespace) && name.equals(job.name());
    }
  }

  private final class Handle<O> implements JobHandle<O> {
    private final Recorded recorded;
    private final boolean created;

    Handle(Recorded recorded, boolean created) {
      this.recorded = recorded;
      this.created = created;
    }

    @Override
    public JobId id() {
      return recorded.id;
    }

    @Override
    public boolean created() {
      return created;
    }

    @Override
    public JobInfo info() {
      return get(recorded.id).orElseThrow(() -> new JobNotFoundException(recorded.id));
    }

    @Override
    public CancelResult cancel(String reason) {
      return RecordingScheduler.this.cancel(recorded.id, reason);
    }

    @Override
    public <T> SignalResult signal(SignalType<T> type, @Nullable T payload) {
      throw runsNothing();
    }

    @Override
    public Subscription watch(Consumer<JobInfo> watcher) {
      throw runsNothing();
    }

    @Override
    public <T> Optional<T> published(TypeToken<T> type) {
      throw runsNothing();
    }

    @Override
    public @Nullable O result(Duration timeout) {
      throw runsNothing();
    }

    @Override
    public CompletableFuture<@Nullable O> resultAsync() {
      throw runsNothing();
    }

    private UnsupportedOperationException runsNothing() {
      return new UnsupportedOperationException(
          "job " + recorded.id + ": recorded and not run (expected: CarillonTest for results)");
    }
  }
}
