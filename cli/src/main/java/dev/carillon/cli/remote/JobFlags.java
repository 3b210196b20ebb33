package dev.carillon.cli.remote;

import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.client.Surroundings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/** The options that say what a job is. */
final class JobFlags {
  private static final int LARGEST_INPUT = 2 << 20;
  private static final JsonMapper MAPPER = new JsonMapper();

  @Option(
      names = {"-i", "--input"},
      paramLabel = "JSON",
      description = "the input, JSON; @FILE reads a file, - the standard input")
  private String input = "";

  @Option(
      names = "--input-bytes",
      paramLabel = "FILE",
      description = "an input that is not JSON; - reads the standard input")
  private String bytes = "";

  @Option(
      names = "--input-codec",
      paramLabel = "NAME",
      description = "the codec that reads those bytes (default: bytes)")
  private String codec = "";

  @Option(
      names = "--type-version",
      paramLabel = "NUMBER",
      description = "the version of the input (default: 1)")
  private @Nullable Integer typeVersion;

  @Option(
      names = {"-q", "--queue"},
      paramLabel = "QUEUE",
      description = "the queue (default: default)")
  private String queue = "";

  @Option(
      names = {"-p", "--priority"},
      paramLabel = "NUMBER",
      description = "-100 to 100, higher ones start first (default: 0)")
  private @Nullable Integer priority;

  @Option(
      names = {"-m", "--meta"},
      paramLabel = "KEY=VALUE",
      description = "an entry of its metadata")
  private Map<String, String> metadata = new LinkedHashMap<>();

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      description = "how long one attempt may take")
  private String timeout = "";

  @Option(
      names = "--deadline",
      paramLabel = "TIME",
      description = "it expires then if it has not succeeded")
  private String deadline = "";

  @Mixin private RetryFlags retry = new RetryFlags();

  @Option(
      names = "--concurrency-key",
      paramLabel = "KEY",
      description = "one job of this key runs at a time")
  private String concurrencyKey = "";

  @Option(
      names = "--concurrency-limit",
      paramLabel = "COUNT",
      description = "so many of the key instead of one")
  private @Nullable Integer concurrencyLimit;

  @Option(
      names = "--after",
      paramLabel = "ID",
      description = "only after this job has succeeded; may be given for several")
  private List<String> after = new ArrayList<>();

  /** None. */
  JobFlags() {}

  /** A request with what is given. */
  ObjectNode request(String type, Report report, Surroundings surroundings) {
    ObjectNode request = JobChanges.object().put("type", type);
    putInput(request, surroundings);
    put(request, "typeVersion", typeVersion);
    RhythmFlags.put(request, "queue", queue);
    put(request, "priority", priority);
    if (!metadata.isEmpty()) {
      ObjectNode entries = request.putObject("metadata");
      metadata.forEach((key, value) -> entries.put(key, value));
    }
    RhythmFlags.put(request, "timeout", Durations.api(timeout));
    RhythmFlags.put(request, "deadline", JobFilter.time("--deadline", deadline, report.now()));
    ObjectNode policy = retry.policy();
    if (!policy.isEmpty()) {
      request.set("onFailure", policy);
    }
    if (!concurrencyKey.isEmpty()) {
      ObjectNode concurrency = request.putObject("concurrency").put("key", concurrencyKey);
      put(concurrency, "limit", concurrencyLimit);
    } else if (concurrencyLimit != null) {
      throw CommandFailure.invalid(
          "--concurrency-limit", concurrencyLimit.toString(), "--concurrency-key with it");
    }
    for (String id : after) {
      request.withArray("after").addObject().put("job", id);
    }
    return request;
  }

  private void putInput(ObjectNode request, Surroundings surroundings) {
    if (!input.isEmpty() && !bytes.isEmpty()) {
      throw new CommandFailure(
          ExitCode.USAGE, "--input and --input-bytes: both (expected: one of them)");
    }
    if (!input.isEmpty()) {
      request.putRawValue("input", new RawValue(json("--input", input, surroundings)));
    } else if (!bytes.isEmpty()) {
      byte[] read = read("--input-bytes", bytes, surroundings);
      request.put("inputBase64", Base64.getEncoder().encodeToString(read));
      RhythmFlags.put(request, "inputCodec", codec);
    }
  }

  /** A value of JSON from an option: as it stands, or of a file, or of the standard input. */
  static String json(String option, String value, Surroundings surroundings) {
    String text =
        value.equals("-") || value.startsWith("@")
            ? new String(
                read(option, value.equals("-") ? "-" : value.substring(1), surroundings),
                StandardCharsets.UTF_8)
            : value;
    try {
      MAPPER.readTree(text);
      if (text.isBlank()) {
        throw CommandFailure.invalid(option, "empty", "a value of JSON");
      }
      return text.strip();
    } catch (JacksonException e) {
      throw CommandFailure.invalid(
          option,
          text.length() > 80 ? text.substring(0, 80) + "…" : text,
          "a value of JSON; a text stands in double quotes, as in '\"text\"'");
    }
  }

  private static byte[] read(String option, String name, Surroundings surroundings) {
    Path file = surroundings.folder().resolve(name);
    try (InputStream in = name.equals("-") ? surroundings.input() : Files.newInputStream(file)) {
      byte[] read = in.readNBytes(LARGEST_INPUT + 1);
      if (read.length > LARGEST_INPUT) {
        throw CommandFailure.invalid(option, name + ": over 2 MiB", "at most 1 MiB of input");
      }
      return read;
    } catch (NoSuchFileException e) {
      throw CommandFailure.invalid(option, file.toString(), "an existing file");
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.FAILED, option + ": " + name + ": cannot be read", e);
    }
  }

  private static void put(ObjectNode node, String name, @Nullable Integer value) {
    if (value != null) {
      node.put(name, value);
    }
  }
}
