package dev.carillon.engine.job;

import dev.carillon.api.Rate;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is set about a queue or a namespace. Its record holds, after a version, a byte of flags, the
 * pause's reason if 1, the limit if 2, the rate if 4, the change that paused it if 8 and the last
 * change if 16. Code that knows no changes leaves them out when it writes.
 *
 * @param paused why nothing starts; null where something may
 * @param limit how many attempts run at once, on all nodes together; 0 for any number
 * @param rate how often they start; null for as often as they come
 * @param pausedIn the change that paused it; null where nothing is paused or nobody knows
 * @param last the last change; null where nobody knows
 */
public record FlowSetting(
    @Nullable String paused,
    int limit,
    @Nullable Rate rate,
    @Nullable Change pausedIn,
    @Nullable Change last) {
  private static final int VERSION = 1;
  private static final int PAUSED = 1;
  private static final int LIMIT = 2;
  private static final int RATE = 4;
  private static final int PAUSED_IN = 8;
  private static final int LAST = 16;

  /** Nothing. */
  public static final FlowSetting NONE = new FlowSetting(null, 0, null);

  /**
   * Who changed it, and when.
   *
   * @param number of the change, from 1: how many there were
   * @param by a person, a program or the id of a node
   */
  public record Change(long number, String by, long atMicros) {

    void write(ByteWriter out) {
      out.varint(number).string(by).i64(atMicros);
    }

    static Change read(ByteReader in) {
      return new Change(in.varint(), in.string(), in.i64());
    }
  }

  /** A setting of which nobody knows who made it. */
  public FlowSetting(@Nullable String paused, int limit, @Nullable Rate rate) {
    this(paused, limit, rate, null, null);
  }

  /** The same, paused or, with null, not. */
  public FlowSetting paused(@Nullable String reason) {
    return new FlowSetting(reason, limit, rate, reason != null ? pausedIn : null, last);
  }

  /** The same with another limit; 0 for none. */
  public FlowSetting limit(int newLimit) {
    return new FlowSetting(paused, newLimit, rate, pausedIn, last);
  }

  /** The same with another rate; null for none. */
  public FlowSetting rate(@Nullable Rate newRate) {
    return new FlowSetting(paused, limit, newRate, pausedIn, last);
  }

  /** What somebody made of {@code before}: that itself where nothing differs. */
  public FlowSetting changed(FlowSetting before, String by, long atMicros) {
    boolean pauseStays = Objects.equals(paused, before.paused);
    if (pauseStays && limit == before.limit && Objects.equals(rate, before.rate)) {
      return before;
    }
    Change change = new Change(before.changes() + 1, by, atMicros);
    Change pause = pauseStays ? before.pausedIn : paused != null ? change : null;
    return new FlowSetting(paused, limit, rate, pause, change);
  }

  /** How often it was changed, as far as that is known. */
  public long changes() {
    return last != null ? last.number() : 0;
  }

  /** This, and where it says nothing what {@code standard} says. */
  public FlowSetting or(FlowSetting standard) {
    return new FlowSetting(
        paused != null ? paused : standard.paused,
        limit != 0 ? limit : standard.limit,
        rate != null ? rate : standard.rate,
        pausedIn,
        last);
  }

  public byte[] encode() {
    ByteWriter out =
        new ByteWriter(64)
            .u8(VERSION)
            .u8(
                (paused != null ? PAUSED : 0)
                    | (limit != 0 ? LIMIT : 0)
                    | (rate != null ? RATE : 0)
                    | (pausedIn != null ? PAUSED_IN : 0)
                    | (last != null ? LAST : 0));
    if (paused != null) {
      out.string(paused);
    }
    if (limit != 0) {
      out.varint(limit);
    }
    if (rate != null) {
      ConcurrencyFormat.writeRate(rate, out);
    }
    if (pausedIn != null) {
      pausedIn.write(out);
    }
    if (last != null) {
      last.write(out);
    }
    return out.toBytes();
  }

  public static FlowSetting decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    in.requireVersion("flow record", VERSION);
    int flags = in.u8();
    return new FlowSetting(
        (flags & PAUSED) != 0 ? in.string() : null,
        (flags & LIMIT) != 0 ? (int) in.varint() : 0,
        (flags & RATE) != 0 ? ConcurrencyFormat.readRate(in) : null,
        (flags & PAUSED_IN) != 0 ? Change.read(in) : null,
        (flags & LAST) != 0 ? Change.read(in) : null);
  }
}
