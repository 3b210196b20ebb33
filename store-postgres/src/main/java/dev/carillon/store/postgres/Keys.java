package dev.carillon.store.postgres;

import java.sql.SQLException;

/**
 * Gives segments their keys, each once. Keys come in blocks, so that most of them cost no way to
 * the server; those of a block that is not used up are never given.
 */
final class Keys {

  /** The distance of two values of the sequence. */
  static final int BLOCK = 64;

  private long next;
  private long end;

  synchronized long next(Session session) throws SQLException {
    if (next == end) {
      next = session.number("select nextval('$.segment_keys')");
      end = next + BLOCK;
    }
    return next++;
  }

  /** Forgets the block: the server may be another one, with other keys. */
  synchronized void clear() {
    next = 0;
    end = 0;
  }
}
