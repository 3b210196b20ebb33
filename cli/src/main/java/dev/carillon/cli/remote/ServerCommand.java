package dev.carillon.cli.remote;

import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.client.ServerChoice;
import dev.carillon.cli.client.Surroundings;
import dev.carillon.cli.text.Terminal;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command that asks a server. */
@Command(sortOptions = false, abbreviateSynopsis = true)
abstract class ServerCommand implements Callable<Integer> {
  @Option(names = "--json", order = 100, description = "JSON, one object a line")
  private boolean json;

  @Option(names = "--exact", order = 101, description = "times as such, not in words")
  private boolean exact;

  @Option(
      names = {"-h", "--help"},
      order = 102,
      usageHelp = true,
      description = "show this text")
  @SuppressWarnings("unused") // the parser acts on it
  private boolean help;

  @ArgGroup(exclusive = false, validate = false, heading = "Server:%n", order = 103)
  private @Nullable ServerChoice choice;

  @Spec private @Nullable CommandSpec spec;

  private @Nullable Report report;

  /** Asks; returns how it ended. */
  abstract ExitCode run(ApiClient server);

  @Override
  public Integer call() {
    ServerChoice chosen = choice == null ? new ServerChoice() : choice;
    try (ApiClient server = chosen.connect(surroundings())) {
      return run(server).code();
    } finally {
      spec().commandLine().getOut().flush();
      spec().commandLine().getErr().flush();
    }
  }

  CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("the parser has not set the command up");
    }
    return spec;
  }

  Surroundings surroundings() {
    return ((Surroundings.Holder) spec().root().userObject()).surroundings();
  }

  /** Runs a command on a store by its address, with no server. */
  int onStore(List<String> arguments) {
    CommandLine own = spec().commandLine();
    return ((OnStore) spec().root().userObject()).cluster(arguments, own.getOut(), own.getErr());
  }

  /** What the command tells with. */
  Report report() {
    if (report == null) {
      PrintWriter out = spec().commandLine().getOut();
      PrintWriter err = spec().commandLine().getErr();
      Terminal terminal = json ? Terminal.pipe() : surroundings().terminal().get();
      report = new Report(out, err, terminal, json, exact, Instant.now());
    }
    return report;
  }

  boolean isJson() {
    return json;
  }

  /**
   * Does the same with each of several things. One that fails is told and the others go on; the
   * first failure says how the command ends. With a server that is away nothing goes on.
   */
  ExitCode each(List<String> things, Function<String, ExitCode> action) {
    ExitCode worst = ExitCode.DONE;
    for (String thing : things) {
      ExitCode ended;
      try {
        ended = action.apply(thing);
      } catch (CommandFailure e) {
        if (things.size() == 1 || e.exitCode() == ExitCode.AWAY) {
          throw e;
        }
        report().aside("carillon: " + thing + ": " + e.getMessage());
        ended = e.exitCode();
      }
      worst = worst == ExitCode.DONE ? ended : worst;
    }
    return worst;
  }
}
