package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records;
import dev.carillon.store.Records.Change;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that change the same records at once: none waits for another that waits for it. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class RecordLocksTest {
  private static final int NODES = 4;
  private static final int KEYS = 40;
  private static final int ROUNDS = 150;

  @Test
  void changesOfTheSameRecordsInAnyOrderMakeNoDeadlock() throws Exception {
    try (PostgresServer server = PostgresServer.start("locks")) {
      int made = 0;
      try (PostgresStore store =
              PostgresStore.open(PostgresOptions.at(server.url()).schema("locks").build());
          ExecutorService nodes = Executors.newFixedThreadPool(NODES)) {
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 1; i <= NODES; i++) {
          all.add(nodes.submit(node(store.records(), i)));
        }
        for (Future<Integer> one : all) {
          made += one.get();
        }
      }
      assertThat(made).isGreaterThan(NODES * ROUNDS);
      assertThat(deadlocks(server)).isZero(); // sessions say so when they end
    }
  }

  /** Adds, changes and deletes records as it finds them, many at once, in an order of its own. */
  private static Callable<Integer> node(Records records, long writer) {
    Random random = new Random(writer);
    return () -> {
      int made = 0;
      long sequence = 0;
      for (int round = 0; round < ROUNDS; round++) {
        List<Change> changes = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
          Optional<Stored> found = records.get("k" + key).orThrow();
          byte[] value =
              found.isPresent() && random.nextBoolean() ? null : new byte[random.nextInt(1, 50)];
          Stamp expected = found.map(Stored::version).orElse(Stamp.ABSENT);
          changes.add(new Change("k" + key, expected, value, new Stamp(writer, ++sequence)));
        }
        Collections.shuffle(changes, random);
        for (Outcome<Stamp> outcome : records.apply(changes)) {
          assertThat(outcome).isInstanceOfAny(Outcome.Ok.class, Outcome.Conflict.class);
          made += outcome.isOk() ? 1 : 0;
        }
      }
      return made;
    };
  }

  private static long deadlocks(PostgresServer server) throws SQLException {
    try (Connection connection = DriverManager.getConnection(server.url());
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "select deadlocks from pg_stat_database where datname = current_database()")) {
      row.next();
      return row.getLong(1);
    }
  }
}
