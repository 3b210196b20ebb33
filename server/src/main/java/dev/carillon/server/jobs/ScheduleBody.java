package dev.carillon.server.jobs;

import dev.carillon.api.schedule.ClockGap;
import dev.carillon.api.schedule.ClockOverlap;
import dev.carillon.api.schedule.Misfire;
import dev.carillon.api.schedule.Overlap;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A schedule in a body: by cron, at a fixed rate, or after the end of each occurrence. */
final class ScheduleBody {
  static final Shape<ScheduleBody> SHAPE =
      Shape.of(ScheduleBody::new)
          .text("cron", (s, v) -> s.cron = v)
          .text("zone", (s, v) -> s.zone = v)
          .duration("every", (s, v) -> s.every = v)
          .duration("afterEach", (s, v) -> s.afterEach = v)
          .time("start", (s, v) -> s.start = v)
          .time("until", (s, v) -> s.until = v)
          .longInteger("times", (s, v) -> s.times = v)
          .duration("jitter", (s, v) -> s.jitter = v)
          .constant("gap", ClockGap.class, (s, v) -> s.gap = v)
          .constant("clockOverlap", ClockOverlap.class, (s, v) -> s.clockOverlap = v)
          .constant("overlap", Overlap.class, (s, v) -> s.overlap = v)
          .constant("misfire", MisfireRule.class, (s, v) -> s.misfire = v)
          .integer("misfireCap", (s, v) -> s.misfireCap = v)
          .duration("grace", (s, v) -> s.grace = v);

  private @Nullable String cron;
  private @Nullable String zone;
  private @Nullable Duration every;
  private @Nullable Duration afterEach;
  private @Nullable Instant start;
  private @Nullable Instant until;
  private @Nullable Long times;
  private @Nullable Duration jitter;
  private @Nullable ClockGap gap;
  private @Nullable ClockOverlap clockOverlap;
  private @Nullable Overlap overlap;
  private @Nullable MisfireRule misfire;
  private @Nullable Integer misfireCap;
  private @Nullable Duration grace;

  /** What becomes of occurrences that were missed. */
  enum MisfireRule {
    RUN_ONE,
    RUN_ALL,
    SKIP
  }

  Schedule schedule() {
    Schedule schedule = rhythm();
    schedule = start != null ? schedule.startingAt(start) : schedule;
    schedule = until != null ? schedule.until(until) : schedule;
    schedule = times != null ? schedule.times(times) : schedule;
    schedule = jitter != null ? schedule.jitter(jitter) : schedule;
    schedule = gap != null ? schedule.gap(gap) : schedule;
    schedule = clockOverlap != null ? schedule.clockOverlap(clockOverlap) : schedule;
    schedule = overlap != null ? schedule.overlap(overlap) : schedule;
    schedule = grace != null ? schedule.grace(grace) : schedule;
    return misfire != null || misfireCap != null ? schedule.misfire(rule()) : schedule;
  }

  private Schedule rhythm() {
    int given = (cron != null ? 1 : 0) + (every != null ? 1 : 0) + (afterEach != null ? 1 : 0);
    if (given != 1) {
      throw new InvalidBody(
          "schedule: %d of cron, every and afterEach (expected: one of them)".formatted(given));
    }
    if (cron != null) {
      return zone != null ? Schedule.parse(cron).in(zone) : Schedule.parse(cron);
    }
    if (zone != null) {
      throw new InvalidBody("schedule.zone: given (expected: none without cron)");
    }
    if (every != null) {
      return Schedule.every(every);
    }
    if (afterEach != null) {
      return Schedule.afterEach(afterEach);
    }
    throw new IllegalStateException("no rhythm");
  }

  private Misfire rule() {
    if ((misfire == MisfireRule.RUN_ALL) != (misfireCap != null)) {
      throw new InvalidBody("schedule.misfireCap: (expected: one exactly if misfire is RUN_ALL)");
    }
    return switch (misfire) {
      case RUN_ONE -> Misfire.runOne();
      case SKIP -> Misfire.skip();
      case RUN_ALL -> Misfire.runAll(misfireCap != null ? misfireCap : 1);
      case null -> Misfire.runOne();
    };
  }

  static void write(JsonText out, Schedule schedule) {
    Duration period = schedule.period();
    switch (schedule.kind()) {
      case CRON ->
          out.put("cron", schedule.expression()).put("zone", String.valueOf(schedule.zone()));
      case EVERY -> out.put("every", period);
      case AFTER_EACH -> out.put("afterEach", period);
    }
    out.put("start", schedule.start()).put("until", schedule.until());
    Long most = schedule.times();
    if (most != null) {
      out.put("times", most);
    }
    if (!schedule.jitter().isZero()) {
      out.put("jitter", schedule.jitter());
    }
    if (schedule.kind() == Schedule.Kind.CRON) {
      out.put("gap", schedule.gap()).put("clockOverlap", schedule.clockOverlap());
    }
    out.put("overlap", schedule.overlap());
    switch (schedule.misfire()) {
      case Misfire.RunOne one -> out.put("misfire", MisfireRule.RUN_ONE);
      case Misfire.Skip skip -> out.put("misfire", MisfireRule.SKIP);
      case Misfire.RunAll all ->
          out.put("misfire", MisfireRule.RUN_ALL).put("misfireCap", all.cap());
    }
    out.put("grace", schedule.grace()).put("words", schedule.describe());
  }
}
