package dev.carillon.api;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;
import org.jspecify.annotations.Nullable;

/**
 * A job that must have ended before another starts, and how. The other job waits as {@link
 * JobState#BLOCKED} while it is due and a dependency has not ended; once one ended otherwise than
 * the condition says, it can never start and ends as {@link JobState#CANCELLED}, with the reason.
 *
 * <p>The first end counts: that a dead letter is replayed later changes nothing for those that
 * waited for it. A recurring job ends when its schedule is over.
 *
 * @param job the job to wait for; null where it is said by name
 * @param name the name of the job to wait for, in the namespace of the one that waits; null where
 *     it is said by id
 * @param condition how it must have ended
 */
public record Dependency(@Nullable JobId job, @Nullable String name, Condition condition) {

  /** How a job must have ended. The codes are stored: they never change. */
  public enum Condition {
    /** As {@link JobState#SUCCEEDED}. */
    SUCCEEDED(1),
    /** As {@link JobState#FAILED}, {@link JobState#DEAD} or {@link JobState#EXPIRED}. */
    FAILED(2),
    /** In whatever way, also cancelled. */
    ENDED(3);

    private final int code;

    Condition(int code) {
      this.code = code;
    }

    /**
     * The stable code.
     *
     * @return from 1; 0 is reserved
     */
    public int code() {
      return code;
    }

    /**
     * The condition with a code.
     *
     * @param code a code that {@link #code()} gave
     * @return the condition
     * @throws IllegalArgumentException if no condition has the code
     */
    public static Condition ofCode(int code) {
      return switch (code) {
        case 1 -> SUCCEEDED;
        case 2 -> FAILED;
        case 3 -> ENDED;
        default -> throw new IllegalArgumentException(Check.problem("condition", code, "1 to 3"));
      };
    }

    /**
     * Whether an end fulfils it.
     *
     * @param state how the job ended; null where nobody knows any more
     * @return true if the job that waits may start
     */
    public boolean isFulfilledBy(@Nullable JobState state) {
      return switch (this) {
        case SUCCEEDED -> state == JobState.SUCCEEDED;
        case FAILED ->
            state == JobState.FAILED || state == JobState.DEAD || state == JobState.EXPIRED;
        case ENDED -> true;
      };
    }
  }

  /**
   * Checks the parts.
   *
   * @throws InvalidJobException if neither or both of job and name are given, or the name is not
   *     well-formed
   */
  public Dependency {
    Check.present("condition", condition);
    if (name != null) {
      Limits.checkName(name);
    }
    if ((job == null) == (name == null)) {
      throw Check.invalid("dependency", job, "either a job or a name");
    }
  }

  /**
   * That a job has succeeded.
   *
   * @param job the job to wait for
   * @return the dependency
   */
  public static Dependency on(JobId job) {
    return new Dependency(Check.present("job", job), null, Condition.SUCCEEDED);
  }

  /**
   * That the job of a name has succeeded: one of the same batch, or one that has the name now. A
   * name is free again when its job has ended, and the dependency is refused then, unless the job
   * has an idempotency key that still counts: then it is found, and its end counts. To wait for one
   * that may have ended, use its id.
   *
   * @param name the name of the job to wait for
   * @return the dependency
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public static Dependency onNamed(String name) {
    return new Dependency(null, Limits.checkName(name), Condition.SUCCEEDED);
  }

  /**
   * That the job has failed instead.
   *
   * @return a copy
   */
  public Dependency failed() {
    return new Dependency(job, name, Condition.FAILED);
  }

  /**
   * That the job has ended in whatever way instead.
   *
   * @return a copy
   */
  public Dependency ended() {
    return new Dependency(job, name, Condition.ENDED);
  }
}
