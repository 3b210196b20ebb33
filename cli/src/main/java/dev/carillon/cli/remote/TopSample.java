package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import java.time.Instant;
import tools.jackson.databind.JsonNode;

/**
 * What a server told at one moment.
 *
 * @param nanos when, by the monotonic clock
 * @param at when, by the wall clock
 * @param meters those of the asked node
 * @param cluster the members
 * @param running what runs on every node
 */
record TopSample(long nanos, Instant at, MetricsText meters, JsonNode cluster, JsonNode running) {
  private static final int MOST_RUNNING = 100;

  static TopSample of(ApiClient server) {
    MetricsText meters = MetricsText.parse(server.text("/metrics"));
    JsonNode cluster = server.get(Address.root("cluster")).json();
    JsonNode running =
        server.get(Address.root("cluster", "running").with("limit", MOST_RUNNING)).json();
    return new TopSample(System.nanoTime(), Instant.now(), meters, cluster, running);
  }
}
