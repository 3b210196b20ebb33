package dev.carillon.cli;

import dev.carillon.Carillon;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.JobType;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.NotRetryableException;
import dev.carillon.api.workflow.SignalType;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;

/** A SQLite file with a workflow that waits and four dead letters, made by a program. */
final class StoreOfJobs {
  static final TaskType<String> BROKEN = TaskType.of("broken", String.class);

  private static final JobType<String, String> APPROVAL =
      JobType.of("approval", String.class, String.class);
  private static final SignalType<String> APPROVED = SignalType.of("approved", String.class);

  private StoreOfJobs() {}

  /** Fills {@code carillon.db} of a folder; returns the id of the workflow. */
  static String fill(Path folder) {
    String url = "jdbc:sqlite:" + folder.resolve("carillon.db");
    try (Carillon carillon = Carillon.builder().url(url).daemon(true).open()) {
      carillon.handle(
          BROKEN,
          (word, job) -> {
            throw new NotRetryableException("no relay for " + word);
          });
      carillon.workflow(
          APPROVAL,
          (word, wf) -> {
            wf.step("ask", String.class, () -> "asked " + word);
            wf.publish("waits for " + word);
            return wf.signal(APPROVED).join();
          });
      var waits = carillon.schedule(APPROVAL.job("ann"));
      for (String word : List.of("1", "2", "3", "4")) {
        carillon.schedule(BROKEN.job(word).queue("q" + word).meta("who", "w" + word));
      }
      JobQuery dead = JobQuery.all().states(JobState.DEAD);
      Awaitility.await()
          .until(
              () ->
                  carillon.list(dead).items().size() == 4
                      && waits.info().state() == JobState.WAITING);
      return waits.id().value();
    }
  }
}
