package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.schedule.ClockGap;
import dev.carillon.api.schedule.ClockOverlap;
import dev.carillon.api.schedule.Schedule;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/guides/schedules.md says is what happens: examples are run, the table is computed. */
class ScheduleGuideTest {
  private static final Path GUIDE = Path.of("..", "docs", "guides", "schedules.md");
  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final Pattern EXAMPLE =
      Pattern.compile("```java\\n(.*?)```\\s+```text\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern ROW =
      Pattern.compile("\\| `(.*)` \\| `([A-Z_]+)` \\| `([A-Z_]+)` \\| (.*) \\| (.*) \\|");

  @TempDir Path folder;

  @Test
  void examplesPrintWhatTheGuideShows() throws Exception {
    String guide = Files.readString(GUIDE);
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

  @Test
  void clockChangesTurnOutAsInTheTable() throws IOException {
    List<MatchResult> rows = ROW.matcher(Files.readString(GUIDE)).results().toList();

    assertThat(rows).hasSize(9);
    for (MatchResult row : rows) {
      Schedule schedule =
          Schedule.cron(row.group(1), BERLIN)
              .gap(ClockGap.valueOf(row.group(2)))
              .clockOverlap(ClockOverlap.valueOf(row.group(3)));
      assertThat(timesOn("2026-03-29", schedule)).as(row.group()).contains(row.group(4));
      assertThat(timesOn("2026-10-25", schedule)).as(row.group()).contains(row.group(5));
    }
  }

  /** The two ways in which the table may say it. */
  private static List<String> timesOn(String day, Schedule schedule) {
    LocalDate date = LocalDate.parse(day);
    List<String> times =
        schedule
            .preview(Limits.PREVIEW_MAX_TIMES, date.minusDays(1).atStartOfDay(BERLIN).toInstant())
            .stream()
            .map(occurrence -> occurrence.time().toOffsetDateTime())
            .filter(time -> time.toLocalDate().equals(date))
            .map(time -> time.toOffsetTime().toString())
            .toList();
    return times.isEmpty()
        ? List.of("never")
        : List.of(String.join(", ", times), times.size() + " times");
  }

  private String output(String name, String statements) throws Exception {
    compile(name, statements);
    var out = new ByteArrayOutputStream();
    PrintStream before = System.out;
    try (var loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      loader.loadClass(name).getMethod("run").invoke(null);
    } finally {
      System.setOut(before);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private void compile(String name, String statements) throws IOException {
    Path source = folder.resolve(name + ".java");
    Files.writeString(
        source,
        """
        import dev.carillon.api.*;
        import dev.carillon.api.error.*;
        import dev.carillon.api.schedule.*;
        import java.time.*;
        import java.util.*;

        public class %s {
          public static void run() {
            %s
          }
        }
        """
            .formatted(name, statements));
    String classPath = System.getProperty("java.class.path");
    String[] options = {"-proc:none", "-cp", classPath, "-d", folder.toString(), source.toString()};
    assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, options)).isZero();
  }
}
