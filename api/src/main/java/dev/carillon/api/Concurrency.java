package dev.carillon.api;

import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;
import org.jspecify.annotations.Nullable;

/**
 * How many jobs of a kind run at once, and how often they start, where the kind is a key that the
 * jobs share: a customer, an account, a machine. Stored with the job.
 *
 * <p>Jobs with the same key and namespace count together, whatever their type and queue. A job
 * starts when fewer run under the key than its own limit says; of two that wait the one due first
 * goes first, if their priorities are equal. A key is held until the attempt's outcome is durable,
 * also by a handler that goes on after its timeout; not while a job waits for its retry.
 *
 * <p>The jobs of a key may name different rates. Each goes by its own, for which every start under
 * the key counts: a job whose rate is another than that of the job started before it starts no
 * sooner than one interval of its own rate after that start, and those behind it in line wait with
 * it. One without a rate goes by that of the job started before it.
 *
 * @param key what the jobs share; at most {@link Limits#KEY_MAX_BYTES}
 * @param limit how many attempts run at once, at least 1
 * @param whenFull what becomes of a due job that finds the key full
 * @param rate how often attempts start under the key, or null for as often as they come
 */
public record Concurrency(String key, int limit, WhenFull whenFull, @Nullable Rate rate) {

  /**
   * Checks the values.
   *
   * @throws InvalidJobException if the key is not well-formed or the limit is below 1
   */
  public Concurrency {
    Check.label("concurrency key", key, Limits.KEY_MAX_BYTES);
    Check.range("concurrency limit", limit, 1, Integer.MAX_VALUE);
    Check.present("whenFull", whenFull);
  }

  /**
   * One at a time; others wait.
   *
   * @param key what the jobs share
   * @return one at a time, without a rate
   * @throws InvalidJobException if the key is null, blank, too long or not well-formed
   */
  public static Concurrency of(String key) {
    return new Concurrency(key, 1, WhenFull.WAIT, null);
  }

  /**
   * With another limit.
   *
   * @param limit how many attempts run at once, at least 1
   * @return a copy
   * @throws InvalidJobException if it is below 1
   */
  public Concurrency limit(int limit) {
    return new Concurrency(key, limit, whenFull, rate);
  }

  /**
   * With another rule for a key that is full.
   *
   * @param whenFull what becomes of the job then
   * @return a copy
   */
  public Concurrency whenFull(WhenFull whenFull) {
    return new Concurrency(key, limit, whenFull, rate);
  }

  /**
   * With a rate.
   *
   * @param rate how often attempts start under the key; a job whose turn has not come waits,
   *     whatever the rule for a full key is
   * @return a copy
   */
  public Concurrency rate(Rate rate) {
    return new Concurrency(key, limit, whenFull, Check.present("rate", rate));
  }
}
