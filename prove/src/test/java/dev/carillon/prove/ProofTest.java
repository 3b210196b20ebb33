package dev.carillon.prove;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Its process or its server is killed: no promise is broken. */
class ProofTest extends ShortProof {
  @ParameterizedTest
  @ValueSource(strings = {"kill", "restart"})
  void everyPromiseIsKept(String suite) throws Exception {
    isKept(suite);
  }
}
