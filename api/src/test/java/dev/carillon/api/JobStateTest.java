package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class JobStateTest {

  /** Codes are on disk: a change here is a change of the format. */
  @Test
  void codesAreStable() {
    assertThat(
            Arrays.stream(JobState.values())
                .map(s -> s + "=" + s.code())
                .collect(Collectors.joining(" ")))
        .isEqualTo(
            "SCHEDULED=1 READY=2 RUNNING=3 WAITING=4 PAUSED=5 BLOCKED=6 SUCCEEDED=7 FAILED=8"
                + " CANCELLED=9 EXPIRED=10 DEAD=11");
    assertThat(
            Arrays.stream(BlockReason.values())
                .map(s -> s + "=" + s.code())
                .collect(Collectors.joining(" ")))
        .isEqualTo("NO_HANDLER=1 UNDECODABLE=2 DIVERGED=3 LIMIT=4 DEPENDENCY=5");
  }

  @ParameterizedTest
  @EnumSource
  void codeLeadsBackToTheState(JobState state) {
    assertThat(JobState.ofCode(state.code())).isEqualTo(state);
  }

  @ParameterizedTest
  @EnumSource
  void codeLeadsBackToTheReason(BlockReason reason) {
    assertThat(BlockReason.ofCode(reason.code())).isEqualTo(reason);
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 12, 256})
  void unknownCodesAreRefused(int code) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JobState.ofCode(code))
        .withMessage("job state code: " + code + " (expected: 1 to 11)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> BlockReason.ofCode(code))
        .withMessage("block reason code: " + code + " (expected: 1 to 5)");
  }

  @Test
  void fiveStatesAreEnds() {
    assertThat(Arrays.stream(JobState.values()).filter(JobState::ended))
        .containsExactlyElementsOf(EnumSet.range(JobState.SUCCEEDED, JobState.DEAD));
  }
}
