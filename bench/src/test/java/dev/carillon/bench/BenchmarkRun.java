package dev.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs benchmarks as a user does and reads their figures. */
abstract class BenchmarkRun {
  private static final JsonMapper JSON = new JsonMapper();

  /** Set where every benchmark is to run, which takes minutes more than every build should. */
  static final String ALL = "carillon.benchmarks";

  /** Facts that a machine may be too busy for. */
  private static final Set<String> ABOUT_SPEED =
      Set.of(
          "the rate was kept",
          "measured before the first was due",
          "all was scheduled before it was due",
          "the one was at work until the last of them was due");

  @TempDir Path folder;

  static List<Double> values(List<JsonNode> figures, String scenario, String metric) {
    return figures.stream()
        .filter(figure -> figure.get("scenario").asString().equals(scenario))
        .filter(figure -> figure.get("metric").asString().startsWith(metric))
        .map(figure -> figure.get("value").asDouble())
        .toList();
  }

  /** Runs a benchmark as a user does, with figures as JSON, and looks that it cleans up. */
  List<JsonNode> run(String... args) throws Exception {
    List<String> all =
        Stream.concat(Stream.of(args), Stream.of("--json", "--dir=" + folder)).toList();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    int exit;
    try {
      exit = Main.run(all.toArray(String[]::new));
    } finally {
      System.setOut(before);
    }
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
    List<JsonNode> figures =
        out.toString(StandardCharsets.UTF_8).lines().map(JSON::readTree).toList();
    assertThat(figures)
        .isNotEmpty()
        .allSatisfy(
            figure ->
                assertThat(figure.propertyNames())
                    .contains(
                        "scenario", "system", "store", "metric", "value", "unit", "settings"));
    assertThat(exit)
        .as("0 if all bounds hold, else 1")
        .isEqualTo(failed(figures).isEmpty() ? 0 : 1);
    assertThat(failed(figures)).noneMatch(BenchmarkRun::isAboutJobs);
    return figures;
  }

  private static List<JsonNode> failed(List<JsonNode> figures) {
    return figures.stream().filter(figure -> "FAIL".equals(verdict(figure))).toList();
  }

  private static String verdict(JsonNode figure) {
    return figure.path("verdict").asString("");
  }

  /** Whether it must hold on any machine, however busy: no job is lost, none starts early. */
  private static boolean isAboutJobs(JsonNode figure) {
    String metric = figure.get("metric").asString();
    boolean fact = figure.get("unit").asString().equals("1=yes");
    return metric.startsWith("earliest start") || (fact && !ABOUT_SPEED.contains(metric));
  }
}
