package dev.carillon.testkit;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Store;
import dev.carillon.store.postgres.PostgresOptions;
import dev.carillon.store.postgres.PostgresStore;
import java.util.concurrent.atomic.AtomicInteger;

/** A cluster of its own on the server that the tests share; what is in it outlives a restart. */
final class PostgresPlace {
  private static final AtomicInteger CLUSTERS = new AtomicInteger();

  private final String cluster = "c" + CLUSTERS.incrementAndGet();

  String cluster() {
    return cluster;
  }

  Store open() {
    return PostgresStore.open(
        PostgresOptions.at(PostgresServer.shared().url())
            .schema("testkit")
            .cluster(cluster)
            .poolSize(4)
            .build());
  }
}
