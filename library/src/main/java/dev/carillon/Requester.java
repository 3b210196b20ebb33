package dev.carillon;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.InvalidJobException;
import dev.carillon.api.JobId;
import dev.carillon.api.Limits;
import dev.carillon.api.Schedule;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.Why;
import java.time.Instant;

/**
 * Asks for changes of jobs in the name of somebody, whom their history then tells ({@link
 * dev.carillon.api.JobEvent#by()}). Each method does what that of {@link Carillon} does.
 * Thread-safe.
 */
public final class Requester {
  private final Runnable requireOpen;
  private final JobControl control;
  private final String who;

  Requester(Runnable requireOpen, JobControl control, String who) {
    this.requireOpen = requireOpen;
    this.control = control;
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
    requireOpen.run();
    Why why = new Why(who, Limits.checkReason(reason));
    return control.change(id, "pausing", (node, job, answer) -> node.pause(job, why, answer));
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
