package dev.carillon.cli.remote;

import dev.carillon.cli.client.CommandFailure;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What a shell completes. */
@Command(
    name = "completion",
    header = "Writes what bash, zsh or fish need to complete commands and options.",
    footer = {
      "",
      "Examples:",
      "  source <(./carillon completion bash)      (zsh: the same with zsh)",
      "  ./carillon completion fish | source"
    })
public final class Completion implements Callable<Integer> {
  private static final String NAME = "carillon";

  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish")
  private String shell = "";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this text")
  @SuppressWarnings("unused") // the parser acts on it
  private boolean help;

  @Spec private @Nullable CommandSpec spec;

  /** The command. */
  public Completion() {}

  @Override
  public Integer call() {
    if (spec == null) {
      throw new IllegalStateException("the parser has not set the command up");
    }
    CommandLine root = spec.root().commandLine();
    String script =
        switch (shell) {
          case "bash", "zsh" -> AutoComplete.bash(NAME, root);
          case "fish" -> fish(root);
          default -> throw CommandFailure.invalid("SHELL", shell, "bash, zsh or fish");
        };
    PrintWriter out = spec.commandLine().getOut();
    out.println(script);
    out.flush();
    return 0;
  }

  private static String fish(CommandLine root) {
    Map<String, CommandSpec> commands = new LinkedHashMap<>();
    collect("", root, commands);
    List<String> lines = new ArrayList<>();
    lines.add("# Completion of " + NAME + " for fish.");
    lines.add("function __carillon_path");
    lines.add("  set -l path ''");
    lines.add("  for word in (commandline -opc)[2..-1]");
    lines.add("    set -l deeper (string trim -- \"$path $word\")");
    lines.add("    if contains -- $deeper " + quotedPaths(commands));
    lines.add("      set path $deeper");
    lines.add("    end");
    lines.add("  end");
    lines.add("  echo $path");
    lines.add("end");
    lines.add("complete -c " + NAME + " -f");
    commands.forEach((path, command) -> add(lines, path, command));
    return String.join("\n", lines);
  }

  private static void collect(
      String path, CommandLine commandLine, Map<String, CommandSpec> commands) {
    commands.put(path, commandLine.getCommandSpec());
    commandLine
        .getSubcommands()
        .forEach(
            (name, below) -> collect(path.isEmpty() ? name : path + " " + name, below, commands));
  }

  private static String quotedPaths(Map<String, CommandSpec> commands) {
    return String.join(
        " ",
        commands.keySet().stream()
            .filter(path -> !path.isEmpty())
            .map(Completion::quoted)
            .toList());
  }

  private static void add(List<String> lines, String path, CommandSpec command) {
    String begin = "complete -c %s -n 'test (__carillon_path) = \"%s\"'".formatted(NAME, path);
    command
        .subcommands()
        .forEach(
            (name, below) ->
                lines.add(begin + " -a " + name + " -d " + quoted(header(below.getCommandSpec()))));
    for (OptionSpec option : command.options()) {
      StringBuilder line = new StringBuilder(begin);
      for (String name : option.names()) {
        boolean isLong = name.startsWith("--");
        line.append(isLong ? " -l " : " -s ").append(name.substring(isLong ? 2 : 1));
      }
      if (option.arity().max() > 0) {
        line.append(option.paramLabel().equals("FILE") ? " -r -F" : " -x");
      }
      lines.add(line + " -d " + quoted(String.join(" ", option.description())));
    }
  }

  private static String header(CommandSpec command) {
    String[] header = command.usageMessage().header();
    String[] description = command.usageMessage().description();
    return header.length > 0 ? header[0] : description.length > 0 ? description[0] : "";
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
