package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server that is killed under requests, in the short form, and that its checks bite. */
class ApiProofTest {
  private static final JsonMapper JSON = new JsonMapper();

  @TempDir Path folder;

  @Test
  void everyPromiseIsKept() throws Exception {
    ApiSuite suite = new ApiSuite(KillSuite.Kind.SQLITE);
    long seed = System.nanoTime() & 0xFFFF_FFFFL;
    Proof proof = suite.run(new Suite.Stage(folder, folder, 2, seed, true, System.out::println));
    assertThat(proof.problems()).as("seed %s", seed).isEmpty();
    for (Check check : proof.checks()) {
      assertThat(check.examples()).as("%s (seed %s)", check.promise(), seed).isEmpty();
      assertThat(check.cases()).as("%s (seed %s)", check.promise(), seed).isPositive();
    }
    assertThat(proof.figures().get("webhooks delivered")).isPositive();
  }

  private static JsonNode job(String id, String key, String state) {
    return JSON.readTree(
        "{\"id\": \"%s\", \"key\": \"%s\", \"state\": \"%s\"}".formatted(id, key, state));
  }

  private static List<String> broken(ApiLedger ledger, JsonNode... jobs) {
    return ledger.checks(List.of(jobs)).stream()
        .filter(check -> !check.holds())
        .map(Check::promise)
        .toList();
  }

  @Test
  void lostDoubledAndUncancelledJobsAreNoticed() {
    ApiLedger ledger = new ApiLedger();
    ledger.launched();
    ledger.asks("a", 0, false);
    ledger.acknowledged("a", "1", 2);
    assertThat(broken(ledger, job("1", "a", "SCHEDULED"))).isEmpty();
    assertThat(broken(ledger)).hasSize(2).first().asString().contains("is there under its id");
    assertThat(broken(ledger, job("1", "a", "SCHEDULED"), job("2", "a", "SCHEDULED")))
        .singleElement()
        .asString()
        .contains("one job for each key");
    assertThat(broken(ledger, job("1", "a", "SCHEDULED"), job("3", "b", "SCHEDULED")))
        .singleElement()
        .asString()
        .contains("nobody asked for");
    ledger.cancelled("a");
    assertThat(broken(ledger, job("1", "a", "SCHEDULED")))
        .singleElement()
        .asString()
        .contains("is cancelled");
  }

  @Test
  void halfABatchAndASecondDeliveryInOneLifeAreNoticed() {
    ApiLedger ledger = new ApiLedger();
    ledger.launched();
    ledger.asks("a", 1, false);
    ledger.asks("b", 1, false);
    assertThat(broken(ledger, job("1", "a", "SCHEDULED")))
        .contains("of a batch all jobs are there or none");
    ApiLedger hooks = new ApiLedger();
    hooks.launched();
    hooks.asks("w", 0, true);
    hooks.acknowledged("w", "1", 1);
    hooks.delivered("w", "job_1");
    assertThat(broken(hooks, job("1", "w", "SUCCEEDED"))).isEmpty();
    hooks.launched();
    hooks.delivered("w", "job_1");
    assertThat(broken(hooks, job("1", "w", "SUCCEEDED"))).isEmpty();
    hooks.delivered("w", "job_1");
    assertThat(broken(hooks, job("1", "w", "SUCCEEDED")))
        .singleElement()
        .asString()
        .contains("another life");
  }
}
