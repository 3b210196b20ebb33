package dev.carillon.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Expressions to compare with the oracle: chosen ones, and as many generated from a seed. */
final class CronExpressions {
  private static final long SEED = 20_261_115;
  private static final int GENERATED = 140;

  /** With five fields: every feature, and hours around those at which clocks change. */
  private static final List<String> CHOSEN =
      List.of(
          "* * * * *",
          "*/15 * * * *",
          "*/7 * * * *",
          "0 * * * *",
          "15 * * * *",
          "30 * * * *",
          "0,29,30,31,59 * * * *",
          "5/10 * * * *",
          "10-40/15 * * * *",
          "0 */1 * * *",
          "0 0-23 * * *",
          "20 0-11,12-23 * * *",
          "0 */2 * * *",
          "30 */2 * * *",
          "30 1/2 * * *",
          "0 */3 * * *",
          "0 1-5 * * *",
          "*/15 1-5 * * *",
          "*/10 2 * * *",
          "* 2 * * *",
          "* 1-3 * * *",
          "0 0 * * *",
          "30 0 * * *",
          "59 23 * * *",
          "0 1 * * *",
          "30 1 * * *",
          "45 1 * * *",
          "0 2 * * *",
          "15 2 * * *",
          "30 2 * * *",
          "59 2 * * *",
          "0 3 * * *",
          "30 3 * * *",
          "0,30 0,1,2,3 * * *",
          "0 1,2 * * *",
          "30 2,3 * * *",
          "0 12 * * *",
          "0 22-23 * * *",
          "0 0 1 * *",
          "30 2 L * *",
          "30 2 L-1 * *",
          "0 2 L-3,L * *",
          "0 0 LW * *",
          "30 1 1W * *",
          "30 1 15W,31W * *",
          "30 2 28W,29W,30W * *",
          "30 2 29,30,31 * *",
          "0 3 * * SUN",
          "0 3 * * 0",
          "0 3 * * 7",
          "30 2 * * 5L,6L,7L",
          "30 2 * * SUNL",
          "30 1 * * SUN#1",
          "30 1 * * SUN#2,0#4",
          "30 1 * * 7#5",
          "30 2 * * FRI-MON",
          "30 2 * * SAT-SUN",
          "30 2 * * 5-7",
          "30 2 * * 6-1/2",
          "30 2 * * */2",
          "30 2 * * 4/2",
          "30 2 * * mon-fri",
          "* * * * SUN",
          "*/20 * 25-31 * SUN",
          "30 2 25-31 * SUN",
          "30 2 */2 * SUN",
          "30 2 */2 * */3",
          "30 2 ? * SUN",
          "30 2 25-31 * ?",
          "0 0 ? * ?",
          "30 2 * MAR,OCT *",
          "30 2 * mar-nov *",
          "30 2 * */2 *",
          "30 2 1-7 4,10,11 SUN",
          "0 2 8-14 3 *",
          "0 0 29 2 *",
          "30 0,23 L,1 * *",
          "0 4 1/5 * *",
          "0 5 31 * *",
          "1,2,3 2,3 * * *");

  /** With six fields. */
  static final List<String> WITH_SECONDS =
      List.of(
          "* * * * * *",
          "*/10 * * * * *",
          "0 * * * * *",
          "30 */5 * * * *",
          "7/13 * * * * *",
          "59 59 * * * *",
          "0 0 */2 * * *",
          "* 30 2 * * *",
          "*/7 0,30 1-3 * * *",
          "15 30 2 * * *",
          "59 59 1 * * *",
          "0 0 2 * * *",
          "1 0 2 * * *",
          "59 59 2 * * *",
          "0 0 3 * * *",
          "30 0 0 * * *",
          "59 59 23 * * *",
          "5,10-20/2 10 0-4 * * *",
          "0,30 */15 2 * * SUN",
          "* * 0-2 L * *");

  private CronExpressions() {}

  static List<String> withMinutes() {
    var random = new Random(SEED);
    return Stream.concat(CHOSEN.stream(), Stream.generate(() -> generated(random)).limit(GENERATED))
        .toList();
  }

  /** At noon, with the day fields of all others and every W, L and #. */
  static List<String> ofDays() {
    Stream<String> others =
        withMinutes().stream()
            .map(text -> text.substring(text.indexOf(' ', text.indexOf(' ') + 1)));
    Stream<String> days =
        IntStream.rangeClosed(1, 30)
            .boxed()
            .flatMap(n -> Stream.of(" " + n + "W * *", " L-" + n + " * *", " " + n + " * FRI"));
    Stream<String> weekdays =
        IntStream.rangeClosed(0, 7)
            .boxed()
            .flatMap(n -> Stream.of(n + "L", n + "#1", n + "#4", n + "#5"))
            .map(text -> " * * " + text);
    return Stream.of(others, days, weekdays)
        .flatMap(texts -> texts)
        .distinct()
        .map(text -> "0 12" + text)
        .toList();
  }

  private static String generated(Random random) {
    return String.join(
        " ",
        field(random, 0, 59, 0.2),
        field(random, 0, random.nextBoolean() ? 4 : 23, 0.2),
        day(random),
        field(random, 1, 12, 0.9),
        weekday(random));
  }

  /** A list of one to three elements, or {@code *} with some probability. */
  private static String field(Random random, int first, int last, double open) {
    if (random.nextDouble() < open) {
      return "*";
    }
    List<String> elements = new ArrayList<>();
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      elements.add(element(random, first, last));
    }
    return String.join(",", elements);
  }

  private static String element(Random random, int first, int last) {
    int a = random.nextInt(first, last + 1);
    int b = random.nextInt(first, last + 1);
    String range = Math.min(a, b) + "-" + Math.max(a, b);
    int step = 1 + random.nextInt(Math.max(1, (last - first) / 2));
    return switch (random.nextInt(6)) {
      case 0, 1, 2 -> Integer.toString(a);
      case 3 -> range;
      case 4 -> range + "/" + step;
      default -> random.nextBoolean() ? a + "/" + step : "*/" + step;
    };
  }

  private static String day(Random random) {
    return switch (random.nextInt(12)) {
      case 0 -> field(random, 1, 28, 0);
      case 1 -> "L";
      case 2 -> "L-" + (1 + random.nextInt(27));
      case 3 -> (1 + random.nextInt(28)) + "W";
      case 4 -> "LW," + (1 + random.nextInt(28));
      case 5 -> "?";
      default -> "*";
    };
  }

  private static String weekday(Random random) {
    return switch (random.nextInt(12)) {
      case 0 -> field(random, 0, 6, 0);
      case 1 -> random.nextInt(8) + "L";
      case 2 -> random.nextInt(8) + "#" + (1 + random.nextInt(4));
      case 3 -> random.nextInt(8) + "-" + random.nextInt(8);
      case 4 -> "SAT,SUN";
      case 5 -> "?";
      default -> "*";
    };
  }
}
