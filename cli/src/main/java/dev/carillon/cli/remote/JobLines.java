package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.client.Surroundings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Jobs from lines of JSON, in batches: each is scheduled as a whole or not at all. A server that
 * has too much to do, or is away, is asked again a few times, as nothing was done. The first batch
 * that fails ends it, and the message says which lines are scheduled.
 */
final class JobLines {
  private static final int LARGEST_BATCH = 10_000;
  private static final int LARGEST_BATCH_CHARS = 3 << 20;
  private static final int MOST_TRIES = 6;
  private static final JsonMapper MAPPER = new JsonMapper();
  private static final Pattern PLACE = Pattern.compile("^jobs\\[(\\d+)\\]\\.?");

  private final Surroundings surroundings;
  private final Report report;
  private final int batch;
  private final boolean dryRun;

  private final List<String> lines = new ArrayList<>();
  private final List<Integer> numbers = new ArrayList<>();
  private int chars;
  private int read;
  private long scheduled;

  JobLines(Surroundings surroundings, Report report, int batch, boolean dryRun) {
    if (batch < 1 || batch > LARGEST_BATCH) {
      throw CommandFailure.invalid("--batch", Integer.toString(batch), "1 to " + LARGEST_BATCH);
    }
    this.surroundings = surroundings;
    this.report = report;
    this.batch = batch;
    this.dryRun = dryRun;
  }

  ExitCode schedule(String from, ApiClient server) {
    Path file = surroundings.folder().resolve(from);
    try (InputStream in = from.equals("-") ? surroundings.input() : Files.newInputStream(file);
        BufferedReader reader =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        read++;
        if (!line.isBlank()) {
          add(line.strip(), server);
        }
      }
    } catch (NoSuchFileException e) {
      throw CommandFailure.invalid("--from", file.toString(), "an existing file");
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.FAILED, "--from: " + from + ": cannot be read", e);
    }
    send(server);
    report.aside(
        dryRun
            ? "%d jobs would be scheduled".formatted(scheduled)
            : "%d jobs are scheduled".formatted(scheduled));
    return ExitCode.DONE;
  }

  private void add(String line, ApiClient server) {
    try {
      if (!MAPPER.readTree(line).isObject()) {
        throw failed(
            ExitCode.USAGE, "line " + read + ": no object (expected: a job as JSON)", null);
      }
    } catch (JacksonException e) {
      throw failed(
          ExitCode.USAGE,
          "line %d: %s (expected: a job as JSON)".formatted(read, e.getOriginalMessage()),
          e);
    }
    if (lines.size() == batch || chars + line.length() > LARGEST_BATCH_CHARS) {
      send(server);
    }
    lines.add(line);
    numbers.add(read);
    chars += line.length() + 1;
  }

  private void send(ApiClient server) {
    if (lines.isEmpty()) {
      return;
    }
    if (!dryRun) {
      post(server).path("jobs").forEach(each -> ScheduleJob.tell(each, report));
      report.out().flush();
    }
    scheduled += lines.size();
    lines.clear();
    numbers.clear();
    chars = 0;
  }

  private JsonNode post(ApiClient server) {
    String body = "{\"jobs\":[" + String.join(",", lines) + "]}";
    for (int attempt = 1; ; attempt++) {
      try {
        return server.send("POST", Address.of("jobs", "batch"), body, Map.of()).json();
      } catch (CommandFailure e) {
        if (e.exitCode() != ExitCode.AWAY || attempt == MOST_TRIES) {
          throw failed(e.exitCode(), placed(String.valueOf(e.getMessage())), e);
        }
        pause(attempt);
      }
    }
  }

  private static void pause(int attempt) {
    try {
      Thread.sleep(Duration.ofMillis(250L << attempt));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(ExitCode.AWAY, "interrupted while waiting for the server", e);
    }
  }

  /** With the line in place of the index in the batch. */
  private String placed(String message) {
    Matcher place = PLACE.matcher(message);
    if (place.find() && Integer.parseInt(place.group(1)) < numbers.size()) {
      int line = numbers.get(Integer.parseInt(place.group(1)));
      return "line " + line + ": " + message.substring(place.end());
    }
    return "lines %d to %d: %s".formatted(numbers.getFirst(), numbers.getLast(), message);
  }

  private CommandFailure failed(ExitCode exitCode, String message, @Nullable Throwable cause) {
    String before =
        scheduled == 0
            ? "nothing is scheduled"
            : "the first %d jobs are scheduled".formatted(scheduled);
    return new CommandFailure(exitCode, message + "; " + before, cause);
  }
}
