package dev.carillon;

import dev.carillon.api.CancelResult;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Subscription;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.engine.job.JobRef;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A job that is in the store, or will be with a transaction of the user's. The text of its id is
 * made only where somebody asks for it.
 */
final class ScheduledJob<O> implements JobHandle<O> {
  private final Carillon carillon;
  private final Supplier<JobId> id;
  private final boolean created;
  private final TypeToken<O> output;

  ScheduledJob(Carillon carillon, JobRef ref, boolean created, TypeToken<O> output) {
    this(carillon, ref::id, created, output);
  }

  ScheduledJob(Carillon carillon, Supplier<JobId> id, boolean created, TypeToken<O> output) {
    this.carillon = carillon;
    this.id = id;
    this.created = created;
    this.output = output;
  }

  @Override
  public JobId id() {
    return id.get();
  }

  @Override
  public boolean created() {
    return created;
  }

  @Override
  public JobInfo info() {
    return carillon.get(id()).orElseThrow(() -> new JobNotFoundException(id()));
  }

  @Override
  public CancelResult cancel(String reason) {
    return carillon.cancel(id(), reason);
  }

  @Override
  public <T> SignalResult signal(SignalType<T> type, @Nullable T payload) {
    return carillon.signal(id(), type, payload);
  }

  @Override
  public Subscription watch(Consumer<JobInfo> watcher) {
    return carillon.watch(id(), watcher);
  }

  @Override
  public <T> Optional<T> published(TypeToken<T> type) {
    return carillon.published(id(), type);
  }

  @Override
  public @Nullable O result(Duration timeout) {
    return carillon.result(id(), output, timeout);
  }

  @Override
  public CompletableFuture<@Nullable O> resultAsync() {
    return carillon.resultAsync(id(), output);
  }

  @Override
  public String toString() {
    return "JobHandle[" + id() + (created ? "]" : ", existing]");
  }
}
