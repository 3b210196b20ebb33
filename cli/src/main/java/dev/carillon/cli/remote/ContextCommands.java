package dev.carillon.cli.remote;

import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ContextFile;
import dev.carillon.cli.client.ContextFile.Context;
import dev.carillon.cli.client.ContextFile.Contexts;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.client.ServerAddress;
import dev.carillon.cli.client.Surroundings;
import dev.carillon.cli.text.Table;
import dev.carillon.cli.text.Table.Column;
import dev.carillon.cli.text.Terminal;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Servers by name. */
@Command(
    name = "context",
    header = "Servers by name: list, set, use, delete.",
    description =
        "A context has an address, a namespace and perhaps a token. They stand in a file that only"
            + " its owner may read: CARILLON_CONTEXTS, else carillon/contexts.json below"
            + " XDG_CONFIG_HOME or ~/.config.",
    subcommands = {
      ContextCommands.ListContexts.class,
      ContextCommands.SetContext.class,
      ContextCommands.Use.class,
      ContextCommands.Delete.class
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon context set prod --server https://jobs.example.com --token-stdin <token",
      "  ./carillon context use prod"
    })
public final class ContextCommands extends Group {
  private static final int LONGEST_TOKEN = 4_096;

  /** The group. */
  public ContextCommands() {}

  /** A command that reads or writes the file. */
  @Command
  abstract static class OfFile implements Callable<Integer> {
    @Option(
        names = {"-h", "--help"},
        usageHelp = true,
        description = "show this text")
    @SuppressWarnings("unused") // the parser acts on it
    private boolean help;

    @Spec private @Nullable CommandSpec spec;

    abstract void run(ContextFile file);

    @Override
    public Integer call() {
      run(ContextFile.of(surroundings()));
      out().flush();
      return ExitCode.DONE.code();
    }

    Surroundings surroundings() {
      return ((Surroundings.Holder) spec().root().userObject()).surroundings();
    }

    PrintWriter out() {
      return spec().commandLine().getOut();
    }

    PrintWriter err() {
      return spec().commandLine().getErr();
    }

    private CommandSpec spec() {
      if (spec == null) {
        throw new IllegalStateException("the parser has not set the command up");
      }
      return spec;
    }
  }

  /** All of them. */
  @Command(
      name = "list",
      header = "Lists the contexts. Tokens are not shown.",
      description = "In a pipe: name, current, server, namespace, token (yes or no); tabs between.")
  static final class ListContexts extends OfFile {
    @Option(names = "--json", description = "JSON, one object a line")
    private boolean json;

    @Override
    void run(ContextFile file) {
      Contexts contexts = file.read();
      Terminal terminal = json ? Terminal.pipe() : surroundings().terminal().get();
      Report report = new Report(out(), err(), terminal, json, false, Instant.now());
      Table table =
          new Table(
              Column.whole("name"),
              Column.whole("current"),
              Column.cut("server"),
              Column.cut("namespace"),
              Column.whole("token"));
      contexts
          .contexts()
          .forEach(
              (name, context) -> {
                boolean current = name.equals(contexts.current());
                boolean token = context.token() != null;
                String namespace = context.namespace() == null ? "default" : context.namespace();
                table.row(
                    name,
                    current ? "current" : "",
                    context.server(),
                    namespace,
                    token ? "yes" : "no");
                if (json) {
                  report.line(
                      JobChanges.object()
                          .put("name", name)
                          .put("current", current)
                          .put("server", context.server())
                          .put("namespace", namespace)
                          .put("token", token));
                }
              });
      if (!json) {
        report.table(table, "no contexts in " + file.path());
      }
    }
  }

  /** A new one, or another server of that name. */
  @Command(
      name = "set",
      header = "Adds a context, or changes what is given of one.",
      description =
          "The first one is the current one. A token is read from the standard input: it is never"
              + " an argument, which other users of the machine could see.")
  static final class SetContext extends OfFile {
    @Parameters(paramLabel = "NAME", description = "what it is called")
    private String name = "";

    @Option(names = "--server", paramLabel = "URL", description = "the address of the server")
    private String server = "";

    @Option(
        names = {"-n", "--namespace"},
        paramLabel = "NAME",
        description = "whose jobs, where the command does not say")
    private String namespace = "";

    @Option(names = "--token-stdin", description = "read the token from the standard input")
    private boolean tokenFromInput;

    @Option(names = "--no-token", description = "without a token from now on")
    private boolean noToken;

    @Option(
        names = "--trusted",
        paramLabel = "FILE",
        description = "certificates to trust (PEM) instead of those of Java")
    private String trusted = "";

    @Override
    void run(ContextFile file) {
      Contexts contexts = file.read();
      Context before = contexts.contexts().get(name);
      if (before == null && server.isEmpty()) {
        throw CommandFailure.invalid(
            "context",
            name,
            "one of %s, or --server for a new one".formatted(contexts.contexts().keySet()));
      }
      Context context =
          new Context(
              server.isEmpty() && before != null
                  ? before.server()
                  : ServerAddress.of("--server", server).toString(),
              or(namespace, before == null ? null : before.namespace()),
              token(before),
              or(
                  trusted.isEmpty()
                      ? ""
                      : surroundings().folder().resolve(trusted).toAbsolutePath().toString(),
                  before == null ? null : before.trusted()));
      file.write(contexts.with(name, context));
    }

    private static @Nullable String or(String given, @Nullable String before) {
      return given.isEmpty() ? before : given;
    }

    private @Nullable String token(@Nullable Context before) {
      if (tokenFromInput) {
        return checked(read());
      }
      return noToken || before == null ? null : before.token();
    }

    private String read() {
      try {
        byte[] bytes = surroundings().input().readNBytes(LONGEST_TOKEN + 1);
        return new String(bytes, StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static String checked(String token) {
      String stripped = token.strip();
      boolean printable = stripped.chars().allMatch(c -> c > ' ' && c < 0x7f);
      if (stripped.isEmpty() || stripped.length() > LONGEST_TOKEN || !printable) {
        throw CommandFailure.invalid(
            "token",
            stripped.length() + " characters",
            "one line of printable ones, not shown here");
      }
      return stripped;
    }
  }

  /** Which one is used where nothing names one. */
  @Command(name = "use", header = "Makes a context the current one.")
  static final class Use extends OfFile {
    @Parameters(paramLabel = "NAME", description = "the context")
    private String name = "";

    @Override
    void run(ContextFile file) {
      file.write(file.read().use(name));
    }
  }

  /** Without one. */
  @Command(name = "delete", header = "Deletes a context, with its token.")
  static final class Delete extends OfFile {
    @Parameters(paramLabel = "NAME", description = "the context")
    private String name = "";

    @Override
    void run(ContextFile file) {
      Contexts contexts = file.read();
      contexts.get(name);
      file.write(contexts.without(name));
    }
  }
}
