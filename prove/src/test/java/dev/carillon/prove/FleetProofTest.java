package dev.carillon.prove;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One of several nodes goes or stands still: no promise is broken. */
class FleetProofTest extends ShortProof {
  @ParameterizedTest
  @ValueSource(strings = {"failover", "pause"})
  void everyPromiseIsKept(String suite) throws Exception {
    isKept(suite);
  }
}
