package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What may have been committed is never called undone. */
class FailureTest {

  @ParameterizedTest
  @CsvSource({
    "40001, CONTENTION, true",
    "40P01, CONTENTION, true",
    "40003, LOST, false",
    "42P01, NO_TABLE, true",
    "22012, UNDONE, true",
    "53100, FULL, true",
    "23505, REFUSED, true",
    "25006, REFUSED, true",
    "25P03, REFUSED, true",
    "57014, TIMEOUT, false",
    "57P01, LOST, false",
    "57P02, LOST, false",
    "08006, LOST, false",
    "58030, LOST, false",
    "XX000, LOST, false",
    "XX001, CORRUPT, false",
    "99999, LOST, false",
    "bad, LOST, false",
    ", LOST, false"
  })
  void aStateSaysWhetherATransactionIsUndone(String state, Failure failure, boolean definite) {
    assertThat(Failure.of(new SQLException("said", state))).isEqualTo(failure);
    assertThat(failure.isDefinite()).isEqualTo(definite);
  }
}
