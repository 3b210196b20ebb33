package dev.carillon.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the guides show is what happens: every example is compiled, run and compared. */
class GuideTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("```java\\n(.*?)```\\s+```text\\n(.*?)```", Pattern.DOTALL);

  private static final String POSTGRES =
      "String url = dev.carillon.fixture.PostgresServer.shared().url();";

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "recurring-jobs",
        "failure-policies",
        "handlers",
        "dead-letters",
        "flow-control",
        "history",
        "transactions"
      })
  void examplesPrintWhatTheGuideShows(String name) throws Exception {
    String guide = Files.readString(Path.of("..", "docs", "guides", name + ".md"));
    List<MatchResult> examples = EXAMPLE.matcher(guide).results().toList();

    assertThat(examples)
        .as("every example has its output")
        .hasSize(guide.split("```java", -1).length - 1)
        .isNotEmpty();
    for (int i = 0; i < examples.size(); i++) {
      assertThat(output("Example" + i, examples.get(i).group(1)))
          .isEqualTo(examples.get(i).group(2));
    }
  }

  private String output(String name, String statements) throws Exception {
    Path source = Files.writeString(folder.resolve(name + ".java"), program(name, statements));
    var messages = new ByteArrayOutputStream();
    int exit =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                messages,
                messages,
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                source.toString());
    assertThat(exit).as(messages.toString(StandardCharsets.UTF_8)).isZero();
    var out = new ByteArrayOutputStream();
    PrintStream before = System.out;
    try (var loader =
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, GuideTest.class.getClassLoader())) {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      loader.loadClass(name).getMethod("run").invoke(null);
    } finally {
      System.setOut(before);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private static boolean needsServer(String statements) {
    return statements.contains("(url)");
  }

  private static String program(String name, String statements) {
    return """
    import dev.carillon.*;
    import dev.carillon.api.*;
    import dev.carillon.testkit.CarillonTest;
    import java.io.IOException;
    import java.sql.Connection;
    import java.sql.DriverManager;
    import java.sql.ResultSet;
    import java.sql.Statement;
    import java.time.*;
    import java.time.temporal.ChronoUnit;
    import java.util.*;
    import java.util.concurrent.*;
    import java.util.concurrent.atomic.*;

    public final class %s {
      public static void run() throws Exception {
    %s
    %s
      }
    }
    """
        .formatted(name, needsServer(statements) ? POSTGRES : "", statements);
  }
}
