package dev.carillon;

import dev.carillon.store.MemoryStore;
import java.nio.file.Path;
import java.time.Duration;

/** Where jobs live in a test: a store that can be opened again and again. */
final class Place {
  private final Kind kind;
  private final MemoryStore memory = new MemoryStore();
  private final Path file;

  enum Kind {
    MEMORY,
    SQLITE
  }

  Place(Kind kind, Path folder) {
    this.kind = kind;
    this.file = folder.resolve("jobs.db");
  }

  String url() {
    return "jdbc:sqlite:" + file;
  }

  CarillonBuilder builder() {
    CarillonBuilder builder =
        Carillon.builder()
            .daemon(true)
            .advanced(a -> a.slowStart(Duration.ZERO).scheduleTimeout(Duration.ofSeconds(10)))
            .closeGrace(Duration.ofSeconds(5));
    return kind == Kind.MEMORY ? builder.store(memory) : builder.url(url());
  }

  Carillon open() {
    return builder().open();
  }
}
