package dev.carillon.engine.member;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.util.EnumSet;
import java.util.Set;

/**
 * A node as its heartbeat tells of it.
 *
 * <pre>
 * version      byte    1
 * node id      string
 * incarnation  long
 * heartbeats   varint
 * traits       varint  a bit each
 * controls     varint
 * format       varint
 * clock        long
 * free         varint
 * handlers     varint
 * era          varint
 * </pre>
 *
 * @param nodeId stable across restarts; decides whose shards come home to it, and nothing else
 * @param incarnation random per start; what stands in claims
 * @param heartbeats how many this incarnation has sent
 * @param controls the version of what operators have set that it acts on
 * @param said the rest
 */
public record Member(
    String nodeId, long incarnation, long heartbeats, Set<Trait> traits, long controls, Said said) {
  private static final int VERSION = 1;

  /**
   * What a member says of itself that may be another thing with each heartbeat.
   *
   * @param format the highest format of journals and records that it reads
   * @param clockMicros by how much its clock is ahead of the store's; {@link #CLOCK_UNKNOWN} where
   *     it has not been measured
   * @param free attempts that it could run for others
   * @param handlers which of its lists of handlers it last wrote; 0 for none
   * @param era another number after each time that it may have been dead to others; odd while it
   *     counts itself among the living
   */
  public record Said(int format, long clockMicros, int free, long handlers, long era) {
    static final long CLOCK_UNKNOWN = Long.MIN_VALUE;
    public static final Said NOTHING = new Said(0, CLOCK_UNKNOWN, 0, 0, 0);

    Said withFormat(int other) {
      return new Said(other, clockMicros, free, handlers, era);
    }

    Said withClock(long micros) {
      return new Said(format, micros, free, handlers, era);
    }

    public Said withFree(int other) {
      return new Said(format, clockMicros, other, handlers, era);
    }

    public Said withHandlers(long other) {
      return new Said(format, clockMicros, free, other, era);
    }

    Said withEra(long other) {
      return new Said(format, clockMicros, free, handlers, other);
    }
  }

  /** What others should know of a member. */
  public enum Trait {
    /** It gives its shards back and takes no more. */
    LEAVING(1),
    /** It schedules and asks, and owns nothing. */
    CLIENT(2),
    /** It stopped in order; it may come back. */
    GONE(4),
    /** An operator wants it to have no shards. */
    DRAINING(8);

    private final long bit;

    Trait(long bit) {
      this.bit = bit;
    }
  }

  public byte[] encode() {
    long bits = 0;
    for (Trait trait : traits) {
      bits |= trait.bit;
    }
    return new ByteWriter(48 + nodeId.length())
        .u8(VERSION)
        .string(nodeId)
        .i64(incarnation)
        .varint(heartbeats)
        .varint(bits)
        .varint(controls)
        .varint(said.format())
        .i64(said.clockMicros())
        .varint(said.free())
        .varint(said.handlers())
        .varint(said.era())
        .toBytes();
  }

  public static Member decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    in.requireVersion("member", VERSION);
    String nodeId = in.string();
    long incarnation = in.i64();
    long heartbeats = in.varint();
    long bits = in.varint();
    Set<Trait> traits = EnumSet.noneOf(Trait.class);
    for (Trait trait : Trait.values()) {
      if ((bits & trait.bit) != 0) {
        traits.add(trait);
      }
    }
    long controls = in.varint();
    Said said = new Said((int) in.varint(), in.i64(), (int) in.varint(), in.varint(), in.varint());
    return new Member(nodeId, incarnation, heartbeats, traits, controls, said);
  }

  /** One whose record only later versions can read: it is there, and no more is known of it. */
  static Member unreadable(long incarnation) {
    return new Member("", incarnation, 0, EnumSet.of(Trait.LEAVING), Long.MAX_VALUE, Said.NOTHING);
  }

  boolean isGone() {
    return traits.contains(Trait.GONE);
  }

  /** Whether shards may be given to it. */
  public boolean takesShards() {
    return traits.isEmpty();
  }
}
