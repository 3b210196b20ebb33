package dev.carillon.bench;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The figures of two builds side by side. A figure counts if it is clear which way is better: it
 * has a bound, or it is a rate or the CPU time of a job or workflow. Not thread-safe.
 */
final class Comparison {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern ROUND = Pattern.compile(", round \\d+$");
  private static final Pattern NUMBER = Pattern.compile("[\\d,.]*\\d");

  /** Shorter times differ by what else the machine does. */
  private static final double LEAST_MILLIS = 1;

  private final double tolerancePercent;
  private final Map<Key, Pair> pairs = new LinkedHashMap<>();

  /** Facts that did not hold in a run of each side. */
  private final Map<Side, Set<String>> broken = new EnumMap<>(Side.class);

  /** Whose figure it is. */
  enum Side {
    OTHER,
    THIS
  }

  /** How this build stands to the other in one figure. */
  enum Verdict {
    /** Within the tolerance, or better. */
    OK,
    /** Beyond the tolerance, but some run of this build was as good as one of the other. */
    NOISY,
    /** Beyond the tolerance, and each run of this build was worse than all of the other. */
    WORSE,
    /** Only one of the builds has it. */
    ALONE
  }

  private record Key(String benchmark, String scenario, String metric, String unit) {}

  private static final class Pair {
    final boolean moreIsBetter;
    final Rounds other = new Rounds();
    final Rounds own = new Rounds();

    Pair(boolean moreIsBetter) {
      this.moreIsBetter = moreIsBetter;
    }
  }

  /**
   * One line of the answer.
   *
   * @param ratio how much of the other's this build reaches, as a factor; below 1 it is worse
   */
  record Line(
      String benchmark,
      String scenario,
      String metric,
      String unit,
      double other,
      double own,
      double ratio,
      Verdict verdict) {

    String text() {
      return "%-26s %-32s %14s %14s %-7s %6.3f  %s"
          .formatted(
              scenario, metric, Figure.number(other), Figure.number(own), unit, ratio, verdict);
    }
  }

  Comparison(double tolerancePercent) {
    this.tolerancePercent = tolerancePercent;
  }

  /** Takes in what one run of a benchmark printed. */
  void add(String benchmark, Side side, List<String> lines) {
    for (String line : lines) {
      if (line.startsWith("{")) {
        add(benchmark, side, JSON.readTree(line));
      }
    }
  }

  private void add(String benchmark, Side side, JsonNode figure) {
    String unit = figure.path("unit").asString("");
    String scenario = figure.path("scenario").asString("");
    String metric = ROUND.matcher(figure.path("metric").asString("")).replaceFirst("");
    double value = figure.path("value").asDouble(Double.NaN);
    if (unit.equals("1=yes")) {
      if (value == 0) {
        String fact = benchmark + ": " + scenario + ": " + NUMBER.matcher(metric).replaceAll("…");
        broken.computeIfAbsent(side, s -> new LinkedHashSet<>()).add(fact);
      }
      return;
    }
    Boolean moreIsBetter = moreIsBetter(unit, figure.path("bound").asString(""));
    boolean ours = figure.path("system").asString("").equals("carillon");
    if (moreIsBetter != null && ours && Double.isFinite(value)) {
      Pair pair =
          pairs.computeIfAbsent(
              new Key(benchmark, scenario, metric, unit), key -> new Pair(moreIsBetter));
      (side == Side.OTHER ? pair.other : pair.own).add(value);
    }
  }

  private static @Nullable Boolean moreIsBetter(String unit, String bound) {
    if (!bound.isEmpty()) {
      return bound.startsWith("≥");
    }
    return switch (unit) {
      case "jobs/s", "workflows/s", "entries/s" -> true;
      case "µs" -> false;
      default -> null;
    };
  }

  /** Facts that must be so, and were not in a run of this build but in all of the other's. */
  List<String> broken() {
    Set<String> before = broken.getOrDefault(Side.OTHER, Set.of());
    return broken.getOrDefault(Side.THIS, Set.of()).stream()
        .filter(fact -> !before.contains(fact))
        .toList();
  }

  List<Line> lines() {
    return pairs.entrySet().stream().map(pair -> line(pair.getKey(), pair.getValue())).toList();
  }

  private Line line(Key key, Pair pair) {
    if (pair.other.isEmpty() || pair.own.isEmpty()) {
      double other = pair.other.isEmpty() ? Double.NaN : pair.other.median();
      double own = pair.own.isEmpty() ? Double.NaN : pair.own.median();
      return line(key, other, own, Double.NaN, Verdict.ALONE);
    }
    double other = pair.other.median();
    double own = pair.own.median();
    double ratio =
        pair.moreIsBetter ? ratio(own, other) : ratio(atLeast(other, key), atLeast(own, key));
    boolean beyond = ratio < 1 / (1 + tolerancePercent / 100);
    boolean apart =
        pair.moreIsBetter ? pair.own.max() < pair.other.min() : pair.own.min() > pair.other.max();
    Verdict verdict = !beyond ? Verdict.OK : apart ? Verdict.WORSE : Verdict.NOISY;
    return line(key, other, own, ratio, verdict);
  }

  private static Line line(Key key, double other, double own, double ratio, Verdict verdict) {
    return new Line(key.benchmark, key.scenario, key.metric, key.unit, other, own, ratio, verdict);
  }

  private static double atLeast(double value, Key key) {
    double least =
        switch (key.unit) {
          case "ms" -> LEAST_MILLIS;
          case "s" -> LEAST_MILLIS / 1000;
          default -> 0;
        };
    return Math.max(least, value);
  }

  private static double ratio(double good, double reference) {
    return reference == 0 ? (good == 0 ? 1 : Double.POSITIVE_INFINITY) : good / reference;
  }
}
