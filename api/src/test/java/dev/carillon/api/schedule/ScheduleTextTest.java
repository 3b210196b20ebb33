package dev.carillon.api.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScheduleTextTest {

  /** The days on which a daily schedule runs in a month. */
  private static List<Integer> days(String dayFields, String month) {
    LocalDate first = LocalDate.parse(month + "-01");
    Instant end = first.plusMonths(1).atStartOfDay().toInstant(ZoneOffset.UTC);
    Schedule schedule = Schedule.cron("0 12 " + dayFields);
    List<Integer> days = new ArrayList<>();
    Instant time = schedule.first(first.atStartOfDay().toInstant(ZoneOffset.UTC));
    while (time != null && time.isBefore(end)) {
      days.add(time.atOffset(ZoneOffset.UTC).getDayOfMonth());
      time = schedule.next(time);
    }
    return days;
  }

  @Test
  void dayFieldsNameDays() {
    assertThat(days("L * *", "2026-02")).containsExactly(28);
    assertThat(days("L-3 * *", "2028-02")).containsExactly(26);
    assertThat(days("L-30 * *", "2026-05")).containsExactly(1);
    assertThat(days("15W * *", "2026-08")).as("a Saturday").containsExactly(14);
    assertThat(days("16W * *", "2026-08")).as("a Sunday").containsExactly(17);
    assertThat(days("17W * *", "2026-08")).as("a Monday").containsExactly(17);
    assertThat(days("1W * *", "2026-08")).as("a Saturday, the first").containsExactly(3);
    assertThat(days("31W * *", "2026-05")).as("a Sunday, the last").containsExactly(29);
    assertThat(days("31W * *", "2026-06")).isEmpty();
    assertThat(days("LW * *", "2026-05")).containsExactly(29);
    assertThat(days("* * 5L", "2026-05")).containsExactly(29);
    assertThat(days("* * friL", "2026-05")).containsExactly(29);
    assertThat(days("* * FRI#2", "2026-05")).containsExactly(8);
    assertThat(days("* * 5#5", "2026-05")).containsExactly(29);
    assertThat(days("* * 5#5", "2026-06")).isEmpty();
    assertThat(days("* * 0", "2026-05")).isEqualTo(days("* * 7", "2026-05"));
    assertThat(days("* * FRI-MON", "2026-06").subList(0, 5)).containsExactly(1, 5, 6, 7, 8);
    assertThat(days("* * 5-7", "2026-06").subList(0, 4)).containsExactly(5, 6, 7, 12);
    assertThat(days("* * 1,7#1", "2026-06")).containsExactly(1, 7, 8, 15, 22, 29);
    assertThat(days("1-7/3,L * *", "2026-06")).containsExactly(1, 4, 7, 30);
  }

  @Test
  void twoRestrictedDayFieldsNameDaysEachForItself() {
    assertThat(days("13 * FRI", "2026-06")).containsExactly(5, 12, 13, 19, 26);
    assertThat(days("*/10 * MON", "2026-06")).as("both must match").containsExactly(1);
    assertThat(days("1-7 * */5", "2026-06")).as("both must match").containsExactly(5, 7);
    assertThat(days("? * MON", "2026-06")).containsExactly(1, 8, 15, 22, 29);
    assertThat(days("13 * ?", "2026-06")).containsExactly(13);
    assertThat(days("1-31 * MON", "2026-06")).hasSize(30);
  }

  @ParameterizedTest
  @CsvSource({
    "@yearly, 2027-01-01T00:00:00Z",
    "@annually, 2027-01-01T00:00:00Z",
    "@monthly, 2026-06-01T00:00:00Z",
    "@weekly, 2026-05-10T00:00:00Z",
    "@daily, 2026-05-05T00:00:00Z",
    "@midnight, 2026-05-05T00:00:00Z",
    "@hourly, 2026-05-04T12:00:00Z",
    "@Daily, 2026-05-05T00:00:00Z",
    "@WEEKLY, 2026-05-10T00:00:00Z",
    "@EVERY 90s, 2026-05-04T11:31:30Z",
    "@every 90s, 2026-05-04T11:31:30Z",
    "@every 1h30m, 2026-05-04T13:00:00Z",
    "@every 1.5h, 2026-05-04T13:00:00Z",
    "@every .5s, 2026-05-04T11:30:00.500Z",
    "@every 1.s, 2026-05-04T11:30:01Z",
    "@every 1h1m1s1ms1us, 2026-05-04T12:31:01.001001Z",
    "@every 250ms, 2026-05-04T11:30:00.250Z",
    "@every 7µs, 2026-05-04T11:30:00.000007Z",
    "@every 7μs, 2026-05-04T11:30:00.000007Z",
    "@every 1ns, 2026-05-04T11:30:00.000001Z",
    "@every PT90S, 2026-05-04T11:31:30Z",
    "@every P1DT1H, 2026-05-05T12:30:00Z",
    "' \t@daily ', 2026-05-05T00:00:00Z",
    "'TZ=Asia/Tokyo  @daily', 2026-05-04T15:00:00Z",
    "CRON_TZ=+05:30 0 0 * * *, 2026-05-04T18:30:00Z",
    "' 15\t10 ? * 6L ', 2026-05-30T10:15:00Z",
    "30 15 10 * * *, 2026-05-05T10:15:30Z",
    "00 09 01 Jun *, 2026-06-01T09:00:00Z",
    "5/20 * * * *, 2026-05-04T11:45:00Z",
    "10-59/25 * * * *, 2026-05-04T11:35:00Z",
    "0 0 29 2 *, 2028-02-29T00:00:00Z",
    "0 0 1 1 5#5, 2027-01-01T00:00:00Z",
  })
  void textsAreRead(String text, Instant first) {
    assertThat(Schedule.parse(text).first(Instant.parse("2026-05-04T11:30:00Z"))).isEqualTo(first);
  }

  @Test
  void cronTakesAllButEvery() {
    assertThat(Schedule.cron("@daily")).isEqualTo(Schedule.parse("@daily"));
    assertThat(Schedule.cron("@DAILY")).isEqualTo(Schedule.cron("@daily"));
    assertThatThrownBy(() -> Schedule.cron("@every 1h"))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessage(
            "cron: \"@every 1h\" at column 1 of \"@every 1h\""
                + " (expected: a cron expression; Schedule.parse reads @every)");
  }

  /** The text, the column of the fault, what is at fault and what is expected. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '~',
      delimiter = ';',
      value = {
        "~~; 1; cron: \"\"; 5 or 6 fields, has 0",
        "0 2 * *; 8; cron: \"\"; 5 or 6 fields, has 4",
        "0 2 * * * * *; 13; cron: \"*\"; 5 or 6 fields, has 7",
        "60 * * * *; 1; minute: \"60\"; 0 to 59",
        "0 25 * * *; 3; hour: \"25\"; 0 to 23",
        "TZ=UTC 0 25 * * *; 10; hour: \"25\"; 0 to 23",
        "60 0 0 * * *; 1; second: \"60\"; 0 to 59",
        "0 0 0 * *; 5; day of month: \"0\"; 1 to 31",
        "0 0 32 * *; 5; day of month: \"32\"; 1 to 31",
        "0 0 * 13 *; 7; month: \"13\"; 1 to 12 or JAN to DEC",
        "0 0 * * 8; 9; day of week: \"8\"; 0 to 7 or SUN to SAT",
        "0 99999999999999999999 * * *; 3; hour: \"99999999999999999999\"; 0 to 23",
        "0 1,25,x * * *; 5; hour: \"25\"; 0 to 23",
        "0 1-25 * * *; 5; hour: \"25\"; 0 to 23",
        "0 2,,3 * * *; 5; hour: \"\"; a value",
        "0 2, * * *; 5; hour: \"\"; a value",
        "0 ,2 * * *; 3; hour: \"\"; a value",
        "x * * * *; 1; minute: \"x\"; 0 to 59",
        "5x * * * *; 2; minute: \"x\"; a comma or the end of the field",
        "5- * * * *; 3; minute: \"\"; 0 to 59",
        "-5 * * * *; 1; minute: \"-5\"; 0 to 59",
        "** * * * *; 2; minute: \"*\"; a comma or the end of the field",
        "*/0 * * * *; 3; minute step: \"0\"; 1 to 59",
        "*/60 * * * *; 3; minute step: \"60\"; 1 to 59",
        "*/ * * * *; 3; minute step: \"\"; 1 to 59",
        "*/5/5 * * * *; 4; minute: \"/5\"; a comma or the end of the field",
        "0 */24 * * *; 5; hour step: \"24\"; 1 to 23",
        "0 0 * * */7; 11; day of week step: \"7\"; 1 to 6",
        "30-10 * * * *; 1; minute: \"30-10\"; a range from a lower to a higher value",
        "0 0 28-3 * *; 5; day of month: \"28-3\"; a range from a lower to a higher value",
        "0 0 * NOV-FEB *; 7; month: \"NOV-FEB\"; a range from a lower to a higher value",
        "0 0 * FOO *; 7; month: \"FOO\"; 1 to 12 or JAN to DEC",
        "0 0 * MAYA *; 10; month: \"A\"; a comma or the end of the field",
        "0 0 * * MONDAY; 12; day of week: \"DAY\"; a comma or the end of the field",
        "0 0 * * FRı; 9; day of week: \"FRı\"; 0 to 7 or SUN to SAT",
        "0 0 * * ٣; 9; day of week: \"٣\"; 0 to 7 or SUN to SAT",
        "? * * * *; 1; minute: \"?\"; 0 to 59",
        "0 0 * ? *; 7; month: \"?\"; 1 to 12 or JAN to DEC",
        "0 0 ?/2 * *; 6; day of month: \"/2\"; a comma or the end of the field",
        "0 0 L-31 * *; 7; days before the last: \"31\"; 1 to 30",
        "0 0 L-0 * *; 7; days before the last: \"0\"; 1 to 30",
        "0 0 LX * *; 6; day of month: \"X\"; a comma or the end of the field",
        "0 0 32W * *; 5; day before W: \"32W\"; 1 to 31",
        "0 0 W * *; 5; day before W: \"W\"; 1 to 31",
        "0 0 1-15W * *; 9; day of month: \"W\"; a comma or the end of the field",
        "0 0 * * L; 9; day of week: \"L\"; 0 to 7 or SUN to SAT",
        "0 0 * * FRI#6; 13; number of the weekday: \"6\"; 1 to 5",
        "0 0 * * FRI#; 13; number of the weekday: \"\"; 1 to 5",
        "0 0 * * 1-5L; 12; day of week: \"L\"; a comma or the end of the field",
        "0 0 30 2 *; 5; days: \"30 2 *\"; days that come at least once in five years",
        "0 0 31 2,4,6,9,11 *; 5; days: \"31 2,4,6,9,11 *\"; days that come at least once in five years",
        "0 0 * 2 MON#5; 5; days: \"* 2 MON#5\"; days that come at least once in five years",
        "TZ=Mars/Base 0 0 * * *; 4; zone: \"Mars/Base\"; a time zone that the JVM knows, such as Europe/Berlin",
        "CRON_TZ= 0 0 * * *; 9; zone: \"\"; a time zone that the JVM knows, such as Europe/Berlin",
        "@reboot; 1; schedule: \"@reboot\"; @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or @every",
        "@wee\u212Aly; 1; schedule: \"@wee\u212Aly\"; @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or @every",
        "@daily x; 8; schedule: \"x\"; nothing more",
        "@every 1h 30m; 11; schedule: \"30m\"; nothing more",
        "@every; 7; period: \"\"; a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S",
        "@every 1x; 8; period: \"1x\"; a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S",
        "@every 1h5; 10; period: \"5\"; a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S",
        "@every .s; 8; period: \".s\"; a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S",
        "@every -1s; 8; period: \"-1s\"; a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S",
        "@every PT; 8; period: \"PT\"; a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S",
        "@every 0s; 8; period: \"0s\"; above zero and at most PT876600H",
        "@every PT-1S; 8; period: \"PT-1S\"; above zero and at most PT876600H",
        "@every 999999999999999999999h; 8; period: \"999999999999999999999h\"; above zero and at most PT876600H",
        "TZ=UTC @every 1h; 1; zone: \"TZ=UTC\"; no zone before @every",
      })
  void faultsAreRefusedWithTheirPlace(String text, int column, String fault, String expected) {
    assertThatThrownBy(() -> Schedule.parse(text))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessage(
            fault + " at column " + column + " of \"" + text + "\" (expected: " + expected + ")")
        .extracting(refused -> ((InvalidScheduleException) refused).column())
        .isEqualTo(column);
  }

  @Test
  void longTextsAreRefused() {
    String longest = "0 0 * * *" + " ".repeat(Limits.SCHEDULE_MAX_CHARS - 9);

    assertThat(Schedule.parse(longest)).isEqualTo(Schedule.parse("0 0 * * *"));
    assertThatThrownBy(() -> Schedule.parse(longest + "x"))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessageContaining("\"x\" at column 1025")
        .hasMessageEndingWith("(expected: at most 1024 characters, has 1025)");
  }

  @Test
  void anythingIsReadOrRefused() {
    var random = new Random(3);
    String alphabet = "0123459*/-,?LW# MONFRJAU@everyhsmTZ=.";
    for (int i = 0; i < 20_000; i++) {
      String text =
          random
              .ints(random.nextInt(25), 0, alphabet.length())
              .mapToObj(n -> String.valueOf(alphabet.charAt(n)))
              .collect(Collectors.joining());
      String mutated = random.nextBoolean() ? text : mutated("*/5 1-3 L,15W * FRI#2", random);
      try {
        assertThat(Schedule.parse(mutated).describe()).isNotEmpty();
      } catch (InvalidScheduleException refused) {
        assertThat(refused.column()).isBetween(1, mutated.length() + 1);
      }
    }
  }

  private static String mutated(String text, Random random) {
    var mutated = new StringBuilder(text);
    mutated.setCharAt(random.nextInt(text.length()), "0159*/-,?LW# MF".charAt(random.nextInt(15)));
    return mutated.toString();
  }

  @Test
  void periodsAreExact() {
    assertThat(Schedule.parse("@every 0.1s").period()).isEqualTo(Duration.ofMillis(100));
    assertThat(Schedule.parse("@every 0.0000011s").period()).isEqualTo(Duration.ofNanos(2_000));
  }
}
