package dev.carillon.engine.job;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.ClockGap;
import dev.carillon.api.schedule.ClockOverlap;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.format.UnknownFormatException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as a journal holds it.
 *
 * <pre>
 * version   byte    1
 * kind      byte    1 cron, 2 every, 3 after each
 * cron      string expression, string zone, byte gap, byte clock overlap   if cron
 * period    varint  microseconds                                           otherwise
 * overlap   byte
 * misfire   varint  0 skip, 1 run one, n + 1 run all up to n
 * present   byte    {@link #START} …
 * start     long                                                           if START
 * until     long                                                           if UNTIL
 * times     varint                                                         if TIMES
 * jitter    varint  microseconds                                           if JITTER
 * grace     varint  microseconds                                           if GRACE
 * </pre>
 */
public final class ScheduleFormat {
  private static final int VERSION = 1;
  private static final int CRON = 1;
  private static final int EVERY = 2;
  private static final int AFTER_EACH = 3;

  private static final int START = 1;
  private static final int UNTIL = 2;
  private static final int TIMES = 4;
  private static final int JITTER = 8;
  private static final int GRACE = 16;

  private ScheduleFormat() {}

  /** Writes a schedule. */
  public static byte[] encode(Schedule schedule) {
    ByteWriter out = new ByteWriter(48).u8(VERSION);
    writeTimes(out, schedule);
    out.u8(schedule.overlap().code()).varint(code(schedule.misfire()));
    Instant start = schedule.start();
    Instant until = schedule.until();
    Long times = schedule.times();
    Duration grace = schedule.grace();
    boolean jitter = !schedule.jitter().isZero();
    out.u8(
        (start != null ? START : 0)
            | (until != null ? UNTIL : 0)
            | (times != null ? TIMES : 0)
            | (jitter ? JITTER : 0)
            | (grace != null ? GRACE : 0));
    if (start != null) {
      out.i64(Micros.ceil(start));
    }
    if (until != null) {
      out.i64(Micros.ceil(until));
    }
    if (times != null) {
      out.varint(times);
    }
    if (jitter) {
      out.varint(Micros.ceil(schedule.jitter()));
    }
    if (grace != null) {
      out.varint(Micros.ceil(grace));
    }
    return out.toBytes();
  }

  private static void writeTimes(ByteWriter out, Schedule schedule) {
    switch (schedule.kind()) {
      case CRON ->
          out.u8(CRON)
              .string(present(schedule.expression()))
              .string(present(schedule.zone()).getId())
              .u8(schedule.gap().code())
              .u8(schedule.clockOverlap().code());
      case EVERY -> out.u8(EVERY).varint(Micros.ceil(present(schedule.period())));
      case AFTER_EACH -> out.u8(AFTER_EACH).varint(Micros.ceil(present(schedule.period())));
    }
  }

  private static <T> T present(@Nullable T part) {
    if (part == null) {
      throw new IllegalArgumentException("schedule: a part is missing");
    }
    return part;
  }

  private static int code(Misfire misfire) {
    return switch (misfire) {
      case Misfire.Skip skip -> 0;
      case Misfire.RunOne one -> 1;
      case Misfire.RunAll(int cap) -> cap + 1;
    };
  }

  /** Reads what {@link #encode} wrote; parts that no schedule can have are damage. */
  public static Schedule decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    try {
      Schedule schedule = read(in);
      in.requireEnd();
      return schedule;
    } catch (CarillonException | DateTimeException | IllegalArgumentException e) {
      throw new DamagedException("schedule: " + e.getMessage());
    } catch (ArithmeticException e) {
      throw new DamagedException("schedule: a number out of range");
    }
  }

  private static Schedule read(ByteReader in) {
    in.requireVersion("schedule", VERSION);
    Schedule schedule = readTimes(in).overlap(Overlap.ofCode(in.u8())).misfire(misfire(in));
    int present = in.u8();
    if ((present & START) != 0) {
      schedule = schedule.startingAt(Micros.toInstant(in.i64()));
    }
    if ((present & UNTIL) != 0) {
      schedule = schedule.until(Micros.toInstant(in.i64()));
    }
    if ((present & TIMES) != 0) {
      schedule = schedule.times(in.varint());
    }
    if ((present & JITTER) != 0) {
      schedule = schedule.jitter(micros(in));
    }
    return (present & GRACE) != 0 ? schedule.grace(micros(in)) : schedule;
  }

  private static Schedule readTimes(ByteReader in) {
    int kind = in.u8();
    return switch (kind) {
      case CRON ->
          Schedule.cron(in.string(), ZoneId.of(in.string()))
              .gap(ClockGap.ofCode(in.u8()))
              .clockOverlap(ClockOverlap.ofCode(in.u8()));
      case EVERY -> Schedule.every(micros(in));
      case AFTER_EACH -> Schedule.afterEach(micros(in));
      default -> throw new UnknownFormatException("schedule: kind " + kind + " (expected: 1 to 3)");
    };
  }

  private static Misfire misfire(ByteReader in) {
    int code = Math.toIntExact(in.varint());
    return switch (code) {
      case 0 -> Misfire.skip();
      case 1 -> Misfire.runOne();
      default -> Misfire.runAll(code - 1);
    };
  }

  private static Duration micros(ByteReader in) {
    return Duration.of(in.varint(), ChronoUnit.MICROS);
  }
}
