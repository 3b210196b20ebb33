package dev.carillon.cli;

import dev.carillon.RecordedWorkflow;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.query.HistoryReader;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.query.JobReader.Story;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what happened to one job: its attempts, and each call of a workflow. */
@Command(
    name = "history",
    description = {
      "Shows what happened to one job: its attempts, what was asked of it, and each call of a",
      "workflow with its tries. No node needs to run, nothing is claimed.",
      "The exit code is 1 where there is no such job."
    },
    footer = {"", "Example: ./carillon history jdbc:sqlite:jobs.db ID"})
final class History extends StoreCommand implements Callable<Integer> {
  private static final List<String> COLUMNS =
      List.of("at", "event", "attempt", "took", "what", "error");

  @Parameters(index = "1", paramLabel = "ID", description = "the job's id")
  private String id = "";

  @Option(names = "--json", description = "one JSON object instead of a table")
  private boolean json;

  @Option(
      names = "--recorded",
      description = "the history of a workflow with its payloads, for CarillonTest.replay")
  private boolean recorded;

  @Override
  public Integer call() {
    JobRef ref = JobRef.parse(new JobId(id));
    if (ref == null) {
      throw new InvalidArgumentException("id: " + id + " (expected: the id of a job)");
    }
    if (json && recorded) {
      throw new InvalidArgumentException("--json: with --recorded (expected: one of them)");
    }
    try (Store store = openReadOnly()) {
      if (recorded) {
        return printRecorded(HistoryReader.read(store, ref));
      }
      Outcome<Optional<Story>> found = new JobReader(store).find(ref);
      if (!(found instanceof Outcome.Ok<Optional<Story>>(Optional<Story> story))) {
        return unreadable(found);
      }
      if (story.isEmpty()) {
        return missing();
      }
      print(story.get());
      return 0;
    }
  }

  private int printRecorded(Outcome<Optional<HistoryReader.Recorded>> found) {
    if (!(found
        instanceof
        Outcome.Ok<Optional<HistoryReader.Recorded>>(Optional<HistoryReader.Recorded> workflow))) {
      return unreadable(found);
    }
    if (workflow.isEmpty()) {
      return missing();
    }
    out().print(RecordedWorkflow.of(workflow.get()).text());
    out().flush();
    return 0;
  }

  private int unreadable(Outcome<?> found) {
    err().println("carillon: job " + id + " cannot be read: " + found);
    return 1;
  }

  private int missing() {
    err().println("carillon: there is no job " + id + ", or its retention is over");
    return 1;
  }

  private void print(Story story) {
    if (json) {
      out().println(JobJson.line(JobJson.of(story)));
    } else {
      JobInfo info = story.view().info();
      out().println(info.type() + " " + info.state() + (info.reason() == null ? "" : why(info)));
      if (story.older() > 0) {
        out().println(story.older() + " older events are left out");
      }
      List<List<@Nullable Object>> rows = new ArrayList<>();
      for (JobEvent event : story.events()) {
        rows.add(row(event));
      }
      TextTable.print(COLUMNS, rows, out());
    }
    out().flush();
  }

  private static String why(JobInfo info) {
    return ": " + info.reason();
  }

  private static List<@Nullable Object> row(JobEvent event) {
    List<@Nullable Object> row = new ArrayList<>();
    Duration took = event.duration();
    JobError error = event.error();
    row.add(event.at());
    row.add(event.kind());
    row.add(event.attempt() == 0 ? null : event.attempt());
    row.add(took == null ? null : took.toMillis() + " ms");
    row.add(event.detail());
    row.add(error == null ? null : error.type() + ": " + error.message());
    return row;
  }
}
