package dev.carillon.prove;

import java.util.List;
import java.util.Map;

/**
 * A suite that has run, and what came out.
 *
 * @param checks each promise
 * @param problems what kept the suite from its end
 * @param figures how much was done, and how long it took
 */
record Proof(List<Check> checks, List<String> problems, Map<String, Long> figures) {

  boolean holds() {
    return problems.isEmpty() && checks.stream().allMatch(Check::holds);
  }
}
