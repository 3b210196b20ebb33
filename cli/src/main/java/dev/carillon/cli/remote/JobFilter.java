package dev.carillon.cli.remote;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.Due;
import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.CommandFailure;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that say which jobs. All of them must fit. */
final class JobFilter {
  @Mixin private JobTraits traits = new JobTraits();

  @Option(
      names = "--due-from",
      paramLabel = "TIME",
      description = "due from then on: a time, or 2h from now, -2h before")
  private String dueFrom = "";

  @Option(names = "--due-to", paramLabel = "TIME", description = "due before then")
  private String dueTo = "";

  @Option(names = "--ended-from", paramLabel = "TIME", description = "ended from then on")
  private String endedFrom = "";

  @Option(names = "--ended-to", paramLabel = "TIME", description = "ended before then")
  private String endedTo = "";

  private String fingerprint = "";

  /** Any job. */
  JobFilter() {}

  /** Dead letters of a group only; empty for any. */
  void fingerprint(String text) {
    fingerprint = text;
  }

  /** Whether it names anything. */
  boolean isEmpty() {
    return parameters(Instant.EPOCH).isEmpty();
  }

  /** Adds the conditions to what is asked for. */
  Address on(Address address, Instant now) {
    parameters(now).forEach(each -> address.with(each.getKey(), each.getValue()));
    return address;
  }

  /** The conditions as the API names them. */
  List<Map.Entry<String, String>> parameters(Instant now) {
    List<Map.Entry<String, String>> all = traits.parameters();
    JobTraits.put(all, "dueFrom", time("--due-from", dueFrom, now));
    JobTraits.put(all, "dueTo", time("--due-to", dueTo, now));
    JobTraits.put(all, "endedFrom", time("--ended-from", endedFrom, now));
    JobTraits.put(all, "endedTo", time("--ended-to", endedTo, now));
    JobTraits.put(all, "fingerprint", fingerprint);
    return all;
  }

  /** A time by RFC 3339, or a duration from now, with a minus before now. */
  static String time(String option, String text, Instant now) {
    if (text.isEmpty()) {
      return "";
    }
    boolean before = text.startsWith("-");
    try {
      return switch (Due.parse(Durations.api(before ? text.substring(1) : text))) {
        case Due.At at when !before -> at.time().toString();
        case Due.In in -> (before ? now.minus(in.delay()) : now.plus(in.delay())).toString();
        default -> throw wrongTime(option, text);
      };
    } catch (CarillonException e) {
      throw wrongTime(option, text);
    }
  }

  private static CommandFailure wrongTime(String option, String text) {
    return CommandFailure.invalid(
        option, text, "a time such as 2026-03-01T08:00:00Z, or 2h from now, or -2h before");
  }
}
