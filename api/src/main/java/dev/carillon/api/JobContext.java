package dev.carillon.api;

import dev.carillon.api.error.CodecException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StaleAttemptException;
import dev.carillon.api.error.StoreUnavailableException;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The attempt a handler is running, and its job. Made by Carillon and valid until the handler
 * returns; thread-safe, so a handler may share it with threads that it waits for.
 */
public interface JobContext {

  /**
   * The job, the same for all its attempts.
   *
   * @return its id
   */
  JobId id();

  /**
   * The proof of being the current attempt, different for each attempt.
   *
   * @return the token
   */
  AttemptToken token();

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
   * The number of this attempt. An attempt that a crash cut off may be repeated under the same
   * number, with another {@link #token()}.
   *
   * @return 1 for the first
   */
  int attempt();

  /**
   * The time this attempt was to be: never later than the time it started, the same if it is
   * repeated, and the right time to compute with in place of the clock. Jitter is not in it.
   *
   * @return the time
   */
  Instant scheduledTime();

  /**
   * Which occurrence of a recurring job this is.
   *
   * @return the recurring job, the number and the time, the same for all attempts of the
   *     occurrence; null if the job is not recurring
   */
  @Nullable OccurrenceInfo occurrence();

  /**
   * The jobs that this one waited for, and how they ended: of a group's last job its members.
   *
   * @return an unmodifiable list; empty where it waited for none
   */
  List<DependencyInfo> dependencies();

  /**
   * The job's metadata.
   *
   * @return an unmodifiable map in key order
   */
  Map<String, String> metadata();

  /**
   * Whether the work is no longer wanted: the job was cancelled, the attempt timed out, or its node
   * is stopping. The thread is interrupted as well; long loops should ask now and then and end
   * early, by exception.
   *
   * @return true once it is; it stays so
   */
  boolean cancellationRequested();

  /**
   * Whether the job should pause, because somebody paused it or its node stops. A handler that can
   * {@link #save} its position should do so and throw an {@link InterruptedException}: the attempt
   * is then as if it had not been made, and goes on from that position when the job is resumed or
   * its node starts again. Others may ignore it: that of a paused job goes on to its end, which
   * counts; that of a node that stops is interrupted after a while. (Returning ends the job; any
   * other exception is a failure.)
   *
   * @return true while a pause is asked for
   */
  boolean pauseRequested();

  /**
   * Reports how far the job is: see {@link JobInfo#progress()} and {@link JobHandle#watch}. Returns
   * at once, also if it is called a million times a second. The last report is durable within a
   * second, and what is reported last is durable with the end of the job. A report of a smaller
   * part than before changes the message alone, also in a later attempt.
   *
   * @param done how much is done, not negative
   * @param total of how much, at least {@code done}
   * @param message what is going on; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @throws InvalidArgumentException if a value is out of range
   */
  void progress(long done, long total, String message);

  /**
   * Reports what the job is doing, where it is not known how much there is to do. Numbers that were
   * reported before stay.
   *
   * @param message what is going on; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @throws InvalidArgumentException if it is too long
   */
  void progress(String message);

  /**
   * Saves where to resume, replacing what was saved before. Durable when it returns: later attempts
   * of the job read it with {@link #saved(TypeToken)}, after failures and crashes too. What was
   * done since the last save may be done again.
   *
   * <p>An interrupt ends the wait for the store with an {@link OutcomeUnknownException}, and the
   * thread stays interrupted: another attempt may be about to start. Only the interrupt of a node
   * that stops lets the save go on to its end.
   *
   * @param state the position, encoded like a payload, at most {@link Limits#PAYLOAD_MAX_BYTES}
   * @throws StaleAttemptException if this is no longer the current attempt; stop working
   * @throws InvalidJobException if the encoded state is too large
   * @throws CodecException if the state cannot be encoded
   * @throws StoreUnavailableException if the store could not be reached; nothing was saved
   * @throws OutcomeUnknownException if it is not known whether it was saved; saving again is safe
   */
  void save(Object state);

  /**
   * Completes the job in a transaction of the handler's: what the transaction changes and the
   * outcome of the job are there together, or neither is. See {@link #completeIn(Connection,
   * Object)}.
   *
   * @param connection a transaction in the database of the store
   */
  default void completeIn(Connection connection) {
    completeIn(connection, null);
  }

  /**
   * Completes the job, with its result, in a transaction of the handler's: what the transaction
   * changes and the outcome of the job are there together, or neither is.
   *
   * <p>To be called once, by an attempt that then commits and returns. Once the transaction is
   * committed the job has succeeded, whatever the handler does afterwards, also if the process dies
   * before it returns. If it is rolled back and the handler returns all the same, the attempt has
   * failed. Until it ends no other attempt is made, also after a timeout.
   *
   * @param connection a transaction in the database of the store
   * @param result the result; null for tasks. What the handler returns does not count
   * @throws StaleAttemptException if this is no longer the current attempt; roll back
   * @throws InvalidJobException if the encoded result is too large
   * @throws CodecException if the result cannot be encoded
   * @throws InvalidArgumentException if the store takes part in no transactions of others, or the
   *     connection commits each statement by itself
   * @throws IllegalStateException if the job is completed already
   * @throws StoreUnavailableException if the database refused: the transaction can only be rolled
   *     back
   */
  void completeIn(Connection connection, @Nullable Object result);

  /**
   * What this job saved last, by this attempt or an earlier one.
   *
   * @param type its class
   * @param <T> its type
   * @return the state, or empty if nothing was saved
   * @throws CodecException if it cannot be decoded to the type
   */
  default <T> Optional<T> saved(Class<T> type) {
    return saved(TypeToken.of(type));
  }

  /**
   * What this job saved last, by this attempt or an earlier one.
   *
   * @param type its type, with type arguments
   * @param <T> its type
   * @return the state, or empty if nothing was saved
   * @throws CodecException if it cannot be decoded to the type
   */
  <T> Optional<T> saved(TypeToken<T> type);
}
