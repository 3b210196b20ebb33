package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.api.error.BatchTooLargeException;
import dev.carillon.api.error.InvalidJobException;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class LimitsTest {

  @Test
  void whatFitsIsReturned() {
    assertThat(Limits.checkType("t")).isEqualTo("t");
    assertThat(Limits.checkReason("")).isEmpty();
    assertThat(Limits.checkReason("two\nlines")).isEqualTo("two\nlines");
    assertThat(Limits.checkDue(Instant.EPOCH)).isEqualTo(Instant.EPOCH);
    assertThat(Limits.checkPayload(1_048_576)).isEqualTo(1_048_576);
    assertThat(Limits.checkBatch(10_000)).isEqualTo(10_000);
  }

  @Test
  void tooLargePayloadIsRefusedWithTheLimit() {
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> Limits.checkPayload(1_048_577))
        .withMessage("payload bytes: 1048577 (expected: 0 to 1048576)");
  }

  @Test
  void tooLargeBatchIsRefusedWithTheLimit() {
    assertThatExceptionOfType(BatchTooLargeException.class)
        .isThrownBy(() -> Limits.checkBatch(10_001))
        .withMessage("jobs in one batch: 10001 (expected: at most 10000)")
        .satisfies(
            e -> {
              assertThat(e.size()).isEqualTo(10_001);
              assertThat(e.limit()).isEqualTo(10_000);
            });
  }

  @Test
  void tooLongReasonIsRefused() {
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> Limits.checkReason("r".repeat(1_025)))
        .withMessageContaining("(expected: at most 1024 UTF-8 bytes, is 1025)");
  }
}
