package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.JobState;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.OccurrencesAdded;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node serves what was asked of another: cancels, pauses, changes, triggers. */
class MemberRequestsTest extends ClusterFixture {
  @Test
  void jobOfADeadNodeCanBeCancelledFarFromItsTime() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    kill(a);
    pass(DEAD_WITHIN);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    b.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void storeThatDoesNotAnswerFencesAndNothingRunsTwice() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    addDueIn(a, Duration.ofSeconds(2));
    for (NodeEnvironment.Channel channel : NodeEnvironment.Channel.values()) {
      a.hold(channel);
    }
    pass(Duration.ofSeconds(10));
    assertThat(a.running()).hasSize(1); // started before its deadline
    a.letGo();
    pass(Duration.ofSeconds(5));
    assertThat(a.finishOne()).isNotNull();
    pass(Duration.ofSeconds(5));
    assertThat(a.running()).isEmpty();
  }

  @Test
  void dueJobsOfADeadNodeAreSharedByTheOthers() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    for (int i = 0; i < 30; i++) {
      addDueIn(a, Duration.ofHours(2 + i)); // a shard each
    }
    kill(a);
    pass(Duration.ofHours(33));
    assertThat(b.running().size()).isBetween(8, 22);
    assertThat(b.running().size() + c.running().size()).isEqualTo(30);
  }

  // ---- what concerns a job that another node has

  @Test
  void jobOfAnotherNodeIsCancelled() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
    assertThat(headOf(job).owner()).as("its owner").isEqualTo(1);
    pass(Duration.ofSeconds(1));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestAndItsAnswerAreNotifiedOfAndNoTimePassesBetween() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    hearNotifications(a, 1);
    hearNotifications(b, 2);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    b.settle();
    assertThat(answers).as("before anybody hears").isEmpty();
    a.settle();
    b.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(requests()).isEmpty();
  }

  private void hearNotifications(StillWorld world, long incarnation) {
    Node.notificationChannels(incarnation)
        .forEach(
            (channel, heard) -> {
              var unused = store.doorbells().listen(channel, () -> heard.accept(world.node()));
            });
  }

  private List<String> requests() {
    return store.records().list("x\0", null, 100).orThrow().stream()
        .map(Records.Stored::key)
        .toList();
  }

  @Test
  void jobOfAnotherNodeIsPausedResumedAndMoved() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    b.pause(job, "wait", answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(job)).isEqualTo(JobState.PAUSED);
    b.resume(job, answers::add);
    b.reschedule(job, b.nowMicros() + 5_000_000, answers::add);
    b.prioritise(job, 3, answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).hasSize(4).containsOnly(Outcome.ok(ControlResult.DONE));
    pass(Duration.ofSeconds(5));
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void recurringJobOfAnotherNodeIsTriggeredOnce() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    long first = a.nowMicros() + Micros.ceil(Duration.ofHours(1));
    JobRef job = a.add(a.recurring(Schedule.every(Duration.ofHours(1)), first));
    List<JobRef> added = new ArrayList<>();
    b.node()
        .trigger(
            job,
            new OccurrencesAdded() {
              @Override
              public void added(List<JobRef> jobs) {
                added.addAll(jobs);
              }

              @Override
              public void refused(Outcome<ControlResult> why) {
                throw new AssertionError(why);
              }
            });
    pass(Duration.ofSeconds(1));
    assertThat(added).hasSize(1);
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void nameOfAJobOfAnotherNodeIsKnownAndItsJobReplaced() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    long due = a.nowMicros() + Micros.ceil(Duration.ofHours(1));
    JobRef job = a.add(a.named("report", due, new byte[] {1}));
    List<JobRef> again =
        b.ask(b.named("report", b.nowMicros() + Micros.ceil(STEP), new byte[] {2}));
    pass(Duration.ofSeconds(1));
    assertThat(again).containsExactly(job);
    assertThat(a.running()).hasSize(1);
    assertThat(a.running().getFirst().spec().payload()).containsExactly(2);
    a.finishOne();
    List<JobRef> next = b.ask(b.named("report", due, new byte[] {3}));
    pass(Duration.ofSeconds(1));
    assertThat(next).hasSize(1).doesNotContain(job);
  }

  @Test
  void endIsToldToAJobOfAnotherNode() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef first = addDueIn(a, Duration.ofSeconds(5));
    List<JobRef> second = b.ask(b.after(first));
    pass(Duration.ofSeconds(2));
    assertThat(second).hasSize(1);
    pass(Duration.ofSeconds(3).plus(STEP));
    assertThat(b.running()).isEmpty();
    a.finishOne();
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).hasSize(1);
    pass(Duration.ofSeconds(1));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestToANodeThatDiesIsServedByWhoeverTakesTheShard() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    kill(a);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    pass(Duration.ofSeconds(1));
    assertThat(answers).isEmpty();
    pass(DEAD_WITHIN.plusSeconds(1));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(c.running()).isEmpty();
  }

  /** One of the two is to have the shard. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void requestIsServedAsSoonAsSomebodyHasTheShard(int asker) {
    StillWorld a = node("a");
    List<StillWorld> others = List.of(node("b"), node("c"));
    hearNotifications(others.get(0), 2);
    hearNotifications(others.get(1), 3);
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    others.get(asker).cancel(job, "not wanted", answers::add);
    others.get(asker).settle();
    stop(a);
    others.forEach(world -> world.hold(NodeEnvironment.Channel.CONTROL)); // claims take a while
    others.get(asker).hold(NodeEnvironment.Channel.READ); // and looking whether somebody claims
    pass(Duration.ofMillis(700));
    assertThat(headOf(job).released()).isTrue();
    assertThat(requests()).hasSize(1);
    others.forEach(StillWorld::letGo);
    pass(STEP.multipliedBy(2));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
  }

  /** Its sender may be about to stop, and waits for the answer. */
  @Test
  void requestToAShardThatNobodyNeedsYetIsSoonTakenBack() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(30));
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    b.cancel(job, "not wanted", answers::add);
    b.settle();
    stop(a);
    assertThat(headOf(job).released()).isTrue();
    assertThat(requests()).hasSize(1);
    pass(STEP.multipliedBy(2));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestThatOneHadBegunAndCouldNotServeIsTakenBackByASenderThatHasTheShard() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    b.pause(job, "wait", answers::add);
    b.settle();
    Records.Stored request = store.records().list("x\0", null, 1).orThrow().getFirst();
    Records.Stamp again = new Records.Stamp(77, 1);
    store
        .records()
        .apply(
            List.of(new Records.Change(request.key(), request.version(), request.value(), again)));
    stop(a);
    pass(Duration.ofSeconds(2));
    assertThat(headOf(job).owner()).isEqualTo(2);
    assertThat(answers).containsExactly(Outcome.ok(ControlResult.DONE));
    assertThat(requests()).isEmpty();
  }

  @Test
  void nodeThatStopsTakesUpItselfWhatNobodyElseWouldSoon() {
    StillWorld a = node("a");
    node("b");
    pass(Duration.ofSeconds(3));
    cancelWhileItStops(a, addDueIn(a, Duration.ofHours(30)));
  }

  @Test
  void nodeThatStopsTakesUpItselfWhatNobodyElseIsThereFor() {
    StillWorld a = node("a");
    pass(Duration.ofSeconds(3));
    cancelWhileItStops(a, addDueIn(a, Duration.ofSeconds(30)));
  }

  /** It is free again as soon as that is done, though the node may still take a while to stop. */
  private void cancelWhileItStops(StillWorld world, JobRef job) {
    world.node().beginStop();
    world.settle();
    assertThat(headOf(job).released()).isTrue();
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    world.cancel(job, "not wanted", answers::add);
    world.settle();
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(headOf(job).released()).isTrue();
  }

  @Test
  void shardThatIsClaimedTooLateByANodeThatStopsIsGivenBackAtOnce() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    b.hold(NodeEnvironment.Channel.CONTROL);
    stop(a);
    pass(Duration.ofSeconds(1)); // b claims it
    b.node().beginStop();
    b.settle();
    assertThat(b.node().quiet()).as("while a claim is under way").isFalse();
    b.letGo();
    b.settle();
    assertThat(headOf(job).epoch()).as("it was claimed").isEqualTo(2);
    assertThat(headOf(job).released()).isTrue();
    assertThat(b.node().quiet()).isTrue();
  }

  @Test
  void requestIsServedByANodeThatNeverHeardThatTheShardIsItsOwn() {
    StillWorld a = node("a");
    node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofHours(3));
    store.journals().claim(job.shard(), headOf(job).epoch(), 2).orThrow(); // b does not hear of it
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    c.cancel(job, "no longer wanted", answers::add);
    pass(Duration.ofSeconds(20));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Cancelled()));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void whatADeadNodeHadBegunIsSaidToBeUnknown() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    List<Outcome<ControlResult>> answers = new ArrayList<>();
    a.hold(NodeEnvironment.Channel.COMMIT);
    b.pause(job, "wait", answers::add);
    pass(Duration.ofSeconds(1));
    kill(a);
    pass(DEAD_WITHIN.plusSeconds(1));
    assertThat(answers).hasSize(1);
    assertThat(answers.getFirst()).isInstanceOf(Outcome.Unknown.class);
    pass(Duration.ofSeconds(1));
    assertThat(requests()).isEmpty();
  }

  @Test
  void requestOfANodeThatDiedIsDeleted() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(30));
    paused.add(a);
    b.pause(job, "wait", outcome -> {});
    b.settle();
    b.settle();
    kill(b);
    assertThat(requests()).hasSize(1);
    pass(STEP);
    paused.clear();
    pass(DEAD_WITHIN.plusSeconds(6));
    assertThat(requests()).isEmpty();
  }

  @Test
  void endOfAJobOfAnotherNodeIsSeenByWhoWatchesIt() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = addDueIn(a, Duration.ofSeconds(2));
    List<JobState> seen = new ArrayList<>();
    b.node().watch(job, view -> seen.add(view.info().state()));
    pass(Duration.ofSeconds(3));
    a.finishOne();
    pass(Duration.ofSeconds(5));
    assertThat(seen).last().isEqualTo(JobState.SUCCEEDED);
  }
}
