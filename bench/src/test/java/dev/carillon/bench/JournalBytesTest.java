package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobState;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.Ran;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the benchmarks write without an engine is what an engine reads. */
class JournalBytesTest {
  private static final long JOB = 7;
  private static final long STARTED = 1_700_000_000_000_000L;

  private final JournalBytes bytes = new JournalBytes();

  private Frame only() {
    List<Frame> frames = Frame.decode(bytes.entry());
    assertThat(frames).hasSize(1);
    assertThat(frames.getFirst().job()).isEqualTo(JOB);
    return frames.getFirst();
  }

  @Test
  void engineReadsAnAdd() {
    bytes.add(JOB, "order-1", STARTED, new byte[] {1, 2, 3});

    Frame add = only();

    assertThat(add.kind()).isEqualTo(Kind.ADD);
    JobSpec spec = JobSpec.decode(add.body());
    assertThat(spec.type()).isEqualTo("order-1");
    assertThat(spec.dueMicros()).isEqualTo(STARTED);
    assertThat(spec.payload()).containsExactly(1, 2, 3);
  }

  @Test
  void engineReadsAnEndWithTheStartOfItsAttempt() {
    bytes.end(JOB, JobState.DEAD.code(), STARTED, STARTED + 1_000);
    endsAs(JobState.DEAD, STARTED, STARTED + 1_000);
  }

  @Test
  void engineReadsAnEndWhoseClockWentBack() {
    bytes.end(JOB, JobState.SUCCEEDED.code(), STARTED, STARTED - 1_000_000);
    endsAs(JobState.SUCCEEDED, STARTED, STARTED - 1_000_000);
  }

  @Test
  void engineReadsAnEndOfAnAttemptThatTookLong() {
    bytes.end(JOB, JobState.SUCCEEDED.code(), 0, Long.MAX_VALUE);
    endsAs(JobState.SUCCEEDED, 0, Long.MAX_VALUE);
  }

  private void endsAs(JobState state, long started, long ended) {
    Frame end = only();
    assertThat(end.kind()).isEqualTo(Kind.END);
    OperationBody.End read = OperationBody.End.decode(end.reader());
    assertThat(read.state()).isEqualTo(state);
    assertThat(read.attempt()).isEqualTo(1);
    assertThat(read.at()).isEqualTo(ended);
    assertThat(read.ran()).isEqualTo(new Ran(started, ""));
    assertThat(read.error()).isNull();
    assertThat(read.reason()).isNull();
    assertThat(read.by()).isNull();
    assertThat(read.result()).isEmpty();
  }
}
