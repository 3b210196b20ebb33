package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowTurn.ChildStart;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Children of workflows that have names or idempotency keys. */
@Timeout(60)
class NamedChildrenTest extends WorkflowCase {
  private static final Duration LATER = Duration.ofHours(2);

  private JobSpec named(String name) {
    return world.named(name, later(7200), new byte[1]);
  }

  private static ChildStart keeping(int call, JobSpec spec) {
    return new ChildStart(call, spec, true, null);
  }

  private boolean start(Attempt parent, ChildStart... children) {
    List<Outcome<Boolean>> answers = new ArrayList<>();
    world.node().checkpoint(parent, turn(children), answers::add);
    world.settle();
    assertThat(answers).hasSize(1);
    return answers.getFirst().equals(Outcome.ok(true));
  }

  private static WorkflowTurn turn(ChildStart... children) {
    return new WorkflowTurn(List.of(begun()), List.of(children));
  }

  private List<HistoryEntry> entries() {
    Attempt parent =
        world.running().stream().filter(a -> a.ref().equals(job)).findFirst().orElseThrow();
    return parent.historyCount() == 0 ? List.of() : history(parent);
  }

  private void waitForAll(int... calls) {
    world.finishOne(
        new AttemptOutcome.Waiting(
            WorkflowTurn.NOTHING,
            new WorkflowWait(
                WorkflowWait.FOR_EVER,
                true,
                List.of(),
                IntStream.of(calls).boxed().toList(),
                0,
                2)));
  }

  private static HistoryEntry.ChildStarted started(HistoryEntry entry) {
    return (HistoryEntry.ChildStarted) entry;
  }

  @Test
  void childHasItsNameUntilItEnds() {
    assertThat(start(running(), new ChildStart(1, named("night")))).isTrue();
    HistoryEntry.ChildStarted child = started(last(world.told()));
    assertThat(child.own()).isTrue();
    assertThat(view(child.child()).info().name()).isEqualTo("night");
    assertThat(world.add(named("night"))).isEqualTo(child.child()); // replaces it: it has the name

    killAndRestart();
    assertThat(world.add(named("night"))).isEqualTo(child.child());
    world.cancel(child.child(), "no more", outcome -> {});
    world.settle();

    assertThat(world.add(named("night"))).isNotEqualTo(child.child());
  }

  @Test
  void nameThatAJobHasFailsTheChildForGood() {
    JobRef other = world.add(named("night"));

    assertThat(start(running(), new ChildStart(1, named("night")))).isTrue();
    killAndRestart();

    List<HistoryEntry> history = entries();
    assertThat(started(history.get(1)).child()).isEqualTo(other);
    HistoryEntry.ChildEnded ended = (HistoryEntry.ChildEnded) history.get(2);
    assertThat(ended.state()).isEqualTo(JobState.FAILED);
    assertThat(ended.error()).isNotNull();
    assertThat(ended.error().type()).isEqualTo(NameTakenException.class.getName());
    assertThat(view(other).info().state()).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void jobThatIsKeptTakesThePlaceOfTheChildAndDoesNotEndWithTheWorkflow() {
    JobRef other = world.add(named("night"));
    assertThat(start(running(), keeping(1, named("night")))).isTrue();
    assertThat(started(last(world.told())).child()).isEqualTo(other);
    waitForAll(1);

    cancel();
    world.finishOne(new AttemptOutcome.Compensated(null));

    assertThat(state()).isEqualTo(JobState.CANCELLED);
    assertThat(view(other).info().state()).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void endOfAJobThatIsKeptReachesTheWorkflow() {
    JobRef other = world.add(named("night"));
    assertThat(start(running(), keeping(1, named("night")))).isTrue();
    waitForAll(1);
    assertThat(world.running()).isEmpty();

    pass(LATER);
    assertThat(running().ref()).isEqualTo(other);
    world.finishOne(new AttemptOutcome.Succeeded(new byte[] {7}));

    assertThat(((HistoryEntry.ChildEnded) last(entries())).result()).containsExactly(7);
  }

  @Test
  void jobThatHasEndedUnderTheKeyIsTheChild() {
    JobRef other = world.add(world.keyed("k", Duration.ZERO));
    waitFor(WorkflowWait.until(later(10), 0, 0));
    assertThat(running().ref()).isEqualTo(other);
    world.finishOne(new AttemptOutcome.Succeeded(new byte[] {7}));
    pass(Duration.ofSeconds(10));

    assertThat(start(running(), new ChildStart(1, world.keyed("k", Duration.ZERO)))).isTrue();

    assertThat(world.told()).hasSize(3);
    assertThat(started(world.told().get(1)).child()).isEqualTo(other);
    assertThat(((HistoryEntry.ChildEnded) last(world.told())).result()).containsExactly(7);
  }

  @Test
  void keyThatIsUsedTwiceInATurnIsOneJobWithTwoEnds() {
    JobSpec spec = world.keyed("k", LATER);
    assertThat(start(running(), new ChildStart(1, spec), new ChildStart(2, spec))).isTrue();
    JobRef child = started(last(world.told())).child();
    waitForAll(1, 2);

    pass(LATER);
    assertThat(world.running()).hasSize(1);
    assertThat(running().ref()).isEqualTo(child);
    world.finishOne(new AttemptOutcome.Succeeded(new byte[] {7}));

    killAndRestart();
    List<HistoryEntry> ends =
        entries().stream().filter(e -> e instanceof HistoryEntry.ChildEnded).toList();
    assertThat(ends).extracting(HistoryEntry::call).containsExactly(1, 2);
  }

  @Test
  void workflowDoesNotWaitForItself() {
    world.finishOne();
    JobRef self = world.add(world.named("self", world.nowMicros(), new byte[1]));
    assertThat(running().ref()).isEqualTo(self);

    assertThat(start(running(), keeping(1, named("self")))).isTrue();

    HistoryEntry.ChildEnded ended = (HistoryEntry.ChildEnded) last(world.told());
    assertThat(ended.error()).isNotNull();
    assertThat(ended.error().message()).startsWith("name: that of the workflow itself");
  }

  @Test
  void nameOfATurnThatIsRefusedIsFree() {
    Attempt parent = running();
    List<Outcome<Boolean>> answers = new ArrayList<>();
    world.node().checkpoint(parent, turn(new ChildStart(1, named("night"))), answers::add);
    world.node().finished(parent, new AttemptOutcome.Interrupted());
    world.settle();

    assertThat(answers).containsExactly(Outcome.ok(false));
    assertThat(world.recordCalls()).isGreaterThan(0);
    JobRef other = world.add(named("night"));
    assertThat(view(other).info().state()).isEqualTo(JobState.SCHEDULED);
  }

  @Test
  void twoWorkflowsThatWantEachOthersNamesBothGoOn() {
    world = new StillWorld(dev.carillon.engine.environment.NodeOptions.of("node", 2), store);
    pass(Duration.ofMinutes(5));
    JobRef second = world.add(world.spec(world.nowMicros(), 0, 0, new byte[1]));
    List<Attempt> both = world.running();
    assertThat(both).extracting(Attempt::ref).containsExactly(job, second);
    List<Outcome<Boolean>> answers = new ArrayList<>();

    ChildStart a = keeping(1, named("a"));
    ChildStart b = keeping(2, named("b"));
    world.node().checkpoint(both.get(0), turn(a, b), answers::add);
    world.node().checkpoint(both.get(1), turn(b, a), answers::add);
    world.settle();

    assertThat(answers).containsExactly(Outcome.ok(true), Outcome.ok(true));
  }

  /** The workflow after a crash that came so many calls of the store after it started a child. */
  private static void crashedAfter(int calls) {
    NamedChildrenTest one = new NamedChildrenTest();
    Attempt parent = one.running();
    one.world.node().checkpoint(parent, turn(new ChildStart(1, one.named("night"))), o -> {});
    one.world.settleWithin(calls);
    one.killAndRestart();
    if (one.entries().isEmpty()) {
      assertThat(one.start(one.running(), new ChildStart(1, one.named("night")))).isTrue();
    }
    HistoryEntry.ChildStarted child = started(one.entriesNow().get(1));
    assertThat(child.own()).isTrue();
    assertThat(one.view(child.child()).info().name()).isEqualTo("night");
    assertThat(one.world.add(one.named("night"))).isEqualTo(child.child());
  }

  private List<HistoryEntry> entriesNow() {
    world.finishOne(new AttemptOutcome.Interrupted());
    return entries();
  }

  @Test
  void crashAnywhereLeavesTheNameWithTheChildOrFree() {
    for (int calls = 0; calls < 10; calls++) {
      crashedAfter(calls);
    }
  }

  /** The same for a job that takes the place of a child. */
  private static void joinedAfter(int calls) {
    NamedChildrenTest one = new NamedChildrenTest();
    JobRef other = one.world.add(one.world.named("night", one.later(20_000), new byte[1]));
    Attempt parent = one.running();
    one.world.node().checkpoint(parent, turn(keeping(1, one.named("night"))), o -> {});
    one.world.settleWithin(calls);
    one.killAndRestart();
    if (one.entries().isEmpty()) {
      assertThat(one.start(one.running(), keeping(1, one.named("night")))).isTrue();
    }
    one.waitForAll(1);
    one.killAndRestart();
    one.world.node().cancel(other, new Why("me", ""), outcome -> {});
    one.world.settle();
    HistoryEntry.ChildEnded end = (HistoryEntry.ChildEnded) last(one.entries());
    assertThat(end.state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void crashAnywhereStillBringsTheEndOfAJobThatIsKept() {
    for (int calls = 0; calls < 10; calls++) {
      joinedAfter(calls);
    }
  }
}
