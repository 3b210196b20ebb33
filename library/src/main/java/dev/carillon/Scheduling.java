package dev.carillon;

import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.BatchTooLargeException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.OverloadedException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.request.AddRequest;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes jobs from callers: checks and encodes a request on the caller's thread, waits for
 * admission, and posts it to the loop. Jobs of a caller's transaction go to the store directly.
 * Thread-safe.
 */
final class Scheduling {
  private final Carillon carillon;
  private final OpenNode opened;
  private final NodeLoop loop;
  private final HandlerRunner runner;
  private final Admission admission;
  private final Specs specs;

  /**
   * The way of jobs into a node.
   *
   * @param carillon answers the calls on the handles that are given out
   */
  Scheduling(Carillon carillon, OpenNode opened) {
    this.carillon = carillon;
    this.opened = opened;
    this.loop = opened.loop;
    this.runner = opened.runner;
    this.admission = opened.admission;
    this.specs = new Specs(opened.payloads, loop::nowMicros, opened.tickets);
  }

  // ---- one job

  <O> JobHandle<O> one(Job<O> job) {
    return one(job, request -> {});
  }

  /** The request goes as {@code prepare} leaves it. */
  <O> JobHandle<O> one(Job<O> job, Consumer<AddRequest> prepare) {
    PendingAdd<O> pending = pending(job, null);
    pending.prepare(prepare);
    enter(pending);
    return loop.post(pending).await();
  }

  <O> CompletableFuture<JobHandle<O>> oneAsync(Job<O> job) {
    PendingAdd<O> pending = pending(job, new CompletableFuture<>());
    if (admission.tryEnter(pending.weight())) {
      loop.post(pending);
    } else {
      pending.future().completeExceptionally(overloaded());
    }
    return pending.future();
  }

  private <O> PendingAdd<O> pending(Job<O> job, @Nullable CompletableFuture<JobHandle<O>> future) {
    Limits.checkPresent("job", job);
    opened.requireOpen();
    Job<O> asked = runner.scheduling(job);
    return new PendingAdd<>(carillon, asked, specs.of(asked), future);
  }

  // ---- all or none

  List<JobHandle<?>> all(List<? extends Job<?>> jobs) {
    return all(jobs, batch -> {});
  }

  <O> JobGroup<O> group(List<? extends Job<?>> members, Job<O> whenDone) {
    Limits.checkPresent("members", members);
    Limits.checkPresent("whenDone", whenDone);
    if (members.isEmpty()) {
      throw new InvalidJobException("members: none (expected: at least one)");
    }
    if (whenDone.name() != null && whenDone.ifExists() != IfExists.FAIL) {
      throw new InvalidJobException(
          "ifExists: " + whenDone.ifExists() + " (expected: FAIL for the last job of a group)");
    }
    if (!whenDone.dependencies().isEmpty()) {
      throw new InvalidJobException(
          "whenDone: waits for %d other jobs (expected: for the members only; make them members)"
              .formatted(whenDone.dependencies().size()));
    }
    List<Job<?>> jobs = new ArrayList<>(members);
    jobs.add(whenDone);
    List<JobHandle<?>> handles = all(jobs, PendingBatch::tieLastToAll);
    JobId last = handles.getLast().id();
    return new JobGroup<>(handle(last, whenDone.outputType()), handles.subList(0, members.size()));
  }

  private List<JobHandle<?>> all(List<? extends Job<?>> jobs, Consumer<PendingBatch> prepare) {
    opened.requireOpen();
    Limits.checkPresent("jobs", jobs);
    Limits.checkBatch(jobs.size());
    if (jobs.isEmpty()) {
      return List.of();
    }
    Specs.checkBatch(jobs);
    List<Job<?>> asked = jobs.stream().<Job<?>>map(runner::scheduling).toList();
    List<JobSpec> all = asked.stream().<JobSpec>map(specs::of).toList();
    PendingBatch pending = new PendingBatch(carillon, asked, all);
    prepare.accept(pending);
    int most = Math.min(opened.store.info().maxEntryBytes(), opened.store.info().maxGroupBytes());
    if (pending.bytes() > most) {
      throw new BatchTooLargeException("bytes", pending.bytes(), most);
    }
    enter(pending);
    return loop.post(pending).await();
  }

  // ---- in a transaction of the caller

  <O> JobHandle<O> one(Connection connection, Job<O> job) {
    JobId id = write(connection, List.of(Limits.checkPresent("job", job))).getFirst();
    return handle(id, job.outputType());
  }

  List<JobHandle<?>> all(Connection connection, List<? extends Job<?>> jobs) {
    List<JobId> ids = write(connection, jobs);
    List<JobHandle<?>> handles = new ArrayList<>(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      handles.add(handle(ids.get(i), jobs.get(i).outputType()));
    }
    return handles;
  }

  private List<JobId> write(Connection connection, List<? extends Job<?>> jobs) {
    opened.requireOpen();
    Limits.checkPresent("connection", connection);
    Limits.checkBatch(Limits.checkPresent("jobs", jobs).size());
    List<JobSpec> all = new ArrayList<>(jobs.size());
    for (Job<?> job : jobs) {
      Job<?> asked = runner.scheduling(Limits.checkPresent("job", job));
      Tickets.check(asked);
      all.add(specs.of(asked));
    }
    Tickets.checkBytes(all, opened.store.info().maxEntryBytes());
    return opened.tickets.write(connection, all);
  }

  // ---- shared

  private <O> JobHandle<O> handle(JobId id, TypeToken<O> output) {
    return new ScheduledJob<>(carillon, () -> id, true, output);
  }

  /** Waits for admission; a request that is not admitted was not scheduled. */
  private void enter(Pending<?> pending) {
    try {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (!admission.enter(pending.weight(), pending.deadlineNanos)) {
        throw overloaded();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WaitInterruptedException(
          pending.what() + ": interrupted before anything was written", e);
    }
  }

  private OverloadedException overloaded() {
    return new OverloadedException(
        "waiting for the store: %s jobs, %s bytes (expected: up to %s); not scheduled"
            .formatted(admission.jobs(), admission.bytes(), admission.limits()));
  }
}
