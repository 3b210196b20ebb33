package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Limits;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Turns of workflows that are too large for one entry of the journal. */
@Timeout(120)
class BigTurnTest extends WorkflowCase {
  private static final int CALLS = 12;

  /** Steps of all odd calls and children of all even ones, each of the largest size. */
  private WorkflowTurn turn() {
    List<HistoryEntry> entries = new ArrayList<>();
    List<WorkflowTurn.ChildStart> children = new ArrayList<>();
    entries.add(begun());
    for (int call = 1; call <= CALLS; call++) {
      byte[] large = new byte[Limits.PAYLOAD_MAX_BYTES];
      large[0] = (byte) call;
      if (call % 2 == 1) {
        entries.add(new HistoryEntry.StepDone(call, call, "step", 1, call, large));
      } else {
        children.add(new WorkflowTurn.ChildStart(call, world.spec(later(3600), 0, 0, large)));
      }
    }
    return new WorkflowTurn(entries, children);
  }

  @Test
  void turnAboveTheLargestEntryIsWrittenAsSeveral() {
    List<Outcome<Boolean>> answers = new ArrayList<>();
    world.node().checkpoint(running(), turn(), answers::add);
    world.settle();
    assertThat(answers).containsExactly(Outcome.ok(true));

    killAndRestart();

    List<HistoryEntry> history = history(running());
    assertThat(history).hasSize(1 + CALLS);
    for (int call = 1; call <= CALLS; call++) {
      assertThat(history.get(call).call()).isEqualTo(call);
      if (history.get(call) instanceof HistoryEntry.StepDone done) {
        assertThat(done.result()).hasSize(Limits.PAYLOAD_MAX_BYTES).startsWith(call);
      }
    }
    assertThat(running().historyCount()).isEqualTo(1 + CALLS);
    assertThat(checkpoint(running(), done(CALLS + 1))).isTrue();
  }

  @Test
  void waitBehindALargeTurnIsWrittenBehindAllOfIt() {
    waitFor(WorkflowWait.until(later(60), 0, 1), turn());

    killAndRestart();

    assertThat(running().ref()).isEqualTo(job);
    assertThat(history(running())).hasSize(1 + CALLS);
  }

  private void waitFor(WorkflowWait wait, WorkflowTurn turn) {
    world.finishOne(new AttemptOutcome.Waiting(turn, wait));
  }

  /** The calls up to which a history goes that a crash left, after so many calls of the store. */
  private static int callsLeftBy(int calls) {
    BigTurnTest one = new BigTurnTest();
    Attempt attempt = one.running();
    one.world.node().checkpoint(attempt, one.turn(), outcome -> {});
    one.world.settleWithin(calls);
    one.killAndRestart();
    Attempt again =
        one.world.running().stream().filter(a -> a.ref().equals(one.job)).findFirst().orElseThrow();
    List<HistoryEntry> history = again.historyCount() == 0 ? List.of() : one.history(again);
    for (int i = 1; i < history.size(); i++) {
      assertThat(history.get(i).call()).isEqualTo(i); // no later call without an earlier one
      if (history.get(i) instanceof HistoryEntry.ChildStarted child) {
        assertThat(one.view(child.child()).info().id()).isEqualTo(child.child().id());
      }
    }
    long children = history.stream().filter(e -> e instanceof HistoryEntry.ChildStarted).count();
    assertThat(one.jobs()).hasSize((int) children + 1);
    return Math.max(0, history.size() - 1);
  }

  private List<JobRef> jobs() {
    List<JobRef> live = new ArrayList<>();
    for (long number = 1; number <= CALLS + 1; number++) {
      JobRef ref = new JobRef(job.shard(), JobRef.number(JobRef.epoch(job.number()), number));
      List<Outcome<java.util.Optional<dev.carillon.engine.job.JobView>>> found = new ArrayList<>();
      world.node().get(ref, found::add);
      world.settle();
      if (((Outcome.Ok<java.util.Optional<dev.carillon.engine.job.JobView>>) found.getFirst())
          .value()
          .isPresent()) {
        live.add(ref);
      }
    }
    return live;
  }

  @Test
  void crashBetweenTheEntriesOfATurnLeavesTheFirstCallsAndTheirChildren() {
    TreeSet<Integer> left = new TreeSet<>();
    for (int calls = 0; calls < 8; calls++) {
      left.add(callsLeftBy(calls));
    }

    assertThat(left).contains(0, CALLS);
    assertThat(left).hasSizeGreaterThan(3); // cut at several places
  }

  @Test
  void renewalWithTooManyBytesOfSignalsIsAFailedAttemptAndNotAnEntryThatNoStoreTakes() {
    checkpoint(running(), begun());
    List<HistoryEntry.Signalled> unread = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      unread.add(new HistoryEntry.Signalled(i, "go", "", new byte[Limits.SIGNAL_MAX_BYTES]));
    }

    world.finishOne(new AttemptOutcome.Renewed(new byte[] {9}, 1, unread, 1));

    assertThat(view().info().lastError().message())
        .contains("continueAsNew: 100 signals of")
        .contains("(expected: at most 4194304 bytes)");
    assertThat(view().info().attempt()).isEqualTo(1);
  }
}
