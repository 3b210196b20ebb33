package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A ledger that never objects proves nothing: each promise is broken once here. */
class WorkflowLedgerTest {
  private static final List<String> GOOD =
      List.of(
          "S 1 draw",
          "V 1 draw a",
          "S 1 retried",
          "S 1 retried",
          "V 1 retried try 2",
          "S 1 once",
          "V 1 once b",
          "V 1 signal signal 1",
          "V 1 child part 1",
          "S 1 last",
          "V 1 last c",
          "E 1 a|try 2|b|signal 1|part 1|c");

  private static final List<String> FAILS =
      List.of(
          "S 0 draw",
          "V 0 draw a",
          "S 0 retried",
          "V 0 retried try 2",
          "S 0 once",
          "V 0 once b",
          "S 0 undo-first",
          "S 0 undo-last",
          "E 0 failed");

  private final WorkflowLedger ledger = new WorkflowLedger();

  @Test
  void aGoodRunBreaksNothing() {
    tell(GOOD);
    tell(FAILS);
    tell(List.of("V 1 draw a", "S 0 undo-last")); // a replay, and a compensation that died
    assertThat(broken()).isEmpty();
    assertThat(ledger.underWay()).isZero();
  }

  @Test
  void aRecordedStepThatRunsAgainIsSeen() {
    tell(GOOD);
    tell(FAILS);
    tell(List.of("S 1 draw"));
    assertThat(broken()).containsExactly("a recorded step does not run again");
  }

  @Test
  void aRecordedCompensationThatRunsAgainIsSeen() {
    tell(GOOD);
    tell(FAILS);
    tell(List.of("S 0 undo-first"));
    assertThat(broken()).containsExactly("a recorded step does not run again");
  }

  @Test
  void anotherValueOnReplayIsSeen() {
    tell(GOOD);
    tell(FAILS);
    tell(List.of("V 1 draw z"));
    assertThat(broken()).containsExactly("a replay sees what was seen live");
  }

  @Test
  void aSecondRunOfAStepThatMayRunOnceIsSeen() {
    tell(GOOD.subList(0, 6));
    tell(GOOD.subList(5, GOOD.size()));
    tell(FAILS);
    assertThat(broken()).containsExactly("a step that may run once runs at most once");
  }

  @Test
  void compensationsInTheWrongOrderAreSeen() {
    tell(GOOD);
    tell(List.of("S 0 undo-last"));
    tell(FAILS);
    assertThat(broken()).anyMatch(promise -> promise.startsWith("compensations run in reverse"));
  }

  @Test
  void aCompensationOfAWorkflowThatSucceedsIsSeen() {
    tell(GOOD);
    tell(FAILS);
    tell(List.of("S 1 undo-first"));
    assertThat(broken()).anyMatch(promise -> promise.startsWith("compensations run in reverse"));
  }

  @Test
  void anotherResultAndAWorkflowThatNeverEndsAreSeen() {
    tell(GOOD.subList(0, GOOD.size() - 1));
    tell(FAILS);
    assertThat(ledger.underWay()).isZero();
    assertThat(broken()).containsExactly("every workflow ends as its code says");
  }

  @Test
  void callThatBeginsWhileItsWorkflowIsPausedIsSeen() {
    tell(List.of("P 1 10000", "R 1 20000", "S 1 draw 15000"));
    tell(GOOD.subList(1, GOOD.size()));
    tell(FAILS);
    assertThat(broken()).containsExactly("no call of a paused workflow begins, nor of its child");
  }

  @Test
  void callBeforeThePauseAndAfterTheResumeIsRight() {
    tell(List.of("S 1 draw 20001", "P 1 10000", "S 1 draw 10050", "R 1 20000", "P 0 10000"));
    tell(GOOD.subList(1, GOOD.size()));
    tell(FAILS);
    assertThat(broken()).isEmpty();
  }

  private void tell(List<String> lines) {
    lines.forEach(ledger::tell);
  }

  private List<String> broken() {
    return ledger.checks(2).stream().filter(check -> !check.holds()).map(Check::promise).toList();
  }
}
