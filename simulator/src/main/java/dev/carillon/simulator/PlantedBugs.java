package dev.carillon.simulator;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Plants bugs, one after the other, and sees that each is noticed from three first seeds. */
final class PlantedBugs {
  static final List<Long> FIRST_SEEDS = List.of(1L, 1_000_001L, 2_000_001L);

  private final Path root;
  private final CaughtBugs known;
  private final long seeds;
  private final int threads;
  private final PrintStream out;

  PlantedBugs(Path root, long seeds, int threads, PrintStream out) {
    this.root = root;
    this.known = new CaughtBugs(root, root.resolve("simulator/target/planted-caught.txt"));
    this.seeds = seeds;
    this.threads = threads;
    this.out = out;
  }

  /** Hunts all of them, or that of the name; true if each was caught every time. */
  boolean hunt(@Nullable String name) {
    List<PlantedBug> bugs =
        PlantedBug.all(root).stream()
            .filter(bug -> name == null || bug.name().equals(name))
            .toList();
    if (bugs.isEmpty()) {
      throw new IllegalArgumentException("planted bug: " + name + " (expected: a known one)");
    }
    out.println("seeds until it was noticed, and by which guarantee:");
    StringBuilder head = new StringBuilder("%-42s".formatted("from seed"));
    FIRST_SEEDS.forEach(first -> head.append("%-34s".formatted(first)));
    out.println(head);
    boolean all = true;
    for (PlantedBug bug : bugs) {
      all &= hunt(bug);
    }
    return all;
  }

  private boolean hunt(PlantedBug bug) {
    List<String> before = known.of(bug, seeds);
    List<String> caught = before != null ? before : caughtNow(bug);
    boolean all = caught.stream().noneMatch(String::isEmpty);
    if (all && before == null) {
      known.add(bug, seeds, caught);
    }
    StringBuilder line = new StringBuilder("%-42s".formatted(bug.name()));
    caught.forEach(c -> line.append("%-34s".formatted(c.isEmpty() ? "NOT NOTICED" : c)));
    out.println(before != null ? line + "(by an earlier run)" : line);
    return all;
  }

  private List<String> caughtNow(PlantedBug bug) {
    List<String> caught = new ArrayList<>();
    try (BrokenEngine engine = BrokenEngine.with(bug, root);
        ExecutorService workers = Executors.newFixedThreadPool(threads)) {
      List<Callable<String>> hunts = new ArrayList<>();
      for (long first : FIRST_SEEDS) {
        hunts.add(() -> engine.hunt(bug.seed(first), seeds));
      }
      for (Future<String> hunt : workers.invokeAll(hunts)) {
        caught.add(hunt.get());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while hunting", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("planted bug " + bug.name() + ": hunt failed", e);
    }
    return caught;
  }
}
