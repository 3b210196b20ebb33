package dev.carillon.api.workflow;

import dev.carillon.api.BlockReason;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Limits;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.error.WorkflowCancelledException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What the code of a workflow calls: a job that remembers. Every call is recorded in the job's
 * history before the code sees its result. After a crash, a failed attempt, a take-over by another
 * node or a long wait the code runs again from its beginning, on another thread and perhaps on
 * another node: each call then returns what is recorded, until the history ends and the code goes
 * on.
 *
 * <pre>{@code
 * carillon.workflow(PLACE, (order, wf) -> {
 *   wf.onFailure("release", () -> stock.release(order.id()));
 *   wf.step("reserve", () -> stock.reserve(order));
 *   Payment paid = wf.step("charge", Payment.class, step -> bank.charge(order, step.key()));
 *   Approval approval = wf.await(APPROVAL, Duration.ofDays(7)).orElseThrow();
 *   return new Receipt(paid, wf.call(SHIP.job(order)));
 * });
 * }</pre>
 *
 * <ul>
 *   <li>The code must make the same calls in the same order each time. Clock, random numbers,
 *       configuration and everything else that differs from one run to the next belong into a step,
 *       or are had from {@link #now}, {@link #random} and {@link #uuid}. Code that asks for
 *       something else than is recorded blocks its job as {@link BlockReason#DIVERGED}; {@link
 *       #version} lets code change under running workflows.
 *   <li>A step runs <em>at least once</em>; once its result is recorded it never runs again.
 *   <li>A workflow that waits holds no slot. Its thread stays parked; where there are too many, it
 *       is given up and the code runs again when the wait is over: a {@code synchronized} block, a
 *       lock, a {@link ThreadLocal} or an open resource must not be held across a call here.
 *   <li>It is for the thread of the workflow alone, and not for the bodies of steps. Elsewhere
 *       every method but {@link #id}, {@link #type}, {@link #namespace}, {@link #queue}, {@link
 *       #name}, {@link #metadata} and {@link #logger} throws {@link IllegalStateException}, and so
 *       after the handler has returned.
 *   <li>Once the workflow is cancelled, has expired or is given up, the first call that waits and
 *       has no recorded result throws {@link WorkflowCancelledException}, and so does every call
 *       after it.
 *   <li>A call may throw {@link WorkflowUnwound}, an error that the code must let pass.
 * </ul>
 *
 * <p>Made by Carillon.
 */
public non-sealed interface Workflow extends WorkflowSteps {

  // ---- the job

  /**
   * The job.
   *
   * @return its id
   */
  JobId id();

  /**
   * The name of the job's type.
   *
   * @return the type name
   */
  String type();

  /**
   * The job's namespace.
   *
   * @return the namespace
   */
  String namespace();

  /**
   * The job's queue.
   *
   * @return the queue
   */
  String queue();

  /**
   * The job's name.
   *
   * @return the name, or null
   */
  @Nullable String name();

  /**
   * The job's metadata.
   *
   * @return an unmodifiable map in key order
   */
  Map<String, String> metadata();

  // ---- children

  /**
   * Starts a job as a child of this one. It is scheduled together with the next thing that this
   * workflow records, at its next wait at the latest.
   *
   * <p>It may have a name or a key. A job that has the key, or has the name under {@link
   * IfExists#KEEP}, takes the place of the child: the workflow waits for it and does not cancel it.
   * A name that is taken otherwise fails the child: {@link ChildFailedException#is} knows {@link
   * NameTakenException}.
   *
   * @param job the request, without schedule and dependencies; not {@link IfExists#REPLACE}
   * @param <O> the child's result
   * @return the child
   * @throws InvalidJobException if the job is not acceptable as a child
   * @throws CodecException if its input cannot be encoded
   * @throws WorkflowCancelledException if an earlier call has thrown it
   */
  <O> Child<O> start(Job<O> job);

  /**
   * Starts a job as a child of this one and waits for its end.
   *
   * @param job the request, as for {@link #start}
   * @param <O> the child's result
   * @return the child's result; null where it has none
   * @throws InvalidJobException if the job is not acceptable as a child
   * @throws ChildFailedException if the child ended otherwise than succeeded
   * @throws WorkflowCancelledException if the workflow was cancelled before
   */
  default <O> O call(Job<O> job) {
    return start(job).join();
  }

  // ---- waiting

  /**
   * Asks for the next signal of a type. Each signal is taken once: the first that is asked for gets
   * the first that came, whether it came before or comes after.
   *
   * @param type the type
   * @param <T> what the signal carries
   * @return the signal to be
   * @throws WorkflowCancelledException if an earlier call has thrown it
   */
  <T> Promise<T> signal(SignalType<T> type);

  /**
   * Waits for the next signal of a type, however long.
   *
   * @param type the type
   * @param <T> what the signal carries
   * @return the signal; null where it carries nothing
   * @throws WorkflowCancelledException if the workflow was cancelled before it came
   */
  default <T> T await(SignalType<T> type) {
    return signal(type).join();
  }

  /**
   * Waits for the next signal of a type, but no longer than that. Where it does not come in time it
   * is left for the next who asks.
   *
   * @param type the type
   * @param atMost from zero to {@link Limits#PERIOD_MAX}
   * @param <T> what the signal carries
   * @return the signal; empty where it did not come in time, and where it carries nothing
   * @throws InvalidArgumentException if the time is out of range
   * @throws WorkflowCancelledException if the workflow was cancelled before
   */
  <T> Optional<T> await(SignalType<T> type, Duration atMost);

  /**
   * Sets a timer. It never fires early, by the clock of the node that looks.
   *
   * @param delay from zero to {@link Limits#PERIOD_MAX}
   * @return what is there once that time has passed; its value is null
   * @throws InvalidArgumentException if the delay is out of range
   * @throws WorkflowCancelledException if an earlier call has thrown it
   */
  Promise<Void> timer(Duration delay);

  /**
   * Waits for a while. This costs no slot, however long it is.
   *
   * @param duration from zero to {@link Limits#PERIOD_MAX}
   * @throws InvalidArgumentException if the duration is out of range
   * @throws WorkflowCancelledException if the workflow was cancelled before
   */
  default void sleep(Duration duration) {
    timer(duration).join();
  }

  /**
   * Waits until a time; not at all if it has passed.
   *
   * @param time the time, from {@link Limits#EARLIEST_DUE} to {@link Limits#LATEST_DUE}
   * @throws InvalidArgumentException if the time is out of range
   * @throws WorkflowCancelledException if the workflow was cancelled before
   */
  void sleepUntil(Instant time);

  /**
   * Waits for all of them, also where some fail.
   *
   * @param promises promises of this workflow
   * @param <T> their values
   * @return their values in the order of the collection
   * @throws StepFailedException if a step failed: that of the first in the collection's order that
   *     failed
   * @throws ChildFailedException if a child failed, likewise
   * @throws InvalidArgumentException if one is null or of another workflow
   * @throws WorkflowCancelledException if the workflow was cancelled before all were there
   */
  <T> List<T> all(Collection<? extends Promise<? extends T>> promises);

  /**
   * Waits for the first of them, by the order in which they are recorded. One that failed counts
   * too: its {@link Promise#join} then throws.
   *
   * @param promises promises of this workflow, at least one
   * @return the one that came first; its value is there
   * @throws InvalidArgumentException if there is none, or one is null or of another workflow
   * @throws WorkflowCancelledException if the workflow was cancelled before
   */
  Promise<?> first(Collection<? extends Promise<?>> promises);

  // ---- failing

  /**
   * Registers a compensation: what undoes the effects of steps that follow. Register it before the
   * step: a try that failed may have had an effect. Compensations run in reverse order when the job
   * is given up, cancelled or expired, not when it is terminated. Each is retried like a step, by
   * {@link FailurePolicy#standard()}; where one fails for good the others run all the same.
   *
   * @param name the name, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param undo what to do; see {@link StepBody} for what it must bear
   * @throws InvalidArgumentException if an argument is null or not acceptable
   */
  void onFailure(String name, StepAction undo);

  // ---- showing

  /**
   * Reports how far the workflow is: see {@link JobInfo#progress()} and {@link JobHandle#watch}. It
   * is durable within a second and is not part of the history. A report of a smaller part than
   * before changes the message alone. The progress of a workflow that reports none is that of its
   * children, added up.
   *
   * @param done how much is done, not negative
   * @param total of how much, at least {@code done}
   * @param message what is going on; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @throws InvalidArgumentException if a value is out of range
   */
  void progress(long done, long total, String message);

  /**
   * Reports what the workflow is doing, where it is not known how much there is to do. Numbers that
   * were reported before stay.
   *
   * @param message what is going on; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @throws InvalidArgumentException if it is too long
   */
  void progress(String message);

  /**
   * Publishes a value that can be read from outside: see {@link JobHandle#published}. Replaces what
   * was published before. It is durable within a second, stays after the end of the job and through
   * {@link #continueAsNew}, and is not part of the history.
   *
   * @param value the value, encoded like a payload, at most {@link Limits#PAYLOAD_MAX_BYTES}; null
   *     takes back what was published
   * @throws InvalidJobException if it is too large
   * @throws CodecException if it cannot be encoded
   */
  void publish(@Nullable Object value);

  // ---- what would differ from one run to the next

  /**
   * The time of the last thing that the code has seen: the end of its last wait or step, at first
   * its beginning. It never goes back.
   *
   * @return the time, the same when the code runs again
   */
  Instant now();

  /**
   * Random numbers, the same when the code runs again. They follow from the id of the job: good for
   * keys and samples, not for secrets.
   *
   * @return the workflow's generator, the same each time
   */
  RandomGenerator random();

  /**
   * A UUID, the same when the code runs again, also where nothing was durable before. It follows
   * from the id of the job: good as a key, not as a secret.
   *
   * @return a UUID of version 4
   */
  UUID uuid();

  /**
   * Whether the code runs again what it ran before. For logging and figures only: code that decides
   * by it diverges.
   *
   * @return true until the code has come as far as its history
   */
  boolean replaying();

  /**
   * A logger that says nothing while the code is {@linkplain #replaying replaying}, so that each
   * line is logged once; twice where a crash comes between.
   *
   * @return the logger of the workflow's type, the same each time
   */
  System.Logger logger();

  /**
   * Which version of a change this workflow follows. New workflows follow the newest; one that had
   * passed this place before the change came follows version 0, the code without it. What was
   * chosen is recorded.
   *
   * <pre>{@code
   * if (wf.version("check-fraud", 1) >= 1) {
   *   wf.step("check-fraud", () -> fraud.check(order));
   * }
   * }</pre>
   *
   * @param change the name of the change, at most {@link Limits#CALL_NAME_MAX_BYTES}
   * @param newest the newest version that the code knows, from 1 to {@link Limits#TYPE_VERSION_MAX}
   * @return the version, from 0
   * @throws InvalidArgumentException if an argument is out of range
   * @throws WorkflowCancelledException if an earlier call has thrown it
   */
  int version(String change, int newest);

  /**
   * Begins the workflow anew with another input: its history is dropped, signals that it has not
   * taken are kept. For workflows without an end. Use it as {@code return wf.continueAsNew(next)};
   * it never returns, but throws {@link WorkflowUnwound}.
   *
   * @param input the next input, of the type of the workflow's input; null where that is {@code
   *     Void}
   * @param <R> whatever the handler returns
   * @return never
   * @throws InvalidJobException if the encoded input is too large
   * @throws CodecException if it cannot be encoded
   * @throws IllegalStateException if steps or children are under way
   * @throws WorkflowCancelledException if the workflow was cancelled
   */
  @SuppressWarnings("TypeParameterUnusedInFormals") // it never returns
  <R> R continueAsNew(@Nullable Object input);
}
