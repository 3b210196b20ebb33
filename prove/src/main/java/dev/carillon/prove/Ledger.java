package dev.carillon.prove;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the parent knows: everything that any child told, in the order in which it was told, and
 * when each child was killed. Not thread-safe: one child tells at a time.
 */
final class Ledger {
  private final Map<String, Line> lines = new LinkedHashMap<>();
  private final Map<String, List<Cancel>> cancels = new HashMap<>();
  private final Map<Integer, Long> killedAt = new HashMap<>();
  private final List<String> strange = new ArrayList<>();
  private long told;

  /** One request and what became of it. */
  static final class Line {
    final String request;
    final int incarnation;
    final Note.@Nullable Requested requested;
    Note.@Nullable Acknowledged acknowledged;
    Note.@Nullable Refused refused;
    final List<Start> starts = new ArrayList<>();
    boolean finishedWell;
    @Nullable End end;

    Line(String request, int incarnation, Note.@Nullable Requested requested) {
      this.request = request;
      this.incarnation = incarnation;
      this.requested = requested;
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

  /** An attempt that started, and its place among all that was told. */
  record Start(int incarnation, long order, Note.Started note) {
    @Override
    public String toString() {
      return "#" + note.attempt() + "@" + incarnation;
    }
  }

  /** A durable end that a child was told of. */
  record End(int incarnation, long order, String state) {}

  /** A cancel that was asked for; without an answer where a kill came first. */
  static final class Cancel {
    final int incarnation;
    Note.@Nullable CancelAnswered answered;
    long answeredOrder;

    Cancel(int incarnation) {
      this.incarnation = incarnation;
    }
  }

  void tell(int incarnation, Note note) {
    long order = ++told;
    switch (note) {
      case Note.Requested n -> lines.put(n.request(), new Line(n.request(), incarnation, n));
      case Note.Acknowledged n -> line(incarnation, n.request()).acknowledged = n;
      case Note.Refused n -> line(incarnation, n.request()).refused = n;
      case Note.Started n ->
          line(incarnation, n.request()).starts.add(new Start(incarnation, order, n));
      case Note.Finished n -> line(incarnation, n.request()).finishedWell |= n.ok();
      case Note.Ended n -> ended(incarnation, order, n);
      case Note.CancelAsked n ->
          cancels.computeIfAbsent(n.job(), j -> new ArrayList<>()).add(new Cancel(incarnation));
      case Note.CancelAnswered n -> answered(order, n);
      case Note.Loading n -> {}
      case Note.Drained n -> {}
    }
  }

  private void ended(int incarnation, long order, Note.Ended note) {
    Line line = line(incarnation, note.request());
    if (line.end != null) {
      strange.add(line.request + ": told twice that it ended");
    }
    line.end = new End(incarnation, order, note.state());
  }

  private void answered(long order, Note.CancelAnswered note) {
    Cancel cancel = cancels.getOrDefault(note.job(), List.of()).getLast();
    cancel.answered = note;
    cancel.answeredOrder = order;
  }

  /** A line that nobody requested stays visible as that. */
  private Line line(int incarnation, String request) {
    return lines.computeIfAbsent(request, r -> new Line(r, incarnation, null));
  }

  void killed(int incarnation) {
    killedAt.put(incarnation, KillChild.micros(Instant.now()));
  }

  boolean wasKilled(int incarnation) {
    return killedAt.containsKey(incarnation);
  }

  /** When it was dead, in microseconds since 1970; never for one that ended by itself. */
  long killedAtMicros(int incarnation) {
    return killedAt.getOrDefault(incarnation, Long.MAX_VALUE);
  }

  /** When the process that lived then was killed. */
  long killedAfter(long micros) {
    return killedAt.values().stream()
        .filter(at -> at >= micros)
        .min(Long::compare)
        .orElse(Long.MAX_VALUE);
  }

  Collection<Line> lines() {
    return lines.values();
  }

  @Nullable Line lineOf(String request) {
    return lines.get(request);
  }

  Map<String, List<Cancel>> cancels() {
    return cancels;
  }

  List<Cancel> cancels(String job) {
    return cancels.getOrDefault(job, List.of());
  }

  /** What was told and cannot be. */
  List<String> strange() {
    return strange;
  }

  long told() {
    return told;
  }
}
