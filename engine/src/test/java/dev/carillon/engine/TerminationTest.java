package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobState;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workflows that end without their code: terminated by request, or convicted as poison. */
@Timeout(60)
class TerminationTest extends WorkflowCase {

  @Test
  void workflowThatWaitsEndsInOneOperation() {
    waitFor(forSignal("go", 1), begun());

    assertThat(terminate(job, "stuck")).isEqualTo(new CancelResult.Cancelled());

    assertThat(state()).isEqualTo(JobState.CANCELLED);
    assertThat(view().info().reason()).isEqualTo("terminated: stuck");
    assertThat(world.running()).isEmpty();
    JobEvent end = events(job).getLast();
    assertThat(end.kind()).isEqualTo(JobEvent.Kind.CANCELLED);
    assertThat(end.detail()).isEqualTo("terminated: stuck");
    assertThat(end.by()).isEqualTo("me");
  }

  @Test
  void workflowWhoseShardSleepsEnds() {
    waitFor(forSignal("go", 1), begun());
    for (int hour = 0; hour < 48; hour++) {
      pass(Duration.ofHours(1));
    }

    assertThat(terminate(job, "")).isEqualTo(new CancelResult.Cancelled());

    assertThat(view().info().reason()).isEqualTo("terminated");
  }

  @Test
  void attemptThatRunsIsInterruptedAndItsOutcomeRefused() {
    Attempt running = running();
    assertThat(checkpoint(running, begun())).isTrue();

    assertThat(terminate(job, "")).isEqualTo(new CancelResult.Stopping());

    assertThat(world.isInterrupted(running)).isTrue();
    assertThat(state()).isEqualTo(JobState.CANCELLED);
    assertThat(checkpoint(running, done(1))).isFalse();
    world.finishOne(new AttemptOutcome.Succeeded(NOTHING));
    assertThat(state()).isEqualTo(JobState.CANCELLED);
    world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    assertThat(world.running()).hasSize(1); // its slot is free
  }

  @Test
  void checkpointBehindTheMarkIsRefusedWithTheChildrenItStarts() {
    Attempt running = running();
    assertThat(checkpoint(running, begun())).isTrue();
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    List<Outcome<Boolean>> written = new ArrayList<>();
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.node().terminate(job, new Why("me", ""), answers::add);
    world.settle();
    WorkflowTurn.ChildStart child =
        new WorkflowTurn.ChildStart(1, world.spec(world.nowMicros(), 0, 0, new byte[1]));
    world.node().checkpoint(running, new WorkflowTurn(List.of(), List.of(child)), written::add);
    world.letGo();
    world.settle();

    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Stopping()));
    assertThat(written).containsExactly(Outcome.ok(false));
    world.finishOne(new AttemptOutcome.Interrupted());
    assertThat(world.running()).isEmpty();
    assertThat(state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void childrenEndWithoutTheirCompensationsToo() {
    startChild();
    JobRef child = running().ref();
    assertThat(checkpoint(running(), begun())).isTrue(); // the child is a workflow as well

    assertThat(terminate(job, "stuck")).isEqualTo(new CancelResult.Stopping());

    world.finishOne(new AttemptOutcome.Interrupted());
    assertThat(world.running()).isEmpty();
    assertThat(view(child).info().state()).isEqualTo(JobState.CANCELLED);
    assertThat(view(child).info().reason()).isEqualTo("terminated: its workflow was terminated");
    assertThat(state()).isEqualTo(JobState.CANCELLED);
    assertThat(events(job).getLast().detail()).isEqualTo("terminated: stuck");
  }

  @Test
  void crashAmongTheChildrenEndsAllOfThemAtTheNextStart() {
    startChild();
    JobRef child = running().ref();
    assertThat(checkpoint(running(), begun())).isTrue();
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    world
        .node()
        .terminate(
            job,
            new Why("me", "stuck"),
            answer -> {
              answers.add(answer);
              world.hold(NodeEnvironment.Channel.COMMIT); // nothing after the mark is written
            });
    world.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Stopping()));

    killAndRestart();

    assertThat(view(child).info().state()).isEqualTo(JobState.CANCELLED);
    assertThat(state()).isEqualTo(JobState.CANCELLED);
    assertThat(view().info().reason()).isEqualTo("terminated: stuck");
    assertThat(world.running()).isEmpty();
  }

  @Test
  void cancelledWorkflowWhoseCompensationsHangEnds() {
    waitFor(forSignal("go", 1), begun());
    cancel();
    assertThat(last(history(running()))).isInstanceOf(HistoryEntry.CancelRequested.class);

    assertThat(terminate(job, "hangs")).isEqualTo(new CancelResult.Stopping());

    assertThat(state()).isEqualTo(JobState.CANCELLED);
    assertThat(view().info().reason()).isEqualTo("terminated: hangs");
  }

  @Test
  void pausedWorkflowEnds() {
    startChild();
    world.node().pause(job, new Why("me", "wait"), outcome -> {});
    world.settle();

    assertThat(terminate(job, "")).isEqualTo(new CancelResult.Stopping());
    assertThat(state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void shardOfAPausedWorkflowThatIsToEndStaysAwake() {
    world.finishOne();
    world = new StillWorld(looksOften(), store);
    pass(Duration.ofMinutes(5));
    JobRef paused = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    waitFor(forSignal("go", 9), begun());
    world.node().pause(paused, new Why("me", "wait"), outcome -> {});
    pass(Duration.ofHours(2)); // its shard is sealed
    assertThat(signal(paused, "go", "")).isEqualTo(SignalResult.DONE);
    world.hold(NodeEnvironment.Channel.COMMIT);
    world.node().signal(paused, "go", "", "me", NOTHING, outcome -> {});
    world.node().terminate(paused, new Why("me", ""), outcome -> {});
    world.node().signal(paused, "go", "", "me", NOTHING, outcome -> {});
    world.letGo();
    world.settle(); // marked, and not ended: the last signal was on its way

    pass(Duration.ofMillis(30)); // its node looks at it, before it tries again to end it

    assertThat(view(paused).info().state()).isEqualTo(JobState.PAUSED);
    assertThat(store.journals().head(paused.shard()).orThrow().wakeMicros())
        .isLessThanOrEqualTo(world.nowMicros());
    pass(Duration.ofSeconds(1));
    assertThat(view(paused).info().state()).isEqualTo(JobState.CANCELLED);
  }

  private static NodeOptions looksOften() {
    NodeOptions all = NodeOptions.of("node", 2);
    return new NodeOptions(
        all.nodeId(),
        all.incarnation(),
        all.slots(),
        all.slowStart(),
        Duration.ofMillis(100),
        all.overdueAfter(),
        all.aloneTime(),
        all.successRetention(),
        all.failureRetention(),
        all.deadRetention(),
        all.keyRetention(),
        all.maxQueued(),
        all.maxQueuedBytes(),
        all.maxShardJobs(),
        all.maxShardBytes(),
        all.bodyBudgetBytes(),
        all.failurePolicy(),
        all.packFromJobs(),
        all.historyBytes(),
        Set.of(),
        all.historyLimit(),
        null);
  }

  @Test
  void jobWithNothingToCompensateIsCancelled() {
    world.finishOne();
    JobRef plain = world.add(world.spec(later(60), 0, 0, new byte[1]));

    assertThat(terminate(plain, "no more")).isEqualTo(new CancelResult.Cancelled());
    assertThat(view(plain).info().reason()).isEqualTo("no more");

    JobRef runs = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    Attempt attempt = running();
    assertThat(terminate(runs, "no more")).isEqualTo(new CancelResult.Stopping());
    assertThat(world.isInterrupted(attempt)).isTrue();
    assertThat(view(runs).info().state()).isEqualTo(JobState.RUNNING); // until it stops
  }

  @Test
  void childrenOfPoisonAreCancelled() {
    WorkflowTurn.ChildStart start =
        new WorkflowTurn.ChildStart(1, world.spec(later(360_000), 0, 0, new byte[1]));
    world.finishOne(
        new AttemptOutcome.Waiting(
            new WorkflowTurn(List.of(begun()), List.of(start)), forSignal("go", 1)));
    JobRef child = ((HistoryEntry.ChildStarted) last(world.told())).child();
    signal("go", "");
    for (int i = 0; i < 6 && state() != JobState.DEAD; i++) {
      assertThat(running().ref()).isEqualTo(job);
      long now = world.nowMicros();
      world = new StillWorld(NodeOptions.of("node", 2 + i), store);
      pass(Duration.ofNanos((now - world.nowMicros() + Micros.PER_SECOND) * 1000));
    }

    assertThat(state()).isEqualTo(JobState.DEAD);
    assertThat(view(child).info().state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void endedJobSaysSo() {
    world.finishOne();

    assertThat(terminate(job, "")).isEqualTo(new CancelResult.Ended(JobState.SUCCEEDED));
    assertThat(terminate(new JobRef(job.shard(), job.number() + 1000), ""))
        .isEqualTo(new CancelResult.NotFound());
  }

  private CancelResult terminate(JobRef ref, String reason) {
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    world.node().terminate(ref, new Why("me", reason), answers::add);
    world.settle();
    assertThat(answers).hasSize(1);
    return ((Outcome.Ok<CancelResult>) answers.getFirst()).value();
  }

  private List<JobEvent> events(JobRef ref) {
    Outcome<Optional<JobReader.Story>> found = new JobReader(store).find(ref);
    return ((Outcome.Ok<Optional<JobReader.Story>>) found).value().orElseThrow().events();
  }
}
