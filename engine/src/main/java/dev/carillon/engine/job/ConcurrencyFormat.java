package dev.carillon.engine.job;

import dev.carillon.api.Concurrency;
import dev.carillon.api.Rate;
import dev.carillon.api.WhenFull;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How limits are stored.
 *
 * <pre>
 * key       string
 * limit     varint
 * whenFull  byte
 * rate      varint permits, or 0 for none; varint period in nanoseconds, varint burst
 * </pre>
 */
public final class ConcurrencyFormat {
  private ConcurrencyFormat() {}

  public static void write(Concurrency concurrency, ByteWriter out) {
    out.string(concurrency.key()).varint(concurrency.limit()).u8(concurrency.whenFull().code());
    writeRate(concurrency.rate(), out);
  }

  public static Concurrency read(ByteReader in) {
    try {
      return new Concurrency(
          in.string(), (int) in.varint(), WhenFull.ofCode(in.u8()), readRate(in));
    } catch (InvalidJobException | IllegalArgumentException e) {
      throw new DamagedException("concurrency: " + e.getMessage());
    }
  }

  public static void writeRate(@Nullable Rate rate, ByteWriter out) {
    out.varint(rate != null ? rate.permits() : 0);
    if (rate != null) {
      out.varint(rate.period().toNanos()).varint(rate.burst());
    }
  }

  public static @Nullable Rate readRate(ByteReader in) {
    int permits = (int) in.varint();
    if (permits == 0) {
      return null;
    }
    return new Rate(permits, Duration.ofNanos(in.varint()), (int) in.varint());
  }
}
