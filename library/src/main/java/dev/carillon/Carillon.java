package dev.carillon;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobHandler;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobScheduler;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.Page;
import dev.carillon.api.PauseMode;
import dev.carillon.api.Subscription;
import dev.carillon.api.TaskHandler;
import dev.carillon.api.TaskType;
import dev.carillon.api.TypeToken;
import dev.carillon.api.UpcomingJob;
import dev.carillon.api.error.BatchTooLargeException;
import dev.carillon.api.error.ClosedException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.OverloadedException;
import dev.carillon.api.error.WaitInterruptedException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.api.workflow.WorkflowHandler;
import dev.carillon.api.workflow.WorkflowTask;
import dev.carillon.engine.Node;
import dev.carillon.engine.format.Micros;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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
 * <p>Opening starts the node; there is nothing else to start. Handlers run at least once per job,
 * on virtual threads unless {@link HandlerOptions} say otherwise. If the process dies, the next
 * start finds the scheduled jobs again and goes on with them. Thread-safe.
 *
 * <p>A thread of Carillon completes the futures that are given out here: code that blocks belongs
 * into their {@code …Async} methods. Handlers may make blocking calls.
 *
 * <p>Operators find health checks, statistics and the members of a cluster in {@link #node()},
 * pauses, limits and rates in {@link #queue} and {@link #namespace}, and given-up jobs in {@link
 * #deadLetters()}.
 */
public final class Carillon implements JobScheduler, HandlerRegistry, AutoCloseable {
  private final OpenNode opened;
  private final NodeLoop loop;
  private final Scheduling scheduling;
  private final JobQueries queries;
  private final Diagnosis diagnosis;
  private final Results results;
  private final JobControl control;
  private final Requester.Parts requests;
  private final Requester self;
  private final BulkCancel bulkCancel;
  private final DeadLetters deadLetters;

  private Carillon(OpenNode opened) {
    this.opened = opened;
    this.loop = opened.loop;
    this.scheduling = new Scheduling(this, opened);
    this.queries = new JobQueries(opened);
    this.diagnosis = new Diagnosis(opened, queries);
    this.results = new Results(opened);
    this.control = new JobControl(loop, opened.tickets);
    Signals signals = new Signals(loop, opened.tickets, opened.payloads);
    this.deadLetters = new DeadLetters(opened, queries, control);
    this.requests = new Requester.Parts(opened, control, scheduling, deadLetters, signals);
    this.self = new Requester(requests, opened.options.nodeId());
    this.bulkCancel = new BulkCancel(queries, self);
  }

  // ---- opening and closing

  /**
   * Opens the store at a URL, making it where there is none, and starts.
   *
   * @param url {@code jdbc:sqlite:FILE}; {@code jdbc:postgresql://HOST/DATABASE} with the artifact
   *     {@code carillon-postgres}; see {@link AdvancedOptions#storeOption} for parameters
   * @return a Carillon that is open until it is closed
   * @throws dev.carillon.api.error.InvalidArgumentException if the URL is of no supported store
   * @throws dev.carillon.api.error.StoreLockedException if another process has the store
   * @throws dev.carillon.api.error.StoreUnavailableException if it cannot be reached or written
   * @throws dev.carillon.api.error.StoreVersionException if a newer version wrote it
   * @throws dev.carillon.api.error.StoreCorruptedException if it is damaged
   */
  public static Carillon open(String url) {
    return builder().url(url).open();
  }

  /**
   * Opens the store behind a data source of PostgreSQL or SQLite and starts.
   *
   * @param dataSource the data source; of SQLite only its URL is used
   * @return a Carillon that is open until it is closed
   * @throws dev.carillon.api.error.InvalidArgumentException if it is of no supported database
   */
  public static Carillon open(DataSource dataSource) {
    return builder().dataSource(dataSource).open();
  }

  /**
   * Starts with a new store in memory: for tests and work that may be lost with the process.
   *
   * @return a Carillon that is open until it is closed
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
   * Stops the node: starts no further attempt, waits for the running ones within the grace,
   * interrupts those left, and closes the store. Jobs that have not ended go on at the next start.
   * Closing again, or from several threads, is safe; each of these calls returns when Carillon is
   * closed. Returns within the grace and some seconds even if the store hangs.
   *
   * <p>A handler may call it, though close would have to wait for that handler: the call then
   * begins to close and returns at once. The handler goes on to its end, which counts.
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
    results.close();
  }

  // ---- handlers

  @Override
  public <I, O> HandlerRegistration handle(
      JobType<I, O> type, JobHandler<? super I, ? extends O> handler, HandlerOptions options) {
    Limits.checkPresent("type", type);
    Limits.checkPresent("handler", handler);
    return register(Registration.of(type, handler, Limits.checkPresent("options", options)));
  }

  @Override
  public <I> HandlerRegistration handle(
      TaskType<I> type, TaskHandler<? super I> handler, HandlerOptions options) {
    Limits.checkPresent("type", type);
    Limits.checkPresent("handler", handler);
    return register(Registration.of(type, handler, Limits.checkPresent("options", options)));
  }

  @Override
  public <I, O> HandlerRegistration workflow(
      JobType<I, O> type, WorkflowHandler<? super I, ? extends O> handler, HandlerOptions options) {
    Limits.checkPresent("type", type);
    Limits.checkPresent("handler", handler);
    return register(
        Registration.ofWorkflow(type, handler, Limits.checkPresent("options", options)));
  }

  @Override
  public <I> HandlerRegistration workflow(
      TaskType<I> type, WorkflowTask<? super I> handler, HandlerOptions options) {
    Limits.checkPresent("type", type);
    Limits.checkPresent("handler", handler);
    return register(
        Registration.ofWorkflow(type, handler, Limits.checkPresent("options", options)));
  }

  private HandlerRegistration register(Registration registration) {
    return RegisteredHandler.register(opened, registration);
  }

  // ---- scheduling

  /**
   * Schedules a job: durable when this returns. Waits while too many requests are on their way to
   * the store.
   *
   * @param job the request
   * @param <O> the result
   * @return the job, or the one that already has its name or key
   * @throws dev.carillon.api.error.InvalidJobException if the job is not acceptable
   * @throws dev.carillon.api.error.CodecException if its input cannot be encoded
   * @throws dev.carillon.api.error.NameTakenException if its name is taken and it says so
   * @throws OverloadedException if there was no room in time; not scheduled
   * @throws dev.carillon.api.error.StoreUnavailableException if the store did not take it; not
   *     scheduled. Thrown at once while the store is known to be away
   * @throws OutcomeUnknownException if it is not known whether it was scheduled
   * @throws WaitInterruptedException if this thread is interrupted before anything was written; not
   *     scheduled
   * @throws ClosedException if this is closed
   */
  @Override
  public <O> JobHandle<O> schedule(Job<O> job) {
    return scheduling.one(job);
  }

  /**
   * Declares a recurring job: creates it, or updates the job of that name where it differs. Meant
   * to be called at each start of the program; {@link dev.carillon.api.IfExists#UPDATE} says which
   * parts of the job are kept. Durable when this returns.
   *
   * @param name the name, unique in the job's namespace
   * @param job the job that each occurrence runs
   * @param schedule when
   * @param <O> the result
   * @return the recurring job
   * @throws dev.carillon.api.error.InvalidJobException if the job is not acceptable, or the job of
   *     that name is of another type
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
   * @throws dev.carillon.api.error.InvalidJobException if the job is not acceptable
   * @throws dev.carillon.api.error.CodecException if its input cannot be encoded
   * @throws ClosedException if this is closed
   */
  public <O> CompletableFuture<JobHandle<O>> scheduleAsync(Job<O> job) {
    return scheduling.oneAsync(job);
  }

  /**
   * Schedules jobs together: all of them or none, durable when this returns.
   *
   * @param jobs at most {@link Limits#BATCH_MAX_JOBS}, and no more bytes than the store takes at
   *     once; no name or key twice, and none to be replaced
   * @return the jobs, in the same order
   * @throws BatchTooLargeException if there are too many, or too large ones; nothing was written
   * @throws dev.carillon.api.error.InvalidJobException if one of them is not acceptable; nothing
   *     was written
   */
  @Override
  public List<JobHandle<?>> scheduleAll(List<? extends Job<?>> jobs) {
    return scheduling.all(jobs);
  }

  /**
   * Schedules a job in a transaction of the caller: the job exists if and only if the transaction
   * commits. Its id is final at once. Before the commit, and after a rollback, there is no such
   * job.
   *
   * <p>A node takes the job within moments of the commit. Until then {@link #get} and {@link
   * #history} show it as SCHEDULED, while {@link #cancel}, {@link #watch} and all other calls about
   * it wait for that node.
   *
   * <p>Times count from this call. After it returns only the database can refuse the job.
   *
   * @param connection a transaction in the database of the store
   * @param job the request, without name, key and dependencies: only the node that takes the job
   *     could check them, after this call has returned
   * @param <O> the result
   * @return the job to be
   * @throws dev.carillon.api.error.InvalidJobException if the job is not acceptable; nothing was
   *     written
   * @throws dev.carillon.api.error.CodecException if its input cannot be encoded; nothing was
   *     written
   * @throws InvalidArgumentException if the store takes part in no transactions of others, or the
   *     connection commits each statement by itself
   * @throws dev.carillon.api.error.StoreUnavailableException if the database refused: the
   *     transaction can only be rolled back
   */
  public <O> JobHandle<O> schedule(Connection connection, Job<O> job) {
    return scheduling.one(connection, job);
  }

  /**
   * Schedules jobs in a transaction of the caller; see {@link #schedule(Connection, Job)}. A
   * transaction may hold any number of such calls.
   *
   * @param connection a transaction in the database of the store
   * @param jobs at most {@link Limits#BATCH_MAX_JOBS}, and no more bytes than the store takes at
   *     once
   * @return the jobs to be, in the same order
   * @throws BatchTooLargeException if there are too many, or too large ones; nothing was written
   */
  public List<JobHandle<?>> scheduleAll(Connection connection, List<? extends Job<?>> jobs) {
    return scheduling.all(connection, jobs);
  }

  /**
   * Schedules jobs together with a last job that starts when all of them have ended, in whatever
   * way: all or none, durable when this returns. The last job sees how the others ended by {@link
   * dev.carillon.api.JobContext#dependencies()}.
   *
   * @param members the jobs of the group; with the last one at most {@link Limits#BATCH_MAX_JOBS}
   * @param whenDone the job that starts when they have ended
   * @param <O> the result of that job
   * @return the group
   * @throws dev.carillon.api.error.InvalidJobException if there is no member, or a job is not
   *     acceptable; nothing was written
   */
  public <O> JobGroup<O> scheduleGroup(List<? extends Job<?>> members, Job<O> whenDone) {
    return scheduling.group(members, whenDone);
  }

  // ---- changing jobs

  /**
   * Asks that a job does not run, or stops. Asking again is safe.
   *
   * @param id the job
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return how the job took it
   * @throws dev.carillon.api.error.StoreUnavailableException if it was not recorded, for want of a
   *     store
   * @throws OutcomeUnknownException if it is not known whether the cancel was recorded
   */
  @Override
  public CancelResult cancel(JobId id, String reason) {
    return self.cancel(id, reason);
  }

  /**
   * Ends a workflow and its children without running their compensations: for a workflow that a
   * {@link #cancel} does not end, because its code or a compensation is stuck. The job ends as
   * {@link dev.carillon.api.JobState#CANCELLED}; its reason begins with "terminated". None of its
   * code runs once this has returned, but for a step that is under way: it is interrupted, and what
   * it does afterwards is not recorded. A job that has nothing to compensate, since it is no
   * workflow or its code has made no call, is cancelled. Asking again is safe.
   *
   * @param id the job
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return {@link CancelResult.Cancelled} where it has ended; {@link CancelResult.Stopping} where
   *     that is durably asked for and it ends once its children are asked too, also after a crash
   * @throws dev.carillon.api.error.StoreUnavailableException if it was not recorded, for want of a
   *     store
   * @throws OutcomeUnknownException if it is not known whether it was recorded
   */
  public CancelResult terminate(JobId id, String reason) {
    return self.terminate(id, reason);
  }

  /**
   * Cancels every job that fits a query and has not ended, one after the other. Jobs that come
   * while this runs may be missed; asking again is safe.
   *
   * @param query which jobs; its page size and cursor do not matter
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return how many will not run, or were asked to stop
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached;
   *     some may have been cancelled
   */
  public long cancelAll(JobQuery query, String reason) {
    return bulkCancel.all(query, reason);
  }

  /**
   * Asks that a group does not run, or stops: its last job first, so that it does not start, then
   * all members that have not ended. Asking again is safe, and cancels the rest of the group if an
   * earlier call did not come to its end.
   *
   * @param whenDone the last job of the group
   * @param reason why, for the history; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return how the last job took it
   */
  public CancelResult cancelGroup(JobId whenDone, String reason) {
    return bulkCancel.group(whenDone, reason);
  }

  /**
   * Names the person or program that asks for changes of jobs, for the history of the jobs. Without
   * it the history shows the id of this node.
   *
   * @param who a person or a program; at most {@link Limits#REASON_MAX_BYTES}, not empty
   * @return the same methods to cancel, pause, resume, change, replay or signal a job, by that name
   * @throws dev.carillon.api.error.InvalidJobException if the name is empty or too long
   */
  public Requester as(String who) {
    return new Requester(requests, Requester.check(who));
  }

  /**
   * Keeps a job from starting until it is {@linkplain #resume resumed}, across restarts. A running
   * attempt is asked to save and return ({@link dev.carillon.api.JobContext#pauseRequested}); if it
   * goes on to its end, that counts. Its deadline still applies. Pausing again is safe.
   *
   * @param id the job; a recurring one has no occurrences while it is paused
   * @param reason why, for those who look; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @return {@link ControlResult#DONE}, or why not
   * @throws dev.carillon.api.error.StoreUnavailableException if it was not recorded, for want of a
   *     store
   * @throws OutcomeUnknownException if it is not known whether it was recorded
   */
  public ControlResult pause(JobId id, String reason) {
    return self.pause(id, reason);
  }

  /**
   * The same, and says what becomes of what runs. Once this has returned {@link ControlResult#DONE}
   * for a workflow, neither it nor a child of it begins a call until it is resumed.
   *
   * @param id the job; with a workflow its children are paused, and resumed with it
   * @param reason why, for those who look; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @param mode whether handlers and steps that run are interrupted
   * @return {@link ControlResult#DONE}, or why not
   */
  public ControlResult pause(JobId id, String reason, PauseMode mode) {
    return self.pause(id, reason, mode);
  }

  /**
   * Sends a signal to a workflow. It is durable when this returns, also where the workflow does not
   * await it yet: signals of a type are taken in the order in which they came.
   *
   * @param id the workflow
   * @param type the type of the signal
   * @param payload what it carries, at most {@link Limits#SIGNAL_MAX_BYTES} encoded; null for
   *     nothing
   * @param <T> what a signal of the type carries
   * @return {@link SignalResult#DONE}, or why not
   * @throws dev.carillon.api.error.OutcomeUnknownException if it is not known whether it was taken;
   *     send it under a key to be able to ask again
   */
  public <T> SignalResult signal(JobId id, SignalType<T> type, @Nullable T payload) {
    return self.signal(id, type, payload, null);
  }

  /**
   * The same as {@link #signal(JobId, SignalType, Object)}, taken once however often it is sent.
   *
   * @param key tells it from others; at most {@link Limits#KEY_MAX_BYTES}. A workflow remembers its
   *     last 1,000 keys
   * @return {@link SignalResult#DONE}, {@link SignalResult#TAKEN_BEFORE}, or why not
   */
  public <T> SignalResult signal(JobId id, SignalType<T> type, @Nullable T payload, String key) {
    return self.signal(id, type, payload, Limits.checkKey(key));
  }

  /**
   * Lets a paused job go on. Occurrences that a recurring job missed meanwhile follow its {@link
   * dev.carillon.api.schedule.Misfire} rule. Resuming a job that is not paused is safe.
   *
   * @param id the job
   * @return {@link ControlResult#DONE}, or why not
   */
  public ControlResult resume(JobId id) {
    return self.resume(id);
  }

  /**
   * Moves a job to another time, if no attempt of it runs. Of a recurring job the next occurrence
   * is moved; those after it keep their times.
   *
   * @param id the job
   * @param due when its next attempt is due; at once if that has passed
   * @return {@link ControlResult#DONE}, or why not
   * @throws dev.carillon.api.error.InvalidJobException if the time is out of range
   */
  public ControlResult reschedule(JobId id, Instant due) {
    return self.reschedule(id, due);
  }

  /**
   * Gives a recurring job another schedule, if no attempt of it runs. The job keeps the count of
   * its occurrences, which replacing it under its name does not. A schedule that leaves no time is
   * answered {@link ControlResult#NO_TIME_LEFT}: {@code times(3)} for a job that has had five
   * occurrences, or a schedule that has ended. To end a job, cancel it.
   *
   * @param id the recurring job
   * @param schedule the schedule that it goes on by
   * @return {@link ControlResult#DONE}, or why not
   */
  public ControlResult reschedule(JobId id, Schedule schedule) {
    return self.reschedule(id, schedule);
  }

  /**
   * Gives a job another priority, if no attempt of it runs.
   *
   * @param id the job
   * @param priority from {@link Limits#PRIORITY_MIN} to {@link Limits#PRIORITY_MAX}
   * @return {@link ControlResult#DONE}, or why not
   * @throws dev.carillon.api.error.InvalidJobException if it is out of range
   */
  public ControlResult prioritise(JobId id, int priority) {
    return self.prioritise(id, priority);
  }

  /**
   * Runs one more occurrence of a recurring job now, whatever its schedule says. The occurrence is
   * a job of its own and does not count among those of the schedule.
   *
   * @param id the recurring job
   * @return the occurrence's job
   * @throws JobNotFoundException if there is no such job, or it has ended
   * @throws dev.carillon.api.error.InvalidJobException if it is not recurring, or has too many
   *     occurrences that have not ended
   */
  public JobId trigger(JobId id) {
    opened.requireOpen();
    return control.occurrences(id, "triggering", Node::trigger).getFirst();
  }

  /**
   * Runs the occurrences of a recurring job that its schedule had in a range of time: all of them
   * or none, each as a job of its own that is due at once.
   *
   * @param id the recurring job
   * @param from the first time of the range
   * @param to the last time of the range, not after now: the schedule itself runs later times
   * @return the occurrences' jobs, oldest first; none where the schedule has no time in the range,
   *     as one of a fixed delay, whose times depend on when the last occurrence ended
   * @throws JobNotFoundException if there is no such job, or it has ended
   * @throws dev.carillon.api.error.InvalidJobException if the job is not recurring, the range is
   *     not over yet, or there would be too many occurrences that have not ended
   */
  public List<JobId> backfill(JobId id, Instant from, Instant to) {
    opened.requireOpen();
    return control.backfill(
        id, new TimeRange(from, to), Micros.toInstant(opened.time.wallMicros()));
  }

  // ---- reading jobs

  /**
   * The state of a job now.
   *
   * @param id the job
   * @return a snapshot, or empty if there is no such job or its retention is over
   * @throws dev.carillon.api.error.StoreUnavailableException if it must be read and the store could
   *     not be reached
   */
  @Override
  public Optional<JobInfo> get(JobId id) {
    return queries.get(id);
  }

  /**
   * The job that has a name now: one read of the name's record and one of the job. A name is free
   * once its job has ended.
   *
   * @param namespace the namespace, such as {@link Job#DEFAULT_NAMESPACE}
   * @param name the name
   * @return a snapshot, or empty if no job that has not ended has the name
   * @throws InvalidArgumentException if namespace or name are not well-formed
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  @Override
  public Optional<JobInfo> get(String namespace, String name) {
    return queries.get(namespace, name);
  }

  /**
   * The job that was scheduled under an idempotency key, while the key is remembered: one read of
   * the key's record and one of the job. A job that has a name too is found by that.
   *
   * @param namespace the namespace, such as {@link Job#DEFAULT_NAMESPACE}
   * @param key the idempotency key
   * @return a snapshot of the job, which may have ended; empty if there is none
   * @throws InvalidArgumentException if namespace or key are not well-formed
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public Optional<JobInfo> ofKey(String namespace, String key) {
    return queries.ofKey(namespace, key);
  }

  /**
   * What the code of a workflow published last; see {@link dev.carillon.api.JobHandle#published}.
   *
   * @param id the job
   * @param type the type to decode it to
   * @param <T> what it is
   * @return the value, or empty if there is none
   * @throws JobNotFoundException if there is no such job or its retention is over
   * @throws dev.carillon.api.error.CodecException if it cannot be decoded to the type
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public <T> Optional<T> published(JobId id, TypeToken<T> type) {
    return queries.published(id, type);
  }

  /**
   * The input of a job, decoded as it was stored: no upcaster is asked.
   *
   * @param id the job
   * @param type the type of its input
   * @param <I> the input
   * @return the input; null if the job has none
   * @throws JobNotFoundException if there is no such job or its retention is over
   * @throws dev.carillon.api.error.CodecException if it cannot be decoded as that type
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public <I> @Nullable I input(JobId id, TypeToken<I> type) {
    return queries.input(id, type);
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
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public RawPayload rawInput(JobId id) {
    return queries.rawInput(id);
  }

  /**
   * Everything that keeps a job from starting, in the order in which it would have to go; or where
   * the job runs. The node that has the job answers from memory and changes nothing; of a node that
   * gives no answer within 700 ms the answer says so.
   *
   * @param id the job
   * @return what keeps it; empty if there is no such job
   * @throws dev.carillon.api.error.StoreUnavailableException if the store had to be read and could
   *     not be
   */
  public Optional<WhyInfo> why(JobId id) {
    return diagnosis.why(id);
  }

  /**
   * What the handler of a job saved last, while the job has not ended; see {@link
   * dev.carillon.api.JobContext#save}.
   *
   * @param id the job
   * @param type its type
   * @param <T> its type
   * @return the position, or empty if nothing is saved, the job has ended or there is none
   * @throws dev.carillon.api.error.CodecException if it cannot be decoded to the type
   */
  public <T> Optional<T> saved(JobId id, TypeToken<T> type) {
    return queries.saved(id, type);
  }

  /**
   * A page of the jobs that fit a query, in a stable order. A job that is there throughout is on
   * exactly one page; reading ends also while others come and go. The page leaves out jobs that
   * cannot be read because the store is damaged there, and says so.
   *
   * <p>With {@link JobQuery#newestFirst()} the page has occurrences of recurring jobs too. An
   * occurrence that the recurring job ran itself has the id of that job, and {@link
   * JobInfo#occurrence()} says which one it is.
   *
   * @param query which jobs, and where to begin
   * @return the page
   * @throws dev.carillon.api.error.InvalidArgumentException if the cursor is not one that a page
   *     gave
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public Page<JobInfo> list(JobQuery query) {
    return queries.list(query);
  }

  /**
   * The jobs that fit a query, in the order of {@link #list}. The stream reads the next page when
   * the one before is used up, each of as many jobs as the query says, so memory holds one page. A
   * stream that is left early reads no more. Exceptions of {@code list} are thrown where the stream
   * is used.
   *
   * @param query which jobs, and where to begin
   * @return a sequential stream, which needs no closing
   */
  public Stream<JobInfo> stream(JobQuery query) {
    return queries.stream(query);
  }

  /**
   * The attempts to come in a range of time, earliest first, without those of paused jobs and
   * without attempts that were due before the range and have not run yet.
   *
   * <p>A job is there when its next attempt is due: a retry, an occurrence with its jitter, or the
   * time that it was rescheduled to. The later occurrences of a recurring job are there at the
   * times of its schedule, without jitter, but for those that pass before that attempt.
   *
   * @param from the beginning of the range
   * @param to the end of the range, exclusive
   * @param namespace whose jobs
   * @return at most 10,000, the earliest
   * @throws dev.carillon.api.error.InvalidJobException if a cron of so many times has more than a
   *     million before the range, which would have to be counted to know whether it still has any
   *     in it
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public List<UpcomingJob> upcoming(Instant from, Instant to, String namespace) {
    return queries.upcoming(from, to, namespace);
  }

  /**
   * The history of a job: the newest {@link Limits#HISTORY_MAX_EVENTS} events. {@link
   * JobHistory#next()} says whether there are older ones.
   *
   * @param id the job
   * @return its history, or empty if there is no such job or its retention is over
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public Optional<JobHistory> history(JobId id) {
    return history(id, null);
  }

  /**
   * A page of the history of a job: the events before those of another page. Every event that is
   * there throughout is on a page. An event may be on two pages if the oldest events were dropped,
   * for their retention, while pages were read.
   *
   * @param id the job
   * @param cursor {@link JobHistory#next()} of the page before, or null for the newest
   * @return the page, or empty if there is no such job or its retention is over
   * @throws dev.carillon.api.error.InvalidArgumentException if the cursor is not one that a page
   *     gave
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public Optional<JobHistory> history(JobId id, @Nullable String cursor) {
    return queries.history(id, cursor);
  }

  /**
   * The recorded history of a workflow with all its payloads, to be kept in a file and replayed by
   * a test. Reads the whole shard of the job.
   *
   * @param id the job
   * @return its history, or empty if there is no such job or its retention is over
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public Optional<RecordedWorkflow> recordedWorkflow(JobId id) {
    return queries.recorded(id);
  }

  /**
   * The steps of a workflow and what it waits for. Reads the whole shard of the job.
   *
   * @param id the job
   * @return the workflow, without steps where the job is none; empty if there is no such job or its
   *     retention is over
   * @throws dev.carillon.api.error.StoreUnavailableException if the store could not be reached
   */
  public Optional<WorkflowInfo> workflow(JobId id) {
    return queries.workflow(id);
  }

  /** What runs handlers here, for a replay beside the node. */
  HandlerRunner runner() {
    return opened.runner;
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
   * @throws dev.carillon.api.error.StoreCorruptedException if the job cannot be read
   */
  public Subscription watch(JobId id, Consumer<JobInfo> watcher) {
    opened.requireOpen();
    Limits.checkPresent("watcher", watcher);
    Watch watch = new Watch(loop, opened.tickets.existing(id), watcher, opened.reports);
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
    return results.await(id, type, timeout);
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
    return results.future(id, type);
  }

  // ---- for operators

  /**
   * Pauses, limits and rates of a queue, over all namespaces.
   *
   * @param queue the queue, which need not have any job
   * @return its flow control, to look at and to change
   * @throws dev.carillon.api.error.InvalidJobException if the name is not well-formed
   */
  public FlowControl queue(String queue) {
    return new FlowControl(opened, FlowControl.queue(queue));
  }

  /**
   * Pauses, limits and rates of a namespace.
   *
   * @param namespace the namespace, which need not have any job
   * @return its flow control, to look at and to change
   * @throws dev.carillon.api.error.InvalidJobException if the name is not well-formed
   */
  public FlowControl namespace(String namespace) {
    return new FlowControl(opened, FlowControl.namespace(namespace));
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

  NodeLoop loop() {
    return loop;
  }
}
