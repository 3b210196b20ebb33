package dev.carillon;

import dev.carillon.engine.member.MemberState;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A node among those that share a store.
 *
 * @param nodeId what it is called
 * @param incarnation which start of it, in hexadecimal digits
 * @param state how it stands, as the node sees it that was asked
 * @param clockOffset by how much its clock is ahead of the store's, as it says; null where that is
 *     not known
 * @param format the newest format of what is in the store that it reads; 0 where that is not known.
 *     Nodes that differ are of different versions
 */
public record MemberInfo(
    String nodeId, String incarnation, State state, @Nullable Duration clockOffset, int format) {

  /** How a node stands. */
  public enum State {
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

  static MemberInfo of(MemberState member) {
    State state =
        switch (member.kind()) {
          case THERE -> State.THERE;
          case LEAVING -> State.LEAVING;
          case DRAINING -> State.DRAINING;
          case GONE -> State.GONE;
          case DEAD -> State.DEAD;
        };
    return new MemberInfo(
        member.nodeId(),
        Long.toHexString(member.incarnation()),
        state,
        offset(member),
        member.format());
  }

  private static @Nullable Duration offset(MemberState member) {
    return member.clockMicros() == MemberState.CLOCK_UNKNOWN
        ? null
        : Duration.of(member.clockMicros(), ChronoUnit.MICROS);
  }
}
