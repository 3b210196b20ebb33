package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.engine.job.WorkflowWait.AwaitedSignal;
import dev.carillon.store.MemoryStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What tests of workflows say: a node with one slot, one job on it, and a runner that waits. */
abstract class WorkflowCase {
  static final byte[] NOTHING = {};
  static final JobError ERROR = new JobError("type", "message", "");

  final Store store = new MemoryStore();
  StillWorld world = new StillWorld(NodeOptions.of("node", 1), store);
  final JobRef job = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));

  Attempt running() {
    assertThat(world.running()).isNotEmpty();
    return world.running().getFirst();
  }

  long later(int seconds) {
    return world.nowMicros() + seconds * Micros.PER_SECOND;
  }

  void pass(Duration time) {
    world.pass(time);
    world.settle();
  }

  void killAndRestart() {
    long now = world.nowMicros();
    world = new StillWorld(NodeOptions.of("node", 2), store);
    long ahead = now - world.nowMicros() + 300 * Micros.PER_SECOND;
    pass(Duration.ofNanos(ahead * 1000));
  }

  static HistoryEntry begun() {
    return new HistoryEntry.Begun(1, 1, 42);
  }

  static HistoryEntry done(int call) {
    return new HistoryEntry.StepDone(call, call, "step", 1, call, NOTHING);
  }

  boolean checkpoint(Attempt attempt, HistoryEntry... entries) {
    List<Outcome<Boolean>> answers = new ArrayList<>();
    world.node().checkpoint(attempt, new WorkflowTurn(List.of(entries), List.of()), answers::add);
    world.settle();
    assertThat(answers).hasSize(1);
    return answers.getFirst() instanceof Outcome.Ok<Boolean>(Boolean taken) && taken;
  }

  void waitFor(WorkflowWait wait, HistoryEntry... entries) {
    world.finishOne(
        new AttemptOutcome.Waiting(new WorkflowTurn(List.of(entries), List.of()), wait));
  }

  static WorkflowWait forSignal(String type, int count) {
    return new WorkflowWait(
        WorkflowWait.FOR_EVER, false, List.of(new AwaitedSignal(type, count)), List.of(), 0, 1);
  }

  void startChild() {
    WorkflowTurn.ChildStart child =
        new WorkflowTurn.ChildStart(1, world.spec(world.nowMicros(), 0, 0, new byte[1]));
    world.finishOne(
        new AttemptOutcome.Waiting(
            new WorkflowTurn(List.of(begun()), List.of(child)),
            new WorkflowWait(WorkflowWait.FOR_EVER, false, List.of(), List.of(1), 0, 2)));
    assertThat(running().ref()).isNotEqualTo(job);
  }

  void fail(boolean compensations) {
    world.finishOne(
        new AttemptOutcome.WorkflowFailed(
            WorkflowTurn.NOTHING, ERROR, new AttemptOutcome.Verdict.NotRetryable(), compensations));
  }

  void cancel() {
    world.node().cancel(job, new Why("me", "no more"), outcome -> {});
    world.settle();
  }

  SignalResult signal(String type, String key) {
    return signal(job, type, key);
  }

  SignalResult signal(JobRef to, String type, String key) {
    List<Outcome<SignalResult>> answers = new ArrayList<>();
    world.node().signal(to, type, key, "me", NOTHING, answers::add);
    world.settle();
    assertThat(answers).hasSize(1);
    return ((Outcome.Ok<SignalResult>) answers.getFirst()).value();
  }

  List<HistoryEntry> history(Attempt attempt) {
    List<Outcome<List<HistoryEntry>>> answers = new ArrayList<>();
    world.node().history(attempt, answers::add);
    world.settle();
    assertThat(answers).hasSize(1);
    return ((Outcome.Ok<List<HistoryEntry>>) answers.getFirst()).value();
  }

  static HistoryEntry last(List<HistoryEntry> entries) {
    return entries.getLast();
  }

  JobState state() {
    return view().info().state();
  }

  JobView view() {
    return view(job);
  }

  JobView view(JobRef ref) {
    List<Outcome<Optional<JobView>>> answers = new ArrayList<>();
    world.node().get(ref, answers::add);
    world.settle();
    return ((Outcome.Ok<Optional<JobView>>) answers.getFirst()).value().orElseThrow();
  }
}
