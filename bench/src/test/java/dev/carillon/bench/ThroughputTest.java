package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import tools.jackson.databind.JsonNode;

/** The throughput runs, of each store, and finds its jobs again. */
class ThroughputTest extends BenchmarkRun {
  @Test
  void throughputOnAFileFindsItsJobsAgain() throws Exception {
    List<JsonNode> figures =
        run(
            "throughput",
            "--scenario=plain,named",
            "--in-flight=512",
            "--backlog=1000",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1");
    assertThat(values(figures, "throughput", "a fresh process")).containsOnly(1.0);
    assertThat(values(figures, "throughput, names", "a fresh process")).containsOnly(1.0);
    assertThat(values(figures, "throughput", "share of the raw rate")).hasSize(1);
    assertThat(values(figures, "throughput", "rate")).isNotEmpty();
  }

  @Test
  void throughputOnAServerStandsBesidePlainInserts() throws Exception {
    List<JsonNode> figures =
        run(
            "throughput",
            "--store=postgres",
            "--in-flight=512",
            "--backlog=1000",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1");
    assertThat(values(figures, "throughput", "a fresh process")).containsOnly(1.0);
    assertThat(values(figures, "throughput", "share of the raw rate")).hasSize(1);
    assertThat(figures)
        .allSatisfy(
            figure ->
                assertThat(figure.get("settings").get("postgres").asString())
                    .contains("fsync=on", "synchronous_commit=on", "full_page_writes=on"));
  }

  @Test
  @EnabledIfSystemProperty(named = ALL, matches = "true")
  void throughputInMemoryStandsBesideItsFloor() throws Exception {
    List<JsonNode> figures =
        run(
            "throughput",
            "--store=memory",
            "--scenario=bytes",
            "--seconds=1",
            "--warmup=1",
            "--rounds=1");
    assertThat(values(figures, "throughput, bytes", "share of the floor")).hasSize(1);
    assertThat(values(figures, "throughput, bytes", "the store holds")).containsOnly(1.0);
  }
}
