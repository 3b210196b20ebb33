package dev.carillon.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.AttemptOutcome.Compensated;
import dev.carillon.engine.environment.AttemptOutcome.Succeeded;
import dev.carillon.engine.environment.AttemptOutcome.WorkflowFailed;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.CancelRequested;
import dev.carillon.engine.job.HistoryEntry.GivenUp;
import dev.carillon.engine.job.HistoryEntry.StepDone;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import dev.carillon.engine.job.HistoryEntry.TimerFired;
import dev.carillon.engine.job.HistoryEntry.TimerSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Programs made from seeds: whatever happens, and wherever the code begins to run again, it sees
 * what it saw before and goes on from there.
 */
@Timeout(300)
class GeneratedProgramsTest {
  private static final long SEEDS = Long.getLong("carillon.programs", 300);
  private static final long FIRST = Long.getLong("carillon.programs.first", 1);

  @Test
  void codeThatRunsAgainAfterEveryWaitDoesTheSame() {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      Journal parked = new Journal(new Program(seed, false));
      AttemptOutcome one = new World(parked, seed, true).play();
      Journal evicted = new Journal(new Program(seed, false));
      AttemptOutcome other = new World(evicted, seed, false).play();

      assertThat(text(evicted)).as("journal of seed " + seed).isEqualTo(text(parked));
      assertThat(evicted.seen()).as("observations of seed " + seed).isEqualTo(parked.seen());
      assertThat(text(other)).as("outcome of seed " + seed).isEqualTo(text(one));
      check(seed, parked, one);
    }
  }

  @Test
  void codeSeesTheSameFromEveryPrefixOfItsHistoryAndGoesOn() {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      Journal journal = new Journal(new Program(seed, true));
      var unused = new World(journal, seed, true).withNewsBeside().play();
      List<String> before = List.of();
      for (int cut : journal.cuts()) {
        Journal prefix = journal.cut(cut);
        AttemptOutcome frozen = prefix.losing().begin();
        assertThat(frozen)
            .as("seed %d, cut at %d", seed, cut)
            .isNotInstanceOf(AttemptOutcome.Diverged.class);
        if (cutsOffAStep(journal, cut)) {
          continue; // without it the cancel comes first
        }
        // Where a step beside the code could not be recorded the run is unwound early.
        List<String> seen = prefix.seen();
        List<String> most = seen.size() > before.size() ? seen : before;
        assertThat(startsWith(most, seen) && startsWith(most, before))
            .as("seed %d, cut at %d: %s after %s", seed, cut, seen, before)
            .isTrue();
        before = most;

        Journal other = journal.cut(cut);
        AttemptOutcome outcome =
            new World(other, seed + 1_000_003L * cut, true).withNewsBeside().play();
        assertThat(startsWith(other.seen(), before))
            .as("seed %d, cut at %d, goes on: %s after %s", seed, cut, other.seen(), before)
            .isTrue();
        check(seed, other, outcome);
      }
    }
  }

  /** Whether a step was running at the cut, which ended after a cancel. */
  private static boolean cutsOffAStep(Journal journal, int cut) {
    List<HistoryEntry> entries = journal.entries();
    boolean stopped =
        entries.subList(0, cut).stream()
            .anyMatch(entry -> entry instanceof CancelRequested || entry instanceof GivenUp);
    return stopped
        && entries.subList(cut, entries.size()).stream()
            .anyMatch(
                entry ->
                    (entry instanceof StepDone done && !done.name().startsWith("undo"))
                        || (entry instanceof StepFailed failed
                            && !failed.name().startsWith("undo")));
  }

  private static boolean startsWith(List<String> all, List<String> first) {
    return all.size() >= first.size() && all.subList(0, first.size()).equals(first);
  }

  private static void check(long seed, Journal journal, AttemptOutcome outcome) {
    assertThat(outcome)
        .as("outcome of seed " + seed)
        .isInstanceOfAny(Succeeded.class, Compensated.class, WorkflowFailed.class);
    Set<Integer> done = new HashSet<>();
    Map<Integer, Long> due = new HashMap<>();
    for (HistoryEntry entry : journal.entries()) {
      switch (entry) {
        case StepDone step ->
            assertThat(done.add(step.call())).as("seed %d: %s twice", seed, step).isTrue();
        case TimerSet timer -> due.put(timer.call(), timer.dueAt());
        case TimerFired timer ->
            assertThat(timer.at()).as("seed " + seed).isGreaterThanOrEqualTo(due.get(timer.call()));
        default -> {}
      }
    }
  }

  private static String text(Journal journal) {
    StringBuilder out = new StringBuilder();
    for (HistoryEntry entry : journal.entries()) {
      ByteWriter bytes = new ByteWriter(64);
      entry.write(bytes);
      out.append(entry.getClass().getSimpleName())
          .append(' ')
          .append(HexFormat.of().formatHex(bytes.toBytes()))
          .append('\n');
    }
    return out.toString();
  }

  private static String text(AttemptOutcome outcome) {
    return switch (outcome) {
      case Succeeded done -> "succeeded " + HexFormat.of().formatHex(done.result());
      case WorkflowFailed failed -> "failed " + failed.error().message() + failed.verdict();
      default -> outcome.toString();
    };
  }
}
