package dev.carillon.engine.life;

/**
 * What a node knows of the ended jobs of a shard that it has: enough for a list to pass it over.
 *
 * @param lastMicros when the last one ended: 0 where none has, {@link Long#MAX_VALUE} where that is
 *     not known yet
 * @param dead how many are dead letters; {@link #UNKNOWN} where the shard is not loaded
 */
public record EndedJobs(long lastMicros, int dead) {
  /** No number of dead letters. */
  public static final int UNKNOWN = -1;
}
