package dev.carillon.api.schedule;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/** What a preview says about clock changes. */
final class ClockNotes {
  private static final DateTimeFormatter DAY_AND_TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm");

  private final ZonedCron cron;
  private final String prefix;

  /** Notes name the schedule's zone if times are shown in another. */
  ClockNotes(ZonedCron cron, ZoneId zone, ZoneId shownIn) {
    this.cron = cron;
    this.prefix = zone.equals(shownIn) ? "" : zone + ": ";
  }

  /** The notes on an occurrence and on what is left out between it and the one before. */
  List<String> about(Instant before, Instant time) {
    List<String> notes = new ArrayList<>();
    long second = time.getEpochSecond();
    Stretch stretch = cron.stretchAt(second);
    noteRepeat(notes, stretch, second);
    while (stretch.start() > before.getEpochSecond()) {
      noteGap(notes, stretch);
      stretch = cron.stretchAt(stretch.start() - 1);
    }
    return notes.reversed();
  }

  private void noteRepeat(List<String> notes, Stretch stretch, long second) {
    boolean again = second < stretch.afterRepeats();
    if (!again && second < stretch.beforeRepeats()) {
      return;
    }
    String which = again ? "second" : "first";
    String what = cron.overlap() == ClockOverlap.BOTH ? "this is the " : "runs at the ";
    notes.add(prefix + shown(second + stretch.offset()) + " comes twice: " + what + which);
  }

  private void noteGap(List<String> notes, Stretch stretch) {
    if (!cron.skipsTime(stretch)) {
      return;
    }
    long first = cron.cron().atOrAfter(stretch.localGap());
    long last = lastBefore(stretch.localStart(), first);
    LocalDateTime end = local(stretch.localStart());
    boolean sameDay = local(first).toLocalDate().equals(end.toLocalDate());
    String missing =
        first == last
            ? shown(first) + " does not exist "
            : shown(first) + " to " + shown(last) + " do not exist ";
    String day = "on " + local(first).toLocalDate();
    if (cron.gap() == ClockGap.SKIP) {
      notes.add(prefix + missing + day + ": skipped");
    } else {
      String runs = first == last ? ": runs at " : ": run once, at ";
      String when = sameDay ? end.toLocalTime().toString() : DAY_AND_TIME.format(end);
      notes.add(prefix + missing + (sameDay ? "that day" : day) + runs + when);
    }
  }

  /** The last local time of the schedule before another, from one of its times on. */
  private long lastBefore(long end, long first) {
    long last = first;
    for (long time = first; time < end; time = cron.cron().atOrAfter(time + 1)) {
      last = time;
    }
    return last;
  }

  private static String shown(long local) {
    return local(local).toLocalTime().toString();
  }

  private static LocalDateTime local(long local) {
    return LocalDateTime.ofEpochSecond(local, 0, ZoneOffset.UTC);
  }
}
