package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.dispatch.HandlerSettings;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowTurn.ChildStart;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Activations of workflows that run on another node than that of their job. */
@Timeout(60)
class LentWorkflowsTest {
  /** A store that does not carry notifications is polled, once in each direction. */
  private static final Duration THERE_AND_BACK = Duration.ofSeconds(3);

  private final StillFleet fleet = new StillFleet(Duration.ofMillis(50));
  private final StillWorld owner = fleet.node(4, "a", false);
  private final StillWorld borrower = fleet.node(4, "b", false);
  private final JobRef job = start();

  private JobRef start() {
    borrower.node().register(StillWorld.TYPE, new HandlerSettings(4, 0, null, true));
    fleet.pass(THERE_AND_BACK);
    JobRef added = owner.add(owner.spec(owner.nowMicros(), 0, 0, new byte[1]));
    fleet.pass(THERE_AND_BACK);
    return added;
  }

  private Attempt lent() {
    assertThat(owner.running()).isEmpty();
    assertThat(borrower.running()).isNotEmpty();
    Attempt attempt = borrower.running().getFirst();
    assertThat(attempt.isBorrowed()).isTrue();
    assertThat(attempt.ref()).isEqualTo(job);
    return attempt;
  }

  private boolean checkpoint(Attempt attempt, WorkflowTurn turn) {
    List<Outcome<Boolean>> answers = new ArrayList<>();
    borrower.node().checkpoint(attempt, turn, answers::add);
    fleet.pass(THERE_AND_BACK);
    assertThat(answers).hasSize(1);
    return answers.getFirst().equals(Outcome.ok(true));
  }

  private static WorkflowTurn turn(HistoryEntry... entries) {
    return new WorkflowTurn(List.of(entries), List.of());
  }

  private List<HistoryEntry> history(Attempt attempt) {
    List<Outcome<List<HistoryEntry>>> answers = new ArrayList<>();
    borrower.node().history(attempt, answers::add);
    fleet.pass(THERE_AND_BACK);
    return ((Outcome.Ok<List<HistoryEntry>>) answers.getFirst()).value();
  }

  private void finish(AttemptOutcome outcome) {
    borrower.finishOne(outcome);
    fleet.pass(THERE_AND_BACK);
  }

  private SignalResult signal(String type) {
    List<Outcome<SignalResult>> answers = new ArrayList<>();
    owner.node().signal(job, type, "", "me", new byte[0], answers::add);
    fleet.pass(THERE_AND_BACK);
    return ((Outcome.Ok<SignalResult>) answers.getFirst()).value();
  }

  @Test
  void nodeWithoutTheCodePassesTheWorkflowOnAndWritesWhatItDoes() {
    assertThat(checkpoint(lent(), turn(WorkflowCase.begun(), WorkflowCase.done(1)))).isTrue();
    assertThat(borrower.told()).hasSize(2);
    finish(new AttemptOutcome.Waiting(WorkflowTurn.NOTHING, WorkflowCase.forSignal("go", 1)));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.WAITING);
    assertThat(borrower.running()).isEmpty(); // its activation ended at the wait

    assertThat(signal("go")).isEqualTo(SignalResult.DONE);

    assertThat(lent().historyCount()).isEqualTo(3);
    assertThat(history(lent())).hasSize(3);
    finish(new AttemptOutcome.Succeeded(new byte[] {7}));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void codeElsewhereIsToldOfSignalsAndOfThePlacesOfItsChildren() {
    Attempt attempt = lent();
    assertThat(signal("go")).isEqualTo(SignalResult.DONE);
    ChildStart child =
        new ChildStart(1, owner.spec(owner.nowMicros() + 3_600_000_000L, 0, 0, new byte[1]));
    assertThat(checkpoint(attempt, new WorkflowTurn(List.of(WorkflowCase.begun()), List.of(child))))
        .isTrue();

    assertThat(borrower.told()).hasSize(3);
    assertThat(borrower.told().getFirst()).isInstanceOf(HistoryEntry.Signalled.class);
    HistoryEntry.ChildStarted started = (HistoryEntry.ChildStarted) borrower.told().getLast();
    assertThat(fleet.stateOf(started.child())).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void cancelReachesTheCodeElsewhereThroughItsHistory() {
    assertThat(checkpoint(lent(), turn(WorkflowCase.begun()))).isTrue();
    owner.node().cancel(job, new Why("me", "no more"), outcome -> {});
    fleet.pass(THERE_AND_BACK);
    assertThat(borrower.told().getLast()).isInstanceOf(HistoryEntry.CancelRequested.class);
    finish(new AttemptOutcome.Interrupted());

    assertThat(history(lent()).getLast()).isInstanceOf(HistoryEntry.CancelRequested.class);
    finish(new AttemptOutcome.Compensated(null));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void renewalAndFailureOfALentActivationCountAsAtHome() {
    assertThat(checkpoint(lent(), turn(WorkflowCase.begun()))).isTrue();
    finish(new AttemptOutcome.Renewed(new byte[] {9}, 3, List.of(), 1));
    assertThat(lent().historyCount()).isZero();
    assertThat(lent().spec().payload()).containsExactly(9);
    assertThat(lent().spec().typeVersion()).isEqualTo(3);

    assertThat(checkpoint(lent(), turn(WorkflowCase.begun()))).isTrue();
    finish(
        new AttemptOutcome.WorkflowFailed(
            WorkflowTurn.NOTHING,
            WorkflowCase.ERROR,
            new AttemptOutcome.Verdict.NotRetryable(),
            true));
    assertThat(history(lent()).getLast()).isInstanceOf(HistoryEntry.GivenUp.class);
    finish(new AttemptOutcome.Compensated(null));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.DEAD);
  }

  @Test
  void lateCheckpointForADeadOwnerIsRefusedAndTheNextOwnerGoesOn() {
    Attempt late = lent();
    assertThat(checkpoint(late, turn(WorkflowCase.begun(), WorkflowCase.done(1)))).isTrue();
    fleet.kill(owner);
    fleet.pass(Duration.ofSeconds(10));

    List<Outcome<Boolean>> answers = new ArrayList<>();
    borrower.node().checkpoint(late, turn(WorkflowCase.done(2)), answers::add);
    fleet.pass(THERE_AND_BACK);
    assertThat(answers).containsExactly(Outcome.ok(false));
    borrower.finishOne(new AttemptOutcome.Interrupted());
    fleet.pass(Duration.ofSeconds(10));

    Attempt own = borrower.running().getFirst(); // it has the shard now, and the code
    assertThat(own.isBorrowed()).isFalse();
    assertThat(own.historyCount()).isEqualTo(2);
    assertThat(history(own)).hasSize(2);
  }

  @Test
  void turnOfABorrowerThatWasTakenForDeadIsRefused() {
    Attempt late = lent();
    assertThat(checkpoint(late, turn(WorkflowCase.begun()))).isTrue();
    fleet.pause(borrower);
    fleet.pass(Duration.ofSeconds(10));
    fleet.resume(borrower);
    List<Outcome<Boolean>> answers = new ArrayList<>();
    borrower.node().checkpoint(late, turn(WorkflowCase.done(1)), answers::add);
    fleet.pass(Duration.ofSeconds(10));

    assertThat(answers).containsExactly(Outcome.ok(false));
    assertThat(new dev.carillon.engine.query.JobReader(fleet.store()).find(job).orThrow())
        .get()
        .satisfies(
            story ->
                assertThat(story.events())
                    .noneMatch(e -> e.kind() == dev.carillon.api.JobEvent.Kind.STEP_DONE));
  }

  private List<Outcome<ControlResult>> pause() {
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    owner.node().pause(job, new Why("me", "wait"), answers::add);
    return answers;
  }

  @Test
  void pauseIsAnsweredOnceTheCodeElsewhereKnowsOfIt() {
    Attempt attempt = lent();
    assertThat(checkpoint(attempt, turn(WorkflowCase.begun()))).isTrue();
    fleet.pause(borrower);
    List<Outcome<ControlResult>> answers = pause();
    fleet.pass(Duration.ofMillis(500));
    assertThat(answers).isEmpty();

    fleet.resume(borrower);
    fleet.pass(THERE_AND_BACK);

    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    assertThat(attempt.pauseRequested()).isTrue();
  }

  @Test
  void pauseIsAnsweredOnceTheNodeElsewhereIsTakenForDead() {
    assertThat(checkpoint(lent(), turn(WorkflowCase.begun()))).isTrue();
    fleet.pause(borrower);
    List<Outcome<ControlResult>> answers = pause();

    fleet.pass(Duration.ofSeconds(10));

    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.PAUSED);
  }

  @Test
  void waitUntilATimeIsTheOwners() {
    finish(
        new AttemptOutcome.Waiting(
            turn(WorkflowCase.begun()), WorkflowWait.until(owner.nowMicros() + 20_000_000, 0, 1)));
    assertThat(borrower.running()).isEmpty();

    fleet.pass(Duration.ofSeconds(20));

    assertThat(history(lent())).containsExactly(WorkflowCase.begun());
  }
}
