package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.schedule.ClockGap;
import dev.carillon.api.schedule.ClockOverlap;
import dev.carillon.api.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Compares cron over clock changes with an oracle that walks the time line: for every distinct
 * sequence of clock changes among the JVM's zones, minute by minute for 26 hours around each change
 * of 2020 to 2040, and second by second for two hours; every expression under every rule for gaps
 * and overlaps.
 *
 * <p>By default a sample of the changes; all of them, in some minutes, with {@code
 * -Dcarillon.oracle.full=true}.
 */
class CronOracleTest {
  private static final boolean FULL = Boolean.getBoolean("carillon.oracle.full");
  private static final Instant FROM = Instant.parse("2020-01-01T00:00:00Z");
  private static final Instant TO = Instant.parse("2041-01-01T00:00:00Z");
  private static final int SAMPLED = 29;
  private static final int SHOWN_DIFFERENCES = 20;
  private static final long PROGRESS_NANOS = Duration.ofSeconds(10).toNanos();

  /** Changes out of the ordinary before 2020: whole days, odd minutes, seconds, midnights. */
  private static final List<String> STRANGE =
      List.of(
          "Pacific/Apia 2011-12-30T10:00:00Z",
          "Pacific/Kwajalein 1993-08-21T12:00:00Z",
          "Africa/Monrovia 1972-01-07T00:44:30Z",
          "Asia/Kathmandu 1985-12-31T18:30:00Z",
          "Asia/Pyongyang 2018-05-04T15:00:00Z",
          "America/Caracas 2016-05-01T07:00:00Z",
          "America/Sao_Paulo 2018-11-04T03:00:00Z",
          "Australia/Lord_Howe 2019-10-05T15:30:00Z",
          "Australia/Lord_Howe 2019-04-06T15:00:00Z",
          "Antarctica/Casey 2018-03-10T17:00:00Z",
          "Asia/Amman 1973-06-05T22:00:00Z");

  private final List<String> differences = new ArrayList<>();
  private long comparisons;
  private long times;
  private long lastProgress = System.nanoTime();

  @Test
  void changesByMinute() {
    List<Case> cases = cases(CronExpressions.withMinutes());
    assertThat(cases).hasSizeGreaterThanOrEqualTo(200);
    compareAll("by minute", cases, Duration.ofHours(13), 60);
  }

  @Test
  void changesBySecond() {
    List<Case> cases = cases(CronExpressions.WITH_SECONDS);
    assertThat(cases).hasSize(20);
    compareAll("by second", cases, Duration.ofHours(1), 1);
  }

  @Test
  void strangeChangesBySecond() {
    List<String> expressions = new ArrayList<>(CronExpressions.withMinutes());
    expressions.addAll(CronExpressions.WITH_SECONDS.subList(6, 20));
    List<Case> cases = cases(expressions);
    for (String strange : STRANGE) {
      ZoneId zone = ZoneId.of(strange.split(" ", -1)[0]);
      Instant change = Instant.parse(strange.split(" ", -1)[1]);
      assertThat(zone.getRules().nextTransition(change.minusSeconds(1)).getInstant())
          .as(strange)
          .isEqualTo(change);
      compare(cases, Window.around(zone, change, Duration.ofHours(FULL ? 30 : 2), 1));
    }
    report("strange changes");
  }

  @Test
  void daysOfYears() {
    LocalDate first = LocalDate.of(FULL ? 2000 : 2023, 1, 1);
    LocalDate end = LocalDate.of(FULL ? 2041 : 2029, 1, 1);
    for (Case tested : cases(CronExpressions.ofDays())) {
      long[] expected =
          first
              .datesUntil(end)
              .filter(tested.oracle::matchesDate)
              .mapToLong(date -> date.atTime(12, 0).toEpochSecond(ZoneOffset.UTC))
              .toArray();
      Instant last = end.atStartOfDay().toInstant(ZoneOffset.UTC);
      long[] actual =
          Stream.iterate(
                  tested.schedule.first(first.atStartOfDay().toInstant(ZoneOffset.UTC)),
                  time -> time != null && time.isBefore(last),
                  tested.schedule::next)
              .mapToLong(Instant::getEpochSecond)
              .toArray();
      tell(tested.text, expected, actual);
    }
    report("days of years");
  }

  /** Without clock changes there are leap days, month ends and year ends. */
  @Test
  void ordinaryDaysByMinute() {
    List<Case> cases = cases(CronExpressions.withMinutes());
    for (String day : List.of("2023-12-31", "2028-02-28", "2027-02-28", "2026-05-31")) {
      Instant evening = LocalDate.parse(day).atTime(18, 0).toInstant(ZoneOffset.UTC);
      for (String zone : List.of("UTC", "Asia/Kolkata", "Pacific/Kiritimati")) {
        compare(cases, Window.around(ZoneId.of(zone), evening, Duration.ofHours(13), 60));
      }
    }
    report("ordinary days");
  }

  private void compareAll(String what, List<Case> cases, Duration reach, int step) {
    List<ZoneId> zones = distinctZones();
    int change = 0;
    int compared = 0;
    for (int i = 0; i < zones.size(); i++) {
      for (ZoneOffsetTransition transition : transitions(zones.get(i).getRules())) {
        if (FULL || change++ % SAMPLED == 0) {
          compare(cases, Window.around(zones.get(i), transition.getInstant(), reach, step));
          compared++;
        }
      }
      progress(what + ": zone " + (i + 1) + " of " + zones.size());
    }
    report(
        what
            + ": %,d distinct zones, %,d clock changes, %,d expressions, 6 rules"
                .formatted(zones.size(), compared, cases.size()));
  }

  /** One zone of each kind: those with other changes from 2020 to 2040, or another offset. */
  private static List<ZoneId> distinctZones() {
    Map<String, ZoneId> zones = new LinkedHashMap<>();
    for (String id : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
      ZoneId zone = ZoneId.of(id);
      ZoneRules rules = zone.getRules();
      zones.putIfAbsent(rules.getOffset(FROM) + " " + transitions(rules), zone);
    }
    return List.copyOf(zones.values());
  }

  private static List<ZoneOffsetTransition> transitions(ZoneRules rules) {
    List<ZoneOffsetTransition> transitions = new ArrayList<>();
    ZoneOffsetTransition next = rules.nextTransition(FROM);
    while (next != null && next.getInstant().isBefore(TO)) {
      transitions.add(next);
      next = rules.nextTransition(next.getInstant());
    }
    return transitions;
  }

  private static List<Case> cases(List<String> expressions) {
    return expressions.stream().distinct().map(Case::new).toList();
  }

  private void compare(List<Case> cases, Window window) {
    for (Case tested : cases) {
      window.match(tested.oracle);
      for (ClockGap gap : ClockGap.values()) {
        for (ClockOverlap overlap : ClockOverlap.values()) {
          long[] expected = window.expected(tested.oracle, gap, overlap);
          long[] actual = window.actual(tested.schedule.gap(gap).clockOverlap(overlap));
          tell(tested.text + " " + window.zone + " " + gap + " " + overlap, expected, actual);
        }
      }
    }
  }

  private void tell(String what, long[] expected, long[] actual) {
    comparisons++;
    times += expected.length;
    int at = Arrays.mismatch(expected, actual);
    if (at >= 0) {
      differences.add("%s: %s (expected: %s)".formatted(what, at(actual, at), at(expected, at)));
    }
  }

  private static @Nullable Instant at(long[] times, int index) {
    return index < times.length ? Instant.ofEpochSecond(times[index]) : null;
  }

  private void progress(String what) {
    if (FULL && System.nanoTime() - lastProgress > PROGRESS_NANOS) {
      lastProgress = System.nanoTime();
      System.out.printf("%s, %,d comparisons%n", what, comparisons);
    }
  }

  private void report(String what) {
    if (FULL) {
      System.out.printf(
          "%s; %,d comparisons of %,d times, %,d differences%n",
          what, comparisons, times, differences.size());
    }
    assertThat(comparisons).isPositive();
    assertThat(times).isPositive();
    assertThat(differences.stream().limit(SHOWN_DIFFERENCES))
        .as("of %d differences in %d comparisons", differences.size(), comparisons)
        .isEmpty();
  }

  /** An expression, read by both. */
  private static final class Case {
    final String text;
    final CronOracle oracle;
    final Schedule schedule;

    Case(String text) {
      this.text = text;
      this.oracle = new CronOracle(text);
      this.schedule = Schedule.cron(text);
    }
  }

  /** A piece of the time line of a zone, every step of which was looked at. */
  private static final class Window {
    final ZoneId zone;
    private final long start;
    private final int step;
    private final Moment[] moments;

    /** Local times that do not exist here. */
    private final List<LocalDateTime> skipped = new ArrayList<>();

    private final List<LocalDate> dates;

    /** The moments that the expression in question matches. */
    private int[] matched = {};

    private record Moment(byte hour, byte minute, byte second, byte date, byte pass) {}

    private Window(ZoneId zone, long start, int step, int count) {
      this.zone = zone;
      this.start = start;
      this.step = step;
      this.moments = new Moment[count];
      this.dates = new ArrayList<>();
      LocalDateTime before = null;
      for (int i = 0; i < count; i++) {
        Instant time = Instant.ofEpochSecond(start + (long) i * step);
        ZoneOffset offset = zone.getRules().getOffset(time);
        LocalDateTime local = LocalDateTime.ofInstant(time, offset);
        moments[i] = moment(local, offset);
        if (before != null) {
          for (LocalDateTime t = before.plusSeconds(step); t.isBefore(local); ) {
            skipped.add(t);
            t = t.plusSeconds(step);
          }
        }
        before = local;
      }
    }

    static Window around(ZoneId zone, Instant change, Duration reach, int step) {
      long seconds = reach.toSeconds();
      long start = Math.floorDiv(change.getEpochSecond() - seconds, step) * step;
      return new Window(zone, start, step, (int) (2 * seconds / step));
    }

    private Moment moment(LocalDateTime local, ZoneOffset offset) {
      if (!dates.contains(local.toLocalDate())) {
        dates.add(local.toLocalDate());
      }
      List<ZoneOffset> valid = zone.getRules().getValidOffsets(local);
      int pass = valid.size() < 2 ? 0 : valid.getFirst().equals(offset) ? 1 : 2;
      return new Moment(
          (byte) local.getHour(),
          (byte) local.getMinute(),
          (byte) local.getSecond(),
          (byte) dates.indexOf(local.toLocalDate()),
          (byte) pass);
    }

    void match(CronOracle oracle) {
      boolean[] days = new boolean[dates.size()];
      for (int i = 0; i < days.length; i++) {
        days[i] = oracle.matchesDate(dates.get(i));
      }
      int[] found = new int[moments.length];
      int count = 0;
      for (int i = 0; i < moments.length; i++) {
        Moment at = moments[i];
        if (days[at.date] && oracle.matchesTime(at.hour, at.minute, at.second)) {
          found[count++] = i;
        }
      }
      matched = Arrays.copyOf(found, count);
    }

    long[] expected(CronOracle oracle, ClockGap gap, ClockOverlap overlap) {
      boolean realTime = oracle.followsRealTime();
      TreeSet<Long> late = new TreeSet<>();
      if (!realTime && gap == ClockGap.FIRST_VALID) {
        skipped.stream()
            .filter(oracle::matches)
            .map(time -> zone.getRules().getTransition(time).getInstant().getEpochSecond())
            .forEach(late::add);
      }
      return LongStream.concat(
              late.stream().mapToLong(second -> second),
              Arrays.stream(matched)
                  .filter(i -> realTime || counts(moments[i].pass, overlap))
                  .mapToLong(i -> start + (long) i * step))
          .sorted()
          .distinct()
          .toArray();
    }

    private static boolean counts(int pass, ClockOverlap overlap) {
      return switch (overlap) {
        case FIRST -> pass != 2;
        case SECOND -> pass != 1;
        case BOTH -> true;
      };
    }

    long[] actual(Schedule schedule) {
      Schedule zoned = schedule.in(zone);
      long end = start + (long) moments.length * step;
      long[] found = new long[moments.length];
      int count = 0;
      Instant time = zoned.first(Instant.ofEpochSecond(start - 1));
      while (time != null && time.getEpochSecond() < end && count < found.length) {
        found[count++] = time.getEpochSecond();
        time = zoned.next(time);
      }
      return Arrays.copyOf(found, count);
    }
  }
}
