package dev.carillon.cli;

import dev.carillon.engine.JobReader;
import dev.carillon.engine.JobReader.Story;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import dev.carillon.store.jdbc.SqliteStore;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command that reads a store without a node: nothing is claimed and nothing changes. */
@Command
abstract class StoreCommand {
  private static final int SHARDS_A_PAGE = 256;

  @Parameters(index = "0", paramLabel = "URL", description = "the store: jdbc:sqlite:FILE")
  private String url = "";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this text")
  @SuppressWarnings("unused") // the parser acts on it
  private boolean help;

  @Option(names = "--debug", description = "show where an error comes from")
  private boolean debug;

  boolean isDebug() {
    return debug;
  }

  /** What is done with each job; may fail to write. */
  interface Use {
    void job(Story story) throws Exception;
  }

  /** Shows {@code use} every job of the store, shard by shard; returns how many there were. */
  long eachJob(Use use) throws Exception {
    if (!url.startsWith("jdbc:")) {
      throw new IllegalArgumentException("URL: " + url + " (expected: jdbc:sqlite:FILE)");
    }
    try (Store store = SqliteStore.openReadOnly(SqliteStore.fileOf(url))) {
      JobReader reader = new JobReader(store);
      long jobs = 0;
      ShardId after = null;
      while (true) {
        List<Head> heads = read(store.journals().listById(after, SHARDS_A_PAGE));
        for (Head head : heads) {
          for (Story story : read(reader.stories(head.shard(), number -> true))) {
            use.job(story);
            jobs++;
          }
        }
        if (heads.size() < SHARDS_A_PAGE) {
          return jobs;
        }
        after = heads.getLast().shard();
      }
    }
  }

  private static <T> T read(Outcome<T> outcome) throws IOException {
    if (outcome instanceof Outcome.Ok<T>(T value)) {
      return value;
    }
    throw new IOException(
        switch (outcome) {
          case Outcome.Damaged<T>(String where) -> "store: damaged at " + where;
          case Outcome.Unavailable<T>(String detail) -> "store: not readable: " + detail;
          default -> "store: not readable: " + outcome;
        });
  }
}
