package dev.carillon.engine.member;

/**
 * A node on the store, as this node sees it.
 *
 * @param nodeId what it is called
 * @param incarnation which start of it
 * @param clockMicros by how much its clock is ahead of the store's; {@link #CLOCK_UNKNOWN} where
 *     that has not been measured
 * @param format the newest format of journals and records that it reads; 0 where nobody has said
 */
public record MemberState(
    String nodeId, long incarnation, Kind kind, long clockMicros, int format) {

  /** Not measured. */
  public static final long CLOCK_UNKNOWN = Member.Said.CLOCK_UNKNOWN;

  /** How it stands. */
  public enum Kind {
    /** It gives signs of life. */
    THERE,
    /** It gives its shards back and takes no more. */
    LEAVING,
    /** An operator wants it to have no shards: it hands them over and takes none. */
    DRAINING,
    /** It stopped in order and may come back. */
    GONE,
    /** It has given no sign of life for the member timeout: its shards are taken over. */
    DEAD
  }
}
