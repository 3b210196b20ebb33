package dev.carillon.cli;

import dev.carillon.engine.history.DamagedHead;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.query.JobReader.Story;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import dev.carillon.store.StoreAddress;
import dev.carillon.store.Stores;
import dev.carillon.store.jdbc.SqliteStore;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * A command that reads a store without a node: nothing is claimed and nothing changes. A shard that
 * cannot be read is named on the error stream and left out, and the command ends with 1.
 */
@Command
abstract class StoreCommand {
  private static final int SHARDS_A_PAGE = 256;
  private static final String SQLITE = "jdbc:sqlite:";

  @Parameters(
      index = "0",
      arity = "0..1", // where a subcommand follows it has the URL
      paramLabel = "URL",
      description = "the store: jdbc:sqlite:FILE or jdbc:postgresql://HOST/DATABASE")
  private String url = "";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this text")
  @SuppressWarnings("unused") // the parser acts on it
  private boolean help;

  @Option(names = "--debug", description = "show where an error comes from")
  private boolean debug;

  @Spec private CommandSpec spec;

  StoreCommand() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  boolean isDebug() {
    return debug;
  }

  PrintWriter out() {
    return spec.commandLine().getOut();
  }

  PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** What is done with each job; may fail to write. */
  interface Use {
    void job(Story story) throws Exception;
  }

  /**
   * What was read of a store.
   *
   * @param unreadShards shards that were left out
   * @param listed whether every shard was found
   */
  record Reading(long jobs, long shards, long unreadShards, boolean listed) {
    boolean isComplete() {
      return unreadShards == 0 && listed;
    }
  }

  /** The file of the store; null for one that is not a file of this machine. */
  @Nullable Path storeFile() {
    String said = url();
    return said.toLowerCase(Locale.ROOT).startsWith(SQLITE) ? SqliteStore.fileOf(said) : null;
  }

  private String url() {
    if (url.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "Missing required parameter: 'URL'");
    }
    return url;
  }

  /** Opens the store to read it. */
  Store openReadOnly() {
    return Formats.shipped().over(Stores.openReadOnly(StoreAddress.of(url())));
  }

  /** Opens the store to change it. */
  Store open() {
    return Formats.shipped().over(Stores.open(StoreAddress.of(url())));
  }

  /** Shows {@code use} every job of the store that can be read, shard by shard. */
  Reading eachJob(Use use) throws Exception {
    try (Store store = openReadOnly()) {
      return new Pass(store, use).run();
    }
  }

  /** Says what is missing, if anything is; returns the exit code. */
  int conclude(Reading reading) {
    if (reading.isComplete()) {
      return 0;
    }
    PrintWriter err = err();
    if (reading.unreadShards() > 0) {
      err.printf(
          "carillon: %d of %d shards could not be read; their jobs are missing%n",
          reading.unreadShards(), reading.shards());
    }
    if (!reading.listed()) {
      err.println("carillon: the list of shards could not be read to its end; jobs are missing");
    }
    err.flush();
    return 1;
  }

  /** One pass over the shards, in the order of their ids. */
  private final class Pass {
    private final Store store;
    private final JobReader reader;
    private final Use use;
    private long jobs;
    private long shards;
    private long unread;

    Pass(Store store, Use use) {
      this.store = store;
      this.reader = new JobReader(store);
      this.use = use;
    }

    Reading run() throws Exception {
      int limit = SHARDS_A_PAGE;
      ShardId after = null;
      while (true) {
        Outcome<List<Head>> listed = store.journals().listById(after, limit);
        if (listed instanceof Outcome.Ok<List<Head>>(List<Head> heads)) {
          for (Head head : heads) {
            read(head.shard());
          }
          if (heads.size() < limit) {
            return reading(true);
          }
          after = heads.getLast().shard();
        } else if (limit > 1) {
          limit = 1; // a damaged head hides its whole page: first come those before it
        } else {
          ShardId damaged = DamagedHead.of(listed, after);
          if (damaged == null) {
            tell("the list of shards" + (after == null ? "" : " after " + after), listed);
            return reading(false);
          }
          shards++;
          leaveOut(damaged, listed);
          after = damaged;
          limit = SHARDS_A_PAGE;
        }
      }
    }

    private Reading reading(boolean listed) {
      return new Reading(jobs, shards, unread, listed);
    }

    private void read(ShardId shard) throws Exception {
      shards++;
      Outcome<List<Story>> outcome = reader.stories(shard, number -> true);
      if (outcome instanceof Outcome.Ok<List<Story>>(List<Story> stories)) {
        for (Story story : stories) {
          use.job(story);
          jobs++;
        }
      } else {
        leaveOut(shard, outcome);
      }
    }

    private void leaveOut(ShardId shard, Outcome<?> outcome) {
      unread++;
      tell("shard " + shard, outcome);
    }

    private void tell(String what, Outcome<?> outcome) {
      err().println("carillon: " + what + " is left out: " + reason(outcome));
      err().flush();
    }
  }

  private static String reason(Outcome<?> outcome) {
    return switch (outcome) {
      case Outcome.Damaged<?>(String where) -> "damaged at " + where;
      case Outcome.Unavailable<?>(String detail) -> "not readable: " + detail;
      default -> "not readable: " + outcome;
    };
  }
}
