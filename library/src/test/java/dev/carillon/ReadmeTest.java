package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobQuery;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program in README.md is compiled as it stands there, and run as a program. */
@Timeout(120)
class ReadmeTest {
  private static final Path README = Path.of("..", "README.md");
  @TempDir Path folder;

  private static String program() throws IOException {
    Matcher block =
        Pattern.compile("## Ten lines\\s+```java\\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(README));
    assertThat(block.find()).isTrue();
    return block.group(1);
  }

  private void compile(String program) throws IOException {
    Path source = folder.resolve("Hello.java");
    Files.writeString(source, program);
    int result =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                folder.toString(),
                source.toString());
    assertThat(result).isZero();
  }

  private Process start() throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath =
        folder + System.getProperty("path.separator") + System.getProperty("java.class.path");
    return new ProcessBuilder(
            java,
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            classPath,
            "Hello")
        .directory(folder.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @Test
  void programRunsAndStaysAliveUntilItIsKilled() throws Exception {
    compile(program().replace("ofSeconds(10)", "ofSeconds(1)"));
    Process process = start();
    try (BufferedReader output = process.inputReader()) {
      assertThat(output.readLine()).isEqualTo("to you: hello");
      assertThat(process.isAlive()).isTrue();
    } finally {
      process.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
    }
    assertThat(folder.resolve("jobs.db")).exists();
  }

  @Test
  void whatAKilledProgramScheduledIsDoneByTheNextOne() throws Exception {
    String program = program();
    compile(
        program.replace(
            ".in(Duration.ofSeconds(10)));",
            ".at(java.time.Instant.now().plusMillis(1500)));\n    System.out.println(\"kept\");"));
    Process first = start();
    try (BufferedReader output = first.inputReader()) {
      assertThat(output.readLine()).isEqualTo("kept");
    } finally {
      first.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
    }
    Process second = start();
    try (BufferedReader output = second.inputReader()) {
      assertThat(List.of(output.readLine(), output.readLine()))
          .containsExactlyInAnyOrder("kept", "to you: hello");
    } finally {
      second.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
    }
    try (Carillon carillon = Carillon.open("jdbc:sqlite:" + folder.resolve("jobs.db"))) {
      assertThat(carillon.list(JobQuery.all()).items()).as("jobs under one key").hasSize(1);
    }
  }
}
