package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A few of the planted bugs; {@code ./carillon simulate --planted} hunts all of them. */
class PlantedBugTest {
  private static final Path ROOT = BrokenEngine.root();

  @ParameterizedTest
  @CsvSource({
    "acknowledged-before-commit, ACKNOWLEDGED_IS_DURABLE UNKNOWN_IS_SAID",
    "fired-a-tick-early, NEVER_EARLY",
    "wake-raised-too-far, WAKE_TIME",
    "stand-in-accepts-new-jobs, MEMBERS",
    "child-result-lost-by-compaction, FOLD",
    "signal-consumed-twice, REPLAY",
    "tries-forgotten-by-a-crash, STEPS_ONCE",
  })
  void plantedBugIsNoticed(String name, String guarantees) {
    PlantedBug bug =
        PlantedBug.all(ROOT).stream().filter(b -> b.name().equals(name)).findFirst().orElseThrow();
    try (BrokenEngine engine = BrokenEngine.with(bug, ROOT)) {
      String noticed = engine.hunt(bug.seed(1), 100);
      String broken = noticed.substring(noticed.lastIndexOf(' ') + 1);
      assertThat(guarantees).as(bug.about()).contains(Guarantee.valueOf(broken).name());
    }
  }

  @Test
  void everyPlantedBugStillFitsTheSources() throws IOException {
    List<PlantedBug> bugs = PlantedBug.all(ROOT);

    assertThat(bugs).hasSizeGreaterThanOrEqualTo(10);
    for (PlantedBug bug : bugs) {
      for (PlantedBug.Edit edit : bug.edits()) {
        String source = Files.readString(ROOT.resolve(edit.file()));
        assertThat(edit.apply(source)).as(bug.name()).isNotEqualTo(source);
      }
    }
  }

  @Test
  void editThatNoLongerFitsIsRefusedLoudly() {
    PlantedBug.Edit edit = new PlantedBug.Edit("File.java", "gone", "other");

    assertThatThrownBy(() -> edit.apply("text"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("File.java: nowhere");
    assertThatThrownBy(() -> edit.apply("gone and gone"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("more than once");
  }
}
