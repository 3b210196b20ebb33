package dev.carillon.engine.job;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * A failure policy as a journal holds it.
 *
 * <pre>
 * version   byte    1
 * kind      byte    1 drop, 2 constant, 3 cron, 4 exponential
 * retries   varint                                             unless drop
 * interval  varint  microseconds                               if constant or exponential
 * factor    long    bits of a double                           if exponential
 * cap       varint  microseconds                               if exponential
 * jitter    long    bits of a double                           if exponential
 * schedule  bytes   {@link ScheduleFormat}                     if cron
 * except    varint, strings
 * </pre>
 */
public final class PolicyFormat {
  private static final int VERSION = 1;
  private static final int DROP = 1;
  private static final int CONSTANT = 2;
  private static final int CRON = 3;
  private static final int EXPONENTIAL = 4;

  private PolicyFormat() {}

  /** Writes a policy. */
  public static byte[] encode(FailurePolicy policy) {
    ByteWriter out = new ByteWriter(32).u8(VERSION);
    Schedule schedule = policy.schedule();
    switch (policy.kind()) {
      case DROP -> out.u8(DROP);
      case CONSTANT ->
          out.u8(CONSTANT).varint(policy.maxRetries()).varint(Micros.ceil(policy.interval()));
      case CRON -> out.u8(CRON).varint(policy.maxRetries());
      case EXPONENTIAL ->
          out.u8(EXPONENTIAL)
              .varint(policy.maxRetries())
              .varint(Micros.ceil(policy.interval()))
              .i64(Double.doubleToRawLongBits(policy.factor()))
              .varint(Micros.ceil(policy.cap()))
              .i64(Double.doubleToRawLongBits(policy.jitter()));
    }
    if (schedule != null) {
      out.bytes(ScheduleFormat.encode(schedule));
    }
    out.varint(policy.except().size());
    policy.except().forEach(out::string);
    return out.toBytes();
  }

  /** Reads what {@link #encode} wrote; parts that no policy can have are damage. */
  public static FailurePolicy decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    try {
      FailurePolicy policy = read(in);
      in.requireEnd();
      return policy;
    } catch (CarillonException e) {
      throw new DamagedException("policy: " + e.getMessage());
    } catch (ArithmeticException e) {
      throw new DamagedException("policy: a number out of range");
    }
  }

  private static FailurePolicy read(ByteReader in) {
    in.requireVersion("policy", VERSION);
    FailurePolicy policy = readKind(in);
    int size = in.length();
    List<String> except = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      except.add(in.string());
    }
    return except.isEmpty() ? policy : policy.except(except);
  }

  private static FailurePolicy readKind(ByteReader in) {
    int kind = in.u8();
    if (kind == DROP) {
      return FailurePolicy.drop();
    }
    int retries = Math.toIntExact(in.varint());
    return switch (kind) {
      case CONSTANT -> FailurePolicy.constant(micros(in), retries);
      case CRON -> FailurePolicy.cron(ScheduleFormat.decode(in.bytes()), retries);
      case EXPONENTIAL -> {
        Duration base = micros(in);
        double factor = Double.longBitsToDouble(in.i64());
        Duration cap = micros(in);
        yield FailurePolicy.exponential(
            base, factor, cap, retries, Double.longBitsToDouble(in.i64()));
      }
      default -> throw new UnknownFormatException("policy: kind " + kind + " (expected: 1 to 4)");
    };
  }

  private static Duration micros(ByteReader in) {
    return Duration.of(in.varint(), ChronoUnit.MICROS);
  }
}
