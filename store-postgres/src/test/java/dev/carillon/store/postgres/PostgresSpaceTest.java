package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Append;
import dev.carillon.store.Entry;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/** A server whose disk is full, which a small file system for its tables stands for. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class PostgresSpaceTest {

  private static final byte[] NO_WORDS = new byte[0];
  private static final int ENTRY_BYTES = 100_000;

  @Test
  void aFullDiskIsSaidAndNothingIsHalfWritten(@TempDir Path folder) throws Exception {
    mount(folder);
    PostgresServer server = PostgresServer.start("full");
    try {
      Path place = Files.createDirectory(folder.resolve("place"));
      giveTo(server, place);
      server.run("create tablespace small location '" + place + "'");
      server.run("alter database postgres set default_tablespace = 'small'");
      fillAndFree(server);
    } finally {
      server.close();
      run("umount", folder.toString());
    }
  }

  private static void fillAndFree(PostgresServer server) {
    try (PostgresStore store =
        PostgresStore.open(PostgresOptions.at(server.url()).schema("full").build())) {
      ShardId filled = new ShardId(1, 5, 1);
      store.journals().create(filled, "home", 0, NO_WORDS).orThrow();
      List<Long> acknowledged = new ArrayList<>();
      Outcome<Long> outcome = append(store, filled, 1);
      for (long number = 2; outcome.isOk(); number++) {
        acknowledged.add(outcome.orThrow());
        outcome = append(store, filled, number);
      }
      assertThat(outcome).isInstanceOf(Outcome.Full.class);
      assertThat(append(store, filled, acknowledged.size() + 1L)).isInstanceOf(Outcome.Full.class);
      assertThat(acknowledged).hasSizeGreaterThan(50);
      assertThat(batches(store, filled)).isEqualTo(acknowledged);

      assertThat(store.journals().drop(filled, 1)).isEqualTo(Outcome.ok(true));
    }
  }

  private static Outcome<Long> append(PostgresStore store, ShardId shard, long number) {
    Append append = new Append(shard, 1, 1, number, number, new byte[ENTRY_BYTES]);
    return store.journals().append(List.of(append), false).getFirst();
  }

  private static List<Long> batches(PostgresStore store, ShardId shard) {
    return store.journals().read(shard, 1, 1, Integer.MAX_VALUE).orThrow().entries().stream()
        .map(Entry::batch)
        .toList();
  }

  private static void mount(Path folder) throws IOException {
    if (!run("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder.toString())) {
      if ("all".equals(System.getProperty("it.require"))) {
        throw new AssertionError("cannot mount a small file system");
      }
      throw new TestAbortedException("cannot mount a small file system");
    }
  }

  /** The server refuses a folder that is not its own. */
  private static void giveTo(PostgresServer server, Path place) throws IOException {
    Files.setOwner(place, Files.getOwner(server.data()));
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx------"));
    Files.setOwner(place.getParent(), Files.getOwner(server.data()));
  }

  private static boolean run(String... command) throws IOException {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
