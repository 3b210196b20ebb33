package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.Dependency;
import dev.carillon.api.JobError;
import dev.carillon.api.JobState;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.After;
import dev.carillon.engine.job.Debt;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Lease;
import dev.carillon.engine.job.OptionalSpec;
import dev.carillon.engine.job.Ran;
import dev.carillon.engine.job.Why;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShardFoldTest {
  private static final Ran RAN = new Ran(5, "elsewhere");
  private static final JobError ERROR = new JobError("e", "m", "s");
  private static final long JOB = JobRef.number(1, 1);

  private final List<String> ended = new ArrayList<>();
  private final ShardFold<FoldedJob> fold =
      new ShardFold<>(FoldedJob::new, (job, end) -> ended.add(job.number + " " + end.state()));

  private ShardFold.Answer apply(Kind kind, OperationBody body) {
    return fold.apply(Frame.of(kind, JOB, body.encode()));
  }

  private void add() {
    JobSpec spec = new RandomOperations(1).spec();
    assertThat(fold.apply(Frame.of(Kind.ADD, JOB, spec.encode())))
        .isEqualTo(ShardFold.Answer.APPLIED);
  }

  private static OperationBody.End end(int attempt, int revision) {
    return new OperationBody.End(
        JobState.SUCCEEDED, attempt, revision, 10, RAN, null, null, new byte[] {1});
  }

  private static OperationBody.Retry retry(int attempt, int revision) {
    return new OperationBody.Retry(attempt, revision, 10, RAN, 99, 0, ERROR);
  }

  @Test
  void snapshotAndTailEqualTheFullJournalAtEveryCut() {
    for (long seed = 0; seed < 300; seed++) {
      List<Frame> all = new RandomOperations(seed).take(60);
      FoldState whole = FoldState.of(FoldState.fold(all));
      for (int cut = 0; cut <= all.size(); cut += 7) {
        List<Frame> compacted =
            new ArrayList<>(FoldState.snapshot(FoldState.fold(all.subList(0, cut))));
        compacted.addAll(all.subList(cut, all.size()));
        // A job that ended before the cut may be added again by the random tail in both.
        assertThat(FoldState.of(FoldState.fold(compacted)))
            .as("seed %d, cut %d", seed, cut)
            .isEqualTo(whole);
      }
    }
  }

  @Test
  void foldingDoesNotDependOnHowTheOperationsWereCutIntoEntries() {
    for (long seed = 0; seed < 200; seed++) {
      List<Frame> all = new RandomOperations(seed).take(50);
      List<Frame> reread = new ArrayList<>();
      for (int i = 0; i < all.size(); i += 3) {
        byte[] entry = Frame.encode(all.subList(i, Math.min(all.size(), i + 3)));
        reread.addAll(Frame.decode(entry));
      }
      assertThat(FoldState.of(FoldState.fold(reread)))
          .as("seed %d", seed)
          .isEqualTo(FoldState.of(FoldState.fold(all)));
    }
  }

  private static OperationBody.Cancel cancelled() {
    return new OperationBody.Cancel(1, new Why("who", "why"), OperationBody.Cancel.Demand.STOP);
  }

  @Test
  void anOperationOnAJobThatNeverWasChangesNothing() {
    assertThat(apply(Kind.CANCEL, cancelled())).isEqualTo(ShardFold.Answer.NO_SUCH_JOB);
    assertThat(apply(Kind.END, end(1, 0))).isEqualTo(ShardFold.Answer.NO_SUCH_JOB);
    assertThat(fold.live().size()).isZero();
    assertThat(ended).isEmpty();
  }

  @Test
  void aJobEndsOnce() {
    add();
    assertThat(apply(Kind.END, end(1, 0))).isEqualTo(ShardFold.Answer.APPLIED);
    assertThat(apply(Kind.END, end(1, 0))).isEqualTo(ShardFold.Answer.NO_SUCH_JOB);
    assertThat(ended).containsExactly(JOB + " SUCCEEDED");
  }

  @Test
  void addingANumberTwiceKeepsTheFirst() {
    add();
    FoldState before = FoldState.of(fold);
    assertThat(fold.apply(Frame.of(Kind.ADD, JOB, new RandomOperations(2).spec().encode())))
        .isEqualTo(ShardFold.Answer.DUPLICATE);
    assertThat(FoldState.of(fold)).isEqualTo(before);
  }

  @Test
  void anOutcomeOfAnEarlierAttemptIsStale() {
    add();
    assertThat(apply(Kind.RETRY, retry(1, 0))).isEqualTo(ShardFold.Answer.APPLIED);
    assertThat(apply(Kind.END, end(1, 0))).isEqualTo(ShardFold.Answer.STALE);
    assertThat(apply(Kind.RETRY, retry(1, 0))).isEqualTo(ShardFold.Answer.STALE);
    assertThat(apply(Kind.SAVE, new OperationBody.Save(1, 0, 1, new byte[0])))
        .isEqualTo(ShardFold.Answer.STALE);
    assertThat(apply(Kind.END, end(2, 0))).isEqualTo(ShardFold.Answer.APPLIED);
  }

  @Test
  void anOutcomeFromBeforeAReplaceIsStale() {
    add();
    OperationBody.Replace replace =
        new OperationBody.Replace(5, "who", new RandomOperations(3).spec().encode());
    assertThat(apply(Kind.REPLACE, replace)).isEqualTo(ShardFold.Answer.APPLIED);
    assertThat(apply(Kind.END, end(1, 0))).isEqualTo(ShardFold.Answer.STALE);
    assertThat(apply(Kind.END, end(1, 1))).isEqualTo(ShardFold.Answer.APPLIED);
  }

  @Test
  void startsThatNoEndFollowedAreCountedAndAnEndedAttemptClearsThem() {
    add();
    apply(Kind.START, new OperationBody.Start(1, 0, 1, 7, false));
    apply(Kind.START, new OperationBody.Start(1, 0, 2, 8, true));
    FoldedJob job = fold.job(JOB);
    assertThat(job).isNotNull();
    assertThat(job.rare().markers).isEqualTo(2);
    assertThat(job.rare().alone).isTrue();
    apply(Kind.RETRY, retry(1, 0));
    assertThat(job.rare().markers).isZero();
    assertThat(job.rare().alone).isFalse();
  }

  @Test
  void aLeaseIsOfTheCurrentAttemptAndGoesWithItsOutcome() {
    add();
    assertThat(lease(2, 0, 5, 20)).isEqualTo(ShardFold.Answer.STALE);
    assertThat(lease(1, 1, 5, 20)).isEqualTo(ShardFold.Answer.STALE);
    assertThat(lease(1, 0, 5, 20)).isEqualTo(ShardFold.Answer.APPLIED);
    FoldedJob job = fold.job(JOB);
    assertThat(job).isNotNull();
    assertThat(job.lease()).isEqualTo(new Lease(5, 3, "w1", 90, 20));
    apply(Kind.RETRY, retry(1, 0));
    assertThat(job.lease()).isNull();
    assertThat(lease(1, 0, 5, 20)).as("after its outcome").isEqualTo(ShardFold.Answer.STALE);
    apply(Kind.END, end(2, 0));
    assertThat(lease(2, 0, 6, 20)).isEqualTo(ShardFold.Answer.NO_SUCH_JOB);
  }

  @Test
  void onlyTheAttemptThatHasTheLeaseGivesItBack() {
    add();
    lease(1, 0, 5, 20);
    FoldedJob job = fold.job(JOB);
    assertThat(job).isNotNull();
    lease(1, 0, 4, 0);
    assertThat(job.lease()).as("another had it").isNotNull();
    lease(1, 0, 5, 0);
    assertThat(job.lease()).isNull();
    assertThat(job.attempts).as("as if not made").isZero();
  }

  @Test
  void aLeaseClearsStartMarkersForAWorkerDoesNotKillItsServer() {
    add();
    apply(Kind.START, new OperationBody.Start(1, 0, 1, 7, false));
    apply(Kind.START, new OperationBody.Start(1, 0, 2, 8, true));
    lease(1, 0, 5, 20);
    FoldedJob job = fold.job(JOB);
    assertThat(job).isNotNull();
    assertThat(job.rare().markers).isZero();
    assertThat(job.rare().alone).isFalse();
  }

  @Test
  void lostWorkersAreCountedInARow() {
    add();
    FoldedJob job = fold.job(JOB);
    assertThat(job).isNotNull();
    for (int lost = 1; lost <= 2; lost++) {
      lease(lost, 0, lost, 20);
      apply(Kind.RETRY, lost(lost));
      assertThat(job.workersLost()).isEqualTo(lost);
    }
    apply(Kind.RETRY, retry(3, 0));
    assertThat(job.workersLost()).as("another failure between them").isZero();
  }

  private ShardFold.Answer lease(int attempt, int revision, long nonce, long length) {
    Lease lease = new Lease(nonce, 3, "w1", 90, length);
    byte[] body = new Lease.Recorded(attempt, revision, 100, lease).encode();
    return fold.apply(Frame.of(Kind.LEASE, JOB, body));
  }

  private static OperationBody.Retry lost(int attempt) {
    JobError error = new JobError(Lease.WORKER_LOST, "w1", "", "w1");
    return new OperationBody.Retry(attempt, 0, 10, retry(attempt, 0).ran(), 20, 0, error);
  }

  @Test
  void countsEveryJobEverAdded() {
    add();
    apply(Kind.END, end(1, 0));
    assertThat(fold.added()).isEqualTo(1);
    assertThat(fold.addedBytes()).isPositive();
    assertThat(fold.lastEndMicros()).isEqualTo(10);
  }

  // ---- dependencies

  private static final JobRef OTHER = new JobRef(new ShardId(7, 9, 1), JobRef.number(1, 5));
  private static final JobRef THIRD = new JobRef(new ShardId(7, 9, 1), JobRef.number(1, 6));

  private void addAfter(Dependency.Condition condition, JobRef... jobs) {
    List<After> after = Arrays.stream(jobs).map(job -> new After(job, condition)).toList();
    JobSpec spec =
        new RandomOperations(1).spec().withMore(OptionalSpec.NONE.with(after, List.of()));
    fold.apply(Frame.of(Kind.ADD, JOB, spec.encode()));
  }

  @Test
  void theEndOfAJobIsOwedToThoseThatWaitUntilTheyAreTold() {
    JobSpec spec =
        new RandomOperations(1).spec().withMore(OptionalSpec.NONE.with(List.of(), List.of(OTHER)));
    fold.apply(Frame.of(Kind.ADD, JOB, spec.encode()));
    apply(Kind.WAITER, new OperationBody.Waiter(1, THIRD));
    apply(Kind.WAITER, new OperationBody.Waiter(2, THIRD));
    apply(
        Kind.REPLACE, new OperationBody.Replace(5, "who", new RandomOperations(3).spec().encode()));
    assertThat(fold.debts()).isEmpty();
    apply(Kind.END, OperationBody.End.without(JobState.DEAD, 9, ""));
    assertThat(fold.debts())
        .extracting(Debt::waiter)
        .contains(OTHER, THIRD)
        .doesNotHaveDuplicates();
    assertThat(fold.debts()).extracting(Debt::state).containsOnly(JobState.DEAD);
    int owed = fold.debts().size();
    assertThat(apply(Kind.TOLD, new OperationBody.Waiter(10, OTHER)))
        .isEqualTo(ShardFold.Answer.APPLIED);
    assertThat(apply(Kind.TOLD, new OperationBody.Waiter(11, OTHER)))
        .isEqualTo(ShardFold.Answer.NO_SUCH_JOB);
    assertThat(fold.debts()).hasSize(owed - 1);
  }

  @Test
  void newsOfAnEndCountOnceAndOnlyFromThoseThatAreWaitedFor() {
    addAfter(Dependency.Condition.SUCCEEDED, OTHER, THIRD);
    FoldedJob job = fold.job(JOB);
    assertThat(job.isDependent()).isTrue();
    JobRef stranger = new JobRef(OTHER.shard(), 99);
    assertThat(apply(Kind.MET, new OperationBody.Met(1, stranger, JobState.SUCCEEDED)))
        .isEqualTo(ShardFold.Answer.STALE);
    assertThat(apply(Kind.MET, new OperationBody.Met(1, OTHER, JobState.SUCCEEDED)))
        .isEqualTo(ShardFold.Answer.APPLIED);
    assertThat(apply(Kind.MET, new OperationBody.Met(2, OTHER, JobState.FAILED)))
        .isEqualTo(ShardFold.Answer.STALE);
    assertThat(job.isDependent()).isTrue();
    assertThat(job.awaited().broken()).isNull();
    assertThat(apply(Kind.MET, new OperationBody.Met(3, THIRD, null)))
        .isEqualTo(ShardFold.Answer.APPLIED);
    assertThat(job.isDependent()).isFalse();
    assertThat(job.awaited().broken()).contains("no longer in the store (expected: SUCCEEDED)");
  }
}
