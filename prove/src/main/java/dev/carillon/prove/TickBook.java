package dev.carillon.prove;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What the parent knows of recurring jobs, as their nodes told. Guarded by the ledger. */
final class TickBook {
  private final Map<String, Recurring> schedules = new TreeMap<>();

  /** A recurring job and the starts of its occurrences by their time. */
  static final class Recurring {
    final String name;
    @Nullable String job;
    long firstMicros;
    long haltedMicros = Long.MAX_VALUE;
    final Map<Long, List<Started>> starts = new TreeMap<>();

    Recurring(String name) {
      this.name = name;
    }
  }

  /** An attempt at an occurrence. */
  record Started(int incarnation, int attempt, long atMicros) {
    @Override
    public String toString() {
      return "#" + attempt + "@" + incarnation + " " + atMicros;
    }
  }

  void recurring(Note.Recurring note) {
    Recurring recurring = of(note.schedule());
    recurring.job = note.job();
    recurring.firstMicros = note.firstMicros();
  }

  void ticked(int incarnation, Note.Ticked note) {
    of(note.schedule())
        .starts
        .computeIfAbsent(note.timeMicros(), time -> new ArrayList<>())
        .add(new Started(incarnation, note.attempt(), note.atMicros()));
  }

  void halted(Note.Halted note) {
    for (Recurring recurring : schedules.values()) {
      if (note.ok() && note.job().equals(recurring.job)) {
        recurring.haltedMicros = note.askedMicros();
      }
    }
  }

  private Recurring of(String schedule) {
    return schedules.computeIfAbsent(schedule, Recurring::new);
  }

  List<Recurring> all() {
    return List.copyOf(schedules.values());
  }
}
