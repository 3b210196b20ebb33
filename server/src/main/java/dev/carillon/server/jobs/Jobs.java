package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.api.CancelResult;
import dev.carillon.api.ControlResult;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Page;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What the operations on jobs share: the namespace's jobs, checks of new ones, answers. */
final class Jobs {
  /** What the types of the server's own jobs begin with; nobody schedules them over HTTP. */
  static final String RESERVED = "carillon.";

  private final Carillon carillon;

  Jobs(Carillon carillon) {
    this.carillon = carillon;
  }

  Carillon carillon() {
    return carillon;
  }

  // ---- finding

  /** The job of an id, if it is one of the namespace. */
  Optional<JobInfo> find(String namespace, JobId id) {
    return carillon.get(id).filter(job -> job.namespace().equals(namespace));
  }

  /** The job that the address names by its id. */
  JobInfo found(Call call) {
    return find(call.namespace(), new JobId(call.variable("id")))
        .filter(job -> isReached(call, job))
        .orElseThrow(Call::notFound);
  }

  /** Whether the caller reaches the queue of a job; else it does not exist. */
  static boolean isReached(Call call, JobInfo job) {
    return call.caller().mayUse(job.namespace(), job.queue());
  }

  /** A page without the jobs that the caller does not reach. */
  static Page<JobInfo> reached(Call call, Page<JobInfo> page) {
    return call.caller().reachesAllQueues()
        ? page
        : new Page<>(
            page.items().stream().filter(job -> isReached(call, job)).toList(),
            page.next(),
            page.unreadable());
  }

  // ---- new jobs

  /** The job of a body, if its caller may put it there and may know of what it waits for. */
  Job<?> checked(Call call, JobBody body) {
    String type = body.type();
    if (type != null && type.startsWith(RESERVED)) {
      throw new InvalidBody(
          "type: %s (expected: not one of the server's own)".formatted(Shape.quoted(type)));
    }
    if (call.namespace().equals(BulkRunner.NAMESPACE)) {
      throw new InvalidBody(
          "namespace: \"%s\" (expected: not the server's own)".formatted(BulkRunner.NAMESPACE));
    }
    if (!call.caller().mayUse(call.namespace(), body.queue())) {
      throw Problem.of(Kind.FORBIDDEN, "queue: not one of the caller's").refusal();
    }
    body.traced(call.header("traceparent"), call.header("tracestate"));
    Job<?> job = body.job(call.namespace());
    refuseOthersName(call, job);
    refuseOthersKey(call, job);
    for (JobId other : body.dependencies()) {
      if (find(call.namespace(), other).filter(each -> isReached(call, each)).isEmpty()) {
        throw new InvalidBody(
            "after: no job %s here (expected: an id of this namespace)"
                .formatted(Shape.quoted(other.value())));
      }
    }
    return job;
  }

  /** A name that a job of another queue has is not replaced by a caller who does not reach it. */
  private void refuseOthersName(Call call, Job<?> job) {
    String name = job.name();
    if (call.caller().reachesAllQueues() || name == null) {
      return;
    }
    if (carillon.get(call.namespace(), name).filter(other -> !isReached(call, other)).isPresent()) {
      throw Problem.of(Kind.FORBIDDEN, "name: that of a job in a queue that is not the caller's")
          .refusal();
    }
  }

  /** A key that a job of another queue has is not answered with that job. */
  private void refuseOthersKey(Call call, Job<?> job) {
    String key = job.key();
    if (call.caller().reachesAllQueues() || key == null) {
      return;
    }
    if (carillon
        .ofKey(call.namespace(), key)
        .filter(other -> !isReached(call, other))
        .isPresent()) {
      throw othersKey();
    }
  }

  /** What a caller gets who has scheduled a job: the one that was there only if he may know it. */
  JobHandle<?> told(Call call, JobHandle<?> handle) {
    boolean knows =
        handle.created()
            || call.caller().reachesAllQueues()
            || carillon.get(handle.id()).filter(job -> isReached(call, job)).isPresent();
    if (!knows) {
      throw othersKey();
    }
    return handle;
  }

  private static Problem.Refusal othersKey() {
    return Problem.of(Kind.FORBIDDEN, "key: that of a job in a queue that is not the caller's")
        .refusal();
  }

  /** The same, with the place of the body in the message of what is wrong with it. */
  Job<?> checked(Call call, JobBody body, String path) {
    try {
      return checked(call, body);
    } catch (InvalidBody e) {
      throw new InvalidBody(path + "." + e.getMessage());
    } catch (InvalidArgumentException e) {
      throw new InvalidBody(path + ": " + message(e));
    }
  }

  private static String message(CarillonException e) {
    return String.valueOf(e.getMessage());
  }

  /** The address of a job. */
  static String location(String namespace, String id) {
    return "/v1/namespaces/%s/jobs/%s".formatted(encoded(namespace), encoded(id));
  }

  static String encoded(String segment) {
    return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
  }

  // ---- answers

  static Answer answer(ControlResult result) {
    return switch (result) {
      case DONE -> Answer.json(out -> out.put("result", result));
      case NOT_FOUND -> throw Call.notFound();
      case RUNNING -> throw conflict(result, "an attempt of it runs");
      case ENDED -> throw conflict(result, "the job has ended");
      case NOT_RECURRING -> throw conflict(result, "the job is not recurring");
      case NO_TIME_LEFT -> throw conflict(result, "the schedule leaves no time");
      case NOT_DEAD -> throw conflict(result, "the job is no dead letter");
      case OTHER_TYPE -> throw conflict(result, "the input is of another type");
      case NOT_RESUMABLE ->
          throw conflict(result, "the workflow cannot go on where it failed: see its history");
      case TOO_MANY -> throw conflict(result, "too many occurrences have not ended");
    };
  }

  static Problem.Refusal conflict(Enum<?> result, String detail) {
    return Problem.of(Kind.CONFLICT, "job: " + detail + "; nothing was changed")
        .with("result", result.name())
        .refusal();
  }

  static Answer answer(CancelResult result) {
    return switch (result) {
      case CancelResult.Cancelled c -> Answer.json(out -> out.put("result", "CANCELLED"));
      case CancelResult.Stopping s -> Answer.json(out -> out.put("result", "STOPPING"));
      case CancelResult.Ended(var outcome) ->
          Answer.json(out -> out.put("result", "ENDED").put("outcome", outcome));
      case CancelResult.NotFound n -> throw Call.notFound();
    };
  }
}
