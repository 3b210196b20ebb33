package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobProgress;
import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.history.PublishedValue;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.job.WorkflowTurn;
import dev.carillon.engine.job.WorkflowWait;
import dev.carillon.store.Journals.ReadPage;
import dev.carillon.store.Outcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What jobs report of themselves: when it is recorded, and what is told of it. */
@Timeout(60)
class ProgressTest extends WorkflowCase {
  private static Report progress(long done, long total, String message) {
    return new Report(done, total, message, null, false);
  }

  private static Report value(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new Report(Report.UNKNOWN, Report.UNKNOWN, null, bytes, false);
  }

  private void report(Attempt attempt, Report report) {
    world.node().report(attempt, () -> report);
    world.settle();
  }

  private JobProgress progress(JobRef of) {
    return view(of).info().progress();
  }

  /** How many entries the journal of the job's shard has. */
  private long entries() {
    Outcome<ReadPage> read = store.journals().read(job.shard(), 1, 1, 64 << 20);
    return ((Outcome.Ok<ReadPage>) read).value().entries().size();
  }

  private List<String> published() {
    List<Outcome<Optional<PublishedValue.Found>>> answers = new ArrayList<>();
    world.node().published(job, answers::add);
    world.settle();
    byte[] found =
        ((Outcome.Ok<Optional<PublishedValue.Found>>) answers.getFirst())
            .value()
            .orElseThrow()
            .value();
    return found == null ? List.of() : List.of(new String(found, StandardCharsets.UTF_8));
  }

  @Test
  void jobThatReportsNothingHasNoProgress() {
    assertThat(progress(job)).isNull();
    assertThat(published()).isEmpty();
  }

  @Test
  void firstReportIsRecordedAtOnceAndLaterOnesOnceASecond() {
    long before = entries();
    for (int i = 1; i <= 1_000; i++) {
      report(running(), progress(i, 1_000, "at " + i));
    }
    assertThat(entries() - before).isEqualTo(1);
    assertThat(progress(job).done()).isEqualTo(1);

    pass(Duration.ofSeconds(1));

    assertThat(entries() - before).isEqualTo(2);
    assertThat(progress(job).done()).isEqualTo(1_000);
    assertThat(progress(job).message()).isEqualTo("at 1000");
    pass(Duration.ofSeconds(10));
    assertThat(entries() - before).isEqualTo(2);
  }

  @Test
  void recordedProgressSurvivesACrash() {
    report(running(), progress(3, 7, "third"));

    killAndRestart();

    assertThat(progress(job).done()).isEqualTo(3);
    assertThat(progress(job).total()).isEqualTo(7);
    assertThat(progress(job).message()).isEqualTo("third");
  }

  @Test
  void lastReportIsThereWhenTheJobHasEnded() {
    report(running(), progress(1, 2, ""));
    report(running(), progress(2, 2, "done"));
    world.finishOne();

    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(progress(job).done()).isEqualTo(2);
    assertThat(progress(job).message()).isEqualTo("done");
  }

  @Test
  void progressNeverFallsAlsoInALaterAttempt() {
    report(running(), progress(5, 10, "half"));
    pass(Duration.ofSeconds(1));
    report(running(), progress(4, 10, "back"));
    assertThat(progress(job).done()).isEqualTo(5);
    assertThat(progress(job).message()).isEqualTo("back");

    world.finishOne(new AttemptOutcome.Failed(ERROR, new AttemptOutcome.Verdict.RetryAt(later(5))));
    pass(Duration.ofSeconds(5));
    report(running(), progress(1, 10, "again"));
    pass(Duration.ofSeconds(1));
    assertThat(progress(job).done()).isEqualTo(5);
    report(running(), progress(8, 10, "on"));
    pass(Duration.ofSeconds(1));

    assertThat(progress(job).done()).isEqualTo(8);
  }

  @Test
  void progressOfAnotherTotalIsComparedByItsPart() {
    report(running(), progress(5, 10, ""));
    pass(Duration.ofSeconds(1));
    report(running(), progress(9, 20, ""));
    pass(Duration.ofSeconds(1));
    assertThat(progress(job).total()).isEqualTo(10);
    report(running(), progress(11, 20, ""));
    pass(Duration.ofSeconds(1));

    assertThat(progress(job).done()).isEqualTo(11);
    assertThat(progress(job).total()).isEqualTo(20);
  }

  @Test
  void messageAloneHasNoNumbersAndLeavesThoseThatThereAre() {
    Report message = new Report(Report.UNKNOWN, Report.UNKNOWN, "looking", null, false);
    report(running(), message);
    assertThat(progress(job).done()).isNull();
    assertThat(progress(job).total()).isNull();
    assertThat(progress(job).message()).isEqualTo("looking");

    pass(Duration.ofSeconds(1));
    report(running(), progress(1, 4, "found"));
    pass(Duration.ofSeconds(1));
    report(running(), message);
    pass(Duration.ofSeconds(1));

    assertThat(progress(job).done()).isEqualTo(1);
    assertThat(progress(job).message()).isEqualTo("looking");
  }

  @Test
  void rateIsWhatWasDoneASecondSinceTheFirstNumbers() {
    report(running(), progress(10, 100, ""));
    assertThat(progress(job).perSecond()).isZero();
    pass(Duration.ofSeconds(4));
    report(running(), progress(30, 100, ""));

    assertThat(progress(job).perSecond()).isEqualTo(5);
  }

  @Test
  void watcherHearsOfIt() {
    List<JobView> told = new ArrayList<>();
    world.node().watch(job, told::add);
    report(running(), progress(1, 2, ""));

    assertThat(told).hasSize(1);
    assertThat(told.getFirst().info().progress().done()).isEqualTo(1);
  }

  @Test
  void reportWaitsForTheStoreAndLaterOnesTakeItsPlace() {
    world.hold(NodeEnvironment.Channel.COMMIT);
    report(running(), progress(1, 9, ""));
    pass(Duration.ofSeconds(3));
    report(running(), progress(2, 9, ""));
    report(running(), progress(3, 9, ""));
    assertThat(progress(job)).isNull();
    world.letGo();
    pass(Duration.ofSeconds(1));

    assertThat(progress(job).done()).isEqualTo(3);
  }

  @Test
  void attemptThatIsOverReportsNothing() {
    Attempt late = running();
    world.finishOne(new AttemptOutcome.Interrupted());
    report(late, progress(1, 2, ""));

    assertThat(progress(job)).isNull();
  }

  // ---- published values

  @Test
  void publishedValueIsReadWhileTheJobWaitsAfterACrashAndAfterItsEnd() {
    report(running(), value("one"));
    assertThat(published()).containsExactly("one");
    report(running(), value("two"));
    waitFor(WorkflowWait.until(later(600), 0, 1), begun());
    pass(Duration.ofSeconds(1));
    assertThat(published()).containsExactly("two");

    killAndRestart();
    assertThat(published()).containsExactly("two");
    pass(Duration.ofMinutes(10));
    report(running(), value("three"));
    world.finishOne();

    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(published()).containsExactly("three");
  }

  @Test
  void publishedValueCanBeTakenBack() {
    report(running(), value("one"));
    pass(Duration.ofSeconds(1));
    report(running(), new Report(Report.UNKNOWN, Report.UNKNOWN, null, null, true));
    assertThat(published()).isEmpty();

    world.finishOne();

    assertThat(published()).isEmpty();
  }

  @Test
  void sameValueIsRecordedOnce() {
    report(running(), value("one"));
    pass(Duration.ofSeconds(1));
    long before = entries();
    report(running(), value("one"));
    pass(Duration.ofSeconds(2));

    assertThat(entries()).isEqualTo(before);
  }

  @Test
  void newBeginningKeepsThePublishedValueAndForgetsTheProgress() {
    checkpoint(running(), begun());
    report(running(), value("one").then(progress(5, 5, "round 1")));
    world.finishOne(new AttemptOutcome.Renewed(NOTHING, 1, List.of(), 1));

    assertThat(progress(job)).isNull();
    assertThat(published()).containsExactly("one");
    report(running(), progress(1, 5, "round 2"));
    pass(Duration.ofSeconds(1));
    assertThat(progress(job).done()).isEqualTo(1);
  }

  // ---- children

  @Test
  void progressOfAWorkflowThatReportsNoneIsThatOfItsChildren() {
    List<Attempt> children = startTwoChildren();
    report(children.get(0), progress(2, 10, ""));
    report(children.get(1), progress(1, 5, ""));
    pass(Duration.ofSeconds(2));

    assertThat(progress(job).done()).isEqualTo(3);
    assertThat(progress(job).total()).isEqualTo(15);

    world.finishOne();
    pass(Duration.ofSeconds(2));
    assertThat(progress(job).done()).isEqualTo(11);
    assertThat(progress(job).total()).isEqualTo(15);
  }

  private List<Attempt> startTwoChildren() {
    List<WorkflowTurn.ChildStart> starts =
        List.of(
            new WorkflowTurn.ChildStart(1, world.spec(world.nowMicros(), 0, 0, new byte[1])),
            new WorkflowTurn.ChildStart(2, world.spec(world.nowMicros(), 0, 0, new byte[1])));
    world.finishOne(
        new AttemptOutcome.Waiting(
            new WorkflowTurn(List.of(begun()), starts),
            new WorkflowWait(WorkflowWait.FOR_EVER, true, List.of(), List.of(1, 2), 0, 3)));
    return List.copyOf(world.running());
  }
}
