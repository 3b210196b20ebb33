package dev.carillon.server.jobs;

import dev.carillon.api.DependencyInfo;
import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobProgress;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.api.RecurringInfo;
import dev.carillon.server.json.JsonText;

/** Jobs as they are written down, with the names of the library. */
public final class JobJson {
  private JobJson() {}

  /** A job. */
  public static void write(JsonText out, JobInfo job) {
    out.put("id", job.id().value())
        .put("type", job.type())
        .put("typeVersion", job.typeVersion())
        .put("namespace", job.namespace())
        .put("queue", job.queue())
        .put("priority", job.priority())
        .put("name", job.name())
        .put("key", job.key())
        .texts("metadata", job.metadata())
        .put("state", job.state())
        .put("blockReason", job.blockReason())
        .put("scheduledAt", job.scheduledAt())
        .put("dueAt", job.dueAt())
        .put("attempt", job.attempt())
        .put("startedAt", job.startedAt())
        .put("endedAt", job.endedAt())
        .put("node", job.node())
        .put("reason", job.reason())
        .put("timeout", job.timeout())
        .put("deadline", job.deadline());
    if (job.cancelRequested()) {
      out.put("cancelRequested", true);
    }
    JobError error = job.lastError();
    if (error != null) {
      out.object("lastError", inner -> write(inner, error));
    }
    JobProgress progress = job.progress();
    if (progress != null) {
      out.object("progress", inner -> write(inner, progress));
    }
    RecurringInfo recurring = job.recurring();
    if (recurring != null) {
      out.object("recurring", inner -> write(inner, recurring));
    }
    OccurrenceInfo occurrence = job.occurrence();
    if (occurrence != null) {
      out.object("occurrence", inner -> write(inner, occurrence));
    }
    if (!job.dependencies().isEmpty()) {
      out.list("dependencies", job.dependencies(), JobJson::write);
    }
  }

  private static void write(JsonText out, JobProgress progress) {
    if (progress.done() != null && progress.total() != null) {
      out.put("done", progress.done()).put("total", progress.total());
    }
    if (!progress.message().isEmpty()) {
      out.put("message", progress.message());
    }
    out.put("perSecond", progress.perSecond()).put("at", progress.at());
  }

  private static void write(JsonText out, RecurringInfo recurring) {
    out.object("schedule", inner -> ScheduleBody.write(inner, recurring.schedule()))
        .put("count", recurring.count())
        .put("nextTime", recurring.nextTime())
        .put("version", recurring.version());
  }

  private static void write(JsonText out, OccurrenceInfo occurrence) {
    out.put("schedule", occurrence.schedule().value())
        .put("number", occurrence.number())
        .put("time", occurrence.time());
  }

  private static void write(JsonText out, DependencyInfo dependency) {
    out.put("job", dependency.job().value())
        .put("condition", dependency.condition())
        .put("met", dependency.met())
        .put("state", dependency.state());
  }

  /** An error, without its stack: that is for the job's own page, its history. */
  static void write(JsonText out, JobError error) {
    out.put("type", error.type()).put("message", error.message());
    if (!error.node().isEmpty()) {
      out.put("node", error.node());
    }
  }

  /** An event of a history, with the stack of what the attempt failed with. */
  static void write(JsonText out, JobEvent event) {
    out.put("at", event.at())
        .put("kind", event.kind())
        .put("attempt", event.attempt())
        .put("startedAt", event.startedAt())
        .put("node", event.node())
        .put("by", event.by());
    if (!event.detail().isEmpty()) {
      out.put("detail", event.detail());
    }
    JobError error = event.error();
    if (error != null) {
      out.object(
          "error",
          inner -> {
            write(inner, error);
            if (!error.stack().isEmpty()) {
              inner.put("stack", error.stack());
            }
          });
    }
  }
}
