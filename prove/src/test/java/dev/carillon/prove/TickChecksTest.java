package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.prove.Ledger.Blow;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A checker that never fails proves nothing: each promise is broken once here. */
class TickChecksTest {
  private static final String LOST = "every occurrence of every schedule took place";
  private static final String TWICE =
      "an occurrence started again only where a node was killed meanwhile";
  private static final String EARLY = "no occurrence started before its time, or at another's";
  private static final String LEFT = "schedules ended as they were told to, and occurrences well";

  private static final long T = 1_000_000_000_000L;
  private static final long SECOND = Tick.PERIOD_MICROS;
  private static final int TIMES = 10;

  private final Ledger ledger = new Ledger();
  private final List<JobInfo> found = new ArrayList<>();

  /** Ten occurrences, each on node 1 a little after its time; then it is cancelled. */
  TickChecksTest() {
    ledger.tell(1, new Note.Recurring("s", "j", T));
    for (int i = 0; i < TIMES; i++) {
      tick(1, T + i * SECOND, 1000);
    }
  }

  private void halt() {
    ledger.tell(1, new Note.Halted("j", T + TIMES * SECOND, true, "Cancelled"));
  }

  private void tick(int incarnation, long time, long late) {
    ledger.tell(incarnation, new Note.Ticked("s", time, 1, time + late));
  }

  private List<String> broken() {
    return new TickChecks(ledger, found)
        .all().stream().filter(check -> !check.holds()).map(Check::promise).toList();
  }

  @Test
  void aGoodRunBreaksNothing() {
    halt();
    assertThat(broken()).isEmpty();
  }

  @Test
  void aScheduleThatWasNeverEndedIsSeen() {
    ledger.tell(1, new Note.Halted("j", T, false, "no answer"));
    assertThat(broken()).containsExactly(LOST);
  }

  @Test
  void anOccurrenceThatIsMissingIsSeen() {
    ledger.tell(1, new Note.Recurring("other", "k", T));
    ledger.tell(1, new Note.Ticked("other", T, 1, T));
    ledger.tell(1, new Note.Ticked("other", T + 2 * SECOND, 1, T + 2 * SECOND));
    ledger.tell(1, new Note.Halted("k", T + 2 * SECOND + TickChecks.LATE_MICROS, true, ""));
    halt();
    assertThat(broken()).containsExactly(LOST);
  }

  @Test
  void aSecondStartIsSeen() {
    halt();
    tick(2, T, 2000);
    assertThat(broken()).containsExactly(TWICE);
  }

  @Test
  void aSecondStartAfterAKillMayBe() {
    halt();
    ledger.disturbed(Blow.KILL, 1, T + 1500, Long.MAX_VALUE);
    tick(2, T, 3 * SECOND);
    assertThat(broken()).isEmpty();
  }

  @Test
  void aSecondStartBeforeTheKillIsSeen() {
    halt();
    ledger.disturbed(Blow.KILL, 1, T + 2500, Long.MAX_VALUE);
    tick(2, T, 2000);
    assertThat(broken()).containsExactly(TWICE);
  }

  @Test
  void aKillLongAfterTheFirstStartExcusesNothing() {
    halt();
    long kill = T + 1000 + TickChecks.CUT_OFF_MICROS + 1;
    ledger.disturbed(Blow.KILL, 1, kill, Long.MAX_VALUE);
    tick(2, T, TickChecks.CUT_OFF_MICROS + SECOND);
    assertThat(broken()).containsExactly(TWICE);
  }

  @Test
  void aPauseIsNoKill() {
    halt();
    ledger.disturbed(Blow.PAUSE, 1, T + 1500, Long.MAX_VALUE);
    tick(2, T, 3 * SECOND);
    assertThat(broken()).containsExactly(TWICE);
  }

  @Test
  void anEarlyStartIsSeen() {
    halt();
    tick(1, T + TIMES * SECOND, -1);
    assertThat(broken()).containsExactly(EARLY);
  }

  @Test
  void aTimeThatIsNotOfTheScheduleIsSeen() {
    halt();
    tick(1, T + SECOND / 2, 1);
    assertThat(broken()).containsExactly(EARLY);
  }

  @Test
  void anOccurrenceThatDoesNotEndWellIsSeen() {
    halt();
    found.add(occurrence(JobState.SUCCEEDED));
    assertThat(broken()).isEmpty();
    found.add(occurrence(JobState.CANCELLED));
    assertThat(broken()).containsExactly(LEFT);
  }

  private static JobInfo occurrence(JobState state) {
    Instant at = Note.instant(T);
    return new JobInfo(
        new JobId("o" + state),
        Tick.TYPE.name(),
        1,
        "default",
        "default",
        0,
        null,
        null,
        Map.of(),
        state,
        null,
        at,
        at,
        1,
        null,
        at,
        null,
        null,
        null,
        null,
        null,
        false,
        null,
        null,
        List.of(),
        null);
  }
}
