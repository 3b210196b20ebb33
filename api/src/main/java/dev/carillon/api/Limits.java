package dev.carillon.api;

import dev.carillon.api.error.BatchTooLargeException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;
import dev.carillon.api.schedule.Schedule;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The sizes and ranges that Carillon accepts, and the checks that refuse what is outside of them
 * before anything is written.
 *
 * <p>Sizes of text count UTF-8 bytes. Names of every kind may hold any Unicode text that is not
 * blank and has no control characters and no unpaired surrogates; spaces, quotes, slashes, {@code
 * |} and {@code @} are fine, and no name is trimmed or normalized.
 */
public final class Limits {

  /** The longest type name, in UTF-8 bytes. */
  public static final int TYPE_MAX_BYTES = 200;

  /** The highest payload version of a type; the lowest is 1. */
  public static final int TYPE_VERSION_MAX = 65_535;

  /** The longest job name, in UTF-8 bytes. */
  public static final int NAME_MAX_BYTES = 1_024;

  /** The longest idempotency key, in UTF-8 bytes. */
  public static final int KEY_MAX_BYTES = 1_024;

  /** The longest namespace, in UTF-8 bytes. */
  public static final int NAMESPACE_MAX_BYTES = 200;

  /** The longest queue name, in UTF-8 bytes. */
  public static final int QUEUE_MAX_BYTES = 200;

  /** The longest {@link JobId}, in characters. */
  public static final int JOB_ID_MAX_CHARS = 1_200;

  /** The most metadata entries of a job. */
  public static final int METADATA_MAX_ENTRIES = 64;

  /** The most metadata of a job, keys and values together, in UTF-8 bytes. */
  public static final int METADATA_MAX_BYTES = 16_384;

  /** The largest encoded input, result or saved state, in bytes. */
  public static final int PAYLOAD_MAX_BYTES = 1 << 20;

  /** The most jobs in one atomic batch; a store may allow less. */
  public static final int BATCH_MAX_JOBS = 10_000;

  /** The longest reason of a cancel, in UTF-8 bytes. */
  public static final int REASON_MAX_BYTES = 1_024;

  /** The lowest priority. */
  public static final int PRIORITY_MIN = -100;

  /** The highest priority, the most urgent. */
  public static final int PRIORITY_MAX = 100;

  /** The number of items on a page when a {@link JobQuery} does not say. */
  public static final int PAGE_DEFAULT_ITEMS = 50;

  /** The most items on a page. */
  public static final int PAGE_MAX_ITEMS = 1_000;

  /** How long the reading of a page may take, when a {@link JobQuery} does not say less. */
  public static final Duration PAGE_TIME = Duration.ofSeconds(2);

  /** The most events of a job in one {@link JobHistory}. */
  public static final int HISTORY_MAX_EVENTS = 1_000;

  /** The earliest due time and deadline. */
  public static final Instant EARLIEST_DUE = Instant.EPOCH;

  /** The latest due time and deadline: the last second of the year 9999. */
  public static final Instant LATEST_DUE = Instant.parse("9999-12-31T23:59:59Z");

  /** The shortest timeout of an attempt. */
  public static final Duration TIMEOUT_MIN = Duration.ofMillis(1);

  /** The longest timeout of an attempt: ten years. */
  public static final Duration TIMEOUT_MAX = Duration.ofDays(3_653);

  /** The longest text of a {@link Schedule}, zone included, in characters. */
  public static final int SCHEDULE_MAX_CHARS = 1_024;

  /** The longest period, delay, jitter and grace of a {@link Schedule}: a hundred years. */
  public static final Duration PERIOD_MAX = Duration.ofDays(36_525);

  /** The most missed occurrences that a {@link Schedule} makes up for. */
  public static final int MISFIRE_MAX_RUNS = 10_000;

  /** The most classes of errors that a {@link FailurePolicy} does not retry. */
  public static final int POLICY_MAX_ERRORS = 32;

  /** The most jobs that a job waits for. */
  public static final int DEPENDENCIES_MAX = 10_000;

  /** The most attempts in the period of a {@link Rate}, and in its burst. */
  public static final int RATE_MAX_PERMITS = 1_000_000;

  /** The shortest period of a {@link Rate}. */
  public static final Duration RATE_MIN_PERIOD = Duration.ofMillis(1);

  /** The longest period of a {@link Rate}. */
  public static final Duration RATE_MAX_PERIOD = Duration.ofDays(366);

  /** The most that the burst of a {@link Rate} may be: what the rate gives in ten years. */
  public static final Duration RATE_MAX_BURST = Duration.ofDays(3650);

  /** The most times in a {@linkplain Schedule#preview(int, Instant) preview}. */
  public static final int PREVIEW_MAX_TIMES = 1_000;

  /**
   * The longest name of a call of a workflow, in UTF-8 bytes: of a step, a compensation, a change
   * and a type of signals.
   */
  public static final int CALL_NAME_MAX_BYTES = 200;

  /** The most bytes that the payload of a signal may have, encoded. */
  public static final int SIGNAL_MAX_BYTES = 48 << 10;

  /** The most signals that may wait to be taken by one workflow. */
  public static final int UNREAD_SIGNALS_MAX = 1_000;

  private Limits() {}

  /**
   * Checks that an argument is there.
   *
   * @param name the name of the argument, for the message
   * @param value what was given
   * @param <T> its type
   * @return the same value
   * @throws InvalidArgumentException if it is null
   */
  public static <T> T checkPresent(String name, @Nullable T value) {
    return Check.argument(name, value);
  }

  /**
   * Checks a type name.
   *
   * @param type the type name
   * @return the same type name
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public static String checkType(String type) {
    return Check.label("type", type, TYPE_MAX_BYTES);
  }

  /**
   * Checks a job name.
   *
   * @param name the name
   * @return the same name
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public static String checkName(String name) {
    return Check.label("name", name, NAME_MAX_BYTES);
  }

  /**
   * Checks an idempotency key.
   *
   * @param key the key
   * @return the same key
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public static String checkKey(String key) {
    return Check.label("key", key, KEY_MAX_BYTES);
  }

  /**
   * Checks a namespace.
   *
   * @param namespace the namespace
   * @return the same namespace
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public static String checkNamespace(String namespace) {
    return Check.label("namespace", namespace, NAMESPACE_MAX_BYTES);
  }

  /**
   * Checks a queue name.
   *
   * @param queue the queue name
   * @return the same queue name
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public static String checkQueue(String queue) {
    return Check.label("queue", queue, QUEUE_MAX_BYTES);
  }

  /**
   * Checks the reason of a cancel. It may be empty and may have several lines.
   *
   * @param reason the reason
   * @return the same reason
   * @throws InvalidJobException if it is null, too long or not well-formed
   */
  public static String checkReason(String reason) {
    return Check.text("reason", reason, REASON_MAX_BYTES);
  }

  /**
   * Checks how far a job is said to be.
   *
   * @param done how much is done
   * @param total of how much
   * @throws InvalidArgumentException unless it is 0 or more of at least as much
   */
  public static void checkProgress(long done, long total) {
    if (done < 0) {
      throw InvalidArgumentException.of("done", done, "at least 0");
    }
    if (total < done) {
      throw InvalidArgumentException.of("total", total, "at least what is done, " + done);
    }
  }

  /**
   * Checks what a job is said to be doing.
   *
   * @param message what is going on
   * @return the same message
   * @throws InvalidArgumentException if it is null or too long
   */
  public static String checkMessage(String message) {
    int bytes = checkPresent("message", message).getBytes(StandardCharsets.UTF_8).length;
    if (bytes > REASON_MAX_BYTES) {
      throw InvalidArgumentException.of(
          "message", message, "at most " + REASON_MAX_BYTES + " UTF-8 bytes, is " + bytes);
    }
    return message;
  }

  /**
   * Checks the name of a step, a compensation, a change or a type of signals of a workflow.
   *
   * @param what which of these, for the message
   * @param name the name
   * @return the same name
   * @throws InvalidJobException if it is null, blank, too long or not well-formed
   */
  public static String checkCallName(String what, String name) {
    return Check.label(what, name, CALL_NAME_MAX_BYTES);
  }

  /**
   * Checks a due time, also one computed from a delay.
   *
   * @param due the due time
   * @return the same due time
   * @throws InvalidJobException if it is null, before {@link #EARLIEST_DUE} or after {@link
   *     #LATEST_DUE}
   */
  public static Instant checkDue(Instant due) {
    return Check.range("due", due, EARLIEST_DUE, LATEST_DUE);
  }

  /**
   * Checks a priority.
   *
   * @param priority the priority
   * @return the same
   * @throws InvalidJobException if it is out of range
   */
  public static int checkPriority(int priority) {
    return Check.range("priority", priority, PRIORITY_MIN, PRIORITY_MAX);
  }

  /**
   * Checks the timeout of an attempt.
   *
   * @param timeout the timeout
   * @return the same timeout
   * @throws InvalidJobException if it is null, shorter than {@link #TIMEOUT_MIN} or longer than
   *     {@link #TIMEOUT_MAX}
   */
  public static Duration checkTimeout(Duration timeout) {
    return Check.range("timeout", timeout, TIMEOUT_MIN, TIMEOUT_MAX);
  }

  /**
   * Checks the size of an encoded payload.
   *
   * @param bytes the size in bytes
   * @return the same size
   * @throws InvalidJobException if it is above {@link #PAYLOAD_MAX_BYTES}
   */
  public static int checkPayload(int bytes) {
    return Check.range("payload bytes", bytes, 0, PAYLOAD_MAX_BYTES);
  }

  /**
   * Checks the number of jobs in an atomic batch.
   *
   * @param jobs the number of jobs
   * @return the same number
   * @throws BatchTooLargeException if it is above {@link #BATCH_MAX_JOBS}
   */
  public static int checkBatch(int jobs) {
    if (jobs > BATCH_MAX_JOBS) {
      throw new BatchTooLargeException("jobs", jobs, BATCH_MAX_JOBS);
    }
    return jobs;
  }
}
