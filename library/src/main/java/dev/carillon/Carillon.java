package dev.carillon;

import dev.carillon.api.BatchTooLargeException;
import dev.carillon.api.CancelResult;
import dev.carillon.api.ClosedException;
import dev.carillon.api.ControlResult;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.IfExists;
import dev.carillon.api.InvalidArgumentException;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobHandler;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobNotFoundException;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobScheduler;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.OutcomeUnknownException;
import dev.carillon.api.OverloadedException;
import dev.carillon.api.Page;
import dev.carillon.api.Schedule;
import dev.carillon.api.Subscription;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.UpcomingJob;
import dev.carillon.api.WaitInterruptedException;
import dev.carillon.engine.FlowSubject;
import dev.carillon.engine.JobReader;
import dev.carillon.engine.JobRef;
import dev.carillon.engine.JobSpec;
import dev.carillon.engine.JobView;
import dev.carillon.engine.Membership;
import dev.carillon.engine.Micros;
import dev.carillon.engine.NamedJobs;
import dev.carillon.engine.Retention;
import dev.carillon.engine.Ticket;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A durable job scheduler inside this process: one node on one store.
 *
 * <pre>{@code
 * static final TaskType<Mail> SEND = TaskType.of("send-mail", Mail.class);
 *
 * try (Carillon carillon = Carillon.open("jdbc:sqlite:jobs.db")) {
 *   carillon.handle(SEND, (mail, job) -> mailer.send(mail));
 *   carillon.schedule(SEND.job(mail).in(Duration.ofMinutes(10)));   // durable when it returns
 * }
 * }</pre>
 *
 * <p>Opening starts it; there is nothing else to start. Thread-safe. Handlers run at least once per
 * job, on virtual threads unless {@link HandlerOptions} say otherwise. If the process dies, what
 * was scheduled is found again at the next start and goes on.
 *
 * <p>Futures given out here are completed by a thread of Carillon's: code that blocks belongs into
 * their {@code …Async} methods. Blocking calls may be made from handlers.
 */
public final class Carillon implements JobScheduler, AutoCloseable {
  private final OpenNode opened;
  private final NodeLoop loop;
  private final JobLister lister;
  private final Inputs inputs;
  private final Specs specs;
  private final JobControl control;
  private final Requester self;
  private final DeadLetters deadLetters;
  private final Set<ResultWatch<?>> results = ConcurrentHashMap.newKeySet();

  private Carillon(OpenNode opened) {
    this.opened = opened;
    this.loop = opened.loop;
    this.specs = new Specs(opened.payloads, loop::nowMicros, opened.tickets);
    this.lister =
        new JobLister(
            opened.store,
            loop,
            head -> Retention.isOver(opened.options, head, opened.time.wallMicros()),
            this::isOver);
    this.inputs = new Inputs(opened.store, opened.reads, opened.payloads);
    this.control = new JobControl(loop, opened.tickets);
    this.self = new Requester(opened::requireOpen, control, opened.options.nodeId());
    this.deadLetters = new DeadLetters(this, control, opened.payloads);
  }

  // ---- opening and closing

  /**
   * Opens the store at a URL, making it where there is none, and starts.
   *
   * @param url {@code jdbc:sqlite:FILE}; {@code jdbc:postgresql://HOST/DATABASE} with the artifact
   *     {@code carillon-postgres}; see {@link AdvancedOptions#storeOption} for parameters
   * @return what is open until it is closed
   * @throws dev.carillon.api.InvalidArgumentException if the URL is of no supported store
   * @throws dev.carillon.api.StoreLockedException if another process has the store
   * @throws dev.carillon.api.StoreUnavailableException if it cannot be reached or written
   * @throws dev.carillon.api.StoreVersionException if a newer version wrote it
   * @throws dev.carillon.api.StoreCorruptedException if it is damaged
   */
  public static Carillon open(String url) {
    return builder().url(url).open();
  }

  /**
   * Opens the store behind a data source of PostgreSQL or SQLite and starts.
   *
   * @param dataSource the data source; of SQLite only its URL is used
   * @return what is open until it is closed
   * @throws dev.carillon.api.InvalidArgumentException if it is of no supported database
   */
  public static Carillon open(DataSource dataSource) {
    return builder().dataSource(dataSource).open();
  }

  /**
   * Starts with a new store in memory: for tests and work that may be lost with the process.
   *
   * @return what is open until it is closed
   */
  public static Carillon inMemory() {
    return builder().inMemory().open();
  }

  /**
   * All options.
   *
   * @return a builder with the defaults
   */
  public static CarillonBuilder builder() {
    return new CarillonBuilder();
  }

  static Carillon open(CarillonBuilder options) {
    return new Carillon(OpenNode.open(options));
  }

  /**
   * Stops: starts no further attempt, waits for the running ones within the grace, interrupts those
   * left, and closes the store. What has not ended goes on at the next start. Closing again, or
   * from several threads, is safe; all of them return when it is closed. Returns within the grace
   * and some seconds even if the store hangs.
   *
   * <p>Called by a handler, for which it would have to wait, it begins to close and returns at
   * once: the handler goes on to its end, which counts.
   */
  @Override
  public void close() {
    if (AttemptRun.isOnTheStack()) {
      Thread.ofPlatform().name("carillon-closer").start(this::closeAndWait);
    } else {
      closeAndWait();
    }
  }

  private void closeAndWait() {
    opened.close();
    results.forEach(ResultWatch::closed);
  }

  // ---- handlers

  /**
   * Registers the code that runs jobs of a type. Jobs that waited for it go at once.
   *
   * @param type the type
   * @param handler its code; see {@link JobHandler} for what it must bear
   * @param <I> the input
   * @param <O> the result
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  public <I, O> HandlerRegistration handle(
      JobType<I, O> type, JobHandler<? super I, ? extends O> handler) {
    return handle(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code that runs jobs of a type, with options.
   *
   * @param type the type
   * @param handler its code
   * @param options limit, timeout, threads, upcaster, policy and rule
   * @param <I> the input
   * @param <O> the result
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  public <I, O> HandlerRegistration handle(
      JobType<I, O> type, JobHandler<? super I, ? extends O> handler, HandlerOptions options) {
    Limits.checkPresent("type", type);
    Limits.checkPresent("handler", handler);
    return register(Registration.of(type, handler, Limits.checkPresent("options", options)));
  }

  /**
   * Registers the code that runs tasks of a type. Jobs that waited for it go at once.
   *
   * @param type the type
   * @param handler its code; see {@link TaskHandler} for what it must bear
   * @param <I> the input
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  public <I> HandlerRegistration handle(TaskType<I> type, TaskHandler<? super I> handler) {
    return handle(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code that runs tasks of a type, with options.
   *
   * @param type the type
   * @param handler its code
   * @param options limit, timeout, threads, upcaster, policy and rule
   * @param <I> the input
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  public <I> HandlerRegistration handle(
      TaskType<I> type, TaskHandler<? super I> handler, HandlerOptions options) {
    Limits.checkPresent("type", type);
    Limits.checkPresent("handler", handler);
    return register(Registration.of(type, handler, Limits.checkPresent("options", options)));
  }

  /**
   * Registers the code that runs tasks without input.
   *
   * @param type the type, of {@link TaskType#of(String)}
   * @param handler its code
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  public HandlerRegistration handle(TaskType<Void> type, TaskHandler.WithoutInput handler) {
    return handle(type, handler, HandlerOptions.defaults());
  }

  /**
   * Registers the code that runs tasks without input, with options.
   *
   * @param type the type, of {@link TaskType#of(String)}
   * @param handler its code
   * @param options limit, timeout, threads, upcaster, policy and rule
   * @return the registration, to be closed where the handler goes before Carillon does
   * @throws InvalidArgumentException if the type has a handler already, or this node is {@code
   *     clientOnly}
   */
  public HandlerRegistration handle(
      TaskType<Void> type, TaskHandler.WithoutInput handler, HandlerOptions options) {
    Limits.checkPresent("handler", handler);
    TaskHandler<Void> taken = (none, job) -> handler.run(job);
    return handle(type, taken, options);
  }

  private HandlerRegistration register(Registration registration) {
    opened.requireOpen();
    Membership membership = opened.options.membership();
    if (membership != null && membership.client()) {
      throw InvalidArgumentException.of(
          "type", registration.name(), "no handlers on a node that is clientOnly");
    }
    if (!opened.runner.register(registration)) {
      throw InvalidArgumentException.of(
          "type", registration.name(), "one without a handler; it has one");
    }
    opened.post(node -> node.register(registration.name(), registration.settings()));
    return new RegisteredHandler(loop, opened.runner, registration);
  }

  // ---- scheduling

  /**
   * Schedules a job: durable when this returns. Waits while too much is on its way to the store.
   *
   * @param job the request
   * @param <O> the result
   * @return the job, or the one that already has its name or key
   * @throws dev.carillon.api.InvalidJobException if the job is not acceptable
   * @throws dev.carillon.api.CodecException if its input cannot be encoded
   * @throws dev.carillon.api.NameTakenException if its name is taken and it says so
   * @throws OverloadedException if there was no room in time; not scheduled
   * @throws dev.carillon.api.StoreUnavailableException if the store did not take it; not scheduled.
   *     Thrown at once while the store is known to be away
   * @throws OutcomeUnknownException if it is not known whether it was scheduled
   * @throws WaitInterruptedException if this thread is interrupted before anything was written; not
   *     scheduled
   * @throws ClosedException if this is closed
   */
  @Override
  public <O> JobHandle<O> schedule(Job<O> job) {
    PendingAdd<O> pending = pending(job, null);
    enter(pending);
    return loop.post(pending).await();
  }

  /**
   * Declares a recurring job: creates it, or has the one of that name take over what differs. To be
   * called at each start of the program; see {@link dev.carillon.api.IfExists#UPDATE} for what is
   * kept. Durable when this returns.
   *
   * @param name the name, unique in the job's namespace
   * @param job what each occurrence runs
   * @param schedule when
   * @param <O> the result
   * @return the recurring job
   * @throws dev.carillon.api.InvalidJobException if the job is not acceptable, or the job of that
   *     name is of another type
   */
  public <O> JobHandle<O> recurring(String name, Job<O> job, Schedule schedule) {
    Job<O> named = Limits.checkPresent("job", job).named(name);
    return schedule(named.ifExists(IfExists.UPDATE).on(schedule));
  }

  /**
   * Schedules a job without waiting.
   *
   * @param job the request
   * @param <O> the result
   * @return completes when the job is durable, or exceptionally as {@link #schedule} throws; at
   *     once with {@link OverloadedException} if there is no room
   * @throws dev.carillon.api.InvalidJobException if the job is not acceptable
   * @throws dev.carillon.api.CodecException if its input cannot be encoded
   * @throws ClosedException if this is closed
   */
  public <O> CompletableFuture<JobHandle<O>> scheduleAsync(Job<O> job) {
    PendingAdd<O> pending = pending(job, new CompletableFuture<>());
    if (opened.admission.tryEnter(pending.weight())) {
      loop.post(pending);
    } else {
      pending.future().completeExceptionally(overloaded());
    }
    return pending.future();
  }

  private <O> PendingAdd<O> pending(Job<O> job, @Nullable CompletableFuture<JobHandle<O>> future) {
    Limits.checkPresent("job", job);
    opened.requireOpen();
    Job<O> asked = opened.runner.scheduling(job);
    return new PendingAdd<>(this, asked, specs.of(asked), future);
  }

  /**
   * Schedules jobs together: all of them or none, durable when this returns.
   *
   * @param jobs at most {@link Limits#BATCH_MAX_JOBS}, and no more bytes than the store takes at
   *     once; no name or key twice, and none to be replaced
   * @return the jobs, in the same order
   * @throws BatchTooLargeException if there are too many, or too large ones; nothing was written
   * @throws dev.carillon.api.InvalidJobException if one of them is not acceptable; nothing was
   *     written
   */
  @Override
  public List<JobHandle<?>> scheduleAll(List<? extends Job<?>> jobs) {
    return scheduleAll(jobs, batch -> {});
  }

  /**
   * Schedules a job in a transaction of the caller's: the job is there if and only if the
   * transaction commits. Its id is final at once. A node takes it within moments of the commit;
   * until then {@link #get} and {@link #history} show it as SCHEDULED, while {@link #cancel},
   * {@link #watch} and all other calls about it wait for that. Before the commit, and after a
   * rollback, there is no such job.
   *
   * <p>Times count from this call. Nothing but the database refuses the job later.
   *
   * @param connection a transaction in the database of the store
   * @param job the request, without name, key and dependencies, of which only a node that takes it
   *     could say whether they hold
   * @param <O> the result
   * @return the job to be
   * @throws dev.carillon.api.InvalidJobException if the job is not acceptable; nothing was written
   * @throws dev.carillon.api.CodecException if its input cannot be encoded; nothing was written
   * @throws InvalidArgumentException if the store takes part in no transactions of others, or the
   *     connection commits each statement by itself
   * @throws dev.carillon.api.StoreUnavailableException if the database refused: the transaction can
   *     only be rolled back
   */
  public <O> JobHandle<O> schedule(Connection connection, Job<O> job) {
    JobId id = write(connection, List.of(Limits.checkPresent("job", job))).getFirst();
    return new ScheduledJob<>(this, () -> id, true, job.outputType());
  }

  /**
   * Schedules jobs in a transaction of the caller's; see {@link #schedule(Connection, Job)}. A
   * transaction may hold any number of such calls.
   *
   * @param connection a transaction in the database of the store
   * @param jobs at most {@link Limits#BATCH_MAX_JOBS}, and no more bytes than the store takes at
   *     once
   * @return the jobs to be, in the same order
   * @throws BatchTooLargeException if there are too many, or too large ones; nothing was written
   */
  public List<JobHandle<?>> scheduleAll(Connection connection, List<? extends Job<?>> jobs) {
    List<JobId> ids = write(connection, jobs);
    List<JobHandle<?>> handles = new ArrayList<>(ids.size());
    for (int i = 0; i < ids.size(); i++) {
      JobId id = ids.get(i);
      handles.add(new ScheduledJob<>(this, () -> id, true, jobs.get(i).outputType()));
    }
    return handles;
  }

  private List<JobId> write(Connection connection, List<? extends Job<?>> jobs) {
    opened.requireOpen();
    Limits.checkPresent("connection", connection);
    Limits.checkBatch(Limits.checkPresent("jobs", jobs).size());
    List<JobSpec> all = new ArrayList<>(jobs.size());
    for (Job<?> job : jobs) {
      Job<?> asked = opened.runner.scheduling(Limits.checkPresent("job", job));
      Tickets.check(asked);
      all.add(specs.of(asked));
    }
    Tickets.checkBytes(all, opened.store.info().maxEntryBytes());
    return opened.tickets.write(connection, all);
  }

  /**
   * Schedules jobs together with one that starts when all of them have ended, in whatever way: all
   * or none, durable when this returns. That job sees how they ended by {@link
   * dev.carillon.api.JobContext#dependencies()}.
   *
   * @param members the jobs of the group; with the last one at most {@link Limits#BATCH_MAX_JOBS}
   * @param whenDone the job that starts when they have ended
   * @param <O> the result of that job
   * @return the group
   * @throws dev.carillon.api.InvalidJobException if there is no member, or a job is not acceptable;
   *     nothing was written
   */
  public <O> JobGroup<O> scheduleGroup(List<? extends Job<?>> members, Job<O> whenDone) {
    Limits.checkPresent("members", members);
    Limits.checkPresent("whenDone", whenDone);
    if (members.isEmpty()) {
      throw new dev.carillon.api.InvalidJobException("members: none (expected: at least one)");
    }
    if (whenDone.name() != null && whenDone.ifExists() != dev.carillon.api.IfExists.FAIL) {
      throw new dev.carillon.api.InvalidJobException(
          "ifExists: " + whenDone.ifExists() + " (expected: FAIL for the last job of a group)");
    }
    if (!whenDone.dependencies().isEmpty()) {
      throw new dev.carillon.api.InvalidJobException(
          "whenDone: waits for %d other jobs (expected: for the members only; make them members)"
              .formatted(whenDone.dependencies().size()));
    }
    List<Job<?>> jobs = new ArrayList<>(members);
    jobs.add(whenDone);
    List<JobHandle<?>> handles = scheduleAll(jobs, PendingBatch::tieLastToAll);
    JobRef last = ref(handles.getLast().id());
    return new JobGroup<>(
        new ScheduledJob<>(this, last, true, whenDone.outputType()),
        handles.subList(0, members.size()));
  }

  /**
   * Asks that a group does not run, or stops: its last job first, so that it does not start, then
   * all members that have not ended. Asking again is safe, and does the rest if this did not come
   * to its end.
   *
   * @param whenDone the last job of the group
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return what came of it for the last job
   */
  public CancelResult cancelGroup(JobId whenDone, String reason) {
    Limits.checkReason(reason);
    List<DependencyInfo> members = get(whenDone).map(JobInfo::dependencies).orElse(List.of());
    CancelResult result = cancel(whenDone, reason);
    for (DependencyInfo member : members) {
      if (!member.met()) {
        cancel(member.job(), reason);
      }
    }
    return result;
  }

  private List<JobHandle<?>> scheduleAll(
      List<? extends Job<?>> jobs, Consumer<PendingBatch> prepare) {
    opened.requireOpen();
    Limits.checkPresent("jobs", jobs);
    Limits.checkBatch(jobs.size());
    if (jobs.isEmpty()) {
      return List.of();
    }
    Specs.checkBatch(jobs);
    List<Job<?>> asked = jobs.stream().<Job<?>>map(opened.runner::scheduling).toList();
    List<JobSpec> all = asked.stream().<JobSpec>map(specs::of).toList();
    PendingBatch pending = new PendingBatch(this, asked, all);
    prepare.accept(pending);
    int most = Math.min(opened.store.info().maxEntryBytes(), opened.store.info().maxGroupBytes());
    if (pending.bytes() > most) {
      throw new BatchTooLargeException("bytes", pending.bytes(), most);
    }
    enter(pending);
    return loop.post(pending).await();
  }

  /** Waits for room; what does not get any was not scheduled. */
  private void enter(Pending<?> pending) {
    try {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (!opened.admission.enter(pending.weight(), pending.deadlineNanos)) {
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
            .formatted(
                opened.admission.jobs(), opened.admission.bytes(), opened.admission.limits()));
  }

  // ---- jobs

  /**
   * Asks that a job does not run, or stops. Asking again is safe.
   *
   * @param id the job
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return what came of it
   * @throws dev.carillon.api.StoreUnavailableException if it was not recorded, for want of a store
   * @throws OutcomeUnknownException if it is not known whether the cancel was recorded
   */
  @Override
  public CancelResult cancel(JobId id, String reason) {
    opened.requireOpen();
    Limits.checkPresent("id", id);
    Limits.checkReason(reason);
    return self.cancel(id, reason);
  }

  /**
   * Cancels every job that fits a query and has not ended, one after the other. Jobs that come
   * while this runs may be missed; asking again is safe.
   *
   * @param query which jobs; its page size and cursor do not matter
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return how many will not run, or were asked to stop
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached; some may
   *     have been cancelled
   */
  public long cancelAll(JobQuery query, String reason) {
    Limits.checkReason(reason);
    long cancelled = 0;
    JobQuery next = Limits.checkPresent("query", query).limit(Limits.PAGE_MAX_ITEMS).cursor(null);
    while (true) {
      Page<JobInfo> page = list(next);
      for (JobInfo job : page.items()) {
        if (!job.state().ended()) {
          CancelResult result = cancel(job.id(), reason);
          cancelled +=
              result instanceof CancelResult.Cancelled || result instanceof CancelResult.Stopping
                  ? 1
                  : 0;
        }
      }
      String cursor = page.next();
      if (cursor == null) {
        return cancelled;
      }
      next = next.cursor(cursor);
    }
  }

  /**
   * Names who asks for changes of jobs, for their history; without it that is the id of this node.
   *
   * @param who a person or a program; at most {@link Limits#REASON_MAX_BYTES}, not empty
   * @return the same methods to cancel, pause, resume and change a job, by that name
   * @throws dev.carillon.api.InvalidJobException if the name is empty or too long
   */
  public Requester as(String who) {
    return new Requester(this::requireOpen, control, Requester.check(who));
  }

  /**
   * Keeps a job from starting until it is {@linkplain #resume resumed}, across restarts. A running
   * attempt is asked to save and return ({@link dev.carillon.api.JobContext#pauseRequested}); if it
   * goes on to its end, that counts. Its deadline still applies. Pausing again is safe.
   *
   * @param id the job; a recurring one has no occurrences while it is paused
   * @param reason why, for those who look; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return what came of it
   * @throws dev.carillon.api.StoreUnavailableException if it was not recorded, for want of a store
   * @throws OutcomeUnknownException if it is not known whether it was recorded
   */
  public ControlResult pause(JobId id, String reason) {
    opened.requireOpen();
    Limits.checkReason(reason);
    return self.pause(id, reason);
  }

  /**
   * Lets a paused job go on. What a recurring one missed meanwhile follows its {@link
   * dev.carillon.api.Misfire} rule. Resuming a job that is not paused is safe.
   *
   * @param id the job
   * @return what came of it
   */
  public ControlResult resume(JobId id) {
    opened.requireOpen();
    return self.resume(id);
  }

  /**
   * Moves a job to another time, if no attempt of it runs. Of a recurring job the next occurrence
   * is moved; those after it keep their times.
   *
   * @param id the job
   * @param due when its next attempt is due; at once if that has passed
   * @return what came of it
   * @throws dev.carillon.api.InvalidJobException if the time is out of range
   */
  public ControlResult reschedule(JobId id, Instant due) {
    opened.requireOpen();
    return self.reschedule(id, due);
  }

  /**
   * Gives a recurring job another schedule, if no attempt of it runs. It keeps the count of its
   * occurrences, which replacing it under its name does not: {@code times(3)} for a job that has
   * had five leaves none, and is answered {@link ControlResult#NO_TIME_LEFT}, as is a schedule that
   * has ended. To end a job, cancel it.
   *
   * @param id the recurring job
   * @param schedule what it goes on by
   * @return what came of it
   */
  public ControlResult reschedule(JobId id, Schedule schedule) {
    opened.requireOpen();
    return self.reschedule(id, schedule);
  }

  /**
   * Gives a job another priority, if no attempt of it runs.
   *
   * @param id the job
   * @param priority from {@link Limits#PRIORITY_MIN} to {@link Limits#PRIORITY_MAX}
   * @return what came of it
   * @throws dev.carillon.api.InvalidJobException if it is out of range
   */
  public ControlResult prioritise(JobId id, int priority) {
    opened.requireOpen();
    return self.prioritise(id, priority);
  }

  /**
   * Has one more occurrence of a recurring job, now, whatever its schedule says. It is a job of its
   * own and does not count among the schedule's.
   *
   * @param id the recurring job
   * @return the occurrence's job
   * @throws JobNotFoundException if there is no such job, or it has ended
   * @throws dev.carillon.api.InvalidJobException if it is not recurring, or has too many
   *     occurrences that have not ended
   */
  public JobId trigger(JobId id) {
    opened.requireOpen();
    return control.occurrences(id, "triggering", dev.carillon.engine.Node::trigger).getFirst();
  }

  /**
   * Has the occurrences of a recurring job that its schedule had in a range of time, all of them or
   * none, each as a job of its own that is due at once.
   *
   * @param id the recurring job
   * @param from the first time of the range
   * @param to the last time of the range, not after now: what is to come the schedule does itself
   * @return the occurrences' jobs, oldest first; none where the schedule has no time in the range,
   *     as one of a fixed delay, whose times depend on when the last occurrence ended
   * @throws JobNotFoundException if there is no such job, or it has ended
   * @throws dev.carillon.api.InvalidJobException if the job is not recurring, the range is not over
   *     yet, or there would be too many occurrences that have not ended
   */
  public List<JobId> backfill(JobId id, Instant from, Instant to) {
    opened.requireOpen();
    Limits.checkDue(from);
    Limits.checkDue(to);
    checkOrder(from, to);
    Instant now = Micros.toInstant(opened.runner.wallMicros());
    if (to.isAfter(now)) {
      throw new dev.carillon.api.InvalidJobException(
          "to: " + to + " (expected: not after now, " + now + ")");
    }
    return control.occurrences(
        id, "backfilling", (node, job, answer) -> node.backfill(job, from, to, answer));
  }

  /**
   * What is known about a job now.
   *
   * @param id the job
   * @return a snapshot, or empty if there is no such job or its retention is over
   * @throws dev.carillon.api.StoreUnavailableException if it must be read and the store could not
   *     be reached
   */
  @Override
  public Optional<JobInfo> get(JobId id) {
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
    return loop.post(
            new Ask<Optional<JobInfo>>(
                loop,
                "reading job " + id,
                Ask.Effect.READS,
                (node, asked) ->
                    node.get(
                        ref,
                        outcome ->
                            StoreAnswers.pass(
                                outcome.map(found -> found.map(JobView::info)), asked))))
        .await();
  }

  /**
   * The job that has a name now: one read of the name's record and one of the job. A name is free
   * once its job has ended.
   *
   * @param namespace the namespace, such as {@link Job#DEFAULT_NAMESPACE}
   * @param name the name
   * @return a snapshot, or empty if no job that has not ended has the name
   * @throws InvalidArgumentException if namespace or name are not well-formed
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached
   */
  @Override
  public Optional<JobInfo> get(String namespace, String name) {
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

  /**
   * The input of a job, decoded as it was stored: no upcaster is asked.
   *
   * @param id the job
   * @param type the type of its input
   * @param <I> the input
   * @return the input; null if the job has none
   * @throws JobNotFoundException if there is no such job or its retention is over
   * @throws dev.carillon.api.CodecException if it cannot be decoded as that type
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached
   */
  public <I> @Nullable I input(JobId id, TypeToken<I> type) {
    opened.requireOpen();
    Limits.checkPresent("type", type);
    return inputs.decoded(ref(id), type);
  }

  /**
   * The input of a job, decoded as it was stored; see {@link #input(JobId, TypeToken)}.
   *
   * @param id the job
   * @param type the class of its input
   * @param <I> the input
   * @return the input; null if the job has none
   */
  public <I> @Nullable I input(JobId id, Class<I> type) {
    return input(id, TypeToken.of(type));
  }

  /**
   * The input of a job as its codec wrote it.
   *
   * @param id the job
   * @return the bytes and the name of the codec
   * @throws JobNotFoundException if there is no such job or its retention is over
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached
   */
  public RawPayload rawInput(JobId id) {
    opened.requireOpen();
    return inputs.raw(ref(id));
  }

  /**
   * The jobs that fit a query, in the order of {@link #list}. Pages are read as the stream is used
   * up, each of as many jobs as the query says, so memory holds one page; a stream that is left
   * early reads no more. Whatever throws in {@code list} throws where the stream is used.
   *
   * @param query which jobs, and where to begin
   * @return a sequential stream, which needs no closing
   */
  public Stream<JobInfo> stream(JobQuery query) {
    opened.requireOpen();
    return JobStream.of(this::list, Limits.checkPresent("query", query));
  }

  /**
   * A page of the jobs that fit a query, in a stable order. With {@link JobQuery#newestFirst()} it
   * has occurrences of recurring jobs too: one that the recurring job ran itself has the id of that
   * job, and {@link JobInfo#occurrence()} says which one it is. A job that is there throughout is
   * on exactly one page; reading ends also while others come and go. Jobs that cannot be read
   * because the store is damaged there are left out, and the page says so.
   *
   * @param query which jobs, and where to begin
   * @return the page
   * @throws dev.carillon.api.InvalidArgumentException if the cursor is not one that a page gave
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached
   */
  public Page<JobInfo> list(JobQuery query) {
    opened.requireOpen();
    Limits.checkPresent("query", query);
    JobId recurring = query.occurrencesOf();
    JobQuery placed = recurring != null ? query.occurrencesOf(ref(recurring).id()) : query;
    return opened.reads.await("listing jobs", () -> lister.list(placed));
  }

  /**
   * What is to run in a range of time, earliest first; paused jobs are left out. A job is there
   * when its next attempt is due, be that a retry, an occurrence with its jitter or what it was
   * rescheduled to; the later occurrences of a recurring job are there as its schedule has them,
   * without jitter, but for those that pass before that attempt. Of what has come before the range
   * and not run yet nothing is said.
   *
   * @param from the beginning of the range
   * @param to the end of the range, exclusive
   * @param namespace whose jobs
   * @return at most 10,000, the earliest
   * @throws dev.carillon.api.InvalidJobException if a cron of so many times has more than a million
   *     before the range, which would have to be counted to know whether it still has any in it
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached
   */
  public List<UpcomingJob> upcoming(Instant from, Instant to, String namespace) {
    opened.requireOpen();
    Limits.checkDue(from);
    Limits.checkDue(to);
    checkOrder(from, to);
    Limits.checkNamespace(namespace);
    return new Upcoming(this::list).between(from, to, namespace);
  }

  private static void checkOrder(Instant from, Instant to) {
    if (from.isAfter(to)) {
      throw InvalidArgumentException.of("from", from, "not after to, " + to);
    }
  }

  /**
   * What happened to a job: the newest {@link Limits#HISTORY_MAX_EVENTS} events. {@link
   * JobHistory#next()} says whether there are older ones.
   *
   * @param id the job
   * @return its history, or empty if there is no such job or its retention is over
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached
   */
  public Optional<JobHistory> history(JobId id) {
    return history(id, null);
  }

  /**
   * What happened to a job before what another page told. Every event that is there throughout is
   * on a page; one may be on two if the oldest were dropped, for their retention, while pages were
   * read.
   *
   * @param id the job
   * @param cursor {@link JobHistory#next()} of the page before, or null for the newest
   * @return the page, or empty if there is no such job or its retention is over
   * @throws dev.carillon.api.InvalidArgumentException if the cursor is not one that a page gave
   * @throws dev.carillon.api.StoreUnavailableException if the store could not be reached
   */
  public Optional<JobHistory> history(JobId id, @Nullable String cursor) {
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
    // The journal knows what happened, the node knows whether it runs now.
    return story
        .filter(found -> !isOver(found.view().info()))
        .map(
            found ->
                new JobHistory(
                    lister.standing(found.ref(), found.view().info()),
                    found.events(),
                    found.older() > 0 ? Integer.toString(found.older()) : null));
  }

  private boolean isOver(JobInfo job) {
    return Retention.isOver(opened.options, job, opened.time.wallMicros());
  }

  /**
   * Calls back with a job as it is now and after changes, until it has ended or the subscription is
   * closed; see {@link JobHandle#watch}. A job that has ended is told once. Waits for the store to
   * find the job; a store that does not answer is asked again later.
   *
   * @param id the job
   * @param watcher called with each snapshot
   * @return the subscription
   * @throws JobNotFoundException if there is no such job or its retention is over
   * @throws dev.carillon.api.StoreCorruptedException if the job cannot be read
   */
  public Subscription watch(JobId id, Consumer<JobInfo> watcher) {
    opened.requireOpen();
    Limits.checkPresent("watcher", watcher);
    Watch watch = new Watch(loop, ref(id), watcher, opened.reports);
    watch.begin();
    return watch;
  }

  /**
   * Waits for a job to succeed and returns its result; see {@link JobHandle#result}.
   *
   * @param id the job
   * @param type the type of its result
   * @param timeout how long to wait
   * @param <O> the result
   * @return the result; null for tasks and for handlers that returned null
   */
  public <O> @Nullable O result(JobId id, TypeToken<O> type, Duration timeout) {
    opened.requireOpen();
    Limits.checkPresent("type", type);
    Limits.checkPresent("timeout", timeout);
    ResultWatch<O> watch = new ResultWatch<>(loop, ref(id), null);
    results.add(watch);
    try {
      watch.begin();
      watch.await(timeout);
      return watch.result(type, opened.payloads);
    } finally {
      results.remove(watch);
    }
  }

  /**
   * The result of a job, when it ends; see {@link JobHandle#resultAsync}.
   *
   * @param id the job
   * @param type the type of its result
   * @param <O> the result
   * @return a future of the result
   */
  public <O> CompletableFuture<@Nullable O> resultAsync(JobId id, TypeToken<O> type) {
    opened.requireOpen();
    Limits.checkPresent("id", id);
    Limits.checkPresent("type", type);
    var future = new CompletableFuture<@Nullable O>();
    if (!Ticket.is(id.value())) {
      watchResult(ref(id), type, future);
      return future;
    }
    Thread.ofVirtual()
        .name("carillon-ticket")
        .start(
            () -> {
              try {
                watchResult(ref(id), type, future);
              } catch (Throwable e) {
                future.completeExceptionally(e);
              }
            });
    return future;
  }

  private <O> void watchResult(
      JobRef ref, TypeToken<O> type, CompletableFuture<@Nullable O> future) {
    ResultWatch<O> watch =
        new ResultWatch<>(
            loop,
            ref,
            over -> {
              results.remove(over);
              loop.outside(() -> complete(future, over, type));
            });
    results.add(watch);
    watch.begin();
  }

  private <O> void complete(
      CompletableFuture<@Nullable O> future, ResultWatch<O> watch, TypeToken<O> type) {
    try {
      future.complete(watch.result(type, opened.payloads));
    } catch (Throwable e) {
      future.completeExceptionally(e);
    }
  }

  private JobRef ref(JobId id) {
    Limits.checkPresent("id", id);
    JobRef ref = opened.tickets.place(id);
    if (ref == null) {
      throw new JobNotFoundException(id);
    }
    return ref;
  }

  /**
   * Pauses, limits and rates of a queue, over all namespaces.
   *
   * @param queue the queue, which need not have any job
   * @return what is set about it, to look at and to change
   * @throws dev.carillon.api.InvalidJobException if the name is not well-formed
   */
  public FlowControl queue(String queue) {
    return new FlowControl(
        this, loop, new FlowSubject(FlowSubject.Scope.QUEUE, Limits.checkQueue(queue)));
  }

  /**
   * Pauses, limits and rates of a namespace.
   *
   * @param namespace the namespace, which need not have any job
   * @return what is set about it, to look at and to change
   * @throws dev.carillon.api.InvalidJobException if the name is not well-formed
   */
  public FlowControl namespace(String namespace) {
    return new FlowControl(
        this, loop, new FlowSubject(FlowSubject.Scope.NAMESPACE, Limits.checkNamespace(namespace)));
  }

  /**
   * Jobs that were given up, to look at, replay or discard.
   *
   * @return the dead letters of the store
   */
  public DeadLetters deadLetters() {
    return deadLetters;
  }

  /**
   * This node for its operators: health checks, statistics, the members of the cluster, and drain.
   *
   * @return the node of this Carillon
   */
  public NodeControl node() {
    return opened.control;
  }

  void requireOpen() {
    opened.requireOpen();
  }

  NodeLoop loop() {
    return loop;
  }
}
