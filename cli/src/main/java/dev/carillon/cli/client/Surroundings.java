package dev.carillon.cli.client;

import dev.carillon.cli.text.Terminal;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What surrounds a command: tests bring their own.
 *
 * @param variables the environment
 * @param folder the current folder
 * @param input the standard input
 * @param output the standard output, for bytes that are no text
 * @param terminal the standard output; asked when a command writes for people
 */
public record Surroundings(
    Map<String, String> variables,
    Path folder,
    InputStream input,
    OutputStream output,
    Supplier<Terminal> terminal) {

  /** Those of this process. */
  public static Surroundings ofProcess() {
    Map<String, String> variables = System.getenv();
    return new Surroundings(
        variables, Path.of(""), System.in, System.out, () -> Terminal.ofProcess(variables));
  }

  /** A variable; empty if it is not set. */
  public String variable(String name) {
    return variables.getOrDefault(name, "").strip();
  }

  /** Whoever has them: the command at the root. */
  public interface Holder {
    /** What surrounds every command below. */
    Surroundings surroundings();
  }
}
