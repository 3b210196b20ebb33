package dev.carillon.prove;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.OutcomeUnknownException;
import java.time.Instant;
import java.util.Locale;

/**
 * What a child process tells its parent, one line each. A line is written at once and whole: what
 * was written before a kill arrives.
 */
sealed interface Note {

  /** A job is about to be scheduled. */
  record Requested(
      String request, Way way, Behaviour behaviour, long dueMicros, String unique, String batch)
      implements Note {}

  /** How a job is scheduled, which says what {@link Requested#unique()} is. */
  enum Way {
    /** One job without name or key. */
    PLAIN,
    /** Under a name; refused if that is taken. */
    NAMED,
    /** Under a name; the job that has it is kept. */
    KEPT,
    /** With an idempotency key. */
    KEYED,
    /** Together with others. */
    BATCH
  }

  /** What the handler of a job does. */
  enum Behaviour {
    /** Returns at once. */
    QUICK(0, true),
    /** Takes a while. */
    SLOW(0, true),
    /** Throws in its first attempt. */
    FAILS_ONCE(1, true),
    /** Throws so that it is not tried again. */
    DIES(0, false),
    /** Throws in all attempts. */
    EXHAUSTS(4, false);

    private final int retries;
    private final boolean succeeds;

    Behaviour(int retries, boolean succeeds) {
      this.retries = retries;
      this.succeeds = succeeds;
    }

    /** Attempts after the first that are due to its own failures. */
    int retries() {
      return retries;
    }

    boolean succeeds() {
      return succeeds;
    }
  }

  /** Scheduling returned. */
  record Acknowledged(String request, String job, boolean created, long atMicros) implements Note {}

  /** Scheduling threw; {@code unknown} where the job may be there all the same. */
  record Refused(String request, boolean unknown, String why) implements Note {
    static Refused of(String request, CarillonException thrown) {
      return new Refused(
          request, thrown instanceof OutcomeUnknownException, String.valueOf(thrown.getMessage()));
    }
  }

  /** A job is about to be moved to another time. */
  record Moved(String request, long dueMicros) implements Note {}

  /** Moving it threw: it is due at its new time or at its old one. */
  record NotMoved(String request, String why) implements Note {}

  /** Jobs were put into so many shards; {@code owned} counts all shards of the node. */
  record Spread(int shards, int owned) implements Note {}

  /** Those jobs were moved. */
  record Gathered() implements Note {}

  /** What a node has counted, and how many shards it has. */
  record Counted(int shards, String counters) implements Note {}

  /** It ended in order, which took so long; {@code shards} is how many it had. */
  record Closed(long micros, int shards) implements Note {}

  /** A job is about to be cancelled. */
  record CancelAsked(String job) implements Note {}

  /** A cancel was answered; {@code Unknown} where it threw. */
  record CancelAnswered(String job, Answer answer, String state, long atMicros) implements Note {}

  /** The answers to a cancel. */
  enum Answer {
    CANCELLED,
    STOPPING,
    ENDED,
    NOT_FOUND,
    UNKNOWN
  }

  /** A handler starts; {@code dueMicros} is what its context says. */
  record Started(String request, String job, int attempt, long dueMicros, long atMicros)
      implements Note {}

  /** A handler is about to return or to throw. */
  record Finished(String request, boolean ok) implements Note {}

  /** A listener was told that a job ended, which is durable. */
  record Ended(String request, String state, long atMicros) implements Note {}

  /** A recurring job is acknowledged; its first occurrence is to be then. */
  record Recurring(String schedule, String job, long firstMicros) implements Note {}

  /** All recurring jobs that were asked for are acknowledged. */
  record Recurs() implements Note {}

  /** A handler starts an occurrence of that time. */
  record Ticked(String schedule, long timeMicros, int attempt, long atMicros) implements Note {}

  /** A cancel of a recurring job was answered, or threw; {@code ok} where it goes on no more. */
  record Halted(String job, long askedMicros, boolean ok, String answer) implements Note {}

  /** The child is open and its load begins. */
  record Loading() implements Note {}

  /** No job is left that has not ended. */
  record Drained() implements Note {}

  /** The line, without its end. */
  default String line() {
    return switch (this) {
      case Requested n -> join("R", n.request, n.way, n.behaviour, n.dueMicros, n.unique, n.batch);
      case Acknowledged n -> join("A", n.request, n.job, n.created, n.atMicros);
      case Refused n -> join("X", n.request, n.unknown, oneLine(n.why));
      case Moved n -> join("M", n.request, n.dueMicros);
      case NotMoved n -> join("m", n.request, oneLine(n.why));
      case Spread n -> join("P", n.shards, n.owned);
      case Gathered n -> "G";
      case Counted n -> join("K", n.shards, n.counters);
      case Closed n -> join("Z", n.micros, n.shards);
      case CancelAsked n -> join("c", n.job);
      case CancelAnswered n -> join("C", n.job, n.answer, n.state, n.atMicros);
      case Started n -> join("S", n.request, n.job, n.attempt, n.dueMicros, n.atMicros);
      case Finished n -> join("F", n.request, n.ok);
      case Ended n -> join("E", n.request, n.state, n.atMicros);
      case Recurring n -> join("J", n.schedule, n.job, n.firstMicros);
      case Recurs n -> "j";
      case Ticked n -> join("T", n.schedule, n.timeMicros, n.attempt, n.atMicros);
      case Halted n -> join("H", n.job, n.askedMicros, n.ok, oneLine(n.answer));
      case Loading n -> "L";
      case Drained n -> "D";
    };
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s+", " ");
  }

  /** Microseconds since 1970, rounded down as the engine does. */
  static long micros(Instant instant) {
    return instant.getEpochSecond() * 1_000_000 + instant.getNano() / 1000;
  }

  static Instant instant(long micros) {
    return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1000);
  }

  private static String join(String code, Object... fields) {
    StringBuilder line = new StringBuilder(code);
    for (Object field : fields) {
      line.append('\t').append(field);
    }
    return line.toString();
  }

  /** Reads what {@link #line()} wrote. */
  static Note parse(String line) {
    String[] f = line.split("\t", -1);
    return switch (f[0]) {
      case "R" ->
          new Requested(
              f[1], Way.valueOf(f[2]), Behaviour.valueOf(f[3]), Long.parseLong(f[4]), f[5], f[6]);
      case "A" -> new Acknowledged(f[1], f[2], Boolean.parseBoolean(f[3]), Long.parseLong(f[4]));
      case "X" -> new Refused(f[1], Boolean.parseBoolean(f[2]), f[3]);
      case "c" -> new CancelAsked(f[1]);
      case "M" -> new Moved(f[1], Long.parseLong(f[2]));
      case "m" -> new NotMoved(f[1], f[2]);
      case "P" -> new Spread(Integer.parseInt(f[1]), Integer.parseInt(f[2]));
      case "G" -> new Gathered();
      case "K" -> new Counted(Integer.parseInt(f[1]), f[2]);
      case "Z" -> new Closed(Long.parseLong(f[1]), Integer.parseInt(f[2]));
      case "C" -> new CancelAnswered(f[1], Answer.valueOf(f[2]), f[3], Long.parseLong(f[4]));
      case "S" ->
          new Started(
              f[1], f[2], Integer.parseInt(f[3]), Long.parseLong(f[4]), Long.parseLong(f[5]));
      case "F" -> new Finished(f[1], Boolean.parseBoolean(f[2]));
      case "E" -> new Ended(f[1], f[2], Long.parseLong(f[3]));
      case "J" -> new Recurring(f[1], f[2], Long.parseLong(f[3]));
      case "j" -> new Recurs();
      case "T" ->
          new Ticked(f[1], Long.parseLong(f[2]), Integer.parseInt(f[3]), Long.parseLong(f[4]));
      case "H" -> new Halted(f[1], Long.parseLong(f[2]), Boolean.parseBoolean(f[3]), f[4]);
      case "L" -> new Loading();
      case "D" -> new Drained();
      default ->
          throw new IllegalArgumentException(
              String.format(Locale.ROOT, "line: %s (expected: a known code)", line));
    };
  }
}
