package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.carillon.api.error.InvalidArgumentException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobInfoTest {

  private static final Instant NOON = Instant.parse("2026-03-29T12:00:00Z");
  private static final JobId ID = new JobId("s1-7");

  @Test
  void blockReasonGoesWithBlocked() {
    assertThat(info(JobState.BLOCKED, BlockReason.NO_HANDLER, null).blockReason())
        .isEqualTo(BlockReason.NO_HANDLER);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> info(JobState.BLOCKED, null, null))
        .withMessage("blockReason: null (expected: a reason exactly if BLOCKED, is BLOCKED)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> info(JobState.READY, BlockReason.LIMIT, null));
  }

  @Test
  void endTimeGoesWithAnEnd() {
    assertThat(info(JobState.DEAD, null, NOON).endedAt()).isEqualTo(NOON);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> info(JobState.SUCCEEDED, null, null))
        .withMessage("endedAt: null (expected: a time exactly if ended, is SUCCEEDED)");
    assertThatIllegalArgumentException().isThrownBy(() -> info(JobState.RUNNING, null, NOON));
  }

  @Test
  void metadataAndEventsAreCopied() {
    var metadata = new HashMap<>(Map.of("b", "2", "a", "1"));
    JobInfo info = info(JobState.READY, null, null, metadata);
    var events =
        new ArrayList<>(
            List.of(new JobEvent(NOON, JobEvent.Kind.SCHEDULED, 0, "", null, null, null, null)));
    var history = new JobHistory(info, events, null);
    metadata.clear();
    events.clear();

    assertThat(info.metadata()).containsExactly(Map.entry("a", "1"), Map.entry("b", "2"));
    assertThat(history.events()).hasSize(1);
  }

  @Test
  void attemptsAreNotNegative() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new JobEvent(NOON, JobEvent.Kind.STARTED, -1, "", null, null, null, null))
        .withMessage("attempt: -1 (expected: at least 0)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new AttemptToken(ID, 0, 0, 0))
        .withMessage("attempt: 0 (expected: at least 1)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new AttemptToken(ID, -1, 1, 0))
        .withMessage("epoch: -1 (expected: at least 0)");
  }

  @Test
  void idsAreShortVisibleText() {
    assertThat(new JobId("x".repeat(1_200)).value()).hasSize(1_200);
    assertThat(ID).hasToString("s1-7");
    assertThatExceptionOfType(InvalidArgumentException.class).isThrownBy(() -> new JobId(" "));
    assertThatExceptionOfType(InvalidArgumentException.class)
        .isThrownBy(() -> new JobId("x".repeat(1_201)));
  }

  private static JobInfo info(JobState state, BlockReason blocked, Instant ended) {
    return info(state, blocked, ended, Map.of());
  }

  private static JobInfo info(
      JobState state, BlockReason blocked, Instant ended, Map<String, String> metadata) {
    return new JobInfo(
        ID, "send", 1, "default", "default", 0, null, null, metadata, state, blocked, NOON, NOON, 1,
        null, ended, null, null, null, null, null, false, null, null, List.of(), null);
  }
}
