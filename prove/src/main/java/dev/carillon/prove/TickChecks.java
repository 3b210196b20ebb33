package dev.carillon.prove;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.prove.Ledger.Blow;
import dev.carillon.prove.Ledger.Disturbance;
import dev.carillon.prove.TickBook.Recurring;
import dev.carillon.prove.TickBook.Started;
import java.util.List;
import java.util.Map;

/**
 * Holds what was told of recurring jobs against their schedules: each occurrence took place, and
 * once, unless a kill came between.
 */
final class TickChecks {
  /** How late an occurrence may be that a cancel of its schedule does not come before. */
  static final long LATE_MICROS = 5_000_000;

  /** How long before a kill an attempt may have started that it cut off, or whose outcome. */
  static final long CUT_OFF_MICROS = 5_000_000;

  /** How long after it what a killed node had lent may still be started. */
  static final long AFTERMATH_MICROS = 5_000_000;

  private final Ledger ledger;
  private final List<JobInfo> found;

  TickChecks(Ledger ledger, List<JobInfo> found) {
    this.ledger = ledger;
    this.found = found;
  }

  List<Check> all() {
    return List.of(noneLost(), onceEach(), inTime(), allOver());
  }

  private Check noneLost() {
    Check check = new Check("every occurrence of every schedule took place");
    for (Recurring recurring : ledger.ticks()) {
      long last = recurring.haltedMicros - LATE_MICROS;
      check.that(
          recurring.job != null && recurring.haltedMicros != Long.MAX_VALUE,
          recurring.name + ": never acknowledged, or never cancelled");
      if (recurring.haltedMicros != Long.MAX_VALUE) {
        for (long time = recurring.firstMicros; time <= last; time += Tick.PERIOD_MICROS) {
          check.that(recurring.starts.containsKey(time), recurring.name + ": none at " + time);
        }
      }
    }
    return check;
  }

  private Check onceEach() {
    Check check = new Check("an occurrence started again only where a node was killed meanwhile");
    for (Recurring recurring : ledger.ticks()) {
      recurring.starts.forEach(
          (time, starts) -> check.that(mayBe(starts), recurring.name + " " + time + ": " + starts));
    }
    return check;
  }

  /** Whether a kill stands between each start and the next. */
  private boolean mayBe(List<Started> starts) {
    List<Started> inOrder =
        starts.stream().sorted((a, b) -> Long.compare(a.atMicros(), b.atMicros())).toList();
    for (int i = 1; i < inOrder.size(); i++) {
      Started before = inOrder.get(i - 1);
      Started after = inOrder.get(i);
      boolean announced =
          ledger.disturbances().stream()
              .anyMatch(blow -> blow.blow() == Blow.KILL && cutOff(blow, before, after));
      if (!announced) {
        return false;
      }
    }
    return true;
  }

  private static boolean cutOff(Disturbance kill, Started before, Started after) {
    return before.atMicros() >= kill.fromMicros() - CUT_OFF_MICROS
        && before.atMicros() <= kill.fromMicros() + AFTERMATH_MICROS
        && after.atMicros() >= kill.fromMicros();
  }

  private Check inTime() {
    Check check = new Check("no occurrence started before its time, or at another's");
    for (Recurring recurring : ledger.ticks()) {
      for (Map.Entry<Long, List<Started>> occurrence : recurring.starts.entrySet()) {
        long time = occurrence.getKey();
        boolean own =
            time >= recurring.firstMicros
                && (time - recurring.firstMicros) % Tick.PERIOD_MICROS == 0;
        check.that(
            own && occurrence.getValue().stream().allMatch(start -> start.atMicros() >= time),
            recurring.name + " " + occurrence);
      }
    }
    return check;
  }

  private Check allOver() {
    Check check = new Check("schedules ended as they were told to, and occurrences well");
    for (JobInfo info : found) {
      JobState expected = info.recurring() != null ? JobState.CANCELLED : JobState.SUCCEEDED;
      check.that(info.state() == expected, info);
    }
    return check;
  }
}
