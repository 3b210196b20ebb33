package dev.carillon.cli;

import dev.carillon.api.error.CarillonException;
import dev.carillon.api.schedule.Due;
import dev.carillon.server.access.Role;
import dev.carillon.server.access.Scope;
import dev.carillon.server.access.Tokens;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Access tokens of servers. */
@Command(
    name = "token",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      TokenCommand.Create.class,
      TokenCommand.ListAll.class,
      TokenCommand.Rotate.class,
      TokenCommand.Revoke.class
    },
    description = {
      "Makes, lists, rotates and revokes the access tokens of a store's servers.",
      "",
      "A token has a role (worker, viewer, submitter, operator, admin) in some namespaces, or in",
      "all (*), and reaches the jobs of some queues there, or of all. Its secret is shown",
      "once, when it is made. Servers that ask for tokens know a new one at once and",
      "refuse a revoked one within five seconds.",
      "",
      "The store is changed directly, or by one of its servers: that of --server or",
      "--context, or, where no store is named, the one that other commands would ask. A",
      "SQLite file that a server has open is changed by that server.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ./carillon token create jdbc:sqlite:carillon.db --name root --role admin",
      "  ./carillon token create --server https://jobs.example:8470 --name ci \\",
      "      --role submitter --namespace shop --expires-in 90d",
      "  ./carillon token revoke jdbc:postgresql://db/app ID"
    })
final class TokenCommand implements Runnable {
  @Spec private CommandSpec spec;

  TokenCommand() {
    spec = CommandSpec.create(); // replaced by the parser
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  /** What the commands share. */
  abstract static class Part implements Callable<Integer> {
    @Mixin private TokenPlace.Options place = new TokenPlace.Options();

    @Option(names = "--json", description = "JSON instead of text")
    private boolean json;

    @Option(
        names = {"-h", "--help"},
        usageHelp = true,
        description = "show this text")
    @SuppressWarnings("unused") // the parser acts on it
    private boolean help;

    @Spec private CommandSpec spec;

    Part() {
      spec = CommandSpec.create(); // replaced by the parser
    }

    abstract JsonNode ask(TokenPlace there, List<String> arguments);

    abstract void show(JsonNode answer, PrintWriter out, PrintWriter err);

    /** How many arguments follow the store. */
    abstract int arguments();

    @Override
    public Integer call() {
      JsonNode answer;
      List<String> rest = place.rest(arguments(), spec.commandLine());
      try (TokenPlace there = place.open(arguments(), spec.commandLine())) {
        answer = ask(there, rest);
      }
      PrintWriter out = spec.commandLine().getOut();
      PrintWriter err = spec.commandLine().getErr();
      if (json) {
        out.println(JobJson.line(answer));
      } else {
        show(answer, out, err);
      }
      out.flush();
      err.flush();
      return 0;
    }

    static void issued(JsonNode answer, PrintWriter out, PrintWriter err) {
      out.println(answer.path("secret").asString());
      err.println(words(answer.path("token")) + "; its secret is not shown again");
    }

    static String words(JsonNode token) {
      String end = token.path("expiresAt").asString("");
      return "token %s (%s): %s of %s%s%s"
          .formatted(
              token.path("name").asString(),
              token.path("id").asString(),
              token.path("role").asString(),
              names(token.path("namespaces"), "all namespaces"),
              names(token.path("queues"), "").isEmpty()
                  ? ""
                  : ", queues " + names(token.path("queues"), ""),
              end.isEmpty() ? "" : ", until " + end);
    }

    static String names(JsonNode names, String all) {
      List<String> list = new ArrayList<>();
      names.forEach(each -> list.add(each.asString()));
      return list.equals(List.of(Scope.ALL_WORD)) ? all : String.join(", ", list);
    }
  }

  static Duration duration(String text) {
    if (text.matches("[0-9]{1,5}d")) {
      return Duration.ofDays(Integer.parseInt(text.substring(0, text.length() - 1)));
    }
    try {
      if (Due.parse(text) instanceof Due.In in) {
        return in.delay();
      }
    } catch (CarillonException e) {
      // said below, in words that fit
    }
    throw new IllegalArgumentException(
        "duration: " + text + " (expected: one such as 90d, 12h, 30m or PT90S)");
  }

  /** Makes one. */
  @Command(
      name = "create",
      description = {"Makes a token. Its secret is all that is written to the output.", ""},
      footer = {
        "",
        "Example: ./carillon token create jdbc:postgresql://db/app --name ci --role submitter"
      })
  static final class Create extends Part {
    @Option(names = "--name", required = true, description = "what people call it")
    private String name = "";

    @Option(names = "--role", required = true, description = Role.EXPECTED)
    private String role = "";

    @Option(
        names = "--namespace",
        paramLabel = "NAME",
        description = "where, several times for several; all without it")
    private List<String> namespaces = new ArrayList<>();

    @Option(
        names = "--queue",
        paramLabel = "NAME",
        description = "whose jobs it reaches, several times for several; all without it")
    private List<String> queues = new ArrayList<>();

    @Option(names = "--expires-in", paramLabel = "TIME", description = "when it ends: 90d, 12h")
    private @Nullable String expiresIn;

    @Override
    int arguments() {
      return 0;
    }

    @Override
    JsonNode ask(TokenPlace there, List<String> arguments) {
      Role given =
          Role.ofWord(role)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "role: " + role + " (expected: " + Role.EXPECTED + ")"));
      return there.create(
          new Tokens.Wanted(
              name,
              given,
              scope(namespaces),
              scope(queues),
              expiresIn != null ? Instant.now().plus(duration(expiresIn)) : null));
    }

    private static Scope scope(List<String> names) {
      return names.isEmpty() ? Scope.ALL : Scope.of(names);
    }

    @Override
    void show(JsonNode answer, PrintWriter out, PrintWriter err) {
      issued(answer, out, err);
    }
  }

  /** Lists them. */
  @Command(
      name = "list",
      description = {"Lists the tokens, those that ended in the last 30 days included.", ""})
  static final class ListAll extends Part {
    @Override
    int arguments() {
      return 0;
    }

    @Override
    JsonNode ask(TokenPlace there, List<String> arguments) {
      return there.list();
    }

    @Override
    void show(JsonNode answer, PrintWriter out, PrintWriter err) {
      List<List<@Nullable Object>> rows = new ArrayList<>();
      answer
          .path("items")
          .forEach(
              token ->
                  rows.add(
                      List.<@Nullable Object>of(
                          token.path("id").asString(),
                          token.path("name").asString(),
                          token.path("role").asString(),
                          names(token.path("namespaces"), "*"),
                          names(token.path("queues"), "*"),
                          state(token))));
      TextTable.print(List.of("id", "name", "role", "namespaces", "queues", "state"), rows, out);
    }

    private static String state(JsonNode token) {
      if (token.has("revokedBy")) {
        return "revoked by "
            + token.path("revokedBy").asString()
            + " at "
            + token.path("endedAt").asString();
      }
      String end = token.path("endedAt").asString(token.path("expiresAt").asString(""));
      return end.isEmpty() ? "lives" : (token.has("endedAt") ? "ended at " : "until ") + end;
    }
  }

  /** Gives one another secret. */
  @Command(
      name = "rotate",
      description = {
        "Gives a token another secret, which is all that is written to the output. The",
        "former one counts on for a while, so that its users can be changed one by one.",
        ""
      })
  static final class Rotate extends Part {
    @Option(
        names = "--overlap",
        paramLabel = "TIME",
        defaultValue = "24h",
        description = "how long the former secret counts (default: ${DEFAULT-VALUE})")
    private String overlap = "";

    @Override
    int arguments() {
      return 1;
    }

    @Override
    JsonNode ask(TokenPlace there, List<String> arguments) {
      return there.rotate(arguments.getFirst(), duration(overlap));
    }

    @Override
    void show(JsonNode answer, PrintWriter out, PrintWriter err) {
      issued(answer, out, err);
    }
  }

  /** Ends one. */
  @Command(
      name = "revoke",
      description = {"Ends a token: servers refuse it within five seconds.", ""})
  static final class Revoke extends Part {
    @Override
    int arguments() {
      return 1;
    }

    @Override
    JsonNode ask(TokenPlace there, List<String> arguments) {
      return there.revoke(arguments.getFirst());
    }

    @Override
    void show(JsonNode answer, PrintWriter out, PrintWriter err) {
      out.println("revoked: " + words(answer));
    }
  }
}
