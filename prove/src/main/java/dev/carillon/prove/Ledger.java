package dev.carillon.prove;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the parent knows: everything that any child told, and what was done to the children. Several
 * tell at once, and what two of them told has no order but that of the times it names; all live on
 * one machine and read one clock.
 */
final class Ledger {
  /** How long a node that stood still may take to find out. */
  private static final long LATE_MICROS = 1_000_000;

  /** How long what a dead node had lent may still be started. */
  private static final long AFTERMATH_MICROS = 5_000_000;

  private static final int MOST_RECENT = 20_000;

  private final Map<String, Line> lines = new LinkedHashMap<>();
  private final Map<String, List<Cancel>> cancels = new HashMap<>();
  private final List<Disturbance> disturbances = new ArrayList<>();
  private final ArrayDeque<Start> recent = new ArrayDeque<>();
  private final TickBook ticks = new TickBook();
  private final List<String> strange = new ArrayList<>();
  private final List<Line> endedAgain = new ArrayList<>();
  private long told;

  /** One request and what became of it. */
  static final class Line {
    final String request;
    int incarnation;
    Note.@Nullable Requested requested;
    Note.@Nullable Acknowledged acknowledged;
    Note.@Nullable Refused refused;
    final Set<Long> dues = new HashSet<>();
    final List<Start> starts = new ArrayList<>();
    boolean finishedWell;
    @Nullable End end;

    /** The store went back to a time at which it may not have had the job. */
    boolean mayBeLost;

    /** The store went back to a time at which the job may not have ended. */
    boolean mayRepeat;

    Line(String request, int incarnation) {
      this.request = request;
      this.incarnation = incarnation;
    }

    Note.Requested asked() {
      if (requested == null) {
        throw new IllegalStateException("request: " + request + " (expected: one that was made)");
      }
      return requested;
    }

    boolean created() {
      return acknowledged != null && acknowledged.created();
    }

    @Override
    public String toString() {
      return request
          + (requested == null ? "" : " " + requested.way() + " " + requested.behaviour())
          + (acknowledged == null ? " unacknowledged" : " " + acknowledged.job())
          + " starts "
          + starts
          + (end == null ? "" : " end " + end);
    }
  }

  /** An attempt that started. */
  record Start(int incarnation, Note.Started note) {
    @Override
    public String toString() {
      return "#" + note.attempt() + "@" + incarnation + " " + note.atMicros();
    }
  }

  /** A durable end that a child was told of. */
  record End(int incarnation, String state, long atMicros) {}

  /** A cancel that was asked for; without an answer where a kill came first. */
  static final class Cancel {
    final int incarnation;
    Note.@Nullable CancelAnswered answered;

    Cancel(int incarnation) {
      this.incarnation = incarnation;
    }
  }

  /** What may be done to a node. */
  enum Blow {
    /** Its process is gone. */
    KILL,
    /** It stood still, and went on. */
    PAUSE,
    /** Its store was away. */
    OUTAGE
  }

  /**
   * Something that was done to a node, after which attempts may be made again.
   *
   * @param toMicros from when on attempts are not made again for its sake
   */
  record Disturbance(Blow blow, int incarnation, long fromMicros, long toMicros) {

    /**
     * The same where attempts run on other nodes than that of their job: a blow to either may have
     * them made again, also what was lent before it and started a little after.
     */
    boolean mayHaveHit(Start start, @Nullable End end) {
      return start.note().atMicros() <= Math.min(toMicros, fromMicros + AFTERMATH_MICROS)
          && (end == null || end.atMicros() >= fromMicros);
    }

    /** Whether it came between that start and the end of its attempt, if that was told. */
    boolean hit(Start start, @Nullable End end) {
      return start.incarnation() == incarnation
          && start.note().atMicros() <= toMicros
          && (end == null || end.incarnation() != incarnation || end.atMicros() >= fromMicros);
    }
  }

  synchronized void tell(int incarnation, Note note) {
    told++;
    switch (note) {
      case Note.Requested n -> requested(incarnation, n);
      case Note.Acknowledged n -> line(incarnation, n.request()).acknowledged = n;
      case Note.Refused n -> line(incarnation, n.request()).refused = n;
      case Note.Moved n -> line(incarnation, n.request()).dues.add(n.dueMicros());
      case Note.Started n -> started(incarnation, n);
      case Note.Finished n -> line(incarnation, n.request()).finishedWell |= n.ok();
      case Note.Ended n -> ended(incarnation, n);
      case Note.CancelAsked n ->
          cancels.computeIfAbsent(n.job(), j -> new ArrayList<>()).add(new Cancel(incarnation));
      case Note.CancelAnswered n -> answered(incarnation, n);
      case Note.Recurring n -> ticks.recurring(n);
      case Note.Ticked n -> ticks.ticked(incarnation, n);
      case Note.Halted n -> ticks.halted(n);
      case Note.Recurs n -> {}
      case Note.NotMoved n -> {}
      case Note.Loading n -> {}
      case Note.Spread n -> {}
      case Note.Gathered n -> {}
      case Note.Counted n -> {}
      case Note.Drained n -> {}
      case Note.Closed n -> {}
    }
  }

  private void requested(int incarnation, Note.Requested note) {
    Line line = line(incarnation, note.request());
    line.incarnation = incarnation;
    line.requested = note;
    line.dues.add(note.dueMicros());
  }

  private void started(int incarnation, Note.Started note) {
    Start start = new Start(incarnation, note);
    line(incarnation, note.request()).starts.add(start);
    recent.addLast(start);
    if (recent.size() > MOST_RECENT) {
      recent.removeFirst();
    }
  }

  private void ended(int incarnation, Note.Ended note) {
    Line line = line(incarnation, note.request());
    if (line.end != null) {
      endedAgain.add(line);
    }
    line.end = new End(incarnation, note.state(), note.atMicros());
  }

  private void answered(int incarnation, Note.CancelAnswered note) {
    for (Cancel cancel : cancels.getOrDefault(note.job(), List.of())) {
      if (cancel.incarnation == incarnation && cancel.answered == null) {
        cancel.answered = note;
        return;
      }
    }
    strange.add(note + ": an answer that nobody asked for");
  }

  /** A line that nobody requested stays visible as that. */
  private Line line(int incarnation, String request) {
    return lines.computeIfAbsent(request, r -> new Line(r, incarnation));
  }

  void killed(int incarnation) {
    disturbed(Blow.KILL, incarnation, Note.micros(Instant.now()), Long.MAX_VALUE);
  }

  synchronized void disturbed(Blow blow, int incarnation, long fromMicros, long toMicros) {
    disturbances.add(new Disturbance(blow, incarnation, fromMicros, toMicros));
  }

  /** When it was dead, in microseconds since 1970; never for one that ended by itself. */
  synchronized long killedAtMicros(int incarnation) {
    return disturbances.stream()
        .filter(d -> d.blow() == Blow.KILL && d.incarnation() == incarnation)
        .mapToLong(Disturbance::fromMicros)
        .findFirst()
        .orElse(Long.MAX_VALUE);
  }

  /** When one of the processes that lived then was killed or stopped next. */
  synchronized long disturbedAfter(long micros) {
    return disturbances.stream()
        .mapToLong(Disturbance::fromMicros)
        .filter(at -> at >= micros)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** When a child first started an attempt after that time; never where it has not. */
  synchronized long firstStart(int incarnation, long afterMicros) {
    return recent.stream()
        .filter(start -> start.incarnation() == incarnation)
        .mapToLong(start -> start.note().atMicros())
        .filter(at -> at > afterMicros)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /**
   * Whether an attempt started on a node that had stood still for too long and did not know it yet:
   * another one had started the job meanwhile.
   */
  boolean isLate(Line line, Start start) {
    long at = start.note().atMicros();
    return line.starts.stream()
            .anyMatch(s -> s.incarnation() != start.incarnation() && s.note().atMicros() < at)
        && disturbances.stream()
            .anyMatch(
                d ->
                    d.blow() == Blow.PAUSE
                        && d.incarnation() == start.incarnation()
                        && at >= d.toMicros()
                        && at < d.toMicros() + LATE_MICROS);
  }

  synchronized List<Disturbance> disturbances() {
    return List.copyOf(disturbances);
  }

  /** The recurring jobs; what they tell is complete once nobody tells any more. */
  synchronized List<TickBook.Recurring> ticks() {
    return ticks.all();
  }

  /** Looks at the lines while children may tell. */
  synchronized <T> T look(Function<Collection<Line>, T> question) {
    return question.apply(lines.values());
  }

  /** All lines; only once nobody tells any more. */
  Collection<Line> lines() {
    return lines.values();
  }

  synchronized @Nullable Line lineOf(String request) {
    return lines.get(request);
  }

  Map<String, List<Cancel>> cancels() {
    return cancels;
  }

  List<Cancel> cancels(String job) {
    return cancels.getOrDefault(job, List.of());
  }

  /** Whether somebody has asked to cancel its job, so that it may never start. */
  synchronized boolean isCancelled(Line line) {
    return line.acknowledged != null && cancels.containsKey(line.acknowledged.job());
  }

  /** Whether the store may have forgotten that job. */
  boolean mayBeLost(String job) {
    return lines.values().stream()
        .filter(line -> line.acknowledged != null && line.acknowledged.job().equals(job))
        .anyMatch(line -> line.mayBeLost);
  }

  /** What was told and cannot be. */
  List<String> strange() {
    List<String> all = new ArrayList<>(strange);
    endedAgain.stream()
        .filter(line -> !line.mayRepeat)
        .forEach(line -> all.add(line + ": told twice that it ended"));
    return all;
  }

  /** What the store has for certain: those requests are acknowledged, those jobs have ended. */
  record Moment(Set<String> acknowledged, Set<String> ended) {}

  synchronized Moment moment() {
    Set<String> acknowledged = new HashSet<>();
    Set<String> ended = new HashSet<>();
    for (Line line : lines.values()) {
      if (line.acknowledged != null) {
        acknowledged.add(line.request);
      }
      if (line.end != null) {
        ended.add(line.request);
      }
    }
    return new Moment(acknowledged, ended);
  }

  /** The store has forgotten what was told after that moment. */
  synchronized void wentBackTo(Moment moment) {
    for (Line line : lines.values()) {
      line.mayBeLost |= !moment.acknowledged().contains(line.request);
      line.mayRepeat |= !moment.ended().contains(line.request);
    }
  }

  synchronized long told() {
    return told;
  }
}
