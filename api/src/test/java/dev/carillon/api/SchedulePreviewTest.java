package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.schedule.ClockGap;
import dev.carillon.api.schedule.ClockOverlap;
import dev.carillon.api.schedule.Occurrence;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SchedulePreviewTest {
  private static final String BERLIN = "Europe/Berlin";
  private static final Instant SPRING = Instant.parse("2026-03-28T12:00:00Z");
  private static final Instant AUTUMN = Instant.parse("2026-10-24T12:00:00Z");

  private static List<String> shown(Schedule schedule, int n, Instant from) {
    return schedule.preview(n, from).stream().map(Occurrence::toString).toList();
  }

  @Test
  void gapIsNotedWhereItsTimeRuns() {
    Schedule schedule = Schedule.cron("30 2 * * *", BERLIN);

    assertThat(shown(schedule, 2, SPRING))
        .containsExactly(
            "2026-03-29T03:00+02:00[Europe/Berlin] (02:30 does not exist that day: runs at 03:00)",
            "2026-03-30T02:30+02:00[Europe/Berlin]");
    assertThat(shown(Schedule.cron("*/20 2 * * *", BERLIN), 1, SPRING))
        .containsExactly(
            "2026-03-29T03:00+02:00[Europe/Berlin]"
                + " (02:00 to 02:40 do not exist that day: run once, at 03:00)");
  }

  @Test
  void timeThatExistsIsNotNoted() {
    assertThat(shown(Schedule.cron("0 3 * * *", BERLIN), 1, SPRING))
        .as("the end of the gap")
        .containsExactly("2026-03-29T03:00+02:00[Europe/Berlin]");
    assertThat(shown(Schedule.cron("0 3 * * *", BERLIN), 1, AUTUMN))
        .as("the end of the overlap")
        .containsExactly("2026-10-25T03:00+01:00[Europe/Berlin]");
    assertThat(shown(Schedule.cron("30 * * * *", BERLIN), 1, Instant.parse("2026-03-29T00:45:00Z")))
        .as("real time has no gap")
        .containsExactly("2026-03-29T03:30+02:00[Europe/Berlin]");
  }

  @Test
  void skippedTimeIsNotedOnTheNextOccurrence() {
    Schedule schedule = Schedule.cron("30 2 * * *", BERLIN).gap(ClockGap.SKIP);

    assertThat(shown(schedule, 2, SPRING))
        .containsExactly(
            "2026-03-30T02:30+02:00[Europe/Berlin] (02:30 does not exist on 2026-03-29: skipped)",
            "2026-03-31T02:30+02:00[Europe/Berlin]");
    assertThat(shown(schedule.startingAt(Instant.parse("2026-03-29T12:00:00Z")), 1, SPRING))
        .as("what is before the start is not skipped by a clock change")
        .containsExactly("2026-03-30T02:30+02:00[Europe/Berlin]");
    assertThat(shown(Schedule.cron("30 2 29 3 *", BERLIN).gap(ClockGap.SKIP), 1, SPRING))
        .containsExactly(
            "2027-03-29T02:30+02:00[Europe/Berlin] (02:30 does not exist on 2026-03-29: skipped)");
  }

  @Test
  void missingDayIsNotedWithItsDate() {
    Schedule schedule = Schedule.cron("0 2 * * *", "Pacific/Apia");

    assertThat(shown(schedule, 1, Instant.parse("2011-12-30T00:00:00Z")))
        .containsExactly(
            "2011-12-31T00:00+14:00[Pacific/Apia]"
                + " (02:00 does not exist on 2011-12-30: runs at 2011-12-31 00:00)");
  }

  @Test
  void overlapIsNoted() {
    Schedule schedule = Schedule.cron("30 2 * * *", BERLIN);
    String first = "2026-10-25T02:30+02:00[Europe/Berlin] (02:30 comes twice: ";
    String second = "2026-10-25T02:30+01:00[Europe/Berlin] (02:30 comes twice: ";

    assertThat(shown(schedule, 2, AUTUMN))
        .containsExactly(first + "runs at the first)", "2026-10-26T02:30+01:00[Europe/Berlin]");
    assertThat(shown(schedule.clockOverlap(ClockOverlap.SECOND), 1, AUTUMN))
        .containsExactly(second + "runs at the second)");
    assertThat(shown(schedule.clockOverlap(ClockOverlap.BOTH), 2, AUTUMN))
        .containsExactly(first + "this is the first)", second + "this is the second)");
    assertThat(shown(Schedule.cron("30 * * * *", BERLIN), 16, AUTUMN))
        .contains(first + "this is the first)", second + "this is the second)");
  }

  @Test
  void timesAreShownInAnotherZoneAndNotesNameTheirOwn() {
    List<Occurrence> preview =
        Schedule.cron("30 2 * * *", BERLIN).preview(1, SPRING, ZoneId.of("Asia/Tokyo"));

    assertThat(preview)
        .extracting(Occurrence::toString)
        .containsExactly(
            "2026-03-29T10:00+09:00[Asia/Tokyo]"
                + " (Europe/Berlin: 02:30 does not exist that day: runs at 03:00)");
  }

  @Test
  void previewEndsWithTheSchedule() {
    Schedule hourly = Schedule.every(Duration.ofHours(1));

    assertThat(hourly.preview(0, SPRING)).isEmpty();
    assertThat(hourly.times(3).preview(10, SPRING)).hasSize(3);
    assertThat(hourly.times(30).preview(10, SPRING)).hasSize(10);
    assertThat(hourly.until(SPRING.plusSeconds(7_200)).preview(10, SPRING)).hasSize(2);
    assertThat(shown(Schedule.afterEach(Duration.ofHours(1)), 2, SPRING))
        .containsExactly("2026-03-28T13:00Z[UTC]", "2026-03-28T14:00Z[UTC]");
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> hourly.preview(1_001, SPRING))
        .withMessage("n: 1001 (expected: 0 to 1000)");
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> hourly.preview(-1, SPRING));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "* * * * * | Every minute",
        "*/15 * * * * | Every 15 minutes",
        "*/7 * * * * | At 0, 7, 14, 21, 28, 35, 42, 49 and 56 minutes past every hour",
        "1-9 * * * * | At 1 to 9 minutes past every hour",
        "0 * * * * | Every hour",
        "1 * * * * | At 1 minute past every hour",
        "15 * * * * | At 15 minutes past every hour",
        "0 */2 * * * | Every 2 hours",
        "0 */2 * * 1 | Every 2 hours on Monday",
        "0 */6 * * * | At 00:00, 06:00, 12:00 and 18:00 every day",
        "15 1-13/2 * * * | At 01:15, 03:15, 05:15, 07:15, 09:15, 11:15 and 13:15 every day",
        "0 9-17 * * * | Every hour from 09:00 to 17:00 every day",
        "*/15 9-17 * * 1-5 | Every 15 minutes from 09:00 to 17:45 on Monday to Friday",
        "* 9 * * * | Every minute from 09:00 to 09:59 every day",
        "*/5 1,5,7-9 * * * | Every 5 minutes in hours 01, 05 and 07 to 09 every day",
        "0,7,9 1,5,7-9 * * * | At 0, 7 and 9 minutes past hours 01, 05 and 07 to 09 every day",
        "30 9 * * MON-FRI | At 09:30 on Monday to Friday",
        "30 9,17 * * SAT,SUN | At 09:30 and 17:30 on Saturday and Sunday",
        "0 0 * * FRI-MON | At 00:00 on Monday and Friday to Sunday",
        "0 0 1 * * | At 00:00 on day 1 of every month",
        "0 0 1,15,20-25 * * | At 00:00 on days 1, 15 and 20 to 25 of every month",
        "0 0 31 * * | At 00:00 on day 31 of every month",
        "0 0 L * * | At 00:00 on the last day of every month",
        "0 0 L-1,L-2,L-3,L-4 * * | At 00:00 on the 1st day before the last, the 2nd day before the"
            + " last, the 3rd day before the last and the 4th day before the last of every month",
        "0 0 L-11,L-22 * * | At 00:00 on the 11th day before the last and the 22nd day before the"
            + " last of every month",
        "0 0 15W,31W * * | At 00:00 on the working day nearest to day 15 and the working day"
            + " nearest to day 31 of every month",
        "0 0 LW 1,3-5 * | At 00:00 on the last working day of January and March to May",
        "0 0 * * FRI#2,5L,MON | At 00:00 on Monday and on the second Friday and the last Friday of"
            + " every month",
        "0 0 * 12 SUN#1 | At 00:00 on the first Sunday of December",
        "0 0 * 6 TUE | At 00:00 on Tuesday in June",
        "0 0 13 * FRI | At 00:00 on day 13 of every month or on Friday",
        "0 0 */15 * MON | At 00:00 on days 1, 16 and 31 of every month, only on Monday",
        "0 0 1-31 * MON | At 00:00 every day",
        "0 0 * 2 * | At 00:00 every day in February",
        "* * * 1 * | Every minute in January",
        "* * 1 * * | Every minute on day 1 of every month",
        "* * * * * * | Every second",
        "*/10 * * * * * | Every 10 seconds",
        "30 * * * * * | At 30 seconds past every minute",
        "1 * * * * * | At 1 second past every minute",
        "* 5 * * * * | Every second in minute 5 of every hour",
        "*/10 * 9-17 * * * | Every 10 seconds in every minute of hours 09 to 17 every day",
        "5 0,30 9-17 * * * | At 5 seconds past minutes 0 and 30 of hours 09 to 17 every day",
        "30 15 10 * * * | At 10:15:30 every day",
        "@yearly | At 00:00 on day 1 of January",
        "@weekly | At 00:00 on Sunday",
        "TZ=Europe/Berlin 0 2 * * * | At 02:00 every day, Europe/Berlin",
        "@every 1h | Every hour",
        "@every 90s | Every 1 minute 30 seconds",
        "@every 15m | Every 15 minutes",
        "@every 36h | Every 1 day 12 hours",
        "@every 1.000001s | Every 1 second 1 microsecond",
      })
  void schedulesAreSaidInWords(String text, String words) {
    assertThat(Schedule.parse(text).describe()).isEqualTo(words);
  }

  @Test
  void settingsAreSaidInWords() {
    assertThat(Schedule.afterEach(Duration.ofMinutes(5)).describe())
        .isEqualTo("5 minutes after each end");
    assertThat(
            Schedule.cron("@daily", BERLIN)
                .startingAt(SPRING)
                .until(AUTUMN)
                .times(5)
                .jitter(Duration.ofSeconds(90))
                .describe())
        .isEqualTo(
            "At 00:00 every day, Europe/Berlin, from 2026-03-28T12:00:00Z,"
                + " until 2026-10-24T12:00:00Z, 5 times, up to 1 minute 30 seconds later");
    assertThat(Schedule.cron("@hourly").times(1).describe()).isEqualTo("Every hour, once");
  }
}
