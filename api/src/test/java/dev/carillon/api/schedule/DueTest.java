package dev.carillon.api.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.Job;
import dev.carillon.api.Limits;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.InvalidScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DueTest {
  private static final String DURATION =
      "a time such as 2026-03-01T08:00:00Z or a duration such as 90s, 1h30m, 1.5s, 250ms or PT90S";

  @ParameterizedTest
  @CsvSource({
    "2026-03-01T08:00:00+01:00, 2026-03-01T07:00:00Z",
    "2026-03-01T08:00:00Z, 2026-03-01T08:00:00Z",
    "2026-03-01t08:00:00z, 2026-03-01T08:00:00Z",
    "2026-03-01T08:00:00-00:00, 2026-03-01T08:00:00Z",
    "2026-03-01T00:15:00-05:45, 2026-03-01T06:00:00Z",
    "2026-03-01T18:00:00+18:00, 2026-03-01T00:00:00Z",
    "2026-03-01T08:00:00.5Z, 2026-03-01T08:00:00.500Z",
    "2026-03-01T08:00:00.123456789Z, 2026-03-01T08:00:00.123456789Z",
    "2026-03-01T08:00:00.1234567890000Z, 2026-03-01T08:00:00.123456789Z",
    "2026-03-01T08:00:00.12345678900001Z, 2026-03-01T08:00:00.123456790Z",
    "2026-03-01T08:00:00.9999999999Z, 2026-03-01T08:00:01Z",
    "2028-02-29T00:00:00Z, 2028-02-29T00:00:00Z",
    "2016-12-31T23:59:60Z, 2017-01-01T00:00:00Z",
    "2017-01-01T00:59:60.5+01:00, 2017-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z, 1970-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z, 9999-12-31T23:59:59Z",
    "' \t2026-03-01T08:00:00Z ', 2026-03-01T08:00:00Z",
  })
  void timesAreRead(String text, Instant time) {
    assertThat(Due.parse(text)).isEqualTo(new Due.At(time));
  }

  @ParameterizedTest
  @CsvSource({
    "90s, PT90S",
    "1h30m, PT1H30M",
    "1.5s, PT1.5S",
    "250ms, PT0.25S",
    "0.1ns, PT0.000000001S",
    "0s, PT0S",
    "PT90S, PT90S",
    "pt90s, PT90S",
    "P1DT2H, PT26H",
    "P2W, PT336H",
    "PT0S, PT0S",
    "' 5m ', PT5M",
    "9000000h, PT9000000H",
  })
  void durationsAreRead(String text, Duration delay) {
    assertThat(Due.parse(text)).isEqualTo(new Due.In(delay));
  }

  /** The text, the column of the fault, what is at fault and what is expected. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '~',
      delimiter = ';',
      value = {
        "26-03-01T08:00:00Z; 1; 26-0; a year of four digits",
        "2026-13-01T08:00:00Z; 6; 13; a month from 01 to 12",
        "2026-3-01T08:00:00Z; 6; 3-; a month from 01 to 12",
        "2026-02-29T08:00:00Z; 9; 29; a day from 01 to 28",
        "2026-04-31T08:00:00Z; 9; 31; a day from 01 to 30",
        "2026-03-01; 11; ~~; T after the date",
        "2026-03-01_08:00:00Z; 11; _08:00:00Z; T after the date",
        "2026-03-01 08:00:00Z; 12; 08:00:00Z; nothing more",
        "2026-03-01T24:00:00Z; 12; 24; an hour from 00 to 23",
        "2026-03-01T08:60:00Z; 15; 60; a minute from 00 to 59",
        "2026-03-01T08:00Z; 17; Z; : after the minute",
        "2026-03-01T08:00:61Z; 18; 61; a second from 00 to 59",
        "2026-03-01T08:00:60Z; 18; 60; a second from 00 to 59",
        "2026-03-01T08:00:00.Z; 21; Z; digits after the point",
        "2026-03-01T08:00:00; 20; ~~; Z or an offset such as +01:00",
        "2026-03-01T08:00:00 Z; 21; Z; nothing more",
        "2026-03-01T08:00:00+0100; 23; 00; Z or an offset such as +01:00",
        "2026-03-01T08:00:00+19:00; 21; 19; an offset of 00 to 18 hours",
        "2026-03-01T08:00:00+18:30; 24; 30; minutes of an offset up to 18:00",
        "2026-03-01T08:00:00Z[Europe/Berlin]; 21; [Europe/Berlin]; nothing more",
        "1969-12-31T23:59:59Z; 1; 1969-12-31T23:59:59Z; 1970-01-01T00:00:00Z to 9999-12-31T23:59:59Z",
        "9999-12-31T23:59:60Z; 1; 9999-12-31T23:59:60Z; 1970-01-01T00:00:00Z to 9999-12-31T23:59:59Z",
        "PT-1S; 1; PT-1S; PT0S to PT70389527H59M59S",
        "80000000h; 1; 80000000h; PT0S to PT70389527H59M59S",
        "999999999999999999999h; 1; 999999999999999999999h; PT0S to PT70389527H59M59S",
        "P999999999W; 1; P999999999W; PT0S to PT70389527H59M59S",
        "1h 30m; 4; 30m; nothing more",
      })
  void faultsAreRefusedWithTheirPlace(String text, int column, String fault, String expected) {
    assertRefused(text, column, fault, expected);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '~',
      delimiter = ';',
      value = {
        "~~; 1; ~~",
        "tomorrow; 1; tomorrow",
        "1h5; 3; 5",
        "-1s; 1; -1s",
        "90; 1; 90",
        "PT; 1; PT",
        "P1M; 1; P1M",
        "P1Y2DT1H; 1; P1Y2DT1H",
        "R5/PT10M; 1; R5/PT10M",
        "@every 1h; 8; 1h",
      })
  void whatIsNeitherATimeNorADurationIsRefused(String text, int column, String fault) {
    assertRefused(text, column, fault, column == 8 ? "nothing more" : DURATION);
  }

  private static void assertRefused(String text, int column, String fault, String expected) {
    assertThatThrownBy(() -> Due.parse(text))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessage(
            "due: \"%s\" at column %d of \"%s\" (expected: %s)"
                .formatted(fault, column, text, expected))
        .extracting(refused -> ((InvalidScheduleException) refused).column())
        .isEqualTo(column);
  }

  @Test
  void everyTimeIsReadAsTheJdkWritesIt() {
    var random = new Random(5);
    for (int i = 0; i < 2_000; i++) {
      OffsetDateTime time =
          Instant.ofEpochSecond(
                  random.nextLong(86_400, 253_402_000_000L), random.nextInt(1_000_000_000))
              .atOffset(ZoneOffset.ofTotalSeconds(60 * random.nextInt(-1080, 1081)));
      String text = DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time);
      if (time.getYear() <= 9999) {
        assertThat(Due.parse(text)).as(text).isEqualTo(new Due.At(time.toInstant()));
      }
    }
  }

  @Test
  void anythingIsReadOrRefused() {
    var random = new Random(7);
    for (int i = 0; i < 20_000; i++) {
      var text = new StringBuilder("2026-03-01T08:00:00.25+01:00");
      for (int changes = random.nextInt(3); changes >= 0; changes--) {
        int at = random.nextInt(text.length());
        text.replace(
            at, at + random.nextInt(2), String.valueOf("09-+:.TZPs ".charAt(random.nextInt(11))));
      }
      try {
        assertThat(Due.parse(text.toString()).from(Instant.EPOCH)).isNotNull();
      } catch (InvalidScheduleException refused) {
        assertThat(refused.column()).as(text.toString()).isBetween(1, text.length() + 1);
      }
    }
  }

  @Test
  void aJobIsDueAsTheTextSays() {
    Instant noon = Instant.parse("2026-03-29T12:00:00Z");
    Job<Void> job = TaskType.of("send", String.class).job("x");

    assertThat(job.due(Due.parse("PT90S")).due().from(noon)).isEqualTo(noon.plusSeconds(90));
    assertThat(job.due(Due.parse("2026-03-29T15:00:00+02:00")))
        .extracting(Job::due)
        .isEqualTo(job.at(noon.plusSeconds(3600)).due());
  }

  @Test
  void aTextThatIsMissingOrTooLongIsRefused() {
    assertThatThrownBy(() -> Due.parse(missing()))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessageStartingWith("due: null");
    assertThatThrownBy(() -> Due.parse("1".repeat(Limits.SCHEDULE_MAX_CHARS + 1)))
        .isInstanceOf(InvalidScheduleException.class)
        .hasMessageEndingWith("(expected: at most 1024 characters, has 1025)");
  }

  @SuppressWarnings("NullAway") // as from code that is not checked
  private static String missing() {
    return null;
  }
}
