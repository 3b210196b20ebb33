package dev.carillon;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.carillon.api.JobId;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.query.HistoryReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * The recorded history of one workflow: its input and every entry of its event history, with all
 * payloads. Made by {@link Carillon#recordedWorkflow} or {@code ./carillon history URL ID
 * --recorded}; {@code CarillonTest.replay} runs code against it. Immutable and thread-safe.
 *
 * <p>As text it is a few lines about the job, and one line for each entry of the history: its bytes
 * as they are stored, in Base64, and behind a {@code #} what it is, for people. Every version of
 * Carillon reads the text of those before it. Keep it beside your tests, and mind that it holds the
 * payloads of a real job.
 */
public final class RecordedWorkflow {
  private static final String FIRST_LINE = "carillon workflow history, format 1";
  private static final String ENTRY = "entry ";
  private static final String COMMENT = " # ";

  private final JobId id;
  private final JobState state;
  private final int round;
  private final JobSpec spec;
  private final List<HistoryEntry> entries;

  private RecordedWorkflow(
      JobId id, JobState state, int round, JobSpec spec, List<HistoryEntry> entries) {
    this.id = id;
    this.state = state;
    this.round = round;
    this.spec = spec;
    this.entries = entries;
  }

  /**
   * What a journal has of a workflow; for Carillon's own commands.
   *
   * @param found the workflow
   * @return the same
   */
  public static RecordedWorkflow of(HistoryReader.Recorded found) {
    return new RecordedWorkflow(
        found.job().id(), found.state(), found.revision(), found.spec(), found.entries());
  }

  /**
   * The job.
   *
   * @return its id
   */
  public JobId id() {
    return id;
  }

  /**
   * The type of the job.
   *
   * @return the name of the type
   */
  public String type() {
    return spec.type();
  }

  /**
   * The state of the job when it was recorded.
   *
   * @return SCHEDULED, WAITING, PAUSED, or how it has ended
   */
  public JobState state() {
    return state;
  }

  /**
   * How many entries the history has. A history that began anew counts from there.
   *
   * @return 0 where the code of the workflow never ran
   */
  public int size() {
    return entries.size();
  }

  int round() {
    return round;
  }

  JobSpec spec() {
    return spec;
  }

  List<HistoryEntry> entries() {
    return entries;
  }

  // ---- as text

  /**
   * Writes it to a file.
   *
   * @param file the file, written anew
   * @throws IOException if it cannot be written
   */
  public void write(Path file) throws IOException {
    Files.writeString(file, text());
  }

  /**
   * Reads it from a file.
   *
   * @param file what {@link #write} wrote
   * @return the history
   * @throws IOException if it cannot be read
   * @throws InvalidArgumentException if it holds something else
   */
  public static RecordedWorkflow read(Path file) throws IOException {
    return parse(Files.readString(file));
  }

  /**
   * As text, to be read by {@link #parse}.
   *
   * @return lines of ASCII
   */
  public String text() {
    StringBuilder out = new StringBuilder(FIRST_LINE).append('\n');
    out.append("id ").append(id.value()).append('\n');
    out.append("state ").append(state).append('\n');
    out.append("round ").append(round).append('\n');
    out.append("job ").append(base64(spec.encode())).append(COMMENT);
    out.append(ascii(spec.type())).append('\n');
    for (HistoryEntry entry : entries) {
      out.append(ENTRY).append(base64(entry.encode())).append(COMMENT);
      out.append(ascii(describe(entry))).append('\n');
    }
    return out.toString();
  }

  /**
   * Reads what {@link #text} wrote.
   *
   * @param text the text; what stands behind a {@code #} is not looked at
   * @return the history
   * @throws InvalidArgumentException if it is something else
   */
  public static RecordedWorkflow parse(String text) {
    List<String> lines = Limits.checkPresent("text", text).lines().toList();
    if (lines.isEmpty() || !lines.getFirst().equals(FIRST_LINE)) {
      String first = lines.isEmpty() ? "" : lines.getFirst();
      throw InvalidArgumentException.of("first line", first, FIRST_LINE);
    }
    try {
      JobId id = new JobId(value(lines, 1, "id "));
      JobState state = JobState.valueOf(value(lines, 2, "state "));
      int round = Integer.parseInt(value(lines, 3, "round "));
      JobSpec spec = JobSpec.decode(bytes(value(lines, 4, "job ")));
      List<HistoryEntry> entries = new ArrayList<>();
      for (int i = 5; i < lines.size(); i++) {
        entries.add(HistoryEntry.decode(bytes(value(lines, i, ENTRY))));
      }
      return new RecordedWorkflow(id, state, round, spec, List.copyOf(entries));
    } catch (InvalidArgumentException e) {
      throw e;
    } catch (RuntimeException e) { // damaged, of a newer version, or no Base64
      throw new InvalidArgumentException(
          "history: %s (expected: what RecordedWorkflow.text() gave)".formatted(e.getMessage()));
    }
  }

  private static String value(List<String> lines, int line, String key) {
    String found = line < lines.size() ? lines.get(line) : "";
    if (!found.startsWith(key)) {
      throw InvalidArgumentException.of("line " + (line + 1), found, "\"" + key + "…\"");
    }
    int comment = found.indexOf(COMMENT);
    return found.substring(key.length(), comment < 0 ? found.length() : comment).strip();
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static byte[] bytes(String base64) {
    return Base64.getDecoder().decode(base64.getBytes(UTF_8));
  }

  /** One line, whatever users call their steps. */
  private static String ascii(String words) {
    StringBuilder out = new StringBuilder(words.length());
    words.chars().forEach(c -> out.append(c >= ' ' && c < 127 ? (char) c : '?'));
    return out.toString();
  }

  static String describe(HistoryEntry entry) {
    String name =
        switch (entry) {
          case HistoryEntry.StepDone e -> e.name();
          case HistoryEntry.StepFailed e -> e.name();
          case HistoryEntry.StepBegun e -> e.name();
          case HistoryEntry.SignalAwaited e -> e.type();
          case HistoryEntry.Signalled e -> e.type();
          case HistoryEntry.VersionChosen e -> e.change() + " " + e.version();
          case HistoryEntry.ChildStarted e -> e.type();
          case HistoryEntry.ChildEnded e -> e.state().name();
          case HistoryEntry.GivenUp e -> e.state().name();
          case HistoryEntry.CancelRequested e -> e.reason();
          case HistoryEntry.Begun e -> "";
          case HistoryEntry.TimerSet e -> "";
          case HistoryEntry.TimerFired e -> "";
        };
    return (entry.getClass().getSimpleName() + " " + name).strip();
  }
}
