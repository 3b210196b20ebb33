package dev.carillon.api;

/**
 * Told what happens to the jobs of this node, for logs, metrics and caches; not for work that must
 * happen.
 *
 * <p>Each call comes at most once, after the change is durable, and is lost if the process dies
 * first. Calls come outside of the engine's loop and may be late, or left out when a listener is
 * too slow; those of one job come in order. What a listener throws is caught and counted, and
 * changes nothing. Every method does nothing by default.
 */
public interface JobListener {

  /**
   * A job was accepted.
   *
   * @param job the job
   */
  default void scheduled(JobInfo job) {}

  /**
   * An attempt is starting.
   *
   * @param job the job
   */
  default void started(JobInfo job) {}

  /**
   * An attempt failed, and another is due at {@link JobInfo#dueAt()}.
   *
   * @param job the job, with {@link JobInfo#lastError()}
   */
  default void retrying(JobInfo job) {}

  /**
   * An attempt failed: with the error, its stack and the node that made the attempt. Comes for
   * every failed attempt, before {@link #retrying} where another follows, and after {@link #ended}
   * where the job ended with it. Of a recurring job an occurrence may have ended with it.
   *
   * @param failure the attempt, and when the next one is due
   */
  default void failed(AttemptFailure failure) {}

  /**
   * A job cannot go on for now.
   *
   * @param job the job, with {@link JobInfo#blockReason()}
   */
  default void blocked(JobInfo job) {}

  /**
   * A job ended, or an occurrence of a recurring job did.
   *
   * <p>An occurrence that the recurring job ran itself has the id of that job: {@link
   * JobInfo#occurrence()} says which one it was, and {@link JobInfo#recurring()} is null. The end
   * of the recurring job is told apart, with {@link JobInfo#recurring()}.
   *
   * @param job the job or occurrence, with its final state
   */
  default void ended(JobInfo job) {}
}
