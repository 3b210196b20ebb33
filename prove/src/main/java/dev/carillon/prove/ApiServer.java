package dev.carillon.prove;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An {@link ApiChild} in a process of its own. */
final class ApiServer {
  private final Process process;

  private ApiServer(Process process) {
    this.process = process;
  }

  static ApiServer start(Path errors, String url, int port) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1", // lives for seconds only
            "-Djdk.trackAllThreads=false",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "api-child",
            url,
            "--port=" + port);
    try {
      return new ApiServer(
          new ProcessBuilder(command)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
              .start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Kills it with signal 9; whether that was its end. */
  boolean kill() throws InterruptedException {
    process.destroyForcibly();
    return process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == Child.KILLED;
  }
}
