package dev.carillon.store.sql;

import dev.carillon.store.Head;

/**
 * A head as a row of a database, which also says where the shard's entries are.
 *
 * @param <R> the store's own type of row
 */
public interface StoredHead<R extends StoredHead<R>> {

  /** The head as callers see it. */
  Head head();

  /**
   * Entries up to this number are there: fewer of them are damage. Later ones are not known from
   * here.
   */
  long tail();

  /** The same row with another head and tail. */
  R with(Head head, long tail);

  /** The same row with another head. */
  default R with(Head head) {
    return with(head, tail());
  }
}
