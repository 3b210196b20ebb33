package dev.carillon.api;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.internal.Check;
import dev.carillon.api.internal.Micros;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What follows a failed attempt: none, or another one later, up to a number of retries. Stored with
 * the job where the job or its type says it, and followed by whichever node runs it; otherwise the
 * handler's counts, then the namespace's, then the node's, which is {@link #standard()} by default.
 *
 * <p>A job whose retries are exhausted is {@link JobState#DEAD}, kept with its input and every
 * error; only {@link #drop()} ends it as {@link JobState#FAILED}. Attempts have <em>virtual</em>
 * times: the next one is counted from the time the last was to be, not from when a slow or
 * restarted node came round to it. Only an attempt that itself took longer than the wait pushes the
 * rest; times that have passed meanwhile are passed over, so retries never come in a burst.
 *
 * <p>Immutable and thread-safe. A policy that is not acceptable is refused with {@link
 * InvalidJobException}.
 */
public final class FailurePolicy {

  /** For {@code maxRetries}: until it succeeds. */
  public static final int UNLIMITED = Integer.MAX_VALUE;

  private static final FailurePolicy DROP =
      new FailurePolicy(Kind.DROP, Duration.ZERO, 1, Duration.ZERO, 0, 0, null, List.of());

  private static final FailurePolicy STANDARD =
      exponential(Duration.ofSeconds(1), 2, Duration.ofMinutes(30), 60, 0.2);

  private final Kind kind;
  private final Duration interval;
  private final double factor;
  private final Duration cap;
  private final int maxRetries;
  private final double jitter;
  private final @Nullable Schedule schedule;
  private final List<String> except;

  /** How the time of a retry is found. */
  public enum Kind {
    /** There is none. */
    DROP,
    /** The same wait each time. */
    CONSTANT,
    /** At the times of a cron schedule. */
    CRON,
    /** A wait that grows by a factor. */
    EXPONENTIAL
  }

  private FailurePolicy(
      Kind kind,
      Duration interval,
      double factor,
      Duration cap,
      int maxRetries,
      double jitter,
      @Nullable Schedule schedule,
      List<String> except) {
    this.kind = kind;
    this.interval = interval;
    this.factor = factor;
    this.cap = cap;
    this.maxRetries = maxRetries;
    this.jitter = jitter;
    this.schedule = schedule;
    this.except = except;
  }

  /**
   * Exponential from a second by a factor of two, at most half an hour, sixty retries, each wait up
   * to a fifth longer at random. The last retry comes after 25 hours at the earliest, so a job
   * outlives an outage of a whole day.
   *
   * @return the policy of a job for which nobody says another
   */
  public static FailurePolicy standard() {
    return STANDARD;
  }

  /**
   * No retry: the first failure ends the job as {@link JobState#FAILED}.
   *
   * @return the policy
   */
  public static FailurePolicy drop() {
    return DROP;
  }

  /**
   * The same wait before every retry.
   *
   * @param interval from zero to {@link Limits#PERIOD_MAX}
   * @param maxRetries from 0, or {@link #UNLIMITED}; there is one attempt more than retries
   * @return the policy
   */
  public static FailurePolicy constant(Duration interval, int maxRetries) {
    return new FailurePolicy(
        Kind.CONSTANT,
        Micros.roundedUp(Check.range("interval", interval, Duration.ZERO, Limits.PERIOD_MAX)),
        1,
        Limits.PERIOD_MAX,
        retries(maxRetries),
        0,
        null,
        List.of());
  }

  /**
   * Retries at the times of a cron schedule.
   *
   * @param schedule by cron
   * @param maxRetries from 0, or {@link #UNLIMITED}
   * @return the policy
   */
  public static FailurePolicy cron(Schedule schedule, int maxRetries) {
    Check.present("schedule", schedule);
    if (schedule.kind() != Schedule.Kind.CRON) {
      throw Check.invalid("schedule", schedule.kind(), "one by cron");
    }
    return new FailurePolicy(
        Kind.CRON, Duration.ZERO, 1, Duration.ZERO, retries(maxRetries), 0, schedule, List.of());
  }

  /**
   * A wait that grows: {@code base}, then {@code base × factor}, and so on up to {@code cap}.
   *
   * @param base above zero, at most {@link Limits#PERIOD_MAX}
   * @param factor from 1 to 1000
   * @param cap from the base to {@link Limits#PERIOD_MAX}
   * @param maxRetries from 0, or {@link #UNLIMITED}
   * @param jitter from 0 to 1: each wait is longer by up to this part of it, at random
   * @return the policy
   */
  public static FailurePolicy exponential(
      Duration base, double factor, Duration cap, int maxRetries, double jitter) {
    Check.range("base", base, Duration.ofNanos(1000), Limits.PERIOD_MAX);
    Check.range("factor", factor, 1.0, 1000.0);
    Check.range("cap", cap, base, Limits.PERIOD_MAX);
    Check.range("jitter", jitter, 0.0, 1.0);
    return new FailurePolicy(
        Kind.EXPONENTIAL,
        Micros.roundedUp(base),
        factor,
        Micros.roundedUp(cap),
        retries(maxRetries),
        jitter,
        null,
        List.of());
  }

  /**
   * A wait that grows, with the numbers of {@link #standard()} until others are said: {@code
   * FailurePolicy.exponential().from(Duration.ofSeconds(5)).factor(3).cap(Duration.ofHours(1))}.
   *
   * @return the policy
   */
  public static FailurePolicy exponential() {
    return STANDARD;
  }

  /**
   * The same exponential policy with another first wait. A cap below it is raised to it.
   *
   * @param base above zero, at most {@link Limits#PERIOD_MAX}
   * @return a copy
   * @throws InvalidJobException if it is out of range or the policy is not exponential
   */
  public FailurePolicy from(Duration base) {
    requireExponential("from");
    Check.range("base", base, Duration.ofNanos(1000), Limits.PERIOD_MAX);
    Duration notBelow = cap.compareTo(base) < 0 ? base : cap;
    return exponential(base, factor, notBelow, maxRetries, jitter).except(except);
  }

  /**
   * The same exponential policy with another factor.
   *
   * @param factor from 1 to 1000
   * @return a copy
   * @throws InvalidJobException if it is out of range or the policy is not exponential
   */
  public FailurePolicy factor(double factor) {
    requireExponential("factor");
    return exponential(interval, factor, cap, maxRetries, jitter).except(except);
  }

  /**
   * The same exponential policy with another longest wait.
   *
   * @param cap from the first wait to {@link Limits#PERIOD_MAX}
   * @return a copy
   * @throws InvalidJobException if it is out of range or the policy is not exponential
   */
  public FailurePolicy cap(Duration cap) {
    requireExponential("cap");
    return exponential(interval, factor, cap, maxRetries, jitter).except(except);
  }

  /**
   * The same exponential policy with another jitter.
   *
   * @param jitter from 0 to 1: each wait is longer by up to this part of it, at random
   * @return a copy
   * @throws InvalidJobException if it is out of range or the policy is not exponential
   */
  public FailurePolicy jitter(double jitter) {
    requireExponential("jitter");
    return exponential(interval, factor, cap, maxRetries, jitter).except(except);
  }

  private void requireExponential(String what) {
    if (kind != Kind.EXPONENTIAL) {
      throw Check.invalid(what, kind, "an exponential policy to change");
    }
  }

  /**
   * The same policy with another number of retries.
   *
   * @param maxRetries from 0, or {@link #UNLIMITED}; there is one attempt more than retries
   * @return a copy
   * @throws InvalidJobException if it is negative or the policy is {@link #drop()}
   */
  public FailurePolicy maxRetries(int maxRetries) {
    if (kind == Kind.DROP) {
      throw Check.invalid("maxRetries", maxRetries, "a policy that retries");
    }
    return new FailurePolicy(
        kind, interval, factor, cap, retries(maxRetries), jitter, schedule, except);
  }

  private static int retries(int maxRetries) {
    return Check.range("maxRetries", maxRetries, 0, UNLIMITED);
  }

  /**
   * The same, but what is thrown as one of these classes, or a subclass, is not retried.
   *
   * @param errors the classes
   * @return a copy
   */
  @SafeVarargs
  public final FailurePolicy except(Class<? extends Throwable>... errors) {
    List<String> names = new ArrayList<>();
    for (Class<? extends Throwable> error : Check.present("errors", errors)) {
      names.add(Check.present("error", error).getName());
    }
    return except(names);
  }

  /**
   * The same, but what is thrown as a class of these names, or a subclass, is not retried.
   *
   * @param errors names of classes, which need not be known here; at most {@link
   *     Limits#POLICY_MAX_ERRORS}
   * @return a copy
   */
  public FailurePolicy except(List<String> errors) {
    Check.present("errors", errors).forEach(name -> Check.present("error", name));
    Check.range("errors", errors.size(), 0, Limits.POLICY_MAX_ERRORS);
    return new FailurePolicy(
        kind, interval, factor, cap, maxRetries, jitter, schedule, List.copyOf(errors));
  }

  /**
   * How the time of a retry is found.
   *
   * @return the kind
   */
  public Kind kind() {
    return kind;
  }

  /**
   * The wait of a constant policy, the first wait of an exponential one.
   *
   * @return zero for the others
   */
  public Duration interval() {
    return interval;
  }

  /**
   * How the wait of an exponential policy grows.
   *
   * @return 1 for the others
   */
  public double factor() {
    return factor;
  }

  /**
   * The longest wait.
   *
   * @return zero where there is none to speak of
   */
  public Duration cap() {
    return cap;
  }

  /**
   * How many attempts may follow the first.
   *
   * @return the number, or {@link #UNLIMITED}
   */
  public int maxRetries() {
    return maxRetries;
  }

  /**
   * By which part of itself a wait is longer at most.
   *
   * @return from 0 to 1
   */
  public double jitter() {
    return jitter;
  }

  /**
   * When a cron policy retries.
   *
   * @return the schedule, or null for the others
   */
  public @Nullable Schedule schedule() {
    return schedule;
  }

  /**
   * The names of classes that are not retried.
   *
   * @return an unmodifiable list
   */
  public List<String> except() {
    return except;
  }

  /**
   * Whether the policy retries what was thrown; {@link NotRetryableException} never is.
   *
   * @param thrown what an attempt failed with
   * @return true unless it is one of the excepted classes
   */
  public boolean retries(Throwable thrown) {
    for (Class<?> type = thrown.getClass(); type != null; type = type.getSuperclass()) {
      if (except.contains(type.getName())) {
        return false;
      }
    }
    return !(thrown instanceof NotRetryableException);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof FailurePolicy that
        && kind == that.kind
        && interval.equals(that.interval)
        && factor == that.factor
        && cap.equals(that.cap)
        && maxRetries == that.maxRetries
        && jitter == that.jitter
        && Objects.equals(schedule, that.schedule)
        && except.equals(that.except);
  }

  @Override
  public int hashCode() {
    return Objects.hash(kind, interval, factor, cap, maxRetries, jitter, schedule, except);
  }

  @Override
  public String toString() {
    String retries = maxRetries == UNLIMITED ? "unlimited" : maxRetries + " retries";
    String except = this.except.isEmpty() ? "" : ", except " + this.except;
    return switch (kind) {
      case DROP -> "drop" + except;
      case CONSTANT -> "constant(" + interval + ", " + retries + ")" + except;
      case CRON -> "cron(" + schedule + ", " + retries + ")" + except;
      case EXPONENTIAL ->
          "exponential(%s × %s up to %s, %s, jitter %s)%s"
              .formatted(interval, factor, cap, retries, jitter, except);
    };
  }
}
