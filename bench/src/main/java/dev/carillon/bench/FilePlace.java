package dev.carillon.bench;

import dev.carillon.store.jdbc.SqliteStore;
import java.nio.file.Path;

/** Stores on SQLite files. */
final class FilePlace implements StorePlace {
  private static final String PREFIX = "jdbc:sqlite:";

  private final Workspace workspace;

  FilePlace(Workspace workspace) {
    this.workspace = workspace;
  }

  @Override
  public String newAddress(String name) {
    return PREFIX + workspace.newFile(name);
  }

  @Override
  public void remove(String address) {
    workspace.remove(Path.of(address.substring(PREFIX.length())));
  }

  @Override
  public String settings() {
    return SqliteSettings.text();
  }

  @Override
  public double rawBytesPerSecond(RawShape shape, int warmupSeconds, int seconds) {
    Path file = workspace.newFile("raw");
    try (SqliteStore store = SqliteStore.open(file)) {
      return new RawAppends(store, shape).bytesPerSecond(warmupSeconds, seconds);
    } finally {
      workspace.remove(file);
    }
  }

  @Override
  public void close() {
    workspace.close();
  }
}
