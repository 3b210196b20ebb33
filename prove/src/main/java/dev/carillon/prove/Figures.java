package dev.carillon.prove;

import dev.carillon.prove.Ledger.Line;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** How much was done, as the ledger and the store tell. */
final class Figures {
  private Figures() {}

  static void add(Map<String, Long> figures, Ledger ledger, StoreContents contents, Path errors) {
    figures.put("notes", ledger.told());
    figures.put("jobs requested", count(ledger, line -> line.requested != null));
    figures.put("acknowledged, new", count(ledger, Line::created));
    figures.put(
        "acknowledged, another's",
        count(ledger, line -> line.acknowledged != null && !line.acknowledged.created()));
    figures.put("refused", count(ledger, line -> line.refused != null));
    figures.put("never answered", count(ledger, Figures::unanswered));
    figures.put(
        "of these in the store all the same",
        count(ledger, line -> unanswered(line) && !contents.ofRequest(line.request).isEmpty()));
    figures.put(
        "attempts started", ledger.lines().stream().mapToLong(line -> line.starts.size()).sum());
    figures.put(
        "jobs started in several processes",
        count(
            ledger,
            line -> line.starts.stream().map(Ledger.Start::incarnation).distinct().count() > 1));
    figures.put("cancels", ledger.cancels().values().stream().mapToLong(c -> c.size()).sum());
    figures.put("jobs in the store", (long) contents.size());
    figures.put("shards in the store", (long) contents.shards());
    figures.put("lines the children logged", logged(errors));
  }

  private static boolean unanswered(Line line) {
    return line.acknowledged == null && line.refused == null;
  }

  static long logged(Path errors) {
    return logged(errors, "");
  }

  /** Lines the children logged that hold that text. */
  static long logged(Path errors, String text) {
    try (Stream<String> lines = Files.lines(errors)) {
      return lines.filter(line -> line.contains(text)).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long count(Ledger ledger, Predicate<Line> which) {
    return ledger.lines().stream().filter(which).count();
  }
}
