package dev.carillon.store.jdbc;

import java.nio.file.Path;

/** The files beside a database. */
enum Sidecar {
  /** SQLite's write-ahead log. */
  WAL("-wal"),
  /** Says which process has the database. */
  LOCK("-lock"),
  /** Disk space kept back. */
  RESERVE("-reserve");

  private final String suffix;

  Sidecar(String suffix) {
    this.suffix = suffix;
  }

  Path of(Path database) {
    return database.resolveSibling(database.getFileName() + suffix);
  }
}
