package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of the guide on securing a server, by a shell, in their order. */
class SecuringGuideTest {
  private static final Path GUIDE = Path.of("..", "docs", "guides", "securing-the-server.md");
  private static final Pattern BLOCK = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);

  @TempDir private Path folder;
  private int port;
  private Process server;
  private int started;

  @AfterEach
  void stop() throws InterruptedException {
    if (server != null) {
      server.descendants().forEach(ProcessHandle::destroy);
      server.destroy();
      if (!server.waitFor(20, TimeUnit.SECONDS)) {
        server.destroyForcibly().waitFor();
      }
      server = null;
    }
  }

  @Test
  void everyCommandOfTheGuideWorks() throws Exception {
    boolean all = "all".equals(System.getProperty("it.require"));
    boolean curl = isThere("curl");
    Assumptions.assumeTrue(all || curl, "curl is not there: the guide's commands are not run");
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    script();
    List<String> ran = new ArrayList<>();
    Matcher blocks = BLOCK.matcher(Files.readString(GUIDE));
    while (blocks.find()) {
      String block = here(blocks.group(1));
      if (block.contains("carillon serve")) {
        stop();
        serve(block);
      } else {
        if (server == null && block.contains("localhost:")) {
          serve("./carillon serve --port " + port);
        }
        ran.add(run(block));
      }
    }
    assertThat(started).isEqualTo(4);
    assertThat(ran).hasSize(7);
    assertThat(Files.readString(folder.resolve("root.token"))).startsWith("crl_");
    assertThat(String.join("", ran)).contains("\"items\"").contains("revoked: token shop");
  }

  private static boolean isThere(String program) throws Exception {
    try {
      return new ProcessBuilder(program, "--version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private void script() throws IOException {
    Path script = folder.resolve("carillon");
    Files.writeString(
        script,
        "#!/bin/sh\nexec '%s' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '%s' %s \"$@\"\n"
            .formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                System.getProperty("java.class.path"),
                Main.class.getName()));
    assertThat(script.toFile().setExecutable(true)).isTrue();
  }

  /** On a port of the test, with the id of the token that the guide made before. */
  private String here(String block) throws Exception {
    String text = block.replace("8470", Integer.toString(port));
    text = text.replace("carillon serve", "carillon serve --port " + port);
    text = text.replace("keytool", Path.of(System.getProperty("java.home"), "bin", "keytool") + "");
    if (text.matches("(?s).* ID\\b.*")) {
      String tokens =
          run(
              "./carillon token list --server http://localhost:%d --token-file root.token"
                  .formatted(port));
      String id = tokens.lines().filter(line -> line.contains(" shop ")).findFirst().orElseThrow();
      text = text.replaceAll(" ID\\b", " " + id.strip().split(" ", 2)[0]);
    }
    return text;
  }

  private String run(String block) throws Exception {
    Path out = folder.resolve("out");
    Process process =
        new ProcessBuilder("bash", "-euc", block)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    assertThat(process.waitFor(120, TimeUnit.SECONDS)).as(block).isTrue();
    String text = Files.readString(out, StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as("%s%n%s", block, text).isZero();
    assertThat(text).as(block).doesNotContain("urn:carillon:problem");
    return text;
  }

  private void serve(String block) throws Exception {
    Path out = folder.resolve("served-" + ++started);
    server =
        new ProcessBuilder(
                "bash", "-euc", block.replace("./carillon serve", "exec ./carillon serve"))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> !server.isAlive() || Files.readString(out).contains("clients need a token"));
    assertThat(server.isAlive()).as("%s%n%s", block, Files.readString(out)).isTrue();
  }
}
