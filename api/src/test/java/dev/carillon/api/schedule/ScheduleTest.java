package dev.carillon.api.schedule;

import static dev.carillon.api.schedule.Schedule.Kind.AFTER_EACH;
import static dev.carillon.api.schedule.Schedule.Kind.CRON;
import static dev.carillon.api.schedule.Schedule.Kind.EVERY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.InvalidScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ScheduleTest {
  private static final Instant NOON = Instant.parse("2026-05-04T12:00:00Z");
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration MICROSECOND = Duration.ofNanos(1_000);
  private static final String BERLIN = "Europe/Berlin";

  private static Instant at(String time) {
    return Instant.parse(time);
  }

  private static void assertRefused(Supplier<?> made, String message) {
    assertThatThrownBy(made::get)
        .isInstanceOf(InvalidScheduleException.class)
        .isInstanceOf(InvalidJobException.class)
        .hasMessage(message)
        .extracting(refused -> ((InvalidScheduleException) refused).column())
        .isEqualTo(0);
  }

  @Test
  void cronIsInUtcUnlessItSaysOtherwise() {
    assertThat(Schedule.cron("0 2 * * *").zone()).isEqualTo(ZoneId.of("UTC"));
    assertThat(Schedule.cron("TZ=Europe/Berlin 0 2 * * *").zone()).isEqualTo(ZoneId.of(BERLIN));
    assertThat(Schedule.cron("0 2 * * *", BERLIN).first(NOON))
        .isEqualTo(at("2026-05-05T00:00:00Z"));
    assertThat(Schedule.cron("0 2 * * *").in(BERLIN))
        .isEqualTo(Schedule.cron("0 2 * * *", BERLIN))
        .isEqualTo(Schedule.cron("CRON_TZ=Europe/Berlin 0 2 * * *", ZoneId.of(BERLIN)));
    assertThat(Schedule.parse("TZ=Europe/Berlin 0 2 * * *").in("Asia/Tokyo").zone())
        .isEqualTo(ZoneId.of("Asia/Tokyo"));
  }

  @Test
  void defaultsAreTheOnesDocumented() {
    Schedule schedule = Schedule.cron("@daily");

    assertThat(schedule.kind()).isEqualTo(CRON);
    assertThat(schedule.expression()).isEqualTo("@daily");
    assertThat(schedule.period()).isNull();
    assertThat(schedule.start()).isNull();
    assertThat(schedule.until()).isNull();
    assertThat(schedule.times()).isNull();
    assertThat(schedule.jitter()).isZero();
    assertThat(schedule.gap()).isEqualTo(ClockGap.FIRST_VALID);
    assertThat(schedule.clockOverlap()).isEqualTo(ClockOverlap.FIRST);
    assertThat(schedule.overlap()).isEqualTo(Overlap.SKIP);
    assertThat(schedule.misfire()).isEqualTo(Misfire.runOne());
    assertThat(schedule.grace()).isNull();
  }

  @Test
  void settingsAreKept() {
    Schedule schedule =
        Schedule.every(HOUR)
            .startingAt(NOON)
            .until(NOON.plus(HOUR))
            .times(3)
            .jitter(Duration.ofMinutes(59))
            .gap(ClockGap.SKIP)
            .clockOverlap(ClockOverlap.BOTH)
            .overlap(Overlap.BUFFER_ALL)
            .misfire(Misfire.runAll(7))
            .grace(Duration.ofSeconds(5));

    assertThat(schedule.kind()).isEqualTo(EVERY);
    assertThat(schedule.expression()).isNull();
    assertThat(schedule.zone()).isNull();
    assertThat(schedule.period()).isEqualTo(HOUR);
    assertThat(schedule.start()).isEqualTo(NOON);
    assertThat(schedule.until()).isEqualTo(NOON.plus(HOUR));
    assertThat(schedule.times()).isEqualTo(3);
    assertThat(schedule.jitter()).isEqualTo(Duration.ofMinutes(59));
    assertThat(schedule.gap()).isEqualTo(ClockGap.SKIP);
    assertThat(schedule.clockOverlap()).isEqualTo(ClockOverlap.BOTH);
    assertThat(schedule.overlap()).isEqualTo(Overlap.BUFFER_ALL);
    assertThat(schedule.misfire()).isEqualTo(new Misfire.RunAll(7));
    assertThat(schedule.grace()).isEqualTo(Duration.ofSeconds(5));
    assertThat(Schedule.afterEach(HOUR).kind()).isEqualTo(AFTER_EACH);
  }

  @Test
  void equalByTextAndSettings() {
    assertThat(Schedule.cron(" 0  2 * * * ").times(2))
        .isEqualTo(Schedule.parse("0 2 * * *").times(2))
        .hasSameHashCodeAs(Schedule.parse("0 2 * * *").times(2))
        .isNotEqualTo(Schedule.parse("0 2 * * *"))
        .isNotEqualTo(Schedule.parse("0 2 * * *").times(2).misfire(Misfire.skip()));
    assertThat(Schedule.every(HOUR))
        .isEqualTo(Schedule.parse("@every 1h"))
        .isNotEqualTo(Schedule.afterEach(HOUR));
    assertThat(Schedule.cron("0 2 * * *", BERLIN).times(2).toString())
        .startsWith("Schedule[CRON TZ=Europe/Berlin 0 2 * * *, start=null")
        .contains("times=2");
    assertThat(Schedule.every(HOUR).toString()).startsWith("Schedule[EVERY PT1H, ");
  }

  @Test
  void finerThanMicrosecondsIsRounded() {
    assertThat(Schedule.every(Duration.ofNanos(1)).period()).isEqualTo(MICROSECOND);
    assertThat(Schedule.every(HOUR).startingAt(NOON.plusNanos(1)).start())
        .isEqualTo(NOON.plusNanos(1_000));
    assertThat(Schedule.every(HOUR).until(NOON.plusNanos(1_999)).until())
        .isEqualTo(NOON.plusNanos(1_000));
    assertThat(Schedule.every(HOUR).first(NOON.plusNanos(1)))
        .isEqualTo(NOON.plus(HOUR).plusNanos(1_000));
    assertThat(Schedule.cron("* * * * * *").next(NOON.minusNanos(1))).isEqualTo(NOON);
    assertThat(Schedule.cron("* * * * * *").nextAfter(NOON.minusSeconds(9), NOON.minusNanos(1)))
        .isEqualTo(NOON);
    assertThat(Schedule.every(MICROSECOND).nextAfter(NOON, NOON.plusNanos(1_500)))
        .isEqualTo(NOON.plusNanos(2_000));
  }

  @Test
  void cronBeginsAfterItIsAcceptedAndNotBeforeItsStart() {
    Schedule noons = Schedule.cron("0 12 * * *");

    assertThat(noons.first(NOON)).isEqualTo(at("2026-05-05T12:00:00Z"));
    assertThat(noons.first(NOON.minusNanos(1))).isEqualTo(NOON);
    assertThat(noons.startingAt(at("2026-06-01T12:00:00Z")).first(NOON))
        .isEqualTo(at("2026-06-01T12:00:00Z"));
    assertThat(noons.startingAt(at("2026-06-01T12:00:00.000001Z")).first(NOON))
        .isEqualTo(at("2026-06-02T12:00:00Z"));
    assertThat(noons.startingAt(at("2026-06-01T12:00:00Z")).next(NOON))
        .isEqualTo(at("2026-06-01T12:00:00Z"));
    assertThat(noons.startingAt(at("2020-01-01T00:00:00Z")).first(NOON))
        .isEqualTo(at("2026-05-05T12:00:00Z"));
  }

  @Test
  void fixedRateBeginsOnePeriodLaterOrAtItsStart() {
    Schedule hourly = Schedule.every(HOUR);

    assertThat(hourly.first(NOON)).isEqualTo(NOON.plus(HOUR));
    assertThat(hourly.startingAt(NOON).first(NOON)).isEqualTo(NOON);
    assertThat(hourly.startingAt(at("2026-06-01T00:00:00Z")).first(NOON))
        .isEqualTo(at("2026-06-01T00:00:00Z"));
    assertThat(hourly.startingAt(at("2020-01-01T00:17:00Z")).first(NOON))
        .isEqualTo(at("2026-05-04T12:17:00Z"));
  }

  @Test
  void fixedRateKeepsThePhaseOfItsStart() {
    Schedule hourly = Schedule.every(HOUR).startingAt(at("2020-01-01T00:17:00Z"));

    assertThat(hourly.next(at("2026-05-04T12:17:00Z"))).isEqualTo(at("2026-05-04T13:17:00Z"));
    assertThat(hourly.next(NOON)).isEqualTo(at("2026-05-04T12:17:00Z"));
    assertThat(hourly.nextAfter(NOON, at("2030-01-01T00:17:00Z")))
        .isEqualTo(at("2030-01-01T01:17:00Z"));
    assertThat(hourly.next(Instant.EPOCH)).isEqualTo(at("2020-01-01T00:17:00Z"));
  }

  @Test
  void fixedDelayCountsFromTheEnd() {
    Schedule hourly = Schedule.afterEach(HOUR);
    Instant later = NOON.plusSeconds(7_777);

    assertThat(hourly.first(NOON)).isEqualTo(NOON.plus(HOUR));
    assertThat(hourly.next(later)).isEqualTo(later.plus(HOUR));
    assertThat(hourly.startingAt(NOON).first(NOON)).isEqualTo(NOON);
    assertThat(hourly.startingAt(later).first(NOON)).isEqualTo(later);
    assertThat(hourly.startingAt(NOON).first(later)).isEqualTo(later.plus(HOUR));
    assertThat(hourly.startingAt(NOON.plus(HOUR.multipliedBy(5))).next(NOON))
        .isEqualTo(NOON.plus(HOUR.multipliedBy(5)));
  }

  @Test
  void lastOccurrenceMayBeAtTheEndItself() {
    Schedule seconds = Schedule.every(Duration.ofSeconds(1)).until(NOON.plusSeconds(3));

    assertThat(seconds.preview(10, NOON)).hasSize(3);
    assertThat(seconds.next(NOON.plusSeconds(3))).isNull();
    assertThat(seconds.nextAfter(NOON, NOON.plusSeconds(3))).isNull();
    assertThat(seconds.first(NOON.plusSeconds(3))).isNull();
    assertThat(Schedule.cron("0 12 * * *").until(NOON).next(NOON.minusSeconds(1))).isEqualTo(NOON);
    assertThat(Schedule.cron("0 12 * * *").until(NOON.minusNanos(1)).next(NOON.minusSeconds(1)))
        .isNull();
    assertThat(Schedule.every(HOUR).startingAt(NOON).until(NOON).preview(10, Instant.EPOCH))
        .extracting(Occurrence::instant)
        .containsExactly(NOON);
  }

  static Stream<Schedule> kinds() {
    return Stream.of(
        Schedule.every(HOUR),
        Schedule.every(Limits.PERIOD_MAX).startingAt(NOON),
        Schedule.afterEach(MICROSECOND),
        Schedule.afterEach(Limits.PERIOD_MAX).startingAt(Limits.LATEST_DUE),
        Schedule.cron("* * * * * *", BERLIN),
        Schedule.cron("0 0 29 2 *", "+18:00"),
        Schedule.cron("0 0 29 2 *", "-18:00").startingAt(Limits.LATEST_DUE));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void farAwayInstantsDoNotThrow(Schedule schedule) {
    List<Instant> far =
        List.of(
            Instant.MIN,
            at("-9999-01-01T00:00:00Z"),
            Instant.EPOCH,
            NOON,
            Limits.LATEST_DUE,
            at("+99999-01-01T00:00:00Z"),
            Instant.MAX);
    for (Instant time : far) {
      assertWithinLimits(schedule.first(time));
      assertWithinLimits(schedule.next(time));
      far.forEach(after -> assertWithinLimits(schedule.nextAfter(time, after)));
      schedule.preview(2, time);
    }
    assertThat(schedule.next(Instant.MAX)).isNull();
    assertThat(schedule.nextAfter(NOON, Instant.MAX)).isNull();
  }

  private static void assertWithinLimits(Instant time) {
    if (time != null) {
      assertThat(time).isBetween(Limits.EARLIEST_DUE, Limits.LATEST_DUE);
    }
  }

  @Test
  void leapDayIsFoundOverTheEightYearsWithoutOne() {
    assertThat(Schedule.cron("0 0 29 2 *", BERLIN).next(at("2096-03-01T00:00:00Z")))
        .isEqualTo(at("2104-02-28T23:00:00Z"));
  }

  static Stream<Schedule> walked() {
    Instant start = at("2026-03-28T23:17:31.000001Z");
    return Stream.of(
        Schedule.every(Duration.ofMinutes(7)),
        Schedule.every(Duration.ofNanos(333_333_000)).startingAt(start),
        Schedule.afterEach(Duration.ofMinutes(13)),
        Schedule.afterEach(Duration.ofMinutes(13)).startingAt(start),
        Schedule.cron("*/15 * * * *", BERLIN),
        Schedule.cron("30 2 * * *", BERLIN).clockOverlap(ClockOverlap.BOTH),
        Schedule.cron("30 2 * * *", BERLIN).clockOverlap(ClockOverlap.SECOND).gap(ClockGap.SKIP),
        Schedule.cron("*/20 * * * * *", "Australia/Lord_Howe").startingAt(start),
        Schedule.cron("0 0 LW * *", "America/Sao_Paulo"),
        Schedule.cron("*/10 1-3 * * *", "America/New_York").until(at("2026-11-01T06:20:00Z")));
  }

  @ParameterizedTest
  @MethodSource("walked")
  void nextAfterIsNextRepeated(Schedule schedule) {
    var random = new Random(1);
    for (int i = 0; i < 300; i++) {
      Instant previous = Instant.ofEpochSecond(random.nextInt(1_770_000_000, 1_800_000_000));
      Instant after = previous.plusMillis(random.nextInt(-10_000, 3_600_000));
      Instant walked = schedule.next(previous);
      while (walked != null && !walked.isAfter(after)) {
        walked = schedule.next(walked);
      }
      assertThat(schedule.nextAfter(previous, after)).isEqualTo(walked);
    }
  }

  @ParameterizedTest
  @MethodSource("walked")
  void nextIsLaterAndNeverGoesBack(Schedule schedule) {
    var random = new Random(2);
    for (int i = 0; i < 2_000; i++) {
      Instant time = Instant.ofEpochSecond(random.nextInt(1_770_000_000, 1_800_000_000));
      Instant later = time.plusSeconds(random.nextInt(90_000));
      Instant next = schedule.next(time);
      Instant nextOfLater = schedule.next(later);
      if (next != null) {
        assertThat(next).isAfter(time);
      }
      if (nextOfLater != null) {
        assertThat(next).isNotNull().isBeforeOrEqualTo(nextOfLater);
      }
    }
  }

  static Stream<Schedule> sparse() {
    return Stream.of(
            Schedule.cron("0 0 1 1 *", "Pacific/Kiritimati"),
            Schedule.cron("0 0 29 2 *", "Pacific/Niue"),
            Schedule.cron("30 2 29 3 *", BERLIN),
            Schedule.cron("30 2 * 3,10 SUNL", BERLIN),
            Schedule.cron("30 1 * 11 SUN#1", "America/New_York"),
            Schedule.cron("45 1 1-7 4,10 SUN", "Australia/Lord_Howe"),
            Schedule.cron("0 2 30 12 *", "Pacific/Apia"),
            Schedule.cron("* * 1 7 *", BERLIN))
        .flatMap(
            schedule ->
                Stream.of(ClockOverlap.values())
                    .flatMap(
                        overlap ->
                            Stream.of(ClockGap.values())
                                .map(gap -> schedule.clockOverlap(overlap).gap(gap))));
  }

  /** A search from far away jumps over clock changes; one from nearby does not. */
  @ParameterizedTest
  @MethodSource("sparse")
  void nextIsTheSameFromFarAwayAndFromNearby(Schedule schedule) {
    Instant from = at("2009-01-01T00:00:00Z");
    for (int i = 0; i < 60; i++) {
      Instant next = schedule.next(from);
      for (Instant time = from; time.isBefore(next); time = time.plusSeconds(20 * 3600)) {
        assertThat(schedule.next(time)).isEqualTo(next);
      }
      assertThat(schedule.next(next.minusNanos(1))).isEqualTo(next);
      from = next;
    }
  }

  @Test
  void fixedTimesInGapsAndOverlapsAreExplicit() {
    Schedule gap = Schedule.cron("30 2 * * *", BERLIN);
    Instant saturday = at("2026-03-28T12:00:00Z");
    assertThat(gap.next(saturday)).isEqualTo(at("2026-03-29T01:00:00Z"));
    assertThat(gap.gap(ClockGap.SKIP).next(saturday)).isEqualTo(at("2026-03-30T00:30:00Z"));
    assertThat(Schedule.cron("0,30 2,3 * * *", BERLIN).preview(3, saturday))
        .extracting(Occurrence::instant)
        .containsExactly(
            at("2026-03-29T01:00:00Z"), at("2026-03-29T01:30:00Z"), at("2026-03-30T00:00:00Z"));

    Instant october = at("2026-10-24T12:00:00Z");
    Instant first = at("2026-10-25T00:30:00Z");
    assertThat(gap.next(october)).isEqualTo(first);
    assertThat(gap.next(first)).isEqualTo(at("2026-10-26T01:30:00Z"));
    Schedule second = gap.clockOverlap(ClockOverlap.SECOND);
    assertThat(second.next(october)).isEqualTo(first.plus(HOUR));
    Schedule both = gap.clockOverlap(ClockOverlap.BOTH);
    assertThat(both.next(october)).isEqualTo(first);
    assertThat(both.next(first)).isEqualTo(first.plus(HOUR));
  }

  @Test
  void everyQuarterOfAnHourFollowsRealTime() {
    Schedule quarters = Schedule.cron("*/15 * * * *", BERLIN);
    for (String day : List.of("2026-03-29T00:00:00+01:00", "2026-10-25T00:00:00+02:00")) {
      Instant time = OffsetDateTime.parse(day).toInstant();
      for (int i = 0; i < 200; i++) {
        Instant next = quarters.next(time);
        assertThat(next).isEqualTo(time.plusSeconds(900));
        time = next;
      }
    }
  }

  @Test
  void wholeDaysMayBeMissing() {
    Schedule nightly = Schedule.cron("0 2 * * *", "Pacific/Apia");
    List<Instant> times = new ArrayList<>();
    Instant time = at("2011-12-29T00:00:00Z");
    while (times.size() < 4) {
      time = nightly.next(time);
      times.add(time);
    }
    assertThat(times)
        .containsExactly(
            at("2011-12-29T12:00:00Z"),
            at("2011-12-30T10:00:00Z"),
            at("2011-12-30T12:00:00Z"),
            at("2011-12-31T12:00:00Z"));
  }

  @Test
  void badSettingsAreRefused() {
    Schedule hourly = Schedule.every(HOUR);
    assertRefused(
        () -> Schedule.every(Duration.ZERO), "period: PT0S (expected: PT0.000001S to PT876600H)");
    assertRefused(
        () -> Schedule.every(Duration.ofSeconds(-1)),
        "period: PT-1S (expected: PT0S to PT876600H)");
    assertRefused(
        () -> Schedule.afterEach(Limits.PERIOD_MAX.plusNanos(1)),
        "delay: PT876600H0.000000001S (expected: PT0S to PT876600H)");
    assertRefused(() -> Schedule.every(null), "period: null (expected: not null)");
    assertRefused(() -> Schedule.parse(null), "schedule: null (expected: not null)");
    assertRefused(() -> hourly.times(0), "times: 0 (expected: at least 1)");
    assertRefused(
        () -> hourly.startingAt(NOON).until(NOON.minusSeconds(1)),
        "until: 2026-05-04T11:59:59Z (expected: not before the start, 2026-05-04T12:00:00Z)");
    assertRefused(
        () -> hourly.until(NOON).startingAt(NOON.plusSeconds(1)),
        "until: 2026-05-04T12:00:00Z (expected: not before the start, 2026-05-04T12:00:01Z)");
    assertRefused(
        () -> hourly.startingAt(Instant.MAX),
        "start: " + Instant.MAX + " (expected: 1970-01-01T00:00:00Z to 9999-12-31T23:59:59Z)");
    assertRefused(() -> hourly.jitter(HOUR), "jitter: PT1H (expected: less than PT1H)");
    assertRefused(
        () -> hourly.jitter(Duration.ofNanos(-1)),
        "jitter: PT-0.000000001S (expected: PT0S to PT876600H)");
    assertRefused(
        () -> Schedule.cron("*/5 * * * *").jitter(Duration.ofMinutes(5)),
        "jitter: PT5M (expected: less than PT5M)");
    assertRefused(
        () -> Schedule.cron("0 0,23 * * *").jitter(HOUR),
        "jitter: PT1H (expected: less than PT1H)");
    assertRefused(
        () -> hourly.grace(Duration.ofSeconds(-1)), "grace: PT-1S (expected: PT0S to PT876600H)");
    assertRefused(() -> Misfire.runAll(0), "misfire cap: 0 (expected: 1 to 10000)");
    assertRefused(() -> hourly.misfire(null), "misfire: null (expected: not null)");
  }

  @Test
  void badZonesAreRefused() {
    assertRefused(
        () -> Schedule.cron("@daily", "Mars/Base"),
        "zone: \"Mars/Base\" (expected: a time zone that the JVM knows, such as Europe/Berlin)");
    assertRefused(
        () -> Schedule.cron("TZ=Europe/Berlin @daily", "Asia/Tokyo"),
        "zone: Asia/Tokyo (expected: the zone of \"TZ=Europe/Berlin @daily\")");
    assertRefused(
        () -> Schedule.every(HOUR).in(ZoneOffset.UTC),
        "zone: Z (expected: no zone, since the schedule is not by cron)");
    assertRefused(
        () -> Schedule.cron("@daily").in((String) null), "zone: null (expected: not null)");
  }

  @Test
  void storedCodesNeverChange() {
    assertThat(ClockGap.values()).extracting(ClockGap::code).containsExactly(1, 2);
    assertThat(ClockOverlap.values()).extracting(ClockOverlap::code).containsExactly(1, 2, 3);
    assertThat(Overlap.values()).extracting(Overlap::code).containsExactly(1, 2, 3, 4, 5);
    assertThat(Schedule.Kind.values()).extracting(Schedule.Kind::code).containsExactly(1, 2, 3);
    for (Schedule.Kind kind : Schedule.Kind.values()) {
      assertThat(Schedule.Kind.ofCode(kind.code())).isEqualTo(kind);
    }
    for (ClockGap gap : ClockGap.values()) {
      assertThat(ClockGap.ofCode(gap.code())).isEqualTo(gap);
    }
    for (ClockOverlap overlap : ClockOverlap.values()) {
      assertThat(ClockOverlap.ofCode(overlap.code())).isEqualTo(overlap);
    }
    for (Overlap overlap : Overlap.values()) {
      assertThat(Overlap.ofCode(overlap.code())).isEqualTo(overlap);
    }
    assertThatThrownBy(() -> Overlap.ofCode(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("overlap code: 0 (expected: 1 to 5)");
    assertThatThrownBy(() -> Schedule.Kind.ofCode(0)).hasMessageContaining("expected: 1 to 3");
    assertThatThrownBy(() -> ClockGap.ofCode(3)).hasMessageContaining("expected: 1 to 2");
    assertThatThrownBy(() -> ClockOverlap.ofCode(4)).hasMessageContaining("expected: 1 to 3");
  }
}
