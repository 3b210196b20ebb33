package dev.carillon.bench;

import dev.carillon.store.jdbc.SqliteOptions;

/** How the file is written, in a line. */
final class SqliteSettings {
  private SqliteSettings() {}

  static String text() {
    SqliteOptions options = SqliteOptions.DEFAULT;
    return "WAL, synchronous=FULL, page %d B, cache %d MiB, checkpoint at %d MiB"
        .formatted(
            options.pageBytes(), options.cacheBytes() >> 20, options.checkpointBytes() >> 20);
  }
}
