package dev.carillon.prove;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers and their server, killed, stopped and restarted, in the short form. */
class WorkersProofTest extends ShortProof {

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void leasedAttemptsOutliveTheirServerAndLostOnesAreMadeAgain() throws Exception {
    isKept("workers");
  }
}
