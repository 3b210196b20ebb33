package dev.carillon.prove;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the parent of the workflow proof was told, by which it judges. */
final class WorkflowLedger {
  private final Map<String, Map<String, String>> values = new LinkedHashMap<>();
  private final Map<String, Integer> onceBegan = new LinkedHashMap<>();
  private final Map<String, String> ends = new LinkedHashMap<>();
  private final PauseBook pauses = new PauseBook();
  private final Set<String> began = new LinkedHashSet<>();
  private final Set<String> undoneFirst = new LinkedHashSet<>();
  private final Set<String> undoneLast = new LinkedHashSet<>();
  private final Check recordedOnce = new Check("a recorded step does not run again");
  private final Check sameValue = new Check("a replay sees what was seen live");
  private final Check atMostOnce = new Check("a step that may run once runs at most once");
  private final Check undone =
      new Check("compensations run in reverse order, those of workflows that failed and no others");
  private final Check rightEnd = new Check("every workflow ends as its code says");
  private long steps;
  private long seen;

  /** One line of a child. */
  synchronized void tell(String line) {
    String[] parts = line.split(" ", 4);
    switch (parts[0]) {
      case "S" -> {
        begins(parts[1], parts[2]);
        if (parts.length > 3) {
          pauses.begins(parts[1], Long.parseLong(parts[3]));
        }
      }
      case "P" -> pauses.paused(parts[1], Long.parseLong(parts[2]));
      case "R" -> pauses.resumed(parts[1], Long.parseLong(parts[2]));
      case "V" -> sees(parts[1], parts[2], parts[3]);
      case "E" -> ends.put(parts[1], line.split(" ", 3)[2]);
      default -> {}
    }
  }

  private void begins(String workflow, String step) {
    steps++;
    began.add(workflow);
    switch (step) {
      case "undo-first" -> {
        undoneFirst.add(workflow);
        // The other one begins when this one is recorded.
        recordedOnce.that(!undoneLast.contains(workflow), "workflow " + workflow + ", " + step);
        return;
      }
      case "undo-last" -> {
        undoneLast.add(workflow);
        undone.that(undoneFirst.contains(workflow), "workflow " + workflow + ", " + step);
        return;
      }
      default -> {}
    }
    boolean recorded = values.getOrDefault(workflow, Map.of()).containsKey(step);
    recordedOnce.that(!recorded, "workflow " + workflow + ", step " + step);
    if (step.equals("once")) {
      int began = onceBegan.merge(workflow, 1, Integer::sum);
      atMostOnce.that(began == 1, "workflow " + workflow);
    }
  }

  private void sees(String workflow, String step, String value) {
    seen++;
    Map<String, String> known = values.computeIfAbsent(workflow, w -> new LinkedHashMap<>());
    String before = known.putIfAbsent(step, value);
    sameValue.that(
        before == null || before.equals(value),
        "workflow %s, step %s: %s, then %s".formatted(workflow, step, before, value));
  }

  /** How many workflows have begun and made neither their last step nor their last compensation. */
  synchronized int underWay() {
    int count = 0;
    for (String workflow : began) {
      boolean over =
          undoneLast.contains(workflow)
              || values.getOrDefault(workflow, Map.of()).containsKey("last");
      count += over ? 0 : 1;
    }
    return count;
  }

  /** Looks at the ends of the first {@code count} workflows. */
  synchronized List<Check> checks(int count) {
    for (int number = 0; number < count; number++) {
      String workflow = Integer.toString(number);
      Map<String, String> known = values.getOrDefault(workflow, Map.of());
      String expected =
          number % 5 == 0
              ? "failed"
              : String.join(
                  "|",
                  known.getOrDefault("draw", "?"),
                  "try 2",
                  known.getOrDefault("once", "?"),
                  "signal " + number,
                  "part " + number,
                  known.getOrDefault("last", "?"));
      String end = ends.get(workflow);
      boolean fails = number % 5 == 0;
      undone.that(
          undoneFirst.contains(workflow) == fails && undoneLast.contains(workflow) == fails,
          "workflow " + workflow + " (expected: " + (fails ? "both" : "none") + ")");
      rightEnd.that(
          expected.equals(end), "workflow " + workflow + ": " + end + ", expected " + expected);
    }
    List<Check> all =
        new ArrayList<>(
            List.of(recordedOnce, sameValue, atMostOnce, undone, rightEnd, pauses.check()));
    return all;
  }

  synchronized long steps() {
    return steps;
  }

  synchronized long pauses() {
    return pauses.pauses();
  }

  synchronized long seen() {
    return seen;
  }
}
