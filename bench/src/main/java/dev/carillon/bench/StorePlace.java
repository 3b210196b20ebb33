package dev.carillon.bench;

import dev.carillon.fixture.PostgresServer;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;

/**
 * Where the stores of a run are made, each with an address of its own; closing it ends them all.
 */
interface StorePlace extends AutoCloseable {

  /** The address of a store that is not there yet. */
  String newAddress(String name);

  /** Frees what a store took that is no longer open. */
  void remove(String address);

  /** How the store writes, in a line. */
  String settings();

  /** Writes groups of that shape for a while, and nothing else; returns bytes a second. */
  double rawBytesPerSecond(RawShape shape, int warmupSeconds, int seconds);

  @Override
  void close();

  /** Opens a store; makes it where it is not there. */
  static Store open(String address) {
    return Stores.open(StoreAddress.of(address));
  }

  static StorePlace of(RunOptions options) {
    return switch (options.store) {
      case SQLITE -> new FilePlace(Workspace.in(options.dir));
      case POSTGRES -> server(options);
      case MEMORY -> new MemoryPlace();
    };
  }

  /** A server of its own, whose program and data are removed with it. */
  static ServerPlace server(RunOptions options) {
    Workspace workspace = Workspace.in(options.dir);
    try {
      return new ServerPlace(workspace, PostgresServer.start(workspace.folder(), "server"));
    } catch (RuntimeException e) {
      workspace.close();
      throw e;
    }
  }
}
