package dev.carillon.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** That the tests which {@code docs/behaviours.md} names are there. */
class BehavioursTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Pattern NAMED = Pattern.compile("`([a-z-]+)/(\\w+)\\.(\\w+)`");
  private static final Pattern TEST =
      Pattern.compile("^  @(Test|ParameterizedTest|Case)\\b", Pattern.MULTILINE);
  private static final int FEWEST_ROWS = 80;

  private static List<String> rows() throws IOException {
    return Files.readAllLines(ROOT.resolve("docs/behaviours.md")).stream()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| behaviour |"))
        .toList();
  }

  private static List<MatchResult> named(String row) {
    return NAMED.matcher(row).results().toList();
  }

  @Test
  void everyRowNamesATestOrSaysThatThereIsNone() throws IOException {
    List<String> rows = rows();
    assertThat(rows).hasSizeGreaterThan(FEWEST_ROWS).doesNotHaveDuplicates();
    assertThat(rows)
        .allSatisfy(
            row -> {
              boolean none = row.endsWith("| not yet |") || row.endsWith("| later |");
              assertThat(named(row).isEmpty()).isEqualTo(none);
            });
  }

  @Test
  void everyNamedTestIsThere() throws IOException {
    List<String> missing = new ArrayList<>();
    for (String row : rows()) {
      for (MatchResult test : named(row)) {
        if (!isThere(test.group(1), test.group(2), test.group(3))) {
          missing.add(test.group());
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  private static boolean isThere(String module, String type, String method) throws IOException {
    try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
      for (Path file : files.filter(f -> f.endsWith(type + ".java")).toList()) {
        if (isTest(Files.readString(file), method)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether the method is declared, with the annotation of a test since the method before it. */
  private static boolean isTest(String source, String method) {
    Matcher declared =
        Pattern.compile("^  (?:default )?void " + method + "\\(", Pattern.MULTILINE)
            .matcher(source);
    if (!declared.find()) {
      return false;
    }
    String before = source.substring(0, declared.start());
    String own = before.substring(Math.max(0, before.lastIndexOf("\n  }\n")));
    return TEST.matcher(own).find();
  }
}
