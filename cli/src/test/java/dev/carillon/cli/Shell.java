package dev.carillon.cli;

import dev.carillon.cli.client.Surroundings;
import dev.carillon.cli.text.Terminal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs commands in this process, in a folder and an environment of its own. */
final class Shell {
  private final Path folder;
  private final Map<String, String> variables = new HashMap<>();
  private Terminal terminal = Terminal.pipe();
  private String input = "";
  private String out = "";
  private String err = "";
  private byte[] bytes = new byte[0];

  Shell(Path folder) {
    this.folder = folder;
    variables.put("CARILLON_CONTEXTS", folder.resolve("contexts.json").toString());
  }

  Shell with(String variable, String value) {
    variables.put(variable, value);
    return this;
  }

  Shell on(Terminal other) {
    terminal = other;
    return this;
  }

  /** What the next command reads. */
  Shell input(String text) {
    input = text;
    return this;
  }

  /** Runs a command; returns its exit code. */
  int run(String... arguments) {
    StringWriter said = new StringWriter();
    StringWriter complained = new StringWriter();
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    Terminal seen = terminal;
    CommandLine commandLine =
        Main.commandLine(
            new Surroundings(
                variables,
                folder,
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                written,
                () -> seen));
    commandLine.setOut(new PrintWriter(said));
    commandLine.setErr(new PrintWriter(complained));
    int exitCode = commandLine.execute(arguments);
    input = "";
    out = said.toString();
    err = complained.toString();
    bytes = written.toByteArray();
    return exitCode;
  }

  /** Runs a command that must end well; returns what it said. */
  String ok(String... arguments) {
    int exitCode = run(arguments);
    if (exitCode != 0) {
      throw new AssertionError(
          String.join(" ", arguments) + " ended with " + exitCode + ": " + err + out);
    }
    return out.strip();
  }

  /** The lines of JSON that a command said. */
  List<JsonNode> json(String... arguments) {
    return ok(arguments).lines().map(new JsonMapper()::readTree).toList();
  }

  String out() {
    return out;
  }

  String err() {
    return err;
  }

  byte[] bytes() {
    return bytes.clone();
  }
}
