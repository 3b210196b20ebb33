package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code ./carillon serve} as a process of its own, on a port of its own. */
final class ServerProcess implements AutoCloseable {
  private final Path folder;
  private final Process process;

  private ServerProcess(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
  }

  /** Starts one in a folder; it may not answer yet. */
  static ServerProcess start(Path folder, String... more) throws IOException {
    List<String> command = javaMain("serve", "--port", "0");
    command.addAll(List.of(more));
    return new ServerProcess(
        folder,
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(folder.resolve("errors").toFile())
            .start());
  }

  /** The command line as a process. */
  static List<String> javaMain(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Djdk.trackAllThreads=false",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  Process process() {
    return process;
  }

  String errors() throws IOException {
    return Files.readString(folder.resolve("errors"));
  }

  /** Its address, as it says once it answers. */
  String base() throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    assertThat(line).as(errors()).contains("serving jdbc:", " at http://127.0.0.1:");
    return line.substring(line.indexOf("http:"));
  }

  /** Kills it, as a machine that fails would. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
