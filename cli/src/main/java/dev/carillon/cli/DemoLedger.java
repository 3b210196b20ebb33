package dev.carillon.cli;

import dev.carillon.api.JobId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the demo saw itself, in a text file beside the store: which jobs were acknowledged and which
 * bells rang. It survives a kill as the store does and is what the store is compared with.
 */
final class DemoLedger {
  private static final String SCHEDULED = "scheduled";
  private static final String RANG = "rang";

  private final Path file;
  private final Map<JobId, String> scheduled = new LinkedHashMap<>();
  private final Map<JobId, Integer> rings = new LinkedHashMap<>();

  private DemoLedger(Path file) {
    this.file = file;
  }

  static DemoLedger open(Path file) throws IOException {
    DemoLedger ledger = new DemoLedger(file);
    if (Files.exists(file)) {
      List<String> lines = Files.readAllLines(file);
      lines.forEach(ledger::read);
    }
    return ledger;
  }

  private void read(String line) {
    String[] words = line.split(" ", 3);
    if (words.length == 3 && words[0].equals(SCHEDULED)) {
      scheduled.put(new JobId(words[1]), words[2]);
    } else if (words.length == 3 && words[0].equals(RANG)) {
      rings.merge(new JobId(words[1]), 1, Integer::sum);
    }
  }

  synchronized void scheduled(JobId id, String label) {
    scheduled.put(id, label);
    write(SCHEDULED, id, label);
  }

  synchronized void rang(JobId id) {
    rings.merge(id, 1, Integer::sum);
    write(RANG, id, scheduled.getOrDefault(id, "?"));
  }

  /** One write a line: a kill leaves whole lines, but perhaps for the last. */
  private void write(String what, JobId id, String label) {
    try {
      Files.writeString(
          file,
          what + " " + id + " " + label + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException("ledger: cannot write " + file, e);
    }
  }

  /** The acknowledged jobs with what they are called. */
  synchronized Map<JobId, String> jobs() {
    return new LinkedHashMap<>(scheduled);
  }

  /** Bells that rang more than once, which at least once allows after a kill. */
  synchronized List<String> repeated() {
    return rings.entrySet().stream()
        .filter(entry -> entry.getValue() > 1)
        .map(entry -> scheduled.getOrDefault(entry.getKey(), "?"))
        .toList();
  }
}
