package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.NodeJob.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Which legal pairs of phases simulated jobs go through. A pair that no job of any run goes through
 * is a rule that nothing needs, or a case that nothing tests. The pairs are written to {@code
 * simulator/target/phases.txt}.
 */
class PhaseCoverageTest {
  private static final String SEEN = "carillon.phases.";
  private static final int SEEDS = 60;

  /**
   * Legal pairs that a short run need not meet. Tests of the engine go through some of them (a
   * handler that is registered while its job waits, a workflow whose code does not fit); the others
   * take two rare events between two turns of the loop.
   */
  private static final Set<String> RARE =
      Set.of(
          // a job that waits for something is looked at again, and still waits for it
          "DEPENDENCY>DEPENDENCY",
          "DIVERGED>DIVERGED",
          "NO_HANDLER>NO_HANDLER",
          "UNDECODABLE>UNDECODABLE",
          "GONE>GONE",
          // what it waited for is there, and its time has come long since
          "DEPENDENCY>READY",
          "DIVERGED>READY",
          "NO_HANDLER>READY",
          "PAUSED>READY",
          "UNDECODABLE>READY",
          // found out before it stood in a lane, or only there
          "LIMITED>NO_HANDLER",
          "READY>DEPENDENCY",
          "READY>DIVERGED",
          "READY>UNDECODABLE",
          "SCHEDULED>DIVERGED",
          "SCHEDULED>NO_HANDLER",
          "SCHEDULED>UNDECODABLE",
          // workflows
          "RUNNING>DIVERGED",
          "DIVERGED>GONE",
          "DIVERGED>PAUSED",
          "DIVERGED>SCHEDULED",
          "HISTORY_FULL>GONE",
          "HISTORY_FULL>HISTORY_FULL",
          "HISTORY_FULL>PAUSED",
          "HISTORY_FULL>READY",
          "HISTORY_FULL>SCHEDULED",
          "READY>HISTORY_FULL",
          "SCHEDULED>HISTORY_FULL");

  @Test
  void simulatedJobsGoThroughTheLegalPairsOfPhases() throws IOException {
    Set<String> legal = legalPairs();
    try (BrokenEngine engine = BrokenEngine.with(recordingPhases(), BrokenEngine.root())) {
      assertThat(engine.hunt(new Seed(1, 1), SEEDS)).as("a seed that fails").isEmpty();
      assertThat(engine.hunt(new Seed(1, 5), SEEDS / 10))
          .as("a seed of five nodes that fails")
          .isEmpty();
    }
    Set<String> seen = new TreeSet<>();
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith(SEEN)) {
        seen.add(name.substring(SEEN.length()));
      }
    }
    Set<String> unseen = new TreeSet<>(legal);
    unseen.removeAll(seen);
    Files.write(
        Files.createDirectories(Path.of("target")).resolve("phases.txt"),
        List.of("seen " + seen.size() + ": " + seen, "legal, not seen: " + unseen));

    assertThat(legal).containsAll(seen);
    assertThat(RARE).containsAll(unseen);
  }

  private static Set<String> legalPairs() {
    Set<String> pairs = new TreeSet<>();
    for (Phase from : Phase.values()) {
      for (Phase next : Phase.values()) {
        if (NodeJob.mayFollow(from, next)) {
          pairs.add(from + ">" + next);
        }
      }
    }
    return pairs;
  }

  /** Not a bug: an engine that notes each pair when it meets it first. */
  private static PlantedBug recordingPhases() {
    PlantedBug.Edit note =
        new PlantedBug.Edit(
            "engine/src/main/java/dev/carillon/engine/shard/NodeJob.java",
            "    phase = next;\n",
            """
                if (!MET[phase.ordinal()][next.ordinal()]) {
                  MET[phase.ordinal()][next.ordinal()] = true;
                  System.setProperty("%s" + phase + ">" + next, "");
                }
                phase = next;
            """
                .formatted(SEEN));
    PlantedBug.Edit memory =
        new PlantedBug.Edit(
            "engine/src/main/java/dev/carillon/engine/shard/NodeJob.java",
            "  private Phase phase = Phase.SCHEDULED;\n",
            """
              private static final boolean[][] MET =
                  new boolean[Phase.values().length][Phase.values().length];
              private Phase phase = Phase.SCHEDULED;
            """);
    return new PlantedBug("phases-noted", "notes each pair of phases", 1, List.of(note, memory));
  }
}
