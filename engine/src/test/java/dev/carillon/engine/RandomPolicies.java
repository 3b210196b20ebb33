package dev.carillon.engine;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Limits;
import dev.carillon.api.schedule.ClockGap;
import dev.carillon.api.schedule.ClockOverlap;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.format.Micros;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Schedules and failure policies with any of their parts, the same from the same seed. */
final class RandomPolicies {
  private static final List<String> CRONS =
      List.of("*/5 * * * *", "0 30 2 * * *", "@daily", "0 0 29 2 *", "0 9-17 * * MON-FRI");
  private static final List<String> ZONES =
      List.of("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "+05:45");
  private static final List<String> ERRORS =
      List.of("java.lang.Error", "com.example.Größe", "java.io.IOException", "x");

  private final Random random;

  RandomPolicies(long seed) {
    random = new Random(seed);
  }

  Schedule schedule() {
    Schedule schedule =
        switch (random.nextInt(3)) {
          case 0 -> cron();
          case 1 -> Schedule.every(period(1));
          default -> Schedule.afterEach(period(1));
        };
    schedule = schedule.overlap(any(List.of(Overlap.values()))).misfire(misfire());
    Instant start = Instant.EPOCH.plus(random.nextLong(1L << 50), ChronoUnit.MICROS);
    if (random.nextBoolean()) {
      schedule = schedule.startingAt(start);
    }
    if (random.nextBoolean()) {
      schedule = schedule.until(start.plus(random.nextLong(1L << 50), ChronoUnit.MICROS));
    }
    if (random.nextBoolean()) {
      schedule = schedule.times(1 + (random.nextLong() >>> random.nextInt(2, 63)));
    }
    if (random.nextBoolean()) {
      Duration period = schedule.period();
      long micros = period != null ? Micros.ceil(period) : Micros.ceil(Duration.ofMinutes(1));
      schedule = schedule.jitter(Duration.of(random.nextLong(micros), ChronoUnit.MICROS));
    }
    return random.nextBoolean() ? schedule.grace(period(0)) : schedule;
  }

  private Schedule cron() {
    return Schedule.cron(any(CRONS), any(ZONES))
        .gap(any(List.of(ClockGap.values())))
        .clockOverlap(any(List.of(ClockOverlap.values())));
  }

  private Misfire misfire() {
    return switch (random.nextInt(3)) {
      case 0 -> Misfire.skip();
      case 1 -> Misfire.runOne();
      default -> Misfire.runAll(random.nextInt(1, Limits.MISFIRE_MAX_RUNS + 1));
    };
  }

  FailurePolicy policy() {
    FailurePolicy policy =
        switch (random.nextInt(4)) {
          case 0 -> FailurePolicy.drop();
          case 1 -> FailurePolicy.constant(period(0), retries());
          case 2 -> FailurePolicy.cron(cron(), retries());
          default -> exponential();
        };
    List<String> except =
        IntStream.range(0, random.nextInt(5)).mapToObj(unused -> any(ERRORS)).toList();
    return except.isEmpty() ? policy : policy.except(except);
  }

  private FailurePolicy exponential() {
    Duration base = period(1);
    Duration cap = base.plus(period(0));
    Duration most = cap.compareTo(Limits.PERIOD_MAX) < 0 ? cap : Limits.PERIOD_MAX;
    return FailurePolicy.exponential(
        base, 1 + random.nextDouble(999), most, retries(), random.nextDouble());
  }

  private int retries() {
    return random.nextInt(4) == 0
        ? FailurePolicy.UNLIMITED
        : random.nextInt() >>> random.nextInt(1, 32);
  }

  /** From {@code least} microseconds, of any size. */
  private Duration period(long least) {
    long most = Limits.PERIOD_MAX.toSeconds() * 1_000_000;
    long micros = random.nextLong(most) >>> random.nextInt(50);
    return Duration.of(Math.max(least, micros), ChronoUnit.MICROS);
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
