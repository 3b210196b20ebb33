package dev.carillon.bench;

import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What the next time of a cron expression costs, beside other libraries. */
@Command(
    name = "cron",
    description =
        "What the next time of a cron expression costs, beside cron-utils, Quartz, Spring.")
final class CronCommand implements Callable<Integer> {
  private static final double TIMES_CRON_UTILS = 10;
  private static final double TIMES_OTHERS = 1;
  private static final ZoneId ZONE = ZoneId.of("Europe/Berlin");
  private static final Instant START = Instant.parse("2026-01-05T12:00:00Z");

  /** As many next times follow from one another before it begins again. */
  private static final int CHAIN = 64;

  /** As all four read them. */
  private static final List<String> EXPRESSIONS =
      List.of(
          "0 * * * * ?",
          "0 0/15 * * * ?",
          "0 30 2 * * ?",
          "0 30 9 ? * MON-FRI",
          "0 0 0 L * ?",
          "0 0 12 ? * FRI#2",
          "0 0 0 1 1 ?");

  @Mixin private RunOptions options = new RunOptions();

  /** One expression as one library computes it. */
  private static final class Subject {
    final CronSystem system;
    final String expression;
    final CronSystem.Times times;
    final Rounds nanos = new Rounds();

    Subject(CronSystem system, String expression) {
      this.system = system;
      this.expression = expression;
      this.times = system.times(expression, ZONE, START);
    }

    /** The mean cost of a next time, over a while. */
    double measure(long whileNanos) {
      long begin = System.nanoTime();
      long chains = 0;
      long elapsed;
      do {
        if (!times.walk(CHAIN).isAfter(START)) {
          throw new IllegalStateException(system + " goes back: " + expression);
        }
        chains++;
        elapsed = System.nanoTime() - begin;
      } while (elapsed < whileNanos);
      return (double) elapsed / (chains * CHAIN);
    }
  }

  @Override
  public Integer call() {
    Report report = options.report("none");
    report.title("cron");
    report.setting("zone", ZONE);
    report.setting("chain", CHAIN + " next times from " + START);
    report.setting("window", options.seconds + " s for all after " + options.warmup + " s");
    List<Subject> subjects = subjects();
    for (int round = 1; round <= options.rounds; round++) {
      report.progress("round " + round + " of " + options.rounds);
      measure(subjects);
      Collections.rotate(subjects, 1);
    }
    EXPRESSIONS.forEach(expression -> print(report, expression, subjects));
    return report.verdict();
  }

  private static List<Subject> subjects() {
    List<Subject> subjects = new ArrayList<>();
    for (String expression : EXPRESSIONS) {
      for (CronSystem system : CronSystem.values()) {
        subjects.add(new Subject(system, expression));
      }
    }
    return subjects;
  }

  private void measure(List<Subject> subjects) {
    long warmup = TimeUnit.SECONDS.toNanos(options.warmup) / subjects.size();
    long window = TimeUnit.SECONDS.toNanos(options.seconds) / subjects.size();
    subjects.forEach(subject -> subject.measure(warmup));
    subjects.forEach(subject -> subject.nanos.add(subject.measure(window)));
  }

  private static void print(Report report, String expression, List<Subject> subjects) {
    String scenario = "cron " + expression;
    List<Subject> same =
        subjects.stream()
            .filter(subject -> subject.expression.equals(expression))
            .sorted((a, b) -> a.system.compareTo(b.system))
            .toList();
    for (Subject subject : same) {
      report.figure(
          Figure.of(scenario, "next time", subject.nanos.median(), "ns")
              .by(subject.system.title()));
    }
    Subject ours = same.getFirst();
    for (Subject other : same.subList(1, same.size())) {
      double ratio = other.nanos.median() / ours.nanos.median();
      report.figure(
          Figure.of(scenario, "cost, of carillon's", ratio, "times")
              .by(other.system.title())
              .held(Bound.atLeast(least(other.system))));
    }
    boolean agreed =
        same.stream().allMatch(subject -> subject.times.walk(1).equals(ours.times.walk(1)));
    report.fact(scenario, "all give the same first time", agreed);
  }

  private static double least(CronSystem system) {
    return system == CronSystem.CRON_UTILS ? TIMES_CRON_UTILS : TIMES_OTHERS;
  }
}
