package dev.carillon.engine.job;

import dev.carillon.api.Rate;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import org.jspecify.annotations.Nullable;

/**
 * What is set about a queue or a namespace. Its record holds, after a version, a byte of flags, the
 * pause's reason if 1, the limit if 2 and the rate if 4.
 *
 * @param paused why nothing starts; null where something may
 * @param limit how many attempts run at once, on all nodes together; 0 for any number
 * @param rate how often they start; null for as often as they come
 */
public record FlowSetting(@Nullable String paused, int limit, @Nullable Rate rate) {
  private static final int VERSION = 1;

  /** Nothing. */
  public static final FlowSetting NONE = new FlowSetting(null, 0, null);

  /** The same, paused or, with null, not. */
  public FlowSetting paused(@Nullable String reason) {
    return new FlowSetting(reason, limit, rate);
  }

  /** The same with another limit; 0 for none. */
  public FlowSetting limit(int newLimit) {
    return new FlowSetting(paused, newLimit, rate);
  }

  /** The same with another rate; null for none. */
  public FlowSetting rate(@Nullable Rate newRate) {
    return new FlowSetting(paused, limit, newRate);
  }

  /** This, and where it says nothing what {@code standard} says. */
  public FlowSetting or(FlowSetting standard) {
    return new FlowSetting(
        paused != null ? paused : standard.paused,
        limit != 0 ? limit : standard.limit,
        rate != null ? rate : standard.rate);
  }

  public byte[] encode() {
    ByteWriter out =
        new ByteWriter(32)
            .u8(VERSION)
            .u8((paused != null ? 1 : 0) | (limit != 0 ? 2 : 0) | (rate != null ? 4 : 0));
    if (paused != null) {
      out.string(paused);
    }
    if (limit != 0) {
      out.varint(limit);
    }
    if (rate != null) {
      ConcurrencyFormat.writeRate(rate, out);
    }
    return out.toBytes();
  }

  public static FlowSetting decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    in.requireVersion("flow record", VERSION);
    int flags = in.u8();
    return new FlowSetting(
        (flags & 1) != 0 ? in.string() : null,
        (flags & 2) != 0 ? (int) in.varint() : 0,
        (flags & 4) != 0 ? ConcurrencyFormat.readRate(in) : null);
  }
}
