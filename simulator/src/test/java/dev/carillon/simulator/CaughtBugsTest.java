package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaughtBugsTest {
  private static final PlantedBug BUG = bug("one");
  private static final List<String> BY = List.of("1 NAMES", "20 NAMES", "3 RETRIES");

  @TempDir private Path root;
  private Path source;

  private static PlantedBug bug(String after) {
    PlantedBug.Edit edit = new PlantedBug.Edit("engine/A.java", "before", after);
    return new PlantedBug("a-bug", "what it breaks", 5, List.of(edit));
  }

  @BeforeEach
  void sources() throws IOException {
    source = root.resolve("engine/src/main/java/A.java");
    Files.createDirectories(source.getParent());
    Files.writeString(source, "class A {}");
  }

  private CaughtBugs open() {
    return new CaughtBugs(root, root.resolve("target/caught.txt"));
  }

  @Test
  void whatWasCaughtIsKnownToTheNextRun() {
    open().add(BUG, 2_000, BY);
    assertThat(open().of(BUG, 2_000)).isEqualTo(BY);
  }

  @Test
  void anythingElseIsHuntedAgain() throws IOException {
    assertThat(open().of(BUG, 2_000)).isNull();
    open().add(BUG, 2_000, BY);
    assertThat(open().of(BUG, 10_000)).isNull();
    assertThat(open().of(bug("two"), 2_000)).isNull();
    Files.writeString(source, "class A { int more; }");
    assertThat(open().of(BUG, 2_000)).isNull();
  }

  @Test
  void lineThatWasCutShortIsLeftOut() throws IOException {
    open().add(BUG, 2_000, BY);
    Path file = root.resolve("target/caught.txt");
    String line = Files.readString(file);
    Files.writeString(file, line.substring(0, line.lastIndexOf('\t')));
    assertThat(open().of(BUG, 2_000)).isNull();
    open().add(BUG, 2_000, BY);
    assertThat(open().of(BUG, 2_000)).isEqualTo(BY);
  }
}
