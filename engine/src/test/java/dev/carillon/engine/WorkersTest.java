package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.BlockReason;
import dev.carillon.api.CancelResult;
import dev.carillon.api.Concurrency;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.WaitReason;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.Poison;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.message.Question;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.worker.WorkerHello;
import dev.carillon.engine.worker.WorkerTake;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Attempts that workers outside the nodes run, and the leases by which they go on. */
class WorkersTest {
  private static final Duration STEP = Duration.ofMillis(50);
  private static final Duration MOMENT = Duration.ofMillis(100);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration LEASED_WITHIN = Duration.ofMillis(1500);
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final int SLOTS = 2;

  private final StillFleet fleet = new StillFleet(STEP);

  private StillWorld node(String id) {
    StillWorld world = fleet.node(SLOTS, id, false);
    fleet.pass(Duration.ofSeconds(3));
    return world;
  }

  private static JobRef due(StillWorld world) {
    return world.add(world.spec(world.nowMicros(), 0, 0, new byte[0]));
  }

  /** Lets time pass while the worker beats. */
  private void pass(Duration time, StillWorker.Link... beating) {
    for (Duration left = time; left.isPositive(); left = left.minus(MOMENT)) {
      for (StillWorker.Link link : beating) {
        link.beat();
      }
      fleet.pass(MOMENT);
    }
  }

  private JobReader.Story story(JobRef job) {
    return new JobReader(fleet.store()).find(job).orThrow().orElseThrow();
  }

  private int attempts(JobRef job) {
    return story(job).view().info().attempt();
  }

  private List<JobEvent> history(JobRef job) {
    return story(job).events();
  }

  private List<JobError> errors(JobRef job) {
    List<JobError> errors = new ArrayList<>();
    for (JobEvent event : history(job)) {
      if (event.error() != null) {
        errors.add(event.error());
      }
    }
    return errors;
  }

  // ---- giving

  @Test
  void runsWhatNoNodeHasAHandlerFor() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    assertThat(worker.given).hasSize(1);
    assertThat(a.running()).as("not here").isEmpty();
    link.succeed(worker.last());
    assertThat(worker.settled).containsExactly(worker.last());
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    assertThat(history(job)).extracting(JobEvent::node).contains("w1");
  }

  @Test
  void isGivenNoMoreThanItHasRoomFor() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 2);
    for (int i = 0; i < 6; i++) {
      due(a);
    }
    assertThat(worker.given).hasSize(2);
    link.free(0);
    link.free(0);
    assertThat(worker.given).hasSize(2);
    link.succeed(worker.given.get(0));
    link.free(1);
    assertThat(worker.given).hasSize(3);
    link.free(1);
    assertThat(worker.given).as("it says how many, not how many more").hasSize(4);
    pass(SECOND, link);
    assertThat(worker.given).hasSize(4);
  }

  @Test
  void whatItSaysOfItsRoomCountsAsOfWhatItHadSeen() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 3);
    due(a);
    due(a);
    assertThat(worker.given).hasSize(2);
    a.node().workers().free(link.id, 3, 0); // said before it had seen these two
    for (int i = 0; i < 4; i++) {
      due(a);
    }
    assertThat(worker.given).hasSize(3);
    a.node().workers().free(link.id, 5, 99);
    a.node().workers().free(link.id, -1, 3);
    a.settle();
    assertThat(worker.given).as("no answer to what was given").hasSize(3);
  }

  @Test
  void jobsGoOnlyToThoseWhoTakeThem() {
    StillWorld a = node("a");
    StillWorker other = new StillWorker("w1");
    other.connect(
        a, 9, new WorkerTake("", "reports", "", 20_000_000), WorkerTake.type("other-type"));
    JobRef job = due(a);
    assertThat(other.given).isEmpty();
    assertThat(blocked(a, job)).isEqualTo(BlockReason.NO_HANDLER);
    StillWorker any = new StillWorker("w2");
    any.connect(a, 9, new WorkerTake("", "default", "", 20_000_000));
    assertThat(any.given).as("released at once").hasSize(1);
    assertThat(attempts(job)).isZero();
  }

  @Test
  void whyKnowsThatNobodyTakesItAndThatAllAreBusy() {
    StillWorld a = node("a");
    JobRef job = due(a);
    assertThat(why(a, job)).containsExactly(WaitReason.NO_HANDLER);
    StillWorker worker = new StillWorker("w1");
    worker.connect(a, 0);
    assertThat(why(a, job)).containsExactly(WaitReason.SLOT);
  }

  private static List<WaitReason> why(StillWorld world, JobRef job) {
    List<WaitReason> reasons = new ArrayList<>();
    world
        .node()
        .questions()
        .why(
            new Question.Why(job, StillWorld.TYPE, JobSpec.DEFAULT, JobSpec.DEFAULT),
            0,
            SECOND.toNanos(),
            stand -> stand.hindrances().forEach(each -> reasons.add(each.reason())));
    world.settle();
    return reasons;
  }

  @Test
  void aGapOfTwoSecondsIsNotFelt() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    due(a);
    JobRef waits = due(a);
    link.succeed(worker.last());
    link.breaks();
    pass(Duration.ofMillis(1500));
    assertThat(blocked(a, waits)).isNotEqualTo(BlockReason.NO_HANDLER);
    pass(SECOND);
    assertThat(blocked(a, waits)).as("nobody takes it").isEqualTo(BlockReason.NO_HANDLER);
    StillWorker next = new StillWorker("w2");
    next.connect(a, 1);
    assertThat(next.given).hasSize(1);
    assertThat(attempts(waits)).isZero();
  }

  private @Nullable BlockReason blocked(StillWorld world, JobRef job) {
    JobInfo read = story(job).view().info();
    return world.node().livePhases(job.shard()).complete(job, read).blockReason();
  }

  @Test
  void whatIsNotAcceptedGoesToAnotherAndIsNotCounted() {
    StillWorld a = node("a");
    StillWorker deaf = new StillWorker("w1");
    deaf.accepts = false;
    StillWorker.Link link = deaf.connect(a, 1);
    JobRef job = due(a);
    AttemptToken first = deaf.last();
    StillWorker other = new StillWorker("w2");
    StillWorker.Link good = other.connect(a, 1);
    pass(Duration.ofSeconds(4), link, good);
    assertThat(other.given).isEmpty();
    pass(Duration.ofSeconds(2), link, good);
    assertThat(other.given).hasSize(1);
    assertThat(deaf.stops).isNotEmpty();
    assertThat(attempts(job)).isZero();
    assertThat(errors(job)).isEmpty();
    link.succeed(first);
    assertThat(deaf.stale).containsExactly(first);
    good.succeed(other.last());
    assertThat(other.settled).hasSize(1);
    assertThat(errors(job)).isEmpty();
  }

  @Test
  void refusedAttemptsAreNotCounted() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    a.node().workers().refuse(link.id, worker.last());
    link.free(1);
    pass(SECOND, link);
    assertThat(worker.given).hasSize(2);
    assertThat(attempts(job)).isZero();
  }

  // ---- leases

  @Test
  void onlyWhatLastsIsLeased() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 2);
    JobRef small = due(a);
    JobRef big = due(a);
    link.succeed(worker.given.get(0));
    pass(LEASED_WITHIN, link);
    assertThat(worker.leased).containsExactly(worker.given.get(1));
    assertThat(history(small)).extracting(JobEvent::kind).doesNotContain(JobEvent.Kind.LEASED);
    assertThat(history(big)).extracting(JobEvent::kind).contains(JobEvent.Kind.LEASED);
  }

  @Test
  void aLeaseComesFirstWhereThatIsWanted() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    a.hold(NodeEnvironment.Channel.RECORDS);
    worker.connect(a, 1, new WorkerHello("w1", List.of(WorkerTake.type(StillWorld.TYPE)), true));
    JobRef job = due(a);
    assertThat(history(job)).extracting(JobEvent::kind).contains(JobEvent.Kind.LEASED);
    assertThat(worker.leased).isEqualTo(worker.given).hasSize(1);
  }

  @Test
  void silenceForALeaseCountsAsAnAttempt() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    AttemptToken first = worker.last();
    pass(LEASED_WITHIN, link);
    link.breaks();
    pass(LEASE.minus(SECOND));
    assertThat(attempts(job)).as("liveness unknown, lease valid: nothing happens").isZero();
    pass(Duration.ofSeconds(2));
    assertThat(attempts(job)).isEqualTo(1);
    assertThat(errors(job)).hasSize(1);
    JobError error = errors(job).getFirst();
    assertThat(error.type()).isEqualTo(Lease.WORKER_LOST);
    assertThat(error.message()).contains("w1");
    StillWorker.Link again = worker.connect(a, 1);
    pass(Duration.ofSeconds(30), again);
    assertThat(worker.given).as("offered again by its policy").hasSize(2);
    again.succeed(first);
    assertThat(worker.stale).as("the same worker, an older token").containsExactly(first);
    again.succeed(worker.last());
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void whatIsSaidAfterItsLossIsStaleThoughTheLossIsNotDurableYet() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    pass(LEASED_WITHIN, link);
    link.breaks();
    pass(LEASE.minus(Duration.ofSeconds(2)));
    StillWorker.Link again = worker.connect(a, 0);
    a.hold(NodeEnvironment.Channel.COMMIT);
    pass(Duration.ofMillis(2400));
    again.succeed(worker.last());
    assertThat(worker.settled).isEmpty();
    assertThat(worker.stale).isEmpty();
    a.letGo();
    a.settle();
    assertThat(worker.settled).isEmpty();
    assertThat(worker.stale).containsExactly(worker.last());
    assertThat(attempts(job)).isEqualTo(1);
  }

  @Test
  void threeLostInARowAreDead() {
    StillWorld a = node("a");
    JobRef job = due(a);
    for (int i = 1; i <= Lease.MOST_LOST; i++) {
      StillWorker worker = new StillWorker("w" + i);
      StillWorker.Link link = worker.connect(a, 1);
      for (int wait = 0; worker.given.isEmpty() && wait < 100; wait++) {
        pass(SECOND, link);
      }
      pass(LEASED_WITHIN, link);
      assertThat(worker.leased).hasSize(1);
      link.breaks();
      pass(LEASE.plus(SECOND));
    }
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.DEAD);
    assertThat(history(job).getLast().detail()).isEqualTo(Poison.WORKERS_REASON);
    assertThat(errors(job)).hasSize(3);
  }

  @Test
  void settledIsSaidOnlyOnceTheOutcomeIsDurable() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    due(a);
    a.hold(NodeEnvironment.Channel.COMMIT);
    link.succeed(worker.last());
    link.succeed(worker.last());
    assertThat(worker.settled).isEmpty();
    a.letGo();
    a.settle();
    assertThat(worker.settled).hasSize(1);
    assertThat(worker.stale).isEmpty();
    link.succeed(worker.last());
    assertThat(worker.stale).as("it was said and settled before").hasSize(1);
  }

  @Test
  void aCancelIsPassedOnAndItsEndIsTheWorkersAnswer() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    a.cancel(job, "no need", answers::add);
    a.settle();
    assertThat(answers).hasSize(1);
    assertThat(worker.stops).containsExactly(Attempt.StopCause.CANCEL);
    link.say(worker.last(), new AttemptOutcome.Interrupted());
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  // ---- the death of a server

  @Test
  void theNextOwnerHonoursTheLeaseAndTheWorkerResumes() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    AttemptToken token = worker.last();
    pass(LEASED_WITHIN, link);
    StillWorld b = node("b");
    StillWorker.Link other = worker.connect(b, 5);
    fleet.kill(a);
    pass(StillFleet.DEAD_WITHIN, other);
    other.resume(token);
    pass(Duration.ofSeconds(60), other);
    assertThat(worker.given).as("not made again").hasSize(1);
    assertThat(worker.leased).hasSize(2);
    other.succeed(token);
    assertThat(worker.settled).containsExactly(token);
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    assertThat(errors(job)).isEmpty();
  }

  @Test
  void anOutcomeIsTakenWithoutAResume() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    AttemptToken token = worker.last();
    pass(LEASED_WITHIN, link);
    StillWorld b = node("b");
    fleet.kill(a);
    StillWorker.Link other = worker.connect(b, 0);
    other.succeed(token);
    assertThat(worker.settled).as("nobody has the shard yet").isEmpty();
    assertThat(worker.stale).isEmpty();
    pass(StillFleet.DEAD_WITHIN, other);
    other.succeed(token);
    assertThat(worker.settled).containsExactly(token);
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void whatIsNotLeasedIsMadeAgain() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    AttemptToken token = worker.last();
    StillWorld b = fleet.node(SLOTS, "b", false);
    pass(Duration.ofMillis(500), link);
    fleet.kill(a);
    StillWorker.Link other = worker.connect(b, 5);
    pass(Duration.ofSeconds(6), other);
    assertThat(worker.given).hasSize(2);
    assertThat(history(job))
        .as("a worker does not kill its server: no marker")
        .extracting(JobEvent::kind)
        .doesNotContain(JobEvent.Kind.STARTED);
    other.succeed(token);
    assertThat(worker.stale).containsExactly(token);
  }

  @Test
  void theNextOwnerCountsTheWholeLeaseAnew() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    pass(Duration.ofSeconds(15), link);
    StillWorld b = node("b");
    StillWorker next = new StillWorker("w2");
    StillWorker.Link other = next.connect(b, 5);
    fleet.kill(a);
    pass(LEASE, other);
    assertThat(attempts(job)).as("the lease counts from the claim").isZero();
    pass(StillFleet.DEAD_WITHIN.plus(SECOND), other);
    assertThat(attempts(job)).isEqualTo(1);
  }

  @Test
  void anAdoptedAttemptHoldsItsKey() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 5);
    JobRef first = a.add(a.under(Concurrency.of("key"), a.nowMicros()));
    pass(LEASED_WITHIN, link);
    assertThat(worker.leased).hasSize(1);
    StillWorld b = node("b");
    StillWorker.Link other = worker.connect(b, 5);
    JobRef second = b.add(b.under(Concurrency.of("key"), b.nowMicros()));
    fleet.kill(a);
    pass(Duration.ofSeconds(15), other);
    assertThat(worker.given).as("the key is held").hasSize(1);
    other.succeed(worker.given.get(0));
    pass(Duration.ofSeconds(3), other);
    assertThat(worker.given).hasSize(2);
    other.succeed(worker.last());
    assertThat(fleet.stateOf(first)).isEqualTo(JobState.SUCCEEDED);
    assertThat(fleet.stateOf(second)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void aCancelReachesAnAdoptedAttempt() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    pass(LEASED_WITHIN, link);
    link.breaks();
    a.cancel(job, "no need", answer -> {});
    a.settle();
    assertThat(worker.stops).isEmpty();
    StillWorld b = node("b");
    fleet.kill(a);
    StillWorker.Link other = worker.connect(b, 5);
    pass(StillFleet.DEAD_WITHIN, other);
    assertThat(fleet.stateOf(job)).as("it runs").isNotEqualTo(JobState.CANCELLED);
    other.resume(worker.last());
    assertThat(worker.stops).containsExactly(Attempt.StopCause.CANCEL);
    other.say(worker.last(), new AttemptOutcome.Interrupted());
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void theDeadlineOfAnAdoptedAttemptIsWatched() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    long deadline = a.nowMicros() + Micros.ceil(Duration.ofSeconds(15));
    JobRef job = a.add(a.spec(a.nowMicros(), 0, deadline, new byte[0]));
    pass(LEASED_WITHIN, link);
    StillWorld b = node("b");
    fleet.kill(a);
    StillWorker.Link other = worker.connect(b, 5);
    pass(StillFleet.DEAD_WITHIN, other);
    other.resume(worker.last());
    pass(Duration.ofSeconds(15), other);
    assertThat(worker.stops).contains(Attempt.StopCause.DEADLINE);
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.EXPIRED);
    other.succeed(worker.last());
    assertThat(worker.settled).isEmpty();
  }

  // ---- in order

  @Test
  void aShardWithLeasedAttemptsIsReleasedAndTheAttemptGoesOn() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    StillWorld b = node("b");
    JobRef job = due(a);
    AttemptToken token = worker.last();
    StillWorker.Link other = worker.connect(b, 5);
    pass(Duration.ofMillis(300), link, other);
    assertThat(worker.leased).isEmpty();
    fleet.stop(a);
    assertThat(worker.leased).as("what is not leased yet is leased first").containsExactly(token);
    assertThat(worker.moved).containsExactly(token);
    assertThat(link.drained).isTrue();
    pass(StillFleet.DEAD_WITHIN, other);
    other.resume(token);
    pass(Duration.ofSeconds(30), other);
    assertThat(worker.given).hasSize(1);
    other.succeed(token);
    assertThat(worker.settled).containsExactly(token);
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void aFenceLeavesLeasedAttemptsAloneAndAnswersNoBeat() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 2);
    due(a);
    pass(LEASED_WITHIN, link);
    due(a);
    AttemptToken fresh = worker.last();
    long before = link.answered;
    assertThat(before).isPositive();
    for (NodeEnvironment.Channel channel : NodeEnvironment.Channel.values()) {
      a.hold(channel);
    }
    pass(Duration.ofSeconds(4), link);
    assertThat(worker.stops).as("what is not leased").containsExactly(Attempt.StopCause.FENCED);
    assertThat(link.answered).isLessThan(link.beats);
    long answered = link.answered;
    pass(Duration.ofSeconds(40), link);
    assertThat(link.answered).isEqualTo(answered);
    link.say(fresh, new AttemptOutcome.Interrupted());
    a.letGo();
    link.free(1);
    pass(Duration.ofSeconds(8), link);
    assertThat(link.answered).isEqualTo(link.beats);
    link.succeed(worker.given.get(0));
    assertThat(worker.settled).contains(worker.given.get(0));
    assertThat(worker.given).hasSize(3);
  }

  @Test
  void aRestartInOrderAdoptsItsOwnAttempts() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    AttemptToken token = worker.last();
    pass(LEASED_WITHIN, link);
    fleet.stop(a);
    StillWorld again = node("a");
    StillWorker.Link other = worker.connect(again, 5);
    other.resume(token);
    pass(Duration.ofSeconds(30), other);
    assertThat(worker.given).hasSize(1);
    other.succeed(token);
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  // ---- what is not so

  @Test
  void fabricatedAndForeignTokensAreStale() {
    StillWorld a = node("a");
    StillWorker worker = new StillWorker("w1");
    StillWorker.Link link = worker.connect(a, 1);
    JobRef job = due(a);
    AttemptToken token = worker.last();
    StillWorker thief = new StillWorker("w2");
    StillWorker.Link other = thief.connect(a, 0);
    other.succeed(token);
    assertThat(thief.stale).containsExactly(token);
    AttemptToken made = new AttemptToken(token.job(), token.epoch(), token.attempt(), 42);
    link.succeed(made);
    AttemptToken later =
        new AttemptToken(token.job(), token.epoch(), token.attempt() + 1, token.nonce());
    link.succeed(later);
    assertThat(worker.stale).containsExactly(made, later);
    assertThat(fleet.stateOf(job)).isNotEqualTo(JobState.SUCCEEDED);
    link.succeed(token);
    assertThat(fleet.stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }
}
