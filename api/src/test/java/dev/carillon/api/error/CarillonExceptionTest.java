package dev.carillon.api.error;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.CancelResult;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.Metrics;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CarillonExceptionTest {

  private static final JobId ID = new JobId("s1-7");

  @Test
  void takenNameCarriesTheJobThatHasIt() {
    var taken = new NameTakenException("report", ID);

    assertThat(taken.existing()).isEqualTo(ID);
    assertThat(taken.name()).isEqualTo("report");
    assertThat(taken)
        .hasMessage("name: \"report\" (expected: a name that no live job has; taken by job s1-7)");
  }

  @Test
  void transientFailuresAreOneFamily() {
    assertThat(new StoreUnavailableException("down")).isInstanceOf(TransientException.class);
    assertThat(new OverloadedException("busy")).isInstanceOf(TransientException.class);
    assertThat(new OutcomeUnknownException("no answer")).isNotInstanceOf(TransientException.class);
  }

  @Test
  void unknownOutcomeSaysWhatIsSafe() {
    var cause = new IllegalStateException();

    assertThat(new OutcomeUnknownException("schedule: no answer in 10 s", cause))
        .hasMessageStartingWith("schedule: no answer in 10 s")
        .hasMessageContaining("same name or idempotency key cannot duplicate")
        .hasCause(cause);
    assertThat(OutcomeUnknownException.ofRepeatable("cancel: no answer in 10 s"))
        .hasMessage(
            "cancel: no answer in 10 s"
                + " (it may or may not have been applied; asking again is safe)");
  }

  @Test
  void failedJobCarriesItsEvidence() {
    var error = new JobError("java.io.IOException", "disk is full", "");
    var failed = new JobFailedException(ID, JobState.DEAD, error, "five attempts failed");

    assertThat(failed.id()).isEqualTo(ID);
    assertThat(failed.state()).isEqualTo(JobState.DEAD);
    assertThat(failed.error()).isEqualTo(error);
    assertThat(failed)
        .hasMessage(
            "job s1-7: DEAD, five attempts failed, java.io.IOException: disk is full"
                + " (expected: SUCCEEDED)");
    assertThat(new JobFailedException(ID, JobState.EXPIRED, null, null))
        .hasMessage("job s1-7: EXPIRED (expected: SUCCEEDED)");
  }

  @Test
  void storeFailuresNameThePlace() {
    assertThat(new StoreCorruptedException("jobs.db, journal 7, byte 512", "checksum differs"))
        .hasMessage(
            "store: damaged at jobs.db, journal 7, byte 512: checksum differs"
                + " (expected: intact data)")
        .extracting(StoreCorruptedException::where)
        .isEqualTo("jobs.db, journal 7, byte 512");
    assertThat(new StoreVersionException("jobs.db", 9, 3))
        .hasMessage("store version of jobs.db: 9 (expected: at most 3; use a newer Carillon)");
    assertThat(new StoreLockedException("jobs.db")).hasMessageContaining("jobs.db is in use");
  }

  @Test
  void waitsAndMissingJobsNameTheJob() {
    assertThat(new JobTimeoutException(ID, Duration.ofSeconds(2)))
        .hasMessage("job s1-7: not ended (expected: an end within PT2S)");
    assertThat(new JobNotFoundException(ID))
        .hasMessage("job: s1-7 (expected: an existing job within its retention)");
    assertThat(new StaleAttemptException(new AttemptToken(ID, 3, 1, 42)).token().epoch())
        .isEqualTo(3);
  }

  @Test
  void handlersMayExtendNotRetryable() {
    final class CardDeclined extends NotRetryableException {
      CardDeclined() {
        super("declined");
      }
    }

    assertThat(new CardDeclined()).isInstanceOf(CarillonException.class).hasMessage("declined");
    assertThat(new NotRetryableException(new IllegalStateException("bad row")))
        .hasMessage("java.lang.IllegalStateException: bad row");
  }

  @Test
  void cancelOfAnEndedJobNamesAnEnd() {
    assertThat(new CancelResult.Ended(JobState.DEAD).outcome()).isEqualTo(JobState.DEAD);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new CancelResult.Ended(JobState.RUNNING))
        .withMessage("outcome: RUNNING (expected: an ended state)");
  }

  @Test
  void metricsGoNowhereByDefault() {
    Metrics none = Metrics.none();
    none.count("jobs", 1);
    none.time("commit", 1);
    none.gauge("pending", 1);

    assertThat(none).isSameAs(Metrics.none());
  }
}
