package dev.carillon.cli.remote;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** The options of a schedule. One of cron, every and after-each makes it one. */
final class RhythmFlags {
  @Option(
      names = "--cron",
      paramLabel = "TEXT",
      description = "'30 2 * * *', with seconds '0 30 2 * * *', or @daily")
  private String cron = "";

  @Option(names = "--zone", paramLabel = "ZONE", description = "of cron, such as Europe/Berlin")
  private String zone = "";

  @Option(names = "--every", paramLabel = "DURATION", description = "every 90s, 2h")
  private String every = "";

  @Option(
      names = "--after-each",
      paramLabel = "DURATION",
      description = "so long after the end of the one before")
  private String afterEach = "";

  @Option(names = "--start", paramLabel = "TIME", description = "not before this time")
  private String start = "";

  @Option(names = "--until", paramLabel = "TIME", description = "not after this time")
  private String until = "";

  @Option(names = "--times", paramLabel = "COUNT", description = "so often, then no more")
  private @Nullable Integer times;

  @Option(
      names = "--jitter",
      paramLabel = "DURATION",
      description = "late by up to this, by chance")
  private String jitter = "";

  @Option(
      names = "--overlap",
      paramLabel = "RULE",
      description = "while one runs: skip, buffer_one, buffer_all, cancel_running, allow")
  private String overlap = "";

  @Option(
      names = "--misfire",
      paramLabel = "RULE",
      description = "what was missed: run_one, run_all, skip")
  private String misfire = "";

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      description = "how late one may start and is not missed")
  private String grace = "";

  @Option(
      names = "--gap",
      paramLabel = "RULE",
      description = "where clocks jump ahead: first_valid, skip")
  private String gap = "";

  @Option(
      names = "--clock-overlap",
      paramLabel = "RULE",
      description = "where clocks go back: first, second, both")
  private String clockOverlap = "";

  /** None. */
  RhythmFlags() {}

  /** The schedule as the API takes it; empty if no option was given. */
  ObjectNode schedule() {
    ObjectNode schedule = JobChanges.object();
    put(schedule, "cron", cron);
    put(schedule, "zone", zone);
    put(schedule, "every", Durations.api(every));
    put(schedule, "afterEach", Durations.api(afterEach));
    put(schedule, "start", start);
    put(schedule, "until", until);
    if (times != null) {
      schedule.put("times", times);
    }
    put(schedule, "jitter", Durations.api(jitter));
    put(schedule, "overlap", rule(overlap));
    put(schedule, "misfire", rule(misfire));
    put(schedule, "grace", Durations.api(grace));
    put(schedule, "gap", rule(gap));
    put(schedule, "clockOverlap", rule(clockOverlap));
    return schedule;
  }

  static void put(ObjectNode node, String name, String value) {
    if (!value.isEmpty()) {
      node.put(name, value);
    }
  }

  /** As the API writes constants. */
  static String rule(String text) {
    return text.strip().toUpperCase(Locale.ROOT).replace('-', '_');
  }
}
