package dev.carillon.prove;

/** What a parent asks of a child, one line each. */
sealed interface Order {

  /** Cancel a job. */
  record Cancel(String job) implements Order {}

  /** Have that many shards, with a job in each whose time can be moved. */
  record Spread(int shards) implements Order {}

  /** Make those jobs due from then on, within a span. */
  record Gather(long dueMicros, long spanMicros) implements Order {}

  /** Schedule so many recurring jobs of each kind. */
  record Recur(int each) implements Order {}

  /** Cancel a recurring job. */
  record Halt(String job) implements Order {}

  /** Say what you have counted. */
  record Count() implements Order {}

  /** Schedule no more. */
  record Rest() implements Order {}

  /** Say when no job is left that has not ended. */
  record Drain() implements Order {}

  /** End in order. */
  record Stop() implements Order {}

  /** The line, without its end. */
  default String line() {
    return switch (this) {
      case Cancel o -> "cancel\t" + o.job;
      case Spread o -> "spread\t" + o.shards;
      case Gather o -> "gather\t" + o.dueMicros + "\t" + o.spanMicros;
      case Recur o -> "recur\t" + o.each;
      case Halt o -> "halt\t" + o.job;
      case Count o -> "count";
      case Rest o -> "rest";
      case Drain o -> "drain";
      case Stop o -> "stop";
    };
  }

  /** Reads what {@link #line()} wrote. */
  static Order parse(String line) {
    String[] f = line.split("\t", -1);
    return switch (f[0]) {
      case "cancel" -> new Cancel(f[1]);
      case "spread" -> new Spread(Integer.parseInt(f[1]));
      case "gather" -> new Gather(Long.parseLong(f[1]), Long.parseLong(f[2]));
      case "recur" -> new Recur(Integer.parseInt(f[1]));
      case "halt" -> new Halt(f[1]);
      case "count" -> new Count();
      case "rest" -> new Rest();
      case "drain" -> new Drain();
      case "stop" -> new Stop();
      default -> throw new IllegalArgumentException("order: " + line + " (expected: a known one)");
    };
  }
}
