package dev.carillon.store.postgres;

import dev.carillon.store.Store;
import dev.carillon.store.StoreOpener;
import dev.carillon.store.StoreTck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
  protected void flipBit(Path folder, Random random) {
    flipper.flip(cluster(folder), random);
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
