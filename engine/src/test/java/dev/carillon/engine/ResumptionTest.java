package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.error.ChildFailedException;
import dev.carillon.api.error.StepFailedException;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.history.PublishedValue;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.HistoryEntry.ChildStarted;
import dev.carillon.engine.job.HistoryEntry.StepFailed;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where dead workflows go on when they are replayed. */
@Timeout(60)
class ResumptionTest extends WorkflowCase {
  private static final JobError STEP_FAILED =
      new JobError(StepFailedException.class.getName(), "step", "");
  private static final JobError CHILD_FAILED =
      new JobError(ChildFailedException.class.getName(), "child", "");

  private static HistoryEntry failed(int call, long nextAt) {
    return new StepFailed(call, call, "step", 1, call, ERROR, List.of("type"), nextAt);
  }

  /** The code ends by what it threw. */
  private void die(JobError error, boolean compensations, HistoryEntry... unwritten) {
    world.finishOne(
        new AttemptOutcome.WorkflowFailed(
            new WorkflowTurn(List.of(unwritten), List.of()),
            error,
            new AttemptOutcome.Verdict.NotRetryable(),
            compensations));
  }

  private ControlResult replay() {
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    world.node().replay(job, "me", null, answers::add);
    world.settle();
    assertThat(answers).hasSize(1);
    return ((Outcome.Ok<ControlResult>) answers.getFirst()).value();
  }

  @Test
  void deadWorkflowGoesOnAtTheStepThatFailed() {
    checkpoint(running(), begun(), done(1), failed(2, 5), failed(2, 0));
    die(STEP_FAILED, false);
    assertThat(state()).isEqualTo(JobState.DEAD);

    assertThat(replay()).isEqualTo(ControlResult.DONE);

    assertThat(running().number()).isEqualTo(1);
    assertThat(running().revision()).isZero();
    assertThat(history(running()))
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun(), done(1));
    assertThat(checkpoint(running(), done(2))).isTrue();
    killAndRestart();
    assertThat(history(running()))
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun(), done(1), done(2));
  }

  @Test
  void failureOutsideOfStepsForgetsNothing() {
    checkpoint(running(), begun(), done(1), failed(2, 0), done(3));
    die(ERROR, false);

    replay();

    assertThat(history(running())).hasSize(4);
  }

  @Test
  void callsThatAnsweredTheFailureAreForgottenWithIt() {
    checkpoint(running(), begun(), done(1), failed(2, 0), done(3));
    die(STEP_FAILED, false);

    replay();

    assertThat(history(running()))
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun(), done(1));
  }

  @Test
  void signalsStayUnread() {
    checkpoint(running(), begun(), failed(1, 0));
    signal("go", "k");
    die(STEP_FAILED, false);

    replay();

    assertThat(history(running())).hasSize(2);
    assertThat(history(running())).last().isInstanceOf(HistoryEntry.Signalled.class);
  }

  @Test
  void workflowThatWasUndoneBeginsAnewUnderOtherKeys() {
    checkpoint(running(), begun(), done(2), failed(3, 0));
    die(STEP_FAILED, true);
    checkpoint(running(), done(1)); // its compensation
    world.finishOne(new AttemptOutcome.Compensated(null));
    assertThat(state()).isEqualTo(JobState.DEAD);

    assertThat(replay()).isEqualTo(ControlResult.DONE);

    assertThat(running().historyCount()).isZero();
    assertThat(running().revision()).isEqualTo(1);
    assertThat(checkpoint(running(), begun(), done(2))).isTrue();
  }

  private void renew(int seen) {
    world.finishOne(new AttemptOutcome.Renewed(new byte[1], 1, List.of(), seen));
  }

  @Test
  void workflowThatDiesBeforeTheFirstEntryOfALaterRoundKeepsTheKeysOfThatRound() {
    renew(0);
    assertThat(running().revision()).isEqualTo(1);
    die(ERROR, false);
    assertThat(state()).isEqualTo(JobState.DEAD);

    assertThat(replay()).isEqualTo(ControlResult.DONE);

    assertThat(running().revision()).isEqualTo(1);
    die(ERROR, false);
    killAndRestart();
    assertThat(replay()).isEqualTo(ControlResult.DONE);
    assertThat(running().revision()).isEqualTo(1);
  }

  @Test
  void workflowThatWasUndoneAndDiesAgainAtOnceDoesNotTakeItsFirstKeys() {
    checkpoint(running(), begun(), done(2), failed(3, 0));
    die(STEP_FAILED, true);
    checkpoint(running(), done(1)); // its compensation
    world.finishOne(new AttemptOutcome.Compensated(null));
    replay();
    die(ERROR, false);
    assertThat(state()).isEqualTo(JobState.DEAD);

    assertThat(replay()).isEqualTo(ControlResult.DONE);

    assertThat(running().revision()).isEqualTo(1);
  }

  @Test
  void signalOfAnEarlierRoundIsNotTakenAgainAfterAReplay() {
    signal("go", "k");
    renew(1);
    checkpoint(running(), begun(), failed(1, 0));
    die(STEP_FAILED, false);

    replay();

    assertThat(signal("go", "k")).isEqualTo(SignalResult.TAKEN_BEFORE);
    assertThat(history(running())).hasSize(1);
    killAndRestart();
    signal("go", "k");
    assertThat(running().historyCount()).isEqualTo(1);
  }

  @Test
  void signalThatCameBeforeTheCodeBeganStaysUnread() {
    signal("go", "k");
    die(ERROR, false);

    replay();

    assertThat(running().historyCount()).isEqualTo(1);
  }

  @Test
  void whatWasPublishedStays() {
    checkpoint(running(), begun(), failed(1, 0));
    byte[] value = {7};
    Report report = new Report(Report.UNKNOWN, Report.UNKNOWN, null, value, false);
    world.node().report(running(), () -> report);
    world.settle();
    assertThat(published()).containsExactly(7);
    die(STEP_FAILED, false);

    replay();

    assertThat(published()).containsExactly(7);
    killAndRestart();
    assertThat(published()).containsExactly(7);
  }

  private byte[] published() {
    List<Outcome<Optional<PublishedValue.Found>>> answers = new ArrayList<>();
    world.node().published(job, answers::add);
    world.settle();
    byte[] found =
        ((Outcome.Ok<Optional<PublishedValue.Found>>) answers.getFirst())
            .value()
            .orElseThrow()
            .value();
    return found == null ? new byte[0] : found;
  }

  @Test
  void childThatFailedIsStartedAgainAndThoseThatSucceededAreNot() {
    List<JobRef> children = startChildren(2);
    finish(children.get(0), true);
    finish(children.get(1), false);
    assertThat(running().ref()).isEqualTo(job);
    die(CHILD_FAILED, false);
    assertThat(state()).isEqualTo(JobState.DEAD);

    assertThat(replay()).isEqualTo(ControlResult.DONE);

    assertThat(world.running()).hasSize(2);
    Attempt parent = of(job);
    List<HistoryEntry> history = history(parent);
    assertThat(history).hasSize(4);
    JobRef fresh =
        history.stream()
            .filter(ChildStarted.class::isInstance)
            .map(entry -> ((ChildStarted) entry).child())
            .filter(child -> !children.contains(child))
            .findFirst()
            .orElseThrow();
    world.finishOne(
        new AttemptOutcome.Waiting(
            WorkflowTurn.NOTHING,
            new WorkflowWait(WorkflowWait.FOR_EVER, true, List.of(), List.of(1, 2), 0, 4)));
    finish(fresh, true);
    assertThat(history(of(job))).hasSize(5);
  }

  private Attempt of(JobRef ref) {
    return world.running().stream().filter(a -> a.ref().equals(ref)).findFirst().orElseThrow();
  }

  private List<JobRef> startChildren(int count) {
    List<WorkflowTurn.ChildStart> starts = new ArrayList<>();
    List<Integer> calls = new ArrayList<>();
    for (int call = 1; call <= count; call++) {
      starts.add(
          new WorkflowTurn.ChildStart(call, world.spec(world.nowMicros(), 0, 0, new byte[1])));
      calls.add(call);
    }
    world.finishOne(
        new AttemptOutcome.Waiting(
            new WorkflowTurn(List.of(begun()), starts),
            new WorkflowWait(WorkflowWait.FOR_EVER, true, List.of(), calls, 0, 1 + count)));
    return world.running().stream().map(Attempt::ref).toList();
  }

  private void finish(JobRef ref, boolean well) {
    assertThat(running().ref()).isEqualTo(ref);
    if (well) {
      world.finishOne();
    } else {
      world.giveUpOne();
    }
  }

  @Test
  void twoReplaysAtOnceAreOneReplay() {
    checkpoint(running(), begun(), done(1), failed(2, 0));
    die(STEP_FAILED, false);
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    world.node().replay(job, "me", null, answers::add);
    world.node().replay(job, "you", null, answers::add);
    world.settle();

    assertThat(answers)
        .containsExactly(Outcome.ok(ControlResult.DONE), Outcome.ok(ControlResult.NOT_DEAD));
    assertThat(world.running()).hasSize(1);
  }

  @Test
  void plainDeadLetterIsReplayedAsItWas() {
    world.giveUpOne();
    assertThat(state()).isEqualTo(JobState.DEAD);

    assertThat(replay()).isEqualTo(ControlResult.DONE);

    assertThat(running().historyCount()).isZero();
    assertThat(running().revision()).isZero();
  }
}
