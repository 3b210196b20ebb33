package dev.carillon.api;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A typed name of work without a result: what a {@link TaskHandler} is registered for, and the
 * maker of {@link Job} requests.
 *
 * <p>The name is stored with every job, so keep it when code is renamed. When the stored form of
 * the input changes, raise {@link #version(int)} and register an {@link Upcaster} for older ones.
 * Immutable and thread-safe; usually a constant. Deliberately no relative of {@link JobType}, so
 * that one overloaded method takes either with a lambda.
 *
 * @param <I> the input
 */
public final class TaskType<I> {

  private static final TypeToken<Void> NO_RESULT = TypeToken.of(Void.class);

  private final String name;
  private final int version;
  private final TypeToken<I> input;
  private final JobDefaults defaults;

  private TaskType(String name, int version, TypeToken<I> input, JobDefaults defaults) {
    this.name = Limits.checkType(name);
    this.version = Check.range("version", version, 1, Limits.TYPE_VERSION_MAX);
    this.input = Check.present("input", input);
    this.defaults = defaults;
  }

  private TaskType<I> with(JobDefaults changed) {
    return new TaskType<>(name, version, input, changed);
  }

  /**
   * A type without input: {@code TaskType.of("clean-up")}, run by {@code carillon.handle(CLEAN_UP,
   * job -> …)} and scheduled as {@code CLEAN_UP.job()}.
   *
   * @param name the name, at most {@link Limits#TYPE_MAX_BYTES}
   * @return the type, at payload version 1
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public static TaskType<Void> of(String name) {
    return of(name, NO_RESULT);
  }

  /**
   * A type with a plain class as input.
   *
   * @param name the name, at most {@link Limits#TYPE_MAX_BYTES}
   * @param input the class of the input; {@code Void} if there is none
   * @param <I> the input
   * @return the type, at payload version 1
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public static <I> TaskType<I> of(String name, Class<I> input) {
    return of(name, TypeToken.of(Check.present("input", input)));
  }

  /**
   * A type with generic input, such as {@code List<Order>}.
   *
   * @param name the name, at most {@link Limits#TYPE_MAX_BYTES}
   * @param input the type of the input
   * @param <I> the input
   * @return the type, at payload version 1
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public static <I> TaskType<I> of(String name, TypeToken<I> input) {
    return new TaskType<>(name, 1, input, JobDefaults.NONE);
  }

  /**
   * The name, as stored with each job.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  /**
   * The type of the input.
   *
   * @return the input type
   */
  public TypeToken<I> input() {
    return input;
  }

  /**
   * The payload version that new jobs are written with, 1 by default.
   *
   * @return the version
   */
  public int version() {
    return version;
  }

  /**
   * The same type with another payload version.
   *
   * @param version from 1 to {@link Limits#TYPE_VERSION_MAX}
   * @return a copy
   * @throws InvalidJobException if the version is out of range
   */
  public TaskType<I> version(int version) {
    return new TaskType<>(name, version, input, defaults);
  }

  /**
   * The same type, whose jobs wait in a queue unless they name another. Stored with each job.
   *
   * @param queue at most {@link Limits#QUEUE_MAX_BYTES}; {@link Job#DEFAULT_QUEUE} by default
   * @return a copy
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public TaskType<I> queue(String queue) {
    return with(defaults.queue(queue));
  }

  /**
   * The same type, whose jobs have a priority unless they name another. Stored with each job.
   *
   * @param priority from {@link Limits#PRIORITY_MIN} to {@link Limits#PRIORITY_MAX}; 0 by default
   * @return a copy
   * @throws InvalidJobException if it is out of range
   */
  public TaskType<I> priority(int priority) {
    return with(defaults.priority(priority));
  }

  /**
   * The same type, whose attempts have a timeout unless the job names another. Stored with each
   * job; a handler's timeout counts where neither the job nor its type has one.
   *
   * @param timeout from {@link Limits#TIMEOUT_MIN} to {@link Limits#TIMEOUT_MAX}; none by default
   * @return a copy
   * @throws InvalidJobException if it is out of range
   */
  public TaskType<I> timeout(Duration timeout) {
    return with(defaults.timeout(timeout));
  }

  /**
   * The same type, whose jobs have a failure policy unless they name another. Stored with each job.
   * The order is: the job's, its type's, its handler's, its namespace's, the node's.
   *
   * @param policy what follows a failed attempt; none by default
   * @return a copy
   */
  public TaskType<I> onFailure(FailurePolicy policy) {
    return with(defaults.onFailure(policy));
  }

  /**
   * A request to run this type once, due now unless told otherwise. Nothing is stored until it is
   * scheduled.
   *
   * @param input what the handler receives; null only if the input type is {@code Void}
   * @return the request
   * @throws InvalidJobException if the input is null and its type is not {@code Void}
   */
  public Job<Void> job(@Nullable I input) {
    return new Job<>(name, version, this.input, NO_RESULT, input).with(defaults);
  }

  /**
   * A request to run this type once without input.
   *
   * @return the request
   * @throws InvalidJobException if the input type is not {@code Void}
   */
  public Job<Void> job() {
    return job(null);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TaskType<?> that
        && name.equals(that.name)
        && version == that.version
        && input.equals(that.input)
        && defaults.equals(that.defaults);
  }

  @Override
  public int hashCode() {
    return name.hashCode() + version;
  }

  @Override
  public String toString() {
    return name + " v" + version + " (" + input + ")";
  }
}
