package dev.carillon.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Append;
import dev.carillon.store.Case;
import dev.carillon.store.FaultyStore;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import dev.carillon.store.StoreOpener;
import dev.carillon.store.StoreTck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;

/** The PostgreSQL store passes the conformance suite, on a server that syncs what it commits. */
class PostgresStoreTckTest extends StoreTck {

  private static final String SCHEMA = "tck";

  private final BitFlipper flipper = new BitFlipper(PostgresServer.sharedUrl(), SCHEMA);

  /** Also used by the processes that are killed. Each folder stands for a cluster. */
  public static final class Opener implements StoreOpener {
    @Override
    public Store open(Path folder) {
      return PostgresStore.open(
          PostgresOptions.at(PostgresServer.sharedUrl())
              .schema(SCHEMA)
              .cluster(cluster(folder))
              .poolSize(16)
              .build());
    }
  }

  /** Kept in the folder, so that a copy of it is the same cluster. */
  private static String cluster(Path folder) {
    Path note = folder.resolve("cluster");
    try {
      if (!Files.exists(note)) {
        Files.writeString(note, folder.toString());
      }
      return Files.readString(note);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected StoreOpener opener() {
    return new Opener();
  }

  @Override
  protected Store reopen(Store store, Path folder) {
    flipper.undo();
    return super.reopen(store, folder);
  }

  @Override
  protected Store another(Store store) {
    return PostgresStore.open(((PostgresStore) store).options());
  }

  @Override
  protected Connection connect() throws SQLException {
    return PostgresServer.shared().connect();
  }

  @Override
  protected void flipBit(Path folder, Random random) {
    flipper.flip(cluster(folder), random);
  }

  @Case(id = "T37", title = "an owner stopped, taken over and continued is fenced")
  @Override
  public void stoppedOwnersNeedASecondProcess() {
    if (bench().store() instanceof FaultyStore) {
      throw notApplicable("shown on the bare store: the stopped process has one of its own");
    }
    int rounds = times(20);
    for (int round = 0; round < rounds; round++) {
      StoppedOwner.stopTakeOverAndContinue(bench().bare(), bench().folder());
    }
  }

  @Case(id = "C06", title = "a changed incarnation is noticed")
  @Override
  public void incarnationsChangeWhereDataCanGoBack() {
    PostgresStore store = (PostgresStore) bench().bare();
    ShardId shard = new ShardId(1, 8, 1);
    String before = store.incarnation();
    store.journals().create(shard, "home", 0, new byte[0]).orThrow();
    String renewed = PostgresStore.renewIncarnation(store.options());
    Append append = new Append(shard, 1, 1, 1, 5, new byte[1]);
    assertThat(store.journals().append(List.of(append), false).getFirst())
        .isInstanceOf(Outcome.Unavailable.class);
    assertThat(store.incarnation()).isEqualTo(renewed).isNotEqualTo(before);
    store.adopt(renewed);
    assertThat(store.journals().append(List.of(append), false)).containsExactly(Outcome.ok(1L));
  }

  @Override
  protected int mixes() {
    return 500;
  }

  @Override
  protected void failingSync() {
    throw notApplicable("the server's own: it stops where its disk cannot sync");
  }

  @Override
  protected Store openSmall(Path folder) {
    throw notApplicable("the server's disk is not ours to fill, nor to keep a reserve on");
  }
}
