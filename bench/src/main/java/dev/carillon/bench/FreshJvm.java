package dev.carillon.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Runs a command of this module in a new process with this one's class path and compiler. */
final class FreshJvm {
  private static final String COMPILER = "-XX:TieredStopAtLevel";

  private FreshJvm() {}

  /** The lines it printed; its errors go to this process's. */
  static List<String> run(String... arguments) {
    return run(List.of(), arguments);
  }

  /** The same with further options for the JVM. */
  static List<String> run(List<String> options, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith(COMPILER))
        .forEach(command::add);
    command.addAll(options);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      List<String> lines;
      try (BufferedReader out =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        lines = out.lines().toList();
      }
      int exit = process.waitFor();
      if (exit != 0 || lines.isEmpty()) {
        throw new IllegalStateException(
            String.format(
                Locale.ROOT, "%s: exit code %d (expected: 0 and output)", arguments[0], exit));
      }
      return lines;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
