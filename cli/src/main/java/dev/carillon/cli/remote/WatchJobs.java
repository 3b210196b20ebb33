package dev.carillon.cli.remote;

import dev.carillon.cli.client.Address;
import dev.carillon.cli.client.ApiClient;
import dev.carillon.cli.client.CommandFailure;
import dev.carillon.cli.client.ExitCode;
import dev.carillon.cli.text.Paint;
import dev.carillon.cli.text.PlainText;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What happens to jobs, as it happens. */
@Command(
    name = "watch",
    header = "Shows what happens to jobs of the asked node, as it happens.",
    description =
        "Started, retrying, blocked, ended; until it is interrupted. Nothing is kept for a reader"
            + " that is away or too slow: jobs list --newest shows what ended meanwhile. In a pipe:"
            + " at, event, id, state, type, name, queue, attempt, error; tabs between.",
    footer = {"", "Example: ./carillon jobs watch --event ended --state DEAD"})
final class WatchJobs extends ServerCommand {
  private static final JsonMapper MAPPER = new JsonMapper();

  @Option(
      names = {"-e", "--event"},
      split = ",",
      paramLabel = "EVENT",
      description = "only these: started, retrying, blocked, ended")
  private List<String> kinds = new ArrayList<>();

  @Mixin private JobTraits traits = new JobTraits();

  @Option(names = "--job", paramLabel = "ID", description = "of this job")
  private String job = "";

  @Option(names = "--count", paramLabel = "COUNT", description = "end after so many events")
  private long most = Long.MAX_VALUE;

  @Option(
      names = {"-A", "--all-namespaces"},
      description = "of all namespaces")
  private boolean everywhere;

  @Override
  ExitCode run(ApiClient server) {
    Address address = everywhere ? Address.root("events") : Address.of("events");
    kinds.forEach(kind -> address.with("kind", RhythmFlags.rule(kind)));
    address.with("job", job);
    traits.on(address);
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                server.stream(address, "text/event-stream", Map.of()), StandardCharsets.UTF_8))) {
      return read(lines);
    } catch (IOException e) {
      throw new CommandFailure(ExitCode.AWAY, "the server broke the stream off", e);
    }
  }

  private ExitCode read(BufferedReader lines) throws IOException {
    String event = "";
    long shown = 0;
    for (String line = lines.readLine(); line != null && shown < most; line = lines.readLine()) {
      if (line.startsWith("event: ")) {
        event = line.substring("event: ".length());
      } else if (line.startsWith("data: ")) {
        JsonNode data = json(line.substring("data: ".length()));
        switch (event) {
          case "begun" ->
              report().aside("watching node " + JobTexts.text(data, "node") + "; Ctrl-C ends it");
          case "missed" ->
              report()
                  .aside(
                      "carillon: some events of node %s are not shown"
                          .formatted(JobTexts.text(data, "node")));
          case "cut" -> throw new CommandFailure(ExitCode.FAILED, JobTexts.text(data, "detail"));
          case "stopping" -> throw new CommandFailure(ExitCode.AWAY, JobTexts.text(data, "detail"));
          default -> {
            show(event, data);
            shown++;
          }
        }
      }
    }
    if (shown < most) {
      throw new CommandFailure(ExitCode.AWAY, "the server ended the stream");
    }
    return ExitCode.DONE;
  }

  private static JsonNode json(String data) {
    try {
      return MAPPER.readTree(data);
    } catch (JacksonException e) {
      throw new CommandFailure(ExitCode.FAILED, "an event is no JSON: " + data, e);
    }
  }

  private void show(String event, JsonNode data) {
    JsonNode happened = data.path("job");
    Report report = report();
    if (isJson()) {
      report.line(JobChanges.object().put("event", event).setAll(object(data)));
    } else if (report.isScreen()) {
      String state = JobTexts.text(happened, "state");
      report
          .out()
          .println(
              "%s  %s  %s  %s  %s"
                  .formatted(
                      JobTexts.text(data, "at").replaceAll("^.*T|\\..*$", ""),
                      Paint.ofState(state)
                          .on("%-8s".formatted(event.toUpperCase(Locale.ROOT)), report.terminal()),
                      JobTexts.text(happened, "id"),
                      PlainText.line(JobTexts.text(happened, "type")),
                      PlainText.line(rest(event, state, happened)))
                  .stripTrailing());
    } else {
      report
          .out()
          .println(
              String.join(
                  "\t",
                  report.time(data.path("at")),
                  event,
                  JobTexts.text(happened, "id"),
                  JobTexts.text(happened, "state"),
                  PlainText.line(JobTexts.text(happened, "type")),
                  PlainText.line(JobTexts.text(happened, "name")),
                  PlainText.line(JobTexts.text(happened, "queue")),
                  JobTexts.text(happened, "attempt"),
                  PlainText.line(JobTexts.error(happened.path("lastError")))));
    }
    report.out().flush();
  }

  private static String rest(String event, String state, JsonNode job) {
    String name = JobTexts.text(job, "name");
    String end = event.equals("ended") ? state + " " : "";
    String why = state.equals("SUCCEEDED") ? "" : JobTexts.error(job.path("lastError"));
    return end + (name.isEmpty() ? "" : name + " ") + JobTexts.text(job, "blockReason") + why;
  }

  private static ObjectNode object(JsonNode node) {
    return (ObjectNode) node;
  }
}
