package dev.carillon.simulator;

import dev.carillon.api.Concurrency;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Rate;
import dev.carillon.api.WhenFull;
import dev.carillon.api.schedule.ClockGap;
import dev.carillon.api.schedule.ClockOverlap;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads schedules, failure policies and limits as a journal holds them, with code of its own. */
final class RulesFormat {
  private RulesFormat() {}

  static Schedule schedule(ByteBuffer in) {
    version(in);
    int kind = in.get();
    Schedule schedule =
        switch (kind) {
          case 1 ->
              Schedule.cron(JournalFormat.string(in), ZoneId.of(JournalFormat.string(in)))
                  .gap(ClockGap.ofCode(in.get()))
                  .clockOverlap(ClockOverlap.ofCode(in.get()));
          case 2 -> Schedule.every(micros(in));
          case 3 -> Schedule.afterEach(micros(in));
          default -> throw new Violation(Guarantee.HISTORY, "a schedule of kind " + kind);
        };
    schedule = schedule.overlap(Overlap.ofCode(in.get()));
    int misfire = (int) JournalFormat.varint(in);
    schedule =
        schedule.misfire(
            misfire == 0
                ? Misfire.skip()
                : misfire == 1 ? Misfire.runOne() : Misfire.runAll(misfire - 1));
    int present = in.get();
    if ((present & 1) != 0) {
      schedule = schedule.startingAt(instant(in.getLong()));
    }
    if ((present & 2) != 0) {
      schedule = schedule.until(instant(in.getLong()));
    }
    if ((present & 4) != 0) {
      schedule = schedule.times(JournalFormat.varint(in));
    }
    if ((present & 8) != 0) {
      schedule = schedule.jitter(micros(in));
    }
    return (present & 16) != 0 ? schedule.grace(micros(in)) : schedule;
  }

  static FailurePolicy policy(ByteBuffer in) {
    version(in);
    int kind = in.get();
    FailurePolicy policy = FailurePolicy.drop();
    if (kind != 1) {
      int retries = (int) JournalFormat.varint(in);
      policy =
          switch (kind) {
            case 2 -> FailurePolicy.constant(micros(in), retries);
            case 3 ->
                FailurePolicy.cron(schedule(ByteBuffer.wrap(JournalFormat.bytes(in))), retries);
            case 4 ->
                FailurePolicy.exponential(
                    micros(in), in.getDouble(), micros(in), retries, in.getDouble());
            default -> throw new Violation(Guarantee.HISTORY, "a policy of kind " + kind);
          };
    }
    List<String> except = new ArrayList<>();
    for (long n = JournalFormat.varint(in); n > 0; n--) {
      except.add(JournalFormat.string(in));
    }
    return policy.except(except);
  }

  static Concurrency concurrency(ByteBuffer in) {
    return new Concurrency(
        JournalFormat.string(in),
        (int) JournalFormat.varint(in),
        WhenFull.ofCode(in.get()),
        rate(in));
  }

  /** Null where there is none. */
  static @Nullable Rate rate(ByteBuffer in) {
    int permits = (int) JournalFormat.varint(in);
    return permits == 0
        ? null
        : new Rate(
            permits, Duration.ofNanos(JournalFormat.varint(in)), (int) JournalFormat.varint(in));
  }

  private static void version(ByteBuffer in) {
    int version = in.get();
    if (version != 1) {
      throw new Violation(Guarantee.HISTORY, "a schedule or policy of version " + version);
    }
  }

  private static Duration micros(ByteBuffer in) {
    return Duration.of(JournalFormat.varint(in), ChronoUnit.MICROS);
  }

  private static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
