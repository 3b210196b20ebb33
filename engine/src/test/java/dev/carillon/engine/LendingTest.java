package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.CancelResult;
import dev.carillon.api.Concurrency;
import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.query.JobReader;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Attempts that run on another node than that of their job, in worlds that move together. */
class LendingTest {
  private static final Duration STEP = Duration.ofMillis(50);

  /** A store that does not carry notifications is polled. */
  private static final Duration HEARD_WITHIN = Duration.ofMillis(700);

  private static final int SLOTS = 4;

  private final StillFleet fleet = new StillFleet(STEP);

  private StillWorld node(String id) {
    return node(id, SLOTS, true);
  }

  private StillWorld node(String id, int slots, boolean handles) {
    return fleet.node(slots, id, handles);
  }

  private void kill(StillWorld world) {
    fleet.kill(world);
  }

  private void pass(Duration time) {
    fleet.pass(time);
  }

  private JobState stateOf(JobRef job) {
    return fleet.stateOf(job);
  }

  private static List<JobRef> addDueNow(StillWorld world, int count) {
    List<JobRef> added = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      added.add(world.add(world.spec(world.nowMicros(), 0, 0, new byte[0])));
    }
    return added;
  }

  private void finishAll(StillWorld... worlds) {
    int idle = 0;
    while (idle < 40) {
      idle++;
      for (StillWorld world : worlds) {
        for (int i = 0; i < SLOTS; i++) {
          idle = world.finishOne() != null ? 0 : idle;
        }
      }
      pass(STEP);
    }
  }

  private static JobRef only(List<JobRef> jobs) {
    assertThat(jobs).hasSize(1);
    return jobs.getFirst();
  }

  private static Attempt only(StillWorld world) {
    assertThat(world.running()).hasSize(1);
    return world.running().getFirst();
  }

  @Test
  void nodeWithoutASlotLendsToOneThatHasSome() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    StillWorld c = node("c");
    pass(Duration.ofSeconds(3));
    List<JobRef> jobs = addDueNow(a, 100);
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).hasSize(SLOTS);
    assertThat(b.running()).hasSize(SLOTS);
    assertThat(c.running()).hasSize(SLOTS);
    finishAll(a, b, c);
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
    assertThat(a.node().lent()).isZero();
    assertThat(a.node().lentTotal())
        .isEqualTo(b.node().borrowedTotal() + c.node().borrowedTotal())
        .isGreaterThan(20);
  }

  @Test
  void whatWaitsAMomentIsNotLent() {
    StillWorld a = node("a");
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueNow(a, 3 * SLOTS);
    pass(STEP);
    finishAll(a);
    assertThat(a.node().lentTotal()).isZero();
    assertThat(b.running()).isEmpty();
  }

  @Test
  void jobRunsWhereItsHandlerIs() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    List<JobRef> jobs = addDueNow(a, 50);
    pass(HEARD_WITHIN);
    assertThat(b.running()).hasSize(SLOTS);
    finishAll(b);
    assertThat(a.running()).isEmpty();
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
  }

  @Test
  void jobGoesWhenItsHandlerRegistersElsewhere() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b", SLOTS, false);
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(Duration.ofSeconds(5));
    assertThat(b.running()).isEmpty();
    b.node().register(StillWorld.TYPE, Integer.MAX_VALUE, null);
    pass(Duration.ofSeconds(2));
    assertThat(b.finishOne()).isNotNull();
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void handlerThatCameAndWentInOneTurnKeepsNoLaterOneFromBeingKnown() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b", SLOTS, false);
    pass(Duration.ofSeconds(3));
    b.node().register(StillWorld.TYPE, Integer.MAX_VALUE, null);
    b.node().unregister(StillWorld.TYPE);
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(Duration.ofSeconds(3));
    assertThat(b.running()).isEmpty();
    b.node().register(StillWorld.TYPE, Integer.MAX_VALUE, null);
    pass(Duration.ofSeconds(3));
    assertThat(b.finishOne()).isNotNull();
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void nothingIsLentToANodeWhoseHandlerWent() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef runs = only(addDueNow(a, 1));
    pass(HEARD_WITHIN);
    assertThat(b.running()).hasSize(1);
    b.node().unregister(StillWorld.TYPE);
    pass(Duration.ofSeconds(3));
    long lent = a.node().lentTotal();
    JobRef waits = only(addDueNow(a, 1));
    pass(Duration.ofSeconds(5));
    assertThat(a.node().lentTotal()).isEqualTo(lent);
    assertThat(b.finishOne()).isNotNull(); // what ran before goes on to its end
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(runs)).isEqualTo(JobState.SUCCEEDED);
    assertThat(stateOf(waits).ended()).isFalse();
    a.node().register(StillWorld.TYPE, Integer.MAX_VALUE, null);
    pass(STEP);
    assertThat(a.finishOne()).isNotNull();
    assertThat(stateOf(waits)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void whatADeadBorrowerHadIsStartedByItsOwner() {
    StillWorld a = node("a", 1, true);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    List<JobRef> jobs = addDueNow(a, 7);
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).hasSize(SLOTS);
    kill(b);
    pass(StillFleet.DEAD_WITHIN);
    finishAll(a);
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
    assertThat(a.node().lent()).isZero();
  }

  @Test
  void jobThatKillsWhoeverBorrowsItIsConvictedWithinFourCrashes() {
    StillWorld a = node("a", SLOTS, false);
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    for (int crash = 1; crash <= 4; crash++) {
      assertThat(stateOf(job)).as("before crash %d", crash).isNotEqualTo(JobState.DEAD);
      StillWorld victim = node("victim-" + crash);
      pass(Duration.ofSeconds(4));
      assertThat(victim.running()).as("crash %d", crash).hasSize(1);
      kill(victim);
      pass(StillFleet.DEAD_WITHIN);
    }
    assertThat(stateOf(job)).isEqualTo(JobState.DEAD);
  }

  @Test
  void suspectedJobThatLastsIsNotConvicted() {
    StillWorld a = node("a", SLOTS, false);
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    for (int crash = 1; crash <= 6; crash++) {
      StillWorld victim = node("victim-" + crash);
      pass(Duration.ofSeconds(15));
      assertThat(victim.running()).as("crash %d", crash).hasSize(1);
      kill(victim);
      pass(StillFleet.DEAD_WITHIN);
    }
    StillWorld last = node("last");
    pass(Duration.ofSeconds(4));
    assertThat(last.finishOne()).isNotNull();
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void suspectedJobRunsAloneWhereItIsLentTo() {
    StillWorld a = node("a", SLOTS, false);
    pass(Duration.ofSeconds(3));
    addDueNow(a, 1);
    for (int crash = 1; crash <= 3; crash++) {
      StillWorld victim = node("victim-" + crash);
      pass(Duration.ofSeconds(4));
      kill(victim);
      pass(StillFleet.DEAD_WITHIN);
    }
    StillWorld b = node("b");
    pass(Duration.ofSeconds(4));
    assertThat(b.running()).hasSize(1);
    addDueNow(b, 2);
    pass(Duration.ofSeconds(2));
    assertThat(b.running()).as("beside what runs alone").hasSize(1);
    b.finishOne();
    pass(Duration.ofSeconds(1));
    assertThat(b.running()).hasSize(2);
  }

  @Test
  void jobOfANodeThatDiedAndCameBackIsLent() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = a.add(a.spec(a.nowMicros() + 1_000_000, 0, 0, new byte[0]));
    kill(a);
    kill(b);
    fleet.skip(Duration.ofSeconds(10));
    node("a", SLOTS, false);
    StillWorld other = node("b");
    pass(Duration.ofSeconds(10));
    assertThat(other.running()).hasSize(1);
    other.finishOne();
    pass(Duration.ofSeconds(1));
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void whatABorrowerSaidBeforeItDiedCounts() {
    StillWorld a = node("a", 1, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(HEARD_WITHIN);
    b.finishOne();
    kill(b);
    pass(StillFleet.DEAD_WITHIN);
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void borrowerThatComesBackIsRefused() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(HEARD_WITHIN);
    Attempt late = only(b);
    fleet.pause(b);
    pass(StillFleet.DEAD_WITHIN);
    a.node().register(StillWorld.TYPE, Integer.MAX_VALUE, null);
    pass(STEP);
    assertThat(a.running()).hasSize(1);
    fleet.resume(b);
    pass(STEP);
    assertThat(b.isInterrupted(late)).isTrue();
    b.finishOne(new AttemptOutcome.Failed(new JobError("late", "late", ""), byPolicy()));
    pass(Duration.ofSeconds(3));
    assertThat(stateOf(job).ended()).isFalse();
    assertThat(a.finishOne()).isNotNull();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    pass(Duration.ofMinutes(1));
    assertThat(b.running()).isEmpty();
  }

  private static AttemptOutcome.Verdict byPolicy() {
    return new AttemptOutcome.Verdict.ByPolicy();
  }

  @Test
  void whatLayThereForABorrowerThatSeemedDeadIsNotStartedByIt() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    fleet.pause(b);
    addDueNow(a, 1);
    pass(StillFleet.DEAD_WITHIN);
    a.node().register(StillWorld.TYPE, Integer.MAX_VALUE, null);
    pass(STEP);
    assertThat(a.running()).hasSize(1);
    fleet.resume(b);
    pass(Duration.ofSeconds(3));
    assertThat(b.node().borrowedTotal()).isZero();
  }

  @Test
  void whatWasLentToOneThatSeemedDeadSinceIsNotStartedByIt() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    a.hold(NodeEnvironment.Channel.RECORDS); // the loan is not written
    addDueNow(a, 1);
    pass(HEARD_WITHIN);
    fleet.pause(b);
    pass(StillFleet.DEAD_WITHIN);
    fleet.resume(b);
    pass(Duration.ofSeconds(2));
    a.node().register(StillWorld.TYPE, Integer.MAX_VALUE, null);
    for (int i = 0; i < 2; i++) {
      a.letGo();
      a.hold(NodeEnvironment.Channel.RECORDS); // the loan is, and not yet that it is taken back
      pass(STEP);
    }
    assertThat(a.running()).hasSize(1);
    pass(Duration.ofSeconds(1));
    assertThat(b.node().borrowedTotal()).isZero();
  }

  @Test
  void whatWasLentByOneThatMayHaveBeenDeadSinceIsNotStarted() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    b.holdAnswers(NodeEnvironment.Channel.RECORDS);
    JobRef job = only(addDueNow(a, 1));
    pass(HEARD_WITHIN); // the loan is read, and the answer on its way
    fleet.pause(a);
    pass(StillFleet.DEAD_WITHIN);
    assertThat(only(b).job().number).as("by its new owner").isEqualTo(job.number());
    fleet.resume(a);
    pass(Duration.ofSeconds(2));
    b.letGo();
    pass(Duration.ofSeconds(3));
    assertThat(b.running()).hasSize(1);
    assertThat(b.node().borrowedTotal()).isZero();
  }

  /** It did not see the lender dead, but that it has been. */
  @Test
  void whatRunsForOneThatMayHaveBeenDeadSinceIsStopped() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueNow(a, 1);
    pass(HEARD_WITHIN);
    Attempt lent = only(b);
    a.hold(NodeEnvironment.Channel.RECORDS); // it cannot say that it is to stop
    fleet.pause(a);
    pass(Duration.ofMillis(2100)); // it is fenced when it goes on, and was not yet dead to others
    fleet.resume(a);
    assertThat(b.isInterrupted(lent)).isFalse();
    pass(Duration.ofSeconds(1));
    assertThat(b.isInterrupted(lent)).isTrue();
  }

  @Test
  void suspectedJobIsNotStartedBeforeItsTimeThoughItsStartIsWritten() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld victim = node("victim");
    pass(Duration.ofSeconds(3));
    addDueNow(a, 1);
    pass(HEARD_WITHIN);
    kill(victim);
    pass(StillFleet.DEAD_WITHIN);
    StillWorld b = node("b");
    a.hold(NodeEnvironment.Channel.COMMIT);
    pass(Duration.ofSeconds(4)); // it has its slot and waits for that
    b.skew(Duration.ofSeconds(-20));
    pass(STEP);
    a.letGo();
    pass(Duration.ofSeconds(2));
    assertThat(b.running()).as("by its clock").isEmpty();
    pass(Duration.ofSeconds(20));
    assertThat(b.running()).hasSize(1);
  }

  @Test
  void whatIsLentByADeadOwnerIsStoppedAndMadeAgain() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(HEARD_WITHIN);
    Attempt first = only(b);
    kill(a);
    pass(StillFleet.DEAD_WITHIN);
    assertThat(b.isInterrupted(first)).isTrue();
    assertThat(b.running()).hasSize(2);
    b.finishOne(new AttemptOutcome.Interrupted());
    assertThat(stateOf(job)).isNotEqualTo(JobState.SUCCEEDED);
    b.finishOne();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void lenderThatWasTakenForDeadAndComesBackHasItsJobsRunAgain() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(HEARD_WITHIN);
    Attempt first = only(b);
    a.hold(NodeEnvironment.Channel.HEARTBEAT);
    pass(StillFleet.DEAD_WITHIN);
    assertThat(b.isInterrupted(first)).isTrue();
    a.letGo();
    b.finishOne(new AttemptOutcome.Failed(new JobError("x", "interrupted", ""), byPolicy()));
    fleet.work(Duration.ofSeconds(20));
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
    assertThat(a.node().lent()).isZero();
    assertThat(a.node().running()).isZero();
  }

  @Test
  void whatALenderTakesBackWhenItStopsHasNotFailed() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(HEARD_WITHIN);
    Attempt lent = only(b);
    a.node().beginStop();
    pass(HEARD_WITHIN);
    assertThat(lent.pauseRequested()).isTrue();
    a.node().interruptRunning();
    pass(HEARD_WITHIN);
    assertThat(b.isInterrupted(lent)).isTrue();
    b.finishOne(new AttemptOutcome.Failed(new JobError("x", "interrupted", ""), byPolicy()));
    pass(HEARD_WITHIN);
    assertThat(a.node().quiet()).isTrue();
    fleet.stop(a);
    pass(StillFleet.DEAD_WITHIN);
    assertThat(only(b).number()).as("as if the first had not been made").isEqualTo(1);
    b.finishOne();
    assertThat(stateOf(job)).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void jobBehindOneThatTakesLongIsLent() {
    StillWorld a = node("a", 1, true);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueNow(a, 1);
    pass(Duration.ofSeconds(3));
    assertThat(a.running()).hasSize(1);
    JobRef behind = only(addDueNow(a, 1));
    pass(Duration.ofSeconds(2));
    assertThat(b.finishOne()).isNotNull();
    pass(HEARD_WITHIN);
    assertThat(stateOf(behind)).isEqualTo(JobState.SUCCEEDED);
    assertThat(a.running()).hasSize(1);
  }

  @Test
  void placeOfAHandlerGoesToAnotherJobWhereOneIsLentInstead() {
    StillWorld a = node("a", 2, false);
    StillWorld b = node("b", 1, true);
    a.node().register(StillWorld.TYPE, 1, null);
    a.node().register("other", Integer.MAX_VALUE, null);
    pass(Duration.ofSeconds(3));
    List<JobRef> jobs = addDueNow(a, 3); // the second and third wait for the handler
    assertThat(a.running()).hasSize(1);
    a.add(a.ofType("other", 9));
    a.add(a.ofType("other", 9));
    a.finishOne();
    pass(Duration.ofSeconds(1));
    assertThat(a.running()).extracting(Attempt::type).containsExactly("other", "other");
    assertThat(only(b).number()).isEqualTo(1);
    a.finishOne();
    a.finishOne();
    finishAll(a);
    assertThat(stateOf(jobs.getLast())).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void recordsThatAreGoneCostTheirLoansAndNoOthers() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    fleet.pause(b);
    List<JobRef> jobs = new ArrayList<>(addDueNow(a, 2));
    pass(STEP);
    deleteRecords("w\0");
    fleet.resume(b);
    pass(STEP);
    jobs.addAll(addDueNow(a, 2));
    fleet.work(Duration.ofSeconds(40));
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
    assertThat(a.node().lent()).isZero();
  }

  private void deleteRecords(String prefix) {
    long sequence = 0;
    List<Records.Stored> found = fleet.store().records().list(prefix, null, 100).orThrow();
    assertThat(found).isNotEmpty();
    for (Records.Stored record : found) {
      Records.Stamp stamp = new Records.Stamp(999, ++sequence);
      fleet
          .store()
          .records()
          .apply(List.of(new Records.Change(record.key(), record.version(), null, stamp)));
    }
  }

  @Test
  void borrowerThatStopsGivesBackWhatItHasNotBegun() {
    StillWorld a = node("a", 1, true);
    StillWorld b = node("b", 2, true);
    pass(Duration.ofSeconds(3));
    List<JobRef> jobs = addDueNow(a, 30);
    pass(Duration.ofSeconds(1));
    b.node().beginStop();
    b.settle();
    assertThat(b.running()).allMatch(Attempt::pauseRequested);
    b.finishOne();
    b.finishOne();
    assertThat(b.node().quiet()).isTrue();
    b.node().release(() -> {});
    b.settle();
    kill(b);
    finishAll(a);
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
  }

  @Test
  void cancelReachesAnAttemptThatIsLent() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    JobRef job = only(addDueNow(a, 1));
    pass(HEARD_WITHIN);
    Attempt lent = only(b);
    List<Outcome<CancelResult>> answers = new ArrayList<>();
    a.cancel(job, "enough", answers::add);
    pass(Duration.ofMillis(500));
    assertThat(answers).containsExactly(Outcome.ok(new CancelResult.Stopping()));
    assertThat(lent.cancellationRequested()).isTrue();
    assertThat(b.isInterrupted(lent)).isTrue();
    b.finishOne(new AttemptOutcome.Failed(new JobError("x", "stopped", ""), byPolicy()));
    pass(Duration.ofMillis(500));
    assertThat(stateOf(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void inputsPositionsAndResultsOfAnySizeGetAcross() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    byte[] input = bytes(500_000, 1);
    JobRef job = a.add(a.spec(a.nowMicros(), 0, 0, input));
    pass(Duration.ofMillis(500));
    Attempt lent = only(b);
    assertThat(lent.spec().payload()).isEqualTo(input);
    List<Outcome<Boolean>> saves = new ArrayList<>();
    byte[] position = bytes(200_000, 2);
    b.node().save(lent, position, saves::add);
    pass(Duration.ofMillis(500));
    assertThat(saves).containsExactly(Outcome.ok(true));
    b.finishOne(new AttemptOutcome.Failed(new JobError("x", "again", ""), byPolicy()));
    pass(Duration.ofMinutes(1));
    Attempt second = only(b);
    assertThat(second.number()).isEqualTo(2);
    assertThat(second.saved()).isEqualTo(position);
    byte[] result = bytes(300_000, 3);
    b.finishOne(new AttemptOutcome.Succeeded(result));
    pass(Duration.ofMillis(500));
    assertThat(new JobReader(fleet.store()).find(job).orThrow().orElseThrow().view().result())
        .isEqualTo(result);
  }

  /** An attempt that one node runs for the other. */
  private Attempt lend(StillWorld lender, StillWorld borrower) {
    pass(Duration.ofSeconds(3));
    addDueNow(lender, 1);
    pass(HEARD_WITHIN);
    return only(borrower);
  }

  @Test
  void savesAtTheSameTimeAreKeptInTheirOrder() {
    StillWorld b = node("b");
    Attempt lent = lend(node("a", SLOTS, false), b);
    List<Outcome<Boolean>> saves = new ArrayList<>();
    b.node().save(lent, new byte[] {1}, saves::add);
    b.node().save(lent, new byte[] {2}, saves::add);
    pass(HEARD_WITHIN);
    assertThat(saves).containsExactly(Outcome.ok(true), Outcome.ok(true));
    b.finishOne(new AttemptOutcome.Failed(new JobError("x", "again", ""), byPolicy()));
    pass(Duration.ofMinutes(1));
    assertThat(only(b).saved()).containsExactly(2);
  }

  @Test
  void saveIsAnsweredThoughItsHandlerHasReturned() {
    StillWorld b = node("b");
    Attempt lent = lend(node("a", SLOTS, false), b);
    List<Outcome<Boolean>> saves = new ArrayList<>();
    b.node().save(lent, new byte[] {1}, saves::add);
    b.node().save(lent, new byte[] {2}, saves::add);
    b.finishOne(new AttemptOutcome.Failed(new JobError("x", "again", ""), byPolicy()));
    pass(HEARD_WITHIN);
    assertThat(saves).containsExactly(Outcome.ok(true), Outcome.ok(false));
    pass(Duration.ofMinutes(1));
    assertThat(only(b).saved()).containsExactly(1);
  }

  @Test
  void saveIsAnsweredThoughTheLenderDies() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    Attempt lent = lend(a, b);
    kill(a);
    List<Outcome<Boolean>> saves = new ArrayList<>();
    b.node().save(lent, new byte[] {1}, saves::add);
    b.finishOne();
    pass(StillFleet.DEAD_WITHIN);
    assertThat(saves).containsExactly(Outcome.ok(false));
  }

  private static byte[] bytes(int size, int seed) {
    byte[] bytes = new byte[size];
    new java.util.Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  void limitOfTheQueueHoldsForWhatIsLent() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    a.node()
        .changeFlow(
            new FlowSubject(FlowSubject.Scope.QUEUE, JobSpec.DEFAULT),
            setting -> setting.limit(2),
            outcome -> assertThat(outcome.isOk()).isTrue());
    pass(Duration.ofSeconds(2));
    List<JobRef> jobs = addDueNow(a, 6);
    pass(Duration.ofSeconds(2));
    assertThat(b.running()).hasSize(2);
    for (int done = 0; done < jobs.size(); done++) {
      assertThat(b.running()).hasSizeLessThanOrEqualTo(2);
      b.finishOne();
      pass(Duration.ofMillis(500));
    }
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
  }

  @Test
  void keyOfWhatIsLentIsHeldUntilTheHandlersOfADeadBorrowerHadTimeToStop() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    a.add(a.under(Concurrency.of("printer")));
    pass(Duration.ofSeconds(2));
    assertThat(b.running()).hasSize(1);
    StillWorld c = node("c");
    a.add(a.under(Concurrency.of("printer")));
    pass(Duration.ofSeconds(3));
    fleet.pause(b);
    pass(StillFleet.DEAD_WITHIN);
    addDueNow(a, 1);
    pass(Duration.ofSeconds(2));
    assertThat(c.running()).as("what has no key").hasSize(1);
    c.finishOne();
    pass(Duration.ofSeconds(6));
    assertThat(c.running()).as("b may run it").isEmpty();
    pass(Duration.ofSeconds(4));
    assertThat(c.running()).hasSize(1);
  }

  @Test
  void whatAnOlderHandlerCannotDecodeRunsAtHome() {
    StillWorld a = node("a", 1, true);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    List<JobRef> jobs = addDueNow(a, 8);
    pass(Duration.ofSeconds(1));
    while (!b.running().isEmpty()) {
      b.finishOne(new AttemptOutcome.Undecodable(new JobError("x", "old", "")));
    }
    finishAll(a);
    assertThat(jobs).allMatch(job -> stateOf(job) == JobState.SUCCEEDED);
  }

  @Test
  void fencedBorrowerStopsWhatItRunsForOthers() {
    StillWorld a = node("a", SLOTS, false);
    StillWorld b = node("b");
    pass(Duration.ofSeconds(3));
    addDueNow(a, 1);
    pass(HEARD_WITHIN);
    Attempt lent = only(b);
    b.hold(NodeEnvironment.Channel.HEARTBEAT);
    pass(Duration.ofMillis(2400));
    assertThat(b.isInterrupted(lent)).isTrue();
  }
}
