package dev.carillon.store.sql;

import dev.carillon.store.ShardId;

/** A row whose checksum is wrong, or which is missing. Ends as {@code Outcome.Damaged}. */
public final class DamageException extends RuntimeException {

  /** Damage at {@code where}. */
  public DamageException(String where) {
    super(where);
  }

  /** Damage of an entry. */
  public static DamageException ofEntry(
      ShardId shard, int generation, long number, String problem) {
    return new DamageException(
        "shard " + shard + ", generation " + generation + ", entry " + number + ": " + problem);
  }

  /** What is damaged. */
  public String where() {
    return String.valueOf(getMessage());
  }
}
