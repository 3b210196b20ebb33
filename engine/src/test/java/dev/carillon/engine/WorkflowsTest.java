package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Concurrency;
import dev.carillon.api.JobState;
import dev.carillon.api.Rate;
import dev.carillon.api.WhenFull;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.HistoryPlace;
import dev.carillon.engine.fold.OldestEnds;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workflows as a node sees them: checkpoints, waits, signals, children and compensations. */
@Timeout(60)
class WorkflowsTest extends WorkflowCase {
  // ---- checkpoints and replay

  @Test
  void entryOfTheCodeIsToldOnceItIsDurable() {
    assertThat(checkpoint(running(), begun(), done(1))).isTrue();

    assertThat(world.told())
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun(), done(1));
  }

  @Test
  void restartedNodeReadsTheHistoryBack() {
    assertThat(checkpoint(running(), begun(), done(1))).isTrue();
    assertThat(checkpoint(running(), done(2))).isTrue();

    killAndRestart();

    assertThat(running().historyCount()).isEqualTo(3);
    assertThat(history(running()))
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun(), done(1), done(2));
  }

  @Test
  void attemptThatIsOverWritesNothing() {
    Attempt late = running();
    world.finishOne(new AttemptOutcome.Interrupted());

    assertThat(checkpoint(late, begun())).isFalse();
    assertThat(world.told()).isEmpty();
  }

  @Test
  void failureOutsideAStepIsAFailedAttemptAndKeepsTheHistory() {
    checkpoint(running(), begun(), done(1));
    world.finishOne(
        new AttemptOutcome.WorkflowFailed(
            WorkflowTurn.NOTHING, ERROR, new AttemptOutcome.Verdict.RetryAt(later(5)), true));
    assertThat(state()).isEqualTo(JobState.SCHEDULED);

    pass(Duration.ofSeconds(5));

    assertThat(running().number()).isEqualTo(2);
    assertThat(history(running()))
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(begun(), done(1));
  }

  // ---- waits

  @Test
  void waitFreesTheSlotAndEndsAtItsTime() {
    waitFor(WorkflowWait.until(later(60), 0, 1), begun());
    assertThat(state()).isEqualTo(JobState.WAITING);
    world.add(world.spec(world.nowMicros(), 0, 0, new byte[1])); // takes the only slot
    assertThat(world.running()).hasSize(1);
    world.finishOne();

    pass(Duration.ofSeconds(59));
    assertThat(world.running()).isEmpty();
    pass(Duration.ofSeconds(1));

    assertThat(running().number()).isEqualTo(1);
    assertThat(running().historyCount()).isEqualTo(1);
  }

  @Test
  void waitThatIsNotDurableIsMadeAgain() {
    world.hold(NodeEnvironment.Channel.COMMIT);
    waitFor(WorkflowWait.until(later(60), 0, 1), begun());

    killAndRestart();

    assertThat(running().historyCount()).isZero();
  }

  @Test
  void waitSurvivesARestart() {
    waitFor(WorkflowWait.until(later(3600), 0, 1), begun());

    killAndRestart();
    assertThat(world.running()).isEmpty();
    assertThat(state()).isEqualTo(JobState.WAITING);
    pass(Duration.ofHours(1));

    assertThat(history(running())).containsExactly(begun());
  }

  // ---- signals

  @Test
  void signalEndsTheWaitForIt() {
    waitFor(forSignal("go", 1), begun());
    assertThat(signal("other", "")).isEqualTo(SignalResult.DONE);
    assertThat(world.running()).isEmpty();

    assertThat(signal("go", "")).isEqualTo(SignalResult.DONE);

    assertThat(history(running())).extracting(HistoryEntry::getClass).hasSize(3);
  }

  @Test
  void signalBeforeTheWaitEndsItAtOnce() {
    Attempt first = running();
    assertThat(checkpoint(first, begun())).isTrue();
    assertThat(signal("go", "")).isEqualTo(SignalResult.DONE);

    waitFor(forSignal("go", 1));

    assertThat(running()).isNotSameAs(first);
    assertThat(running().historyCount()).isEqualTo(2);
  }

  @Test
  void signalWakesAWorkflowWhoseShardSleeps() {
    waitFor(forSignal("go", 1), begun());
    for (int hour = 0; hour < 48; hour++) {
      pass(Duration.ofHours(1));
    }

    assertThat(signal("go", "")).isEqualTo(SignalResult.DONE);
    killAndRestart();

    assertThat(running().historyCount()).isEqualTo(2);
  }

  @Test
  void signalUnderAKeyIsTakenOnce() {
    waitFor(forSignal("go", 2), begun());

    assertThat(signal("go", "key")).isEqualTo(SignalResult.DONE);
    killAndRestart();
    assertThat(signal("go", "key")).isEqualTo(SignalResult.TAKEN_BEFORE);
    assertThat(world.running()).isEmpty();
  }

  @Test
  void tooManyUnreadSignalsAreRefused() {
    waitFor(WorkflowWait.until(WorkflowWait.FOR_EVER, 0, 1), begun());
    for (int i = 0; i < 1_000; i++) {
      assertThat(signal("go", "")).isEqualTo(SignalResult.DONE);
    }

    assertThat(signal("go", "")).isEqualTo(SignalResult.TOO_MANY);
  }

  @Test
  void signalToAnEndedJobSaysSo() {
    world.finishOne();

    assertThat(signal("go", "")).isEqualTo(SignalResult.ENDED);
    assertThat(signal(new JobRef(job.shard(), job.number() + 1000), "go", ""))
        .isEqualTo(SignalResult.NOT_FOUND);
  }

  // ---- cancel, deadline, compensation

  @Test
  void cancelWakesAWaitingWorkflowInsteadOfEndingIt() {
    waitFor(forSignal("go", 1), begun());

    cancel();
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.CancelRequested.class);
    world.finishOne(new AttemptOutcome.Compensated(null));

    assertThat(state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void timerThatFiresWhileACancelIsWrittenLosesNeither() {
    waitFor(WorkflowWait.until(later(60), 0, 1), begun());
    world.hold(NodeEnvironment.Channel.COMMIT);
    cancel();

    pass(Duration.ofSeconds(60)); // due, and busy
    assertThat(world.running()).isEmpty();
    world.letGo();
    world.settle();

    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.CancelRequested.class);
  }

  @Test
  void cancelOfAnUnloadedWorkflowWakesIt() {
    waitFor(forSignal("go", 1), begun());
    for (int hour = 0; hour < 48; hour++) {
      pass(Duration.ofHours(1));
    }

    cancel();

    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.CancelRequested.class);
  }

  @Test
  void cancelledWorkflowGoesOnCompensatingAfterACrash() {
    waitFor(forSignal("go", 1), begun());
    cancel();

    killAndRestart();
    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.CancelRequested.class);
    waitFor(WorkflowWait.until(later(10), 0, 2)); // a compensation is tried again later
    assertThat(state()).isEqualTo(JobState.WAITING);
    pass(Duration.ofSeconds(10));
    world.finishOne(new AttemptOutcome.Compensated(null));

    assertThat(state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void cancelWhilePausedRunsTheCompensations() {
    waitFor(forSignal("go", 1), begun());
    world.node().pause(job, new Why("me", "wait"), outcome -> {});
    world.settle();
    assertThat(state()).isEqualTo(JobState.PAUSED);

    cancel();

    assertThat(state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void givenUpWorkflowRunsOnceMoreForItsCompensations() {
    checkpoint(running(), begun());
    fail(true);
    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.GivenUp.class);

    killAndRestart();
    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.GivenUp.class);
    checkpoint(running(), done(1));
    world.finishOne(new AttemptOutcome.Compensated(null));

    assertThat(state()).isEqualTo(JobState.DEAD);
    assertThat(view().info().lastError()).isEqualTo(ERROR.on("node"));
  }

  @Test
  void workflowWithNothingToUndoEndsAtOnce() {
    checkpoint(running(), begun());
    fail(false);

    assertThat(state()).isEqualTo(JobState.DEAD);
  }

  @Test
  void deadlineOfAWaitingWorkflowRunsItsCompensations() {
    world.finishOne();
    JobRef limited = world.add(world.spec(world.nowMicros(), 0, later(30), new byte[1]));
    waitFor(forSignal("go", 1), begun());

    pass(Duration.ofSeconds(30));

    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.GivenUp.class);
    world.finishOne(new AttemptOutcome.Compensated(null));
    assertThat(view(limited).info().state()).isEqualTo(JobState.EXPIRED);
  }

  @Test
  void divergedWorkflowIsBlockedUntilAHandlerComes() {
    checkpoint(running(), begun());
    world.finishOne(new AttemptOutcome.Diverged(ERROR));
    assertThat(state()).isEqualTo(JobState.BLOCKED);

    world.node().register(StillWorld.TYPE, 1, null);
    world.settle();

    assertThat(history(running())).containsExactly(begun());
  }

  // ---- children

  @Test
  void endOfAChildIsAnEntryOfItsWorkflow() {
    startChild();
    world.finishOne(new AttemptOutcome.Succeeded(new byte[] {7}));

    HistoryEntry.ChildEnded ended = (HistoryEntry.ChildEnded) last(history(running()));
    assertThat(ended.call()).isEqualTo(1);
    assertThat(ended.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(ended.result()).containsExactly(7);
  }

  @Test
  void endOfAChildIsToldAfterACrash() {
    startChild();
    world.hold(NodeEnvironment.Channel.CONTROL);
    world.finishOne(new AttemptOutcome.Succeeded(new byte[] {7}));

    killAndRestart();

    HistoryEntry.ChildEnded ended = (HistoryEntry.ChildEnded) last(history(running()));
    assertThat(ended.result()).containsExactly(7);
  }

  @Test
  void failureOfAChildIsToldWithItsError() {
    startChild();
    world.giveUpOne();

    HistoryEntry.ChildEnded ended = (HistoryEntry.ChildEnded) last(history(running()));
    assertThat(ended.state()).isEqualTo(JobState.DEAD);
    assertThat(ended.error()).isNotNull();
  }

  @Test
  void childrenOfAWorkflowThatEndsAreCancelled() {
    startChild();
    JobRef child = ((HistoryEntry.ChildStarted) last(world.told())).child();
    Attempt ofChild = running();
    cancel();
    world.finishOne(new AttemptOutcome.Interrupted()); // the child gives its slot back
    assertThat(running().ref()).isEqualTo(job);
    world.finishOne(new AttemptOutcome.Compensated(null));
    world.finishOne(new AttemptOutcome.Interrupted()); // it had begun again meanwhile

    assertThat(ofChild.ref()).isEqualTo(child);
    assertThat(view(child).info().state()).isEqualTo(JobState.CANCELLED);
    assertThat(state()).isEqualTo(JobState.CANCELLED);
  }

  // ---- concurrency keys

  @Test
  void keyIsHeldThroughAWait() {
    world.finishOne();
    Concurrency key = Concurrency.of("account").limit(1);
    JobRef holder = world.add(world.under(key));
    waitFor(forSignal("go", 1), begun());

    JobRef other = world.add(world.under(key));
    assertThat(world.running()).isEmpty();
    assertThat(signal(holder, "go", "")).isEqualTo(SignalResult.DONE);
    assertThat(running().ref()).isEqualTo(holder);
    world.finishOne();

    assertThat(running().ref()).isEqualTo(other);
  }

  @Test
  void keyIsTakenAgainAfterATakeOverBeforeOthersGetIt() {
    world.finishOne();
    Concurrency key = Concurrency.of("account").limit(1).whenFull(WhenFull.REJECT);
    JobRef first = world.add(world.under(key));
    waitFor(forSignal("go", 1), begun());
    killAndRestart();
    JobRef second = world.add(world.under(key));
    assertThat(view(second).info().state()).isEqualTo(JobState.FAILED);
    JobRef third = world.add(world.under(key.whenFull(WhenFull.WAIT)));
    assertThat(world.running()).isEmpty();

    assertThat(signal(first, "go", "")).isEqualTo(SignalResult.DONE);
    assertThat(running().ref()).isEqualTo(first);
    world.finishOne();

    assertThat(running().ref()).isEqualTo(third);
  }

  @Test
  void pausedWorkflowKeepsItsKey() {
    world.finishOne();
    Concurrency key = Concurrency.of("account").limit(1);
    JobRef holder = world.add(world.under(key));
    waitFor(forSignal("go", 1), begun());
    world.pause(holder, "audit", outcome -> {});
    world.settle();

    JobRef other = world.add(world.under(key));
    signal(holder, "go", "");
    assertThat(world.running()).isEmpty();
    world.resume(holder, outcome -> {});
    world.settle();
    assertThat(running().ref()).isEqualTo(holder);
    world.finishOne();

    assertThat(running().ref()).isEqualTo(other);
  }

  @Test
  void endOfAWaitUsesNoRateOfItsKey() {
    world.finishOne();
    Rate daily = Rate.of(1, Duration.ofDays(1));
    JobRef holder = world.add(world.under(Concurrency.of("account").limit(2).rate(daily)));
    waitFor(WorkflowWait.until(later(60), 0, 1), begun());
    pass(Duration.ofMinutes(1));
    waitFor(WorkflowWait.until(later(60), 0, 1), done(1));
    pass(Duration.ofMinutes(1));

    assertThat(running().ref()).isEqualTo(holder);
  }

  @Test
  void endOfAWaitUsesNoRateOfItsQueue() {
    FlowSubject queue = new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT);
    Rate daily = Rate.of(1, Duration.ofDays(1));
    world
        .node()
        .changeFlow(queue, setting -> new FlowSetting(null, setting.limit(), daily), outcome -> {});
    world.settle();
    waitFor(WorkflowWait.until(later(60), 0, 1), begun());
    JobRef plain = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    assertThat(running().ref()).isEqualTo(plain);
    world.finishOne();
    JobRef late = world.add(world.spec(later(120), 0, 0, new byte[1]));

    pass(Duration.ofMinutes(1));
    assertThat(running().ref()).isEqualTo(job);
    world.finishOne();
    pass(Duration.ofMinutes(2));

    assertThat(world.running()).isEmpty();
    assertThat(view(late).info().state()).isEqualTo(JobState.READY);
  }

  // ---- anew

  @Test
  void renewedWorkflowKeepsUnreadSignalsAndForgetsTheRest() {
    Attempt first = running();
    checkpoint(first, begun(), done(1));
    signal("go", "");
    HistoryEntry.Signalled unread = (HistoryEntry.Signalled) last(world.told());

    world.finishOne(new AttemptOutcome.Renewed(new byte[] {9}, 2, List.of(unread), 3));

    assertThat(running().spec().payload()).containsExactly(9);
    assertThat(running().spec().typeVersion()).isEqualTo(2);
    assertThat(history(running())).hasSize(1).first().isInstanceOf(HistoryEntry.Signalled.class);
    assertThat(checkpoint(first, done(2))).isFalse();
    assertThat(checkpoint(running(), begun())).isTrue();
  }

  @Test
  void renewedWorkflowIsForgottenByWhoeverKeepsItsThread() {
    checkpoint(running(), begun());
    assertThat(world.forgotten()).isEmpty();

    world.finishOne(new AttemptOutcome.Renewed(new byte[] {9}, 1, List.of(), 1));

    assertThat(world.forgotten()).containsExactly(job); // its thread may be on another node
  }

  @Test
  void workflowWhoseFirstWaitIsLostWithItsShardIsForgotten() {
    StillWorld before = world;
    before.hold(NodeEnvironment.Channel.COMMIT);
    waitFor(forSignal("go", 1), begun());
    killAndRestart(); // the shard has another owner

    before.letGo();
    before.settle();

    assertThat(before.forgotten()).contains(job); // its thread takes what it sent for written
  }

  @Test
  void signalThatWasTakenBeforeARenewalIsNotTakenAgain() {
    checkpoint(running(), begun());
    assertThat(signal("go", "key")).isEqualTo(SignalResult.DONE);
    world.finishOne(new AttemptOutcome.Renewed(new byte[] {9}, 1, List.of(), 2));
    assertThat(running().historyCount()).isZero();

    assertThat(signal("go", "key")).isEqualTo(SignalResult.TAKEN_BEFORE);
    killAndRestart();

    assertThat(signal("go", "key")).isEqualTo(SignalResult.TAKEN_BEFORE);
    assertThat(signal("go", "other")).isEqualTo(SignalResult.DONE);
  }

  @Test
  void signalOnItsWayIsNotLostToARenewal() {
    checkpoint(running(), begun());
    world.node().signal(job, "go", "", "me", NOTHING, outcome -> {});

    world.finishOne(new AttemptOutcome.Renewed(new byte[] {9}, 1, List.of(), 1));

    assertThat(running().spec().payload()).containsExactly(0); // the code looks again
    assertThat(running().historyCount()).isEqualTo(2);
  }

  @Test
  void workflowWhoseStartIsMarkedGoesOnAnewAtOnce() {
    checkpoint(running(), begun());
    running().job().mark(true);

    world.finishOne(new AttemptOutcome.Renewed(new byte[] {9}, 1, List.of(), 1));

    assertThat(running().spec().payload()).containsExactly(9);
  }

  // ---- found by simulated workflows

  @Test
  void workflowThatIsCancelledBeforeItsFirstCheckpointIsKnownToBeDurableCompensates() {
    Attempt attempt = running();
    attempt.ofWorkflow = true;
    cancel();

    WorkflowTurn turn = new WorkflowTurn(List.of(begun(), done(1)), List.of());
    world.node().checkpoint(attempt, turn, outcome -> {});
    world.finishOne(new AttemptOutcome.Interrupted());

    assertThat(history(running()))
        .anyMatch(entry -> entry instanceof HistoryEntry.CancelRequested)
        .anyMatch(entry -> entry instanceof HistoryEntry.StepDone);
  }

  @Test
  void workflowThatIsCancelledWhenItsCodeIsGoneAndItsCheckpointOnItsWayCompensates() {
    Attempt attempt = running();
    attempt.ofWorkflow = true;
    world.hold(NodeEnvironment.Channel.COMMIT);
    WorkflowTurn turn = new WorkflowTurn(List.of(begun(), done(1)), List.of());
    world.node().checkpoint(attempt, turn, outcome -> {});
    world.finishOne(new AttemptOutcome.Interrupted());

    cancel();
    world.letGo();
    world.settle();

    assertThat(history(running()))
        .anyMatch(entry -> entry instanceof HistoryEntry.CancelRequested)
        .anyMatch(entry -> entry instanceof HistoryEntry.StepDone);
  }

  @Test
  void cancelledWorkflowWhoseHistoryCannotBeReadJustNowCompensatesLater() {
    checkpoint(running(), begun(), done(1));
    cancel();

    world.finishOne(new AttemptOutcome.Again(later(1), "its history could not be read"));
    pass(Duration.ofSeconds(2));

    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.CancelRequested.class);
  }

  @Test
  void workflowWhoseDeadlinePassesBeforeItsFirstCheckpointIsKnownToBeDurableCompensates() {
    world.finishOne();
    JobRef limited = world.add(world.spec(world.nowMicros(), 0, later(30), new byte[1]));
    Attempt attempt = running();
    attempt.ofWorkflow = true;
    pass(Duration.ofSeconds(29));
    world.hold(NodeEnvironment.Channel.COMMIT);
    WorkflowTurn turn = new WorkflowTurn(List.of(begun(), done(1)), List.of());
    world.node().checkpoint(attempt, turn, outcome -> {});

    pass(Duration.ofSeconds(1));
    world.letGo();
    world.settle();
    world.finishOne(new AttemptOutcome.Interrupted()); // the slot is free when the code returns

    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.GivenUp.class);
    assertThat(running().ref()).isEqualTo(limited);
  }

  @Test
  void placesInAnotherGenerationBeginAnew() {
    ShardFold<FoldedJob> fold = new ShardFold<>(FoldedJob::new, (ended, end) -> {});
    fold.at(1);
    fold.apply(Frame.of(Kind.ADD, 7, world.spec(world.nowMicros(), 0, 0, NOTHING).encode()));
    byte[] signal = new OperationBody.Signal(1, "go", "", "me", NOTHING).encode();
    fold.at(2);
    fold.apply(Frame.of(Kind.SIGNAL, 7, signal));

    fold.compacted(new OldestEnds(), List.of());
    fold.at(2);
    fold.apply(Frame.of(Kind.SIGNAL, 7, signal));

    FoldedJob folded = Objects.requireNonNull(fold.job(7));
    assertThat(Objects.requireNonNull(folded.workflow()).places()).endsWith(HistoryPlace.of(2, 0));
  }
}
