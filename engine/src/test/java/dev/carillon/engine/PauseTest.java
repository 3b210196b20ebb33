package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.ControlResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobState;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.engine.request.AddRequest;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pauses of workflows with their children, pauses at once, and replacements of workflows. */
@Timeout(60)
class PauseTest extends WorkflowCase {
  private static final Why AUDIT = new Why("me", "audit");

  private ControlResult pause(JobRef ref, boolean now) {
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    world.node().pause(ref, AUDIT, now, answers::add);
    world.settle();
    return ((Outcome.Ok<ControlResult>) answers.getFirst()).value();
  }

  private ControlResult resume(JobRef ref) {
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    world.node().resume(ref, "me", answers::add);
    world.settle();
    return ((Outcome.Ok<ControlResult>) answers.getFirst()).value();
  }

  private JobState state(JobRef ref) {
    return view(ref).info().state();
  }

  private WorkflowTurn.ChildStart childDueIn(int call, int seconds) {
    return new WorkflowTurn.ChildStart(call, world.spec(later(seconds), 0, 0, new byte[1]));
  }

  /** Starts children that are due in a minute, for which the workflow waits. */
  private List<JobRef> startChildren(int count) {
    List<WorkflowTurn.ChildStart> starts = new ArrayList<>();
    List<Integer> calls = new ArrayList<>();
    for (int call = 1; call <= count; call++) {
      starts.add(childDueIn(call, 60));
      calls.add(call);
    }
    world.finishOne(
        new AttemptOutcome.Waiting(
            new WorkflowTurn(List.of(begun()), starts),
            new WorkflowWait(WorkflowWait.FOR_EVER, true, List.of(), calls, 0, 1 + count)));
    return world.told().stream()
        .filter(HistoryEntry.ChildStarted.class::isInstance)
        .map(HistoryEntry.ChildStarted.class::cast)
        .map(HistoryEntry.ChildStarted::child)
        .toList();
  }

  @Test
  void childrenArePausedAndGoOnWithTheirWorkflow() {
    List<JobRef> children = startChildren(3);

    assertThat(pause(job, false)).isEqualTo(ControlResult.DONE);

    assertThat(children).extracting(this::state).containsOnly(JobState.PAUSED);
    pass(Duration.ofMinutes(2));
    assertThat(world.running()).isEmpty();
    assertThat(resume(job)).isEqualTo(ControlResult.DONE);
    assertThat(world.running())
        .extracting(Attempt::ref)
        .containsExactlyInAnyOrderElementsOf(children);
  }

  @Test
  void pauseOfChildrenSurvivesARestart() {
    List<JobRef> children = startChildren(2);
    pause(job, false);

    killAndRestart();

    assertThat(world.running()).isEmpty();
    assertThat(children).extracting(this::state).containsOnly(JobState.PAUSED);
    assertThat(resume(job)).isEqualTo(ControlResult.DONE);
    assertThat(world.running()).hasSize(2);
  }

  @Test
  void childPausedByItselfStaysPausedWhenItsWorkflowIsResumed() {
    List<JobRef> children = startChildren(2);
    pause(children.get(0), false);
    pause(job, false);

    resume(job);

    assertThat(state(children.get(0))).isEqualTo(JobState.PAUSED);
    assertThat(state(children.get(1))).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void childOfATurnInFlightIsPausedToo() {
    Attempt running = running();
    checkpoint(running, begun());
    world.hold(NodeEnvironment.Channel.COMMIT);
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    world.node().pause(job, AUDIT, answers::add);
    world
        .node()
        .checkpoint(running, new WorkflowTurn(List.of(), List.of(childDueIn(1, 0))), outcome -> {});
    world.letGo();
    world.settle();
    world.finishOne(new AttemptOutcome.Waiting(WorkflowTurn.NOTHING, WorkflowWait.until(1, 0, 2)));

    assertThat(answers).hasSize(1);
    pass(Duration.ofMinutes(1));
    assertThat(world.running()).isEmpty();
    resume(job);
    assertThat(world.running()).hasSize(2);
  }

  @Test
  void pausedWorkflowStartsNoActivationUntilItIsResumed() {
    waitFor(WorkflowWait.until(later(60), 0, 1), begun());
    pause(job, false);
    pass(Duration.ofMinutes(5));
    assertThat(world.running()).isEmpty();
    assertThat(state()).isEqualTo(JobState.PAUSED);

    resume(job);

    assertThat(running().ref()).isEqualTo(job);
  }

  @Test
  void pauseAtOnceInterruptsWhatRunsAndItIsAsIfNotMade() {
    Attempt first = running();
    checkpoint(first, begun());
    pause(job, false);
    assertThat(world.isInterrupted(first)).isFalse();

    pause(job, true);

    assertThat(world.isInterrupted(first)).isTrue();
    world.finishOne(new AttemptOutcome.Interrupted());
    assertThat(state()).isEqualTo(JobState.PAUSED);
    resume(job);
    assertThat(running().number()).isEqualTo(1);
    assertThat(history(running())).containsExactly(begun());
  }

  // ---- replaced

  private List<CarillonException> replace(JobSpec spec) {
    List<CarillonException> refused = new ArrayList<>();
    world
        .node()
        .add(
            new AddRequest(
                spec,
                IfExists.REPLACE,
                new AddRequest.Answer() {
                  @Override
                  public void added(JobRef ref, boolean created) {}

                  @Override
                  public void refused(CarillonException why) {
                    refused.add(why);
                  }
                }));
    world.settle();
    return refused;
  }

  @Test
  void workflowThatHasBegunIsNotReplaced() {
    world.finishOne();
    JobRef named = world.add(world.named("order", world.nowMicros(), new byte[] {1}));
    waitFor(forSignal("go", 1), begun());

    List<CarillonException> refused =
        replace(world.named("order", world.nowMicros(), new byte[] {2}));

    assertThat(refused).hasSize(1).first().isInstanceOf(NameTakenException.class);
    assertThat(refused.getFirst()).hasMessageContaining("cancel it first");
    signal(named, "go", "");
    assertThat(running().ref()).isEqualTo(named);
    assertThat(running().spec().payload()).containsExactly(1);
  }

  @Test
  void workflowThatBeginsWhileItsReplacementIsOnItsWayIsNotReplaced() {
    world.finishOne();
    world.add(world.named("order", world.nowMicros(), new byte[] {1}));
    Attempt running = running();
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.node().checkpoint(running, new WorkflowTurn(List.of(begun()), List.of()), answer -> {});
    List<CarillonException> refused =
        replace(world.named("order", world.nowMicros(), new byte[] {2}));
    world.letGo();
    world.settle();

    assertThat(refused).hasSize(1).first().isInstanceOf(NameTakenException.class);
    assertThat(checkpoint(running, done(1))).isTrue();
  }

  @Test
  void workflowThatHasNotBegunIsReplaced() {
    world.finishOne();
    world.add(world.named("order", later(60), new byte[] {1}));

    assertThat(replace(world.named("order", later(60), new byte[] {2}))).isEmpty();
  }
}
