package dev.carillon;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.PauseMode;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.request.AddRequest;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Asks for changes of jobs in the name of somebody, whom their history then tells ({@link
 * dev.carillon.api.JobEvent#by()}). Each method does what that of {@link Carillon} does.
 * Thread-safe.
 */
public final class Requester {
  private final Runnable requireOpen;
  private final Parts parts;
  private final JobControl control;
  private final String who;

  /** What takes the requests of everybody. */
  record Parts(
      OpenNode opened,
      JobControl control,
      Scheduling scheduling,
      DeadLetters deadLetters,
      Signals signals) {}

  Requester(Parts parts, String who) {
    this.requireOpen = parts.opened()::requireOpen;
    this.parts = parts;
    this.control = parts.control();
    this.who = who;
  }

  static String check(String who) {
    Limits.checkReason(who);
    if (who.isBlank()) {
      throw new InvalidJobException("who: \"" + who + "\" (expected: a name)");
    }
    return who;
  }

  /**
   * Schedules a job; see {@link Carillon#schedule(Job)}. The history names the requester where the
   * job replaces or updates one that has its name.
   *
   * @param job the request
   * @param <O> the result
   * @return the job, or the one that already has its name or key
   */
  public <O> JobHandle<O> schedule(Job<O> job) {
    return parts.scheduling().one(job, request -> request.askedBy(who));
  }

  /**
   * Has a recurring job take over what differs, as {@link dev.carillon.api.IfExists#UPDATE} does,
   * if it is still the one that the caller saw. Where nothing differs nothing is written. Asking
   * again after an {@link dev.carillon.api.error.OutcomeUnknownException} either changes nothing or
   * is refused, since the version is another one then.
   *
   * @param job the recurring job as it is to be, with its name
   * @param existing the job that has the name
   * @param version its {@linkplain dev.carillon.api.RecurringInfo#version() version}
   * @param <O> the result
   * @return the job
   * @throws dev.carillon.api.error.ChangedMeanwhileException if that job has ended, or is of
   *     another version; nothing was written
   * @throws InvalidJobException if the job has no name or no schedule, or is not acceptable
   */
  public <O> JobHandle<O> update(Job<O> job, JobId existing, int version) {
    Limits.checkPresent("job", job);
    if (job.name() == null || job.schedule() == null) {
      throw new InvalidJobException("job: without name or schedule (expected: both)");
    }
    requireOpen.run();
    JobRef ref = parts.opened().tickets.place(Limits.checkPresent("existing", existing));
    if (ref == null) {
      throw new ChangedMeanwhileException("job " + existing + ": not there; nothing was changed");
    }
    return parts
        .scheduling()
        .one(
            job.ifExists(IfExists.UPDATE),
            request -> {
              request.askedBy(who);
              request.expecting(new AddRequest.Expected(ref, version));
            });
  }

  /**
   * Tries a dead letter again; see {@link DeadLetters#replay(JobId)}.
   *
   * @param id the job
   * @return what came of it
   */
  public ControlResult replay(JobId id) {
    return parts.deadLetters().replay(id, who, (Job<?>) null);
  }

  /**
   * Tries a dead letter again with another input; see {@link DeadLetters#replay(JobId, Job)}.
   *
   * @param id the job
   * @param job of the same type; only its input counts
   * @return what came of it
   */
  public ControlResult replay(JobId id, Job<?> job) {
    return parts.deadLetters().replay(id, who, Limits.checkPresent("job", job));
  }

  /**
   * Lets go of a dead letter; see {@link DeadLetters#discard}.
   *
   * @param id the job
   * @return what came of it
   */
  public ControlResult discard(JobId id) {
    return parts.deadLetters().discard(id, who);
  }

  /**
   * Sends a signal to a workflow; see {@link Carillon#signal(JobId, SignalType, Object, String)}.
   *
   * @param id the workflow
   * @param type the type of the signal
   * @param payload what it carries; null for nothing
   * @param key under which it is taken once; null for none
   * @param <T> what a signal of the type carries
   * @return what came of it
   */
  public <T> SignalResult signal(
      JobId id, SignalType<T> type, @Nullable T payload, @Nullable String key) {
    requireOpen.run();
    return parts.signals().send(id, type, payload, key, who);
  }

  /**
   * Pauses, limits and rates of a queue; see {@link Carillon#queue}.
   *
   * @param queue the queue
   * @return its flow control, which changes in the name of the requester
   */
  public FlowControl queue(String queue) {
    return new FlowControl(parts.opened(), FlowControl.queue(queue), who, Set.of());
  }

  /**
   * Pauses, limits and rates of a namespace; see {@link Carillon#namespace}.
   *
   * @param namespace the namespace
   * @return its flow control, which changes in the name of the requester
   */
  public FlowControl namespace(String namespace) {
    return new FlowControl(parts.opened(), FlowControl.namespace(namespace), who, Set.of());
  }

  /**
   * Cancels a job; see {@link Carillon#cancel}.
   *
   * @param id the job
   * @param reason why; may be empty
   * @return what came of it
   */
  public CancelResult cancel(JobId id, String reason) {
    requireOpen.run();
    return control.cancel(id, new Why(who, Limits.checkReason(reason)));
  }

  /** The same of each of some jobs; those of a shard that is not loaded are read together. */
  List<CancelResult> cancelAll(List<JobId> ids, String reason) {
    requireOpen.run();
    return control.cancelAll(ids, new Why(who, Limits.checkReason(reason)));
  }

  /**
   * Ends a workflow without its compensations; see {@link Carillon#terminate}.
   *
   * @param id the job
   * @param reason why; may be empty
   * @return what came of it
   */
  public CancelResult terminate(JobId id, String reason) {
    requireOpen.run();
    return control.terminate(id, new Why(who, Limits.checkReason(reason)));
  }

  /**
   * Keeps a job from starting until it is resumed; see {@link Carillon#pause}.
   *
   * @param id the job
   * @param reason why; may be empty
   * @return what came of it
   */
  public ControlResult pause(JobId id, String reason) {
    return pause(id, reason, PauseMode.AFTER_STEPS);
  }

  /**
   * The same, and says what becomes of what runs; see {@link Carillon#pause(JobId, String,
   * PauseMode)}.
   *
   * @param id the job
   * @param reason why; may be empty
   * @param mode whether handlers and steps that run are interrupted
   * @return what came of it
   */
  public ControlResult pause(JobId id, String reason, PauseMode mode) {
    requireOpen.run();
    Why why = new Why(who, Limits.checkReason(reason));
    boolean now = Limits.checkPresent("mode", mode) == PauseMode.NOW;
    return control.change(id, "pausing", (node, job, answer) -> node.pause(job, why, now, answer));
  }

  /**
   * Lets a paused job go on; see {@link Carillon#resume}.
   *
   * @param id the job
   * @return what came of it
   */
  public ControlResult resume(JobId id) {
    requireOpen.run();
    return control.change(id, "resuming", (node, job, answer) -> node.resume(job, who, answer));
  }

  /**
   * Moves a job to another time; see {@link Carillon#reschedule(JobId, Instant)}.
   *
   * @param id the job
   * @param due when its next attempt is due
   * @return what came of it
   */
  public ControlResult reschedule(JobId id, Instant due) {
    requireOpen.run();
    long micros = Micros.ceil(Limits.checkDue(due));
    return control.change(
        id, "moving", (node, job, answer) -> node.reschedule(job, who, micros, answer));
  }

  /**
   * Gives a recurring job another schedule; see {@link Carillon#reschedule(JobId, Schedule)}.
   *
   * @param id the recurring job
   * @param schedule what it goes on by
   * @return what came of it
   */
  public ControlResult reschedule(JobId id, Schedule schedule) {
    requireOpen.run();
    Limits.checkPresent("schedule", schedule);
    return control.change(
        id, "rescheduling", (node, job, answer) -> node.reschedule(job, who, schedule, answer));
  }

  /**
   * Gives a job another priority; see {@link Carillon#prioritise}.
   *
   * @param id the job
   * @param priority from {@link Limits#PRIORITY_MIN} to {@link Limits#PRIORITY_MAX}
   * @return what came of it
   */
  public ControlResult prioritise(JobId id, int priority) {
    requireOpen.run();
    Limits.checkPriority(priority);
    return control.change(
        id, "prioritising", (node, job, answer) -> node.prioritise(job, who, priority, answer));
  }
}
