package dev.carillon.engine.member;

/**
 * How things stand in the store in one format after the first. The code itself knows one way only,
 * that of its memory; what a later format writes differently is translated on the way in and out,
 * so that a node can hold back what others do not read yet.
 *
 * <p>Pure, and the two methods are each other's inverse. An operation says in its frame in which
 * format it was written; a summary, a record and a row are recognised by their version byte, and
 * what is of another format is given back as it is.
 */
public interface Format {

  /** What is durable. */
  enum Thing {
    /** The body of a frame. */
    OPERATION,
    /** Of a shard, in its head. */
    SUMMARY,
    /** Names, requests, shares, rates and settings; heartbeats are the same in every format. */
    RECORD,
    /** A job that a user's transaction wrote. */
    ROW
  }

  /** What the code has in memory, as it stands in this format. */
  byte[] write(Thing thing, byte[] bytes);

  /**
   * What stands in the store, as the code has it in memory.
   *
   * @throws IllegalArgumentException where the bytes are none of this format
   */
  byte[] read(Thing thing, byte[] bytes);
}
