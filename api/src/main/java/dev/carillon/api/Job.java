package dev.carillon.api;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;
import dev.carillon.api.schedule.Due;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request to run something once, or again and again by a {@linkplain #on(Schedule) schedule}: a
 * type, an input and when, made by {@link JobType#job} or {@link TaskType#job} and refined by the
 * methods here, each of which returns a copy.
 *
 * <p>By default it is due now, without name and key, in namespace and queue {@code default}, with
 * priority 0, no metadata, no timeout, no deadline, no schedule, no failure policy of its own and
 * no concurrency key. Its type may give it another queue, priority, timeout and failure policy.
 * Every method refuses a bad value at once with {@link InvalidJobException}. Immutable and
 * thread-safe (the input is held, not copied, and encoded when the job is scheduled).
 *
 * <p>Scheduling the same request twice makes two jobs, unless it has a {@linkplain #named name} or
 * an idempotency {@linkplain #key(String) key}: give it one wherever a caller may repeat itself.
 *
 * @param <O> the result; {@code Void} for tasks
 */
public final class Job<O> {

  /** The namespace of a job that names none. */
  public static final String DEFAULT_NAMESPACE = "default";

  /** The queue of a job that names none. */
  public static final String DEFAULT_QUEUE = "default";

  private static final Due NOW = new Due.Now();

  private final String typeName;
  private final int typeVersion;
  private final TypeToken<?> inputType;
  private final TypeToken<O> outputType;
  private final @Nullable Object input;

  private final Due due;
  private final @Nullable String name;
  private final IfExists ifExists;
  private final @Nullable String key;
  private final String namespace;
  private final String queue;
  private final int priority;
  private final Map<String, String> metadata;
  private final @Nullable Duration timeout;
  private final @Nullable Instant deadline;
  private final @Nullable Schedule schedule;
  private final @Nullable FailurePolicy failurePolicy;
  private final @Nullable Concurrency concurrency;
  private final List<Dependency> dependencies;

  Job(
      String typeName,
      int typeVersion,
      TypeToken<?> inputType,
      TypeToken<O> outputType,
      @Nullable Object input) {
    if (input == null && inputType.type() != Void.class) {
      throw Check.invalid("input", null, "a value of type " + inputType);
    }
    this.typeName = typeName;
    this.typeVersion = typeVersion;
    this.inputType = inputType;
    this.outputType = outputType;
    this.input = input;
    this.due = NOW;
    this.name = null;
    this.ifExists = IfExists.FAIL;
    this.key = null;
    this.namespace = DEFAULT_NAMESPACE;
    this.queue = DEFAULT_QUEUE;
    this.priority = 0;
    this.metadata = Map.of();
    this.timeout = null;
    this.deadline = null;
    this.schedule = null;
    this.failurePolicy = null;
    this.concurrency = null;
    this.dependencies = List.of();
  }

  private Job(Job<O> original, Draft changed) {
    this.typeName = original.typeName;
    this.typeVersion = original.typeVersion;
    this.inputType = original.inputType;
    this.outputType = original.outputType;
    this.input = original.input;
    this.due = changed.due;
    this.name = changed.name;
    this.ifExists = changed.ifExists;
    this.key = changed.key;
    this.namespace = changed.namespace;
    this.queue = changed.queue;
    this.priority = changed.priority;
    this.metadata = changed.metadata;
    this.timeout = changed.timeout;
    this.deadline = changed.deadline;
    this.schedule = changed.schedule;
    this.failurePolicy = changed.failurePolicy;
    this.concurrency = changed.concurrency;
    this.dependencies = changed.dependencies;
    if (schedule != null && deadline != null) {
      throw Check.invalid("deadline", deadline, "none for a recurring job; its schedule has until");
    }
  }

  /**
   * The name of the type.
   *
   * @return the type name
   */
  public String typeName() {
    return typeName;
  }

  /**
   * The payload version of the type.
   *
   * @return the version, from 1
   */
  public int typeVersion() {
    return typeVersion;
  }

  /**
   * What the handler receives, not yet encoded.
   *
   * @return the input; null only if its type is {@code Void}
   */
  public @Nullable Object input() {
    return input;
  }

  /**
   * The type of the input.
   *
   * @return the input type
   */
  public TypeToken<?> inputType() {
    return inputType;
  }

  /**
   * The type of the result.
   *
   * @return the result type; {@code Void} for tasks
   */
  public TypeToken<O> outputType() {
    return outputType;
  }

  /**
   * When the job is due.
   *
   * @return now, a time or a delay
   */
  public Due due() {
    return due;
  }

  /**
   * The name, unique among the live jobs of the namespace.
   *
   * @return the name, or null
   */
  public @Nullable String name() {
    return name;
  }

  /**
   * What happens if the name is taken.
   *
   * @return {@link IfExists#FAIL} by default; without a name it means nothing
   */
  public IfExists ifExists() {
    return ifExists;
  }

  /**
   * The idempotency key.
   *
   * @return the key, or null
   */
  public @Nullable String key() {
    return key;
  }

  /**
   * The namespace: the tenant whose names, keys and limits apply.
   *
   * @return {@link #DEFAULT_NAMESPACE} by default
   */
  public String namespace() {
    return namespace;
  }

  /**
   * The queue: the lane within the namespace that the job waits in once due.
   *
   * @return {@link #DEFAULT_QUEUE} by default
   */
  public String queue() {
    return queue;
  }

  /**
   * How urgent the job is among the due jobs of its queue.
   *
   * @return 0 by default; higher goes first
   */
  public int priority() {
    return priority;
  }

  /**
   * The labels a user gave.
   *
   * @return an unmodifiable map in key order
   */
  public Map<String, String> metadata() {
    return metadata;
  }

  /**
   * How long one attempt may take.
   *
   * @return the timeout, or null if there is none of its own
   */
  public @Nullable Duration timeout() {
    return timeout;
  }

  /**
   * When the whole job expires.
   *
   * @return the deadline, or null
   */
  public @Nullable Instant deadline() {
    return deadline;
  }

  /**
   * When the job recurs.
   *
   * @return the schedule, or null if the job is to be done once
   */
  public @Nullable Schedule schedule() {
    return schedule;
  }

  /**
   * What follows a failed attempt.
   *
   * @return the policy, or null if the handler's, the namespace's or the standard one counts
   */
  public @Nullable FailurePolicy failurePolicy() {
    return failurePolicy;
  }

  /**
   * How many jobs like it run at once.
   *
   * @return the key it shares with them and its limit, or null
   */
  public @Nullable Concurrency concurrency() {
    return concurrency;
  }

  /**
   * The jobs that must have ended before it starts.
   *
   * @return an unmodifiable list; none by default
   */
  public List<Dependency> dependencies() {
    return dependencies;
  }

  /**
   * Due at a time. No attempt starts earlier; a time in the past is due at once.
   *
   * @param due from {@link Limits#EARLIEST_DUE} to {@link Limits#LATEST_DUE}
   * @return a copy
   * @throws InvalidJobException if it is out of range
   */
  public Job<O> at(Instant due) {
    Due checked = new Due.At(due);
    return with(draft -> draft.due = checked);
  }

  /**
   * Due a while after the job is accepted.
   *
   * @param delay not negative
   * @return a copy
   * @throws InvalidJobException if it is negative or beyond {@link Limits#LATEST_DUE}
   */
  public Job<O> in(Duration delay) {
    Due checked = new Due.In(delay);
    return with(draft -> draft.due = checked);
  }

  /**
   * Due as said: for what was read from a text by {@link Due#parse}.
   *
   * @param due now, a time or a delay
   * @return a copy
   */
  public Job<O> due(Due due) {
    Due checked = Check.present("due", due);
    return with(draft -> draft.due = checked);
  }

  /**
   * With a name, unique among the jobs of the namespace that have not ended. Scheduling again under
   * the name cannot make a second live job; what it does instead says {@link #ifExists(IfExists)}.
   *
   * @param name at most {@link Limits#NAME_MAX_BYTES}
   * @return a copy
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public Job<O> named(String name) {
    String checked = Limits.checkName(name);
    return with(draft -> draft.name = checked);
  }

  /**
   * With a rule for a name that is taken.
   *
   * @param ifExists what to do
   * @return a copy
   */
  public Job<O> ifExists(IfExists ifExists) {
    IfExists checked = Check.present("ifExists", ifExists);
    return with(draft -> draft.ifExists = checked);
  }

  /**
   * With an idempotency key: scheduling again with the same key in the same namespace, and under
   * the same name if it has one, returns the original job, whatever else the new request says, also
   * after that job has ended, until the retention of keys is over (24 hours by default, an option
   * of the library). The key of a named job is kept with its name: under another name it is another
   * key.
   *
   * @param key at most {@link Limits#KEY_MAX_BYTES}
   * @return a copy
   * @throws InvalidJobException if the key is null, blank, too long or not well-formed
   */
  public Job<O> key(String key) {
    String checked = Limits.checkKey(key);
    return with(draft -> draft.key = checked);
  }

  /**
   * In a namespace.
   *
   * @param namespace at most {@link Limits#NAMESPACE_MAX_BYTES}
   * @return a copy
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public Job<O> namespace(String namespace) {
    String checked = Limits.checkNamespace(namespace);
    return with(draft -> draft.namespace = checked);
  }

  /**
   * In a queue.
   *
   * @param queue at most {@link Limits#QUEUE_MAX_BYTES}
   * @return a copy
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public Job<O> queue(String queue) {
    String checked = Limits.checkQueue(queue);
    return with(draft -> draft.queue = checked);
  }

  /**
   * With a priority. Among the due jobs of a queue a higher one goes first; it never makes a job
   * run before its time.
   *
   * @param priority from {@link Limits#PRIORITY_MIN} to {@link Limits#PRIORITY_MAX}
   * @return a copy
   * @throws InvalidJobException if it is out of range
   */
  public Job<O> priority(int priority) {
    int checked = Limits.checkPriority(priority);
    return with(draft -> draft.priority = checked);
  }

  /**
   * With one more metadata entry, replacing the value of that key if there is one.
   *
   * @param key not blank
   * @param value any text
   * @return a copy
   * @throws InvalidJobException if the entry is not well-formed or the metadata grows over {@link
   *     Limits#METADATA_MAX_ENTRIES} or {@link Limits#METADATA_MAX_BYTES}
   */
  public Job<O> meta(String key, String value) {
    var more = new TreeMap<>(metadata);
    more.put(Check.present("metadata key", key), Check.present("metadata value", value));
    return metadata(more);
  }

  /**
   * With exactly this metadata.
   *
   * @param metadata the entries, copied
   * @return a copy
   * @throws InvalidJobException if an entry is not well-formed or the metadata is over {@link
   *     Limits#METADATA_MAX_ENTRIES} or {@link Limits#METADATA_MAX_BYTES}
   */
  public Job<O> metadata(Map<String, String> metadata) {
    Map<String, String> checked = Check.metadata(metadata);
    return with(draft -> draft.metadata = checked);
  }

  /**
   * With a limit on each attempt: one that takes longer is interrupted and counts as failed.
   *
   * @param timeout from {@link Limits#TIMEOUT_MIN} to {@link Limits#TIMEOUT_MAX}
   * @return a copy
   * @throws InvalidJobException if it is out of range
   */
  public Job<O> timeout(Duration timeout) {
    Duration checked = Limits.checkTimeout(timeout);
    return with(draft -> draft.timeout = checked);
  }

  /**
   * With a time at which the job, retries included, is given up as {@link JobState#EXPIRED}.
   *
   * @param deadline from {@link Limits#EARLIEST_DUE} to {@link Limits#LATEST_DUE}
   * @return a copy
   * @throws InvalidJobException if it is out of range
   */
  public Job<O> deadline(Instant deadline) {
    Instant checked = Check.range("deadline", deadline, Limits.EARLIEST_DUE, Limits.LATEST_DUE);
    return with(draft -> draft.deadline = checked);
  }

  /**
   * Recurring: the job has its occurrences by a schedule until that is over or the job is
   * cancelled. Without a due time the first one is the schedule's first; with one the first is then
   * and the schedule's times follow.
   *
   * <p>An occurrence whose retries are exhausted becomes a dead letter of its own, and the schedule
   * goes on.
   *
   * @param schedule when
   * @return a copy
   * @throws InvalidJobException if the job has a deadline
   */
  public Job<O> on(Schedule schedule) {
    Schedule checked = Check.present("schedule", schedule);
    return with(draft -> draft.schedule = checked);
  }

  /**
   * With a failure policy of its own, stored with the job.
   *
   * @param policy what follows a failed attempt
   * @return a copy
   */
  public Job<O> onFailure(FailurePolicy policy) {
    FailurePolicy checked = Check.present("policy", policy);
    return with(draft -> draft.failurePolicy = checked);
  }

  /**
   * One at a time of the jobs that share a key; others wait their turn.
   *
   * @param key what the jobs share; at most {@link Limits#KEY_MAX_BYTES}
   * @return a copy
   * @throws InvalidJobException if the key is null, blank, too long or not well-formed
   */
  public Job<O> concurrency(String key) {
    return concurrency(Concurrency.of(key));
  }

  /**
   * With a limit on how many of the jobs that share a key run at once, and how often they start.
   *
   * @param concurrency the key, the limit, and what becomes of a job that finds the key full
   * @return a copy
   */
  public Job<O> concurrency(Concurrency concurrency) {
    Concurrency checked = Check.present("concurrency", concurrency);
    return with(draft -> draft.concurrency = checked);
  }

  /**
   * Starting only after another job has succeeded, and not before its own due time.
   *
   * @param job the job to wait for
   * @return a copy
   * @throws InvalidJobException if it waits for that job already, or for too many
   */
  public Job<O> after(JobId job) {
    return after(Dependency.on(job));
  }

  /**
   * Starting only after other jobs have ended, as each dependency says, and not before its own due
   * time; in addition to those that it waits for already.
   *
   * @param more the jobs to wait for
   * @return a copy
   * @throws InvalidJobException if it waits for one of them already, or for more than {@link
   *     Limits#DEPENDENCIES_MAX}
   */
  public Job<O> after(Dependency... more) {
    return after(Arrays.asList(Check.present("dependencies", more)));
  }

  /**
   * Starting only after other jobs have ended, as each dependency says, and not before its own due
   * time; in addition to those that it waits for already.
   *
   * @param more the jobs to wait for
   * @return a copy
   * @throws InvalidJobException if it waits for one of them already, or for more than {@link
   *     Limits#DEPENDENCIES_MAX}
   */
  public Job<O> after(Collection<Dependency> more) {
    List<Dependency> all = new ArrayList<>(dependencies);
    for (Dependency dependency : Check.present("dependencies", more)) {
      all.add(Check.present("dependency", dependency));
    }
    Check.range("dependencies", all.size(), 0, Limits.DEPENDENCIES_MAX);
    Set<Object> seen = new HashSet<>();
    for (Dependency dependency : all) {
      Object on = dependency.job() != null ? dependency.job() : dependency.name();
      if (!seen.add(on)) {
        throw Check.invalid("dependency", on, "each job once");
      }
    }
    List<Dependency> checked = List.copyOf(all);
    return with(draft -> draft.dependencies = checked);
  }

  /** Names the request without its input, which may be secret. */
  @Override
  public String toString() {
    return "Job[type=%s v%s, due=%s, namespace=%s, queue=%s, name=%s, key=%s]"
        .formatted(typeName, typeVersion, due, namespace, queue, name, key);
  }

  /** With what its type says; called before the caller says anything. */
  Job<O> with(JobDefaults defaults) {
    if (defaults.equals(JobDefaults.NONE)) {
      return this;
    }
    return with(
        draft -> {
          draft.queue = defaults.queue() != null ? defaults.queue() : DEFAULT_QUEUE;
          draft.priority = defaults.priority();
          draft.timeout = defaults.timeout();
          draft.failurePolicy = defaults.failurePolicy();
        });
  }

  private Job<O> with(Consumer<Draft> change) {
    var draft = new Draft(this);
    change.accept(draft);
    return new Job<>(this, draft);
  }

  /** The changeable part of a job while a copy is made, so that the job's own fields are final. */
  private static final class Draft {
    Due due;
    @Nullable String name;
    IfExists ifExists;
    @Nullable String key;
    String namespace;
    String queue;
    int priority;
    Map<String, String> metadata;
    @Nullable Duration timeout;
    @Nullable Instant deadline;
    @Nullable Schedule schedule;
    @Nullable FailurePolicy failurePolicy;
    @Nullable Concurrency concurrency;
    List<Dependency> dependencies;

    Draft(Job<?> job) {
      due = job.due;
      name = job.name;
      ifExists = job.ifExists;
      key = job.key;
      namespace = job.namespace;
      queue = job.queue;
      priority = job.priority;
      metadata = job.metadata;
      timeout = job.timeout;
      deadline = job.deadline;
      schedule = job.schedule;
      failurePolicy = job.failurePolicy;
      concurrency = job.concurrency;
      dependencies = job.dependencies;
    }
  }
}
