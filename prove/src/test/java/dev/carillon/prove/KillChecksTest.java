package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.prove.Note.Answer;
import dev.carillon.prove.Note.Behaviour;
import dev.carillon.prove.Note.Way;
import dev.carillon.prove.StoreContents.Found;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A checker that never fails proves nothing: each promise is broken once here. */
class KillChecksTest {
  private static final long T = 1_000_000_000_000L;

  private final Ledger ledger = new Ledger();
  private final List<Found> store = new ArrayList<>();

  @Test
  void aGoodRunBreaksNothing() {
    ran("a", 1);
    assertThat(broken()).isEmpty();
  }

  @Test
  void aLostJobIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    acknowledge("a", true);
    assertThat(broken()).contains("every acknowledged job is there and ended as it may");
  }

  @Test
  void aJobThatNeverEndsIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    found("a", JobState.SCHEDULED, null, null, 0);
    assertThat(broken()).contains("nothing is left that has not ended, acknowledged or not");
  }

  @Test
  void aCancelNobodyAskedForIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    acknowledge("a", true);
    found("a", JobState.CANCELLED, null, null, T);
    assertThat(broken()).contains("every acknowledged job is there and ended as it may");
  }

  @Test
  void aSecondJobUnderATakenNameIsSeen() {
    request("a", Way.KEPT, Behaviour.QUICK, "n", "-");
    found("b", JobState.SUCCEEDED, "n", null, T);
    ledger.tell(1, new Note.Acknowledged("a", "jb", false, T));
    found("a", JobState.SUCCEEDED, "n", null, T);
    assertThat(broken()).contains("an answer with another's job made none of its own");
  }

  @Test
  void aRefusedJobThatRunsIsSeen() {
    request("a", Way.NAMED, Behaviour.QUICK, "n", "-");
    ledger.tell(1, new Note.Refused("a", false, "taken"));
    start("a", 1, 1, T);
    assertThat(broken()).contains("a refused job is not there and never ran");
  }

  @Test
  void aPhantomIsSeen() {
    found("x", JobState.SUCCEEDED, null, null, T);
    assertThat(broken()).contains("nothing is there or ran that was not requested, and once only");
  }

  @Test
  void aJobOfOneRequestThatIsThereTwiceIsSeen() {
    ran("a", 1);
    store.add(job("other", "a", JobState.SUCCEEDED, null, null, T));
    assertThat(broken()).contains("nothing is there or ran that was not requested, and once only");
  }

  @Test
  void anEarlyStartIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    start("a", 1, 1, T - 1);
    found("a", JobState.SUCCEEDED, null, null, T);
    assertThat(broken()).contains("no attempt started before its time");
  }

  @Test
  void aRepeatedAttemptWithoutACrashIsSeen() {
    ran("a", 1);
    start("a", 1, 1, T);
    assertThat(broken())
        .contains("attempts ≤ 1 + crashes between start and durable end + own retries");
  }

  @Test
  void aRepeatedAttemptAfterACrashIsFine() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    acknowledge("a", true);
    start("a", 1, 1, T);
    ledger.killed(1);
    start("a", 2, 1, T);
    ledger.tell(2, new Note.Finished("a", true));
    found("a", JobState.SUCCEEDED, null, null, Long.MAX_VALUE / 2_000);
    assertThat(broken()).isEmpty();
  }

  @Test
  void anAttemptThatIsRepeatedBecauseTheStoreWasAwayIsFine() {
    ran("a", 1);
    start("a", 1, 1, T + 15);
    ledger.disturbed(Ledger.Blow.OUTAGE, 1, T + 5, T + 15);
    assertThat(broken()).isEmpty();
  }

  @Test
  void anAttemptThatIsRepeatedLongAfterTheStoreWasAwayIsSeen() {
    ran("a", 1);
    start("a", 1, 1, T + 15);
    ledger.disturbed(Ledger.Blow.OUTAGE, 1, T - 10, T - 5);
    assertThat(broken())
        .contains("attempts ≤ 1 + crashes between start and durable end + own retries");
  }

  @Test
  void anAttemptOfANodeThatStoodStillIsCountedAsLate() {
    ran("a", 1);
    ledger.disturbed(Ledger.Blow.PAUSE, 2, T - 10, T + 30);
    start("a", 2, 1, T + 31);
    assertThat(broken()).isEmpty();
    Ledger.Line line = ledger.lines().iterator().next();
    assertThat(ledger.isLate(line, line.starts.getLast())).isTrue();
    assertThat(ledger.isLate(line, line.starts.getFirst())).isFalse();
  }

  @Test
  void aJobThatStartsAtATimeItWasMovedToIsFine() {
    ledger.tell(1, new Note.Moved("a", T));
    ledger.tell(1, new Note.Requested("a", Way.PLAIN, Behaviour.QUICK, T * 2, "-", "-"));
    acknowledge("a", true);
    start("a", 1, 1, T);
    ledger.tell(1, new Note.Finished("a", true));
    found("a", JobState.SUCCEEDED, null, null, T + 10);
    assertThat(broken()).isEmpty();
  }

  @Test
  void anEndThatIsToldTwiceIsSeen() {
    ran("a", 1);
    ledger.tell(2, new Note.Ended("a", "SUCCEEDED", T + 25));
    assertThat(broken()).contains("nothing is there or ran that was not requested, and once only");
  }

  @Test
  void anAttemptAfterTheToldEndIsSeen() {
    ran("a", 1);
    ledger.killed(1);
    start("a", 2, 1, T + 30);
    assertThat(broken()).contains("no attempt started after the durable end");
  }

  @Test
  void anAttemptAfterTheWrittenEndIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    start("a", 1, 1, T);
    ledger.tell(1, new Note.Finished("a", true));
    ledger.killed(1);
    found("a", JobState.SUCCEEDED, null, null, T);
    start("a", 2, 1, Long.MAX_VALUE);
    assertThat(broken()).contains("no attempt started after the durable end");
  }

  @Test
  void anEndWithTheTimeOfItsTurnIsFineThoughAnotherNodeFellInThatTurn() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    start("a", 1, 1, T + 10);
    ledger.tell(1, new Note.Finished("a", true));
    ledger.tell(1, new Note.Ended("a", "SUCCEEDED", T + 20));
    found("a", JobState.SUCCEEDED, null, null, T);
    ledger.disturbed(Ledger.Blow.OUTAGE, 2, T + 5, T + 50);
    assertThat(broken()).isEmpty();
  }

  @Test
  void aSuccessWithoutWorkIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    found("a", JobState.SUCCEEDED, null, null, T);
    assertThat(broken()).contains("a job that succeeded had run to its end");
  }

  @Test
  void twoLiveJobsOfOneNameAreSeen() {
    for (String request : List.of("a", "b")) {
      request(request, Way.NAMED, Behaviour.QUICK, "n", "-");
      acknowledge(request, true);
      start(request, 1, 1, T);
      ledger.tell(1, new Note.Finished(request, true));
      found(request, JobState.SUCCEEDED, "n", null, T + 10);
    }
    assertThat(broken()).containsExactly("no two live jobs had the same name");
  }

  @Test
  void twoJobsOfOneKeyAreSeen() {
    for (String request : List.of("a", "b")) {
      request(request, Way.KEYED, Behaviour.QUICK, "k", "-");
      acknowledge(request, true);
      start(request, 1, 1, T);
      ledger.tell(1, new Note.Finished(request, true));
      found(request, JobState.SUCCEEDED, null, "k", T + 10);
    }
    assertThat(broken())
        .containsExactly("one job for each idempotency key, and every answer names it");
  }

  @Test
  void halfABatchIsSeen() {
    request("a", Way.BATCH, Behaviour.QUICK, "-", "b1");
    request("b", Way.BATCH, Behaviour.QUICK, "-", "b1");
    found("a", JobState.SUCCEEDED, null, null, T);
    assertThat(broken()).contains("of a batch all jobs are there or none");
  }

  @Test
  void aCancelledJobThatStartsIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    acknowledge("a", true);
    cancel("a", Answer.CANCELLED);
    start("a", 1, 1, T + 6);
    found("a", JobState.CANCELLED, null, null, T);
    assertThat(broken())
        .containsExactly("a cancel came out as it was answered; cancelled jobs never start");
  }

  @Test
  void aCancelledJobThatSucceedsIsSeen() {
    ran("a", 1);
    cancel("a", Answer.CANCELLED);
    assertThat(broken())
        .containsExactly("a cancel came out as it was answered; cancelled jobs never start");
  }

  @Test
  void anAcknowledgedJobThatCannotBeFoundToCancelIsSeen() {
    ran("a", 1);
    cancel("a", Answer.NOT_FOUND);
    assertThat(broken())
        .containsExactly("a cancel came out as it was answered; cancelled jobs never start");
  }

  @Test
  void anInnocentDeadLetterIsSeen() {
    request("a", Way.PLAIN, Behaviour.QUICK, "-", "-");
    found("a", JobState.DEAD, null, null, T);
    assertThat(broken()).containsExactly("dead letters are those designed to die");
  }

  private List<String> broken() {
    return new KillChecks(ledger, StoreContents.of(store))
        .all().stream().filter(check -> !check.holds()).map(Check::promise).toList();
  }

  /** A job that went well. */
  private void ran(String request, int incarnation) {
    request(request, Way.PLAIN, Behaviour.QUICK, "-", "-");
    acknowledge(request, true);
    start(request, incarnation, 1, T);
    ledger.tell(incarnation, new Note.Finished(request, true));
    ledger.tell(incarnation, new Note.Ended(request, "SUCCEEDED", T + 20));
    found(request, JobState.SUCCEEDED, null, null, T + 10);
  }

  private void request(String request, Way way, Behaviour behaviour, String unique, String batch) {
    ledger.tell(1, new Note.Requested(request, way, behaviour, T, unique, batch));
  }

  private void acknowledge(String request, boolean created) {
    ledger.tell(1, new Note.Acknowledged(request, "j" + request, created, T + 1));
  }

  private void start(String request, int incarnation, int attempt, long atMicros) {
    ledger.tell(incarnation, new Note.Started(request, "j" + request, attempt, T, atMicros));
  }

  private void cancel(String request, Answer answer) {
    ledger.tell(1, new Note.CancelAsked("j" + request));
    ledger.tell(1, new Note.CancelAnswered("j" + request, answer, "", T + 5));
  }

  private void found(String request, JobState state, String name, String key, long endMicros) {
    store.add(job("j" + request, request, state, name, key, endMicros));
  }

  private static Found job(
      String id, String request, JobState state, String name, String key, long endMicros) {
    Instant at = Instant.ofEpochSecond(T / 1_000_000);
    JobInfo info =
        new JobInfo(
            new JobId(id),
            "work",
            1,
            "default",
            "default",
            0,
            name,
            key,
            Map.of(Work.REQUEST, request),
            state,
            null,
            at,
            at,
            1,
            null,
            state.ended()
                ? Instant.ofEpochSecond(endMicros / 1_000_000, endMicros % 1_000_000 * 1000)
                : null,
            null,
            null,
            null,
            null,
            null,
            false,
            null,
            null,
            List.of(),
            null);
    return new Found(info, List.<JobEvent>of());
  }
}
