package dev.carillon.prove;

import dev.carillon.prove.Ledger.Line;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A kill loop that has run, and what came out.
 *
 * @param checks each promise
 * @param problems what kept the loop from its end
 * @param figures how much was done
 */
record KillProof(List<Check> checks, List<String> problems, Map<String, Long> figures) {

  static KillProof run(
      Path folder, int rounds, long seed, boolean shortRun, Consumer<String> progress)
      throws InterruptedException {
    KillLoop loop = new KillLoop(folder, seed, shortRun, progress);
    loop.run(rounds);
    StoreContents contents = StoreContents.read(loop.file());
    List<Check> checks = new KillChecks(loop.ledger(), contents).all();
    return new KillProof(checks, List.copyOf(loop.problems()), figures(loop, contents));
  }

  boolean holds() {
    return problems.isEmpty() && checks.stream().allMatch(Check::holds);
  }

  private static Map<String, Long> figures(KillLoop loop, StoreContents contents) {
    Ledger ledger = loop.ledger();
    Map<String, Long> figures = new LinkedHashMap<>();
    figures.put("kills under load", (long) loop.kills());
    figures.put("kills while starting", (long) loop.earlyKills());
    figures.put("notes", ledger.told());
    figures.put("jobs requested", count(ledger, line -> line.requested != null));
    figures.put("acknowledged, new", count(ledger, Line::created));
    figures.put(
        "acknowledged, another's",
        count(ledger, line -> line.acknowledged != null && !line.acknowledged.created()));
    figures.put("refused", count(ledger, line -> line.refused != null));
    figures.put(
        "cut off by a kill",
        count(ledger, line -> line.acknowledged == null && line.refused == null));
    figures.put(
        "of these in the store all the same",
        count(
            ledger,
            line ->
                line.acknowledged == null
                    && line.refused == null
                    && !contents.ofRequest(line.request).isEmpty()));
    figures.put(
        "attempts started", ledger.lines().stream().mapToLong(line -> line.starts.size()).sum());
    figures.put(
        "jobs started in several processes",
        count(
            ledger,
            line -> line.starts.stream().map(Ledger.Start::incarnation).distinct().count() > 1));
    figures.put("cancels", ledger.cancels().values().stream().mapToLong(List::size).sum());
    figures.put("jobs in the store", (long) contents.size());
    figures.put("shards", (long) contents.shards());
    figures.put("lines the children logged", logged(loop.errors()));
    return figures;
  }

  private static long logged(Path errors) {
    try (Stream<String> lines = Files.lines(errors)) {
      return lines.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long count(Ledger ledger, Predicate<Line> which) {
    return ledger.lines().stream().filter(which).count();
  }
}
