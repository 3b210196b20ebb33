package dev.carillon.gateway;

import dev.carillon.RawPayload;
import dev.carillon.api.AttemptToken;
import dev.carillon.api.DependencyInfo;
import dev.carillon.api.OccurrenceInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that a worker is to run. Token, type and sequence cost nothing; all else is read from
 * the job when it is asked for, which any thread may do. Thread-safe.
 */
public interface GivenAttempt {

  /**
   * The number of the attempt among those that were given by this connection.
   *
   * @return from 1
   */
  long sequence();

  /**
   * By which the worker speaks of the attempt: its job, its number and what proves that it is the
   * current one.
   *
   * @return the token
   */
  AttemptToken token();

  /**
   * The type of the job.
   *
   * @return its name
   */
  String type();

  /**
   * In which version of the type the input is written.
   *
   * @return at least 1
   */
  int typeVersion();

  /**
   * The namespace of the job.
   *
   * @return its name
   */
  String namespace();

  /**
   * The queue of the job.
   *
   * @return its name
   */
  String queue();

  /**
   * The name of the job.
   *
   * @return null for none
   */
  @Nullable String name();

  /**
   * The metadata of the job.
   *
   * @return an unmodifiable map
   */
  Map<String, String> metadata();

  /**
   * The time this attempt was to be.
   *
   * @return see {@link dev.carillon.api.JobContext#scheduledTime()}
   */
  Instant scheduledTime();

  /**
   * Which occurrence of a recurring job this is.
   *
   * @return null if the job is not recurring
   */
  @Nullable OccurrenceInfo occurrence();

  /**
   * The jobs that this one waited for, and how they ended.
   *
   * @return empty where it waited for none
   */
  List<DependencyInfo> dependencies();

  /**
   * How long the attempt may take; the node watches it.
   *
   * @return null for any time
   */
  @Nullable Duration timeout();

  /**
   * When the job is given up; the node watches it.
   *
   * @return null for never
   */
  @Nullable Instant deadline();

  /**
   * The input of the job, as it is stored.
   *
   * @return of the codec {@code ""} where there is none
   */
  RawPayload input();

  /**
   * The resume position that an attempt of the job saved last.
   *
   * @return null where nothing was saved
   */
  @Nullable RawPayload saved();

  /**
   * The errors after which the failure policy does not retry, by the names of their classes; see
   * {@link WorkerOutcome.Failed#kinds}.
   *
   * @return empty for none
   */
  List<String> except();
}
