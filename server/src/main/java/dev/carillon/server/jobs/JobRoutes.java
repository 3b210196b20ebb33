package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobHistory;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Page;
import dev.carillon.api.TypeToken;
import dev.carillon.api.UpcomingJob;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.api.error.JobTimeoutException;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Json;
import dev.carillon.server.json.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Scheduling jobs and looking at them. */
public final class JobRoutes {
  private static final String JOBS = "/v1/namespaces/{ns}/jobs";
  private static final String JOB = JOBS + "/{id}";
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);
  private static final Duration STANDARD_RANGE = Duration.ofDays(1);

  /** How long the result of a job that has ended may take to be read. */
  private static final Duration READ_TIME = Duration.ofSeconds(10);

  private static final TypeToken<RawPayload> RAW = TypeToken.of(RawPayload.class);

  private final Jobs jobs;
  private final Redaction redaction;
  private final Carillon carillon;

  /**
   * The operations on the jobs of a node.
   *
   * @param carillon the node
   * @param redaction what is shown of inputs and results
   */
  public JobRoutes(Carillon carillon, Redaction redaction) {
    this.redaction = redaction;
    this.jobs = new Jobs(carillon);
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.post("scheduleJob", JOBS, Role.SUBMITTER, this::schedule).byQueue(),
        Route.post("scheduleJobs", JOBS + "/batch", Role.SUBMITTER, this::scheduleAll)
            .batch()
            .byQueue(),
        Route.get("listJobs", JOBS, Role.VIEWER, this::list)
            .query(QueryParameters.names())
            .byQueue(),
        Route.get("getJob", JOB, Role.VIEWER, this::get).byQueue(),
        Route.get("getJobByName", JOBS + "/by-name/{name}", Role.VIEWER, this::byName).byQueue(),
        Route.get("getJobByKey", JOBS + "/by-key/{key}", Role.VIEWER, this::byKey).byQueue(),
        Route.get("getJobInput", JOB + "/input", Role.VIEWER, this::input).byQueue(),
        Route.get("getJobResult", JOB + "/result", Role.VIEWER, this::result)
            .query("wait")
            .waiting()
            .byQueue(),
        Route.get("getJobPublished", JOB + "/published", Role.VIEWER, this::published).byQueue(),
        Route.get("getJobHistory", JOB + "/history", Role.VIEWER, this::history)
            .query("cursor")
            .byQueue(),
        Route.get("listUpcoming", "/v1/namespaces/{ns}/upcoming", Role.VIEWER, this::upcoming)
            .query("from", "to")
            .byQueue());
  }

  // ---- scheduling

  private Answer schedule(Call call) {
    JobBody body = call.read(JobBody.SHAPE);
    body.keyOfHeader(call.idempotencyKey());
    JobHandle<?> handle = jobs.told(call, carillon.schedule(jobs.checked(call, body)));
    String id = handle.id().value();
    return Answer.json(handle.created() ? 201 : 200, out -> write(out, handle))
        .header("Location", Jobs.location(call.namespace(), id));
  }

  private Answer scheduleAll(Call call) {
    if (call.idempotencyKey() != null) {
      throw new InvalidBody(
          "Idempotency-Key: given (expected: none for a batch; each job may have a key)");
    }
    List<JobBody> bodies = call.read(BatchBody.SHAPE).jobs();
    List<Job<?>> all = new ArrayList<>(bodies.size());
    for (int i = 0; i < bodies.size(); i++) {
      all.add(jobs.checked(call, bodies.get(i), "jobs[" + i + "]"));
    }
    List<JobHandle<?>> handles = carillon.scheduleAll(all);
    handles.forEach(handle -> jobs.told(call, handle));
    return Answer.json(201, out -> out.list("jobs", handles, JobRoutes::write));
  }

  private static void write(JsonText out, JobHandle<?> handle) {
    out.put("id", handle.id().value()).put("created", handle.created());
  }

  // ---- looking

  private Answer list(Call call) {
    Page<JobInfo> page = Jobs.reached(call, carillon.list(QueryParameters.of(call)));
    return Answer.json(out -> Pages.write(out, page, JobJson::write));
  }

  private Answer get(Call call) {
    JobInfo job = jobs.found(call);
    return Answer.json(out -> JobJson.write(out, job));
  }

  private Answer byName(Call call) {
    return one(call, carillon.get(call.namespace(), call.variable("name")));
  }

  private Answer byKey(Call call) {
    return one(call, carillon.ofKey(call.namespace(), call.variable("key")));
  }

  private static Answer one(Call call, Optional<JobInfo> found) {
    JobInfo job = found.filter(each -> Jobs.isReached(call, each)).orElseThrow(Call::notFound);
    return Answer.json(out -> JobJson.write(out, job))
        .header("Content-Location", Jobs.location(call.namespace(), job.id().value()));
  }

  private Answer history(Call call) {
    JobId id = jobs.found(call).id();
    JobHistory history = carillon.history(id, call.parameter("cursor")).orElseThrow(Call::notFound);
    return Answer.json(
        out ->
            out.object("job", inner -> JobJson.write(inner, history.job()))
                .list("events", history.events(), JobJson::write)
                .put("next", history.next()));
  }

  private Answer upcoming(Call call) {
    Instant given = call.time("from");
    Instant from = given != null ? given : Instant.now();
    Instant end = call.time("to");
    Instant to = end != null ? end : from.plus(STANDARD_RANGE);
    List<UpcomingJob> upcoming =
        carillon.upcoming(from, to, call.namespace()).stream()
            .filter(each -> Jobs.isReached(call, each.job()))
            .toList();
    return Answer.json(
        out ->
            out.list(
                "items",
                upcoming,
                (each, job) ->
                    each.put("time", job.time())
                        .object("job", inner -> JobJson.write(inner, job.job()))));
  }

  // ---- payloads

  private Answer input(Call call) {
    JobInfo job = jobs.found(call);
    return payload(call, job, carillon.rawInput(job.id()));
  }

  private Answer published(Call call) {
    JobInfo job = jobs.found(call);
    return payload(call, job, carillon.published(job.id(), RAW).orElse(null));
  }

  private Answer result(Call call) {
    Duration wait = call.duration("wait", Duration.ZERO);
    if (wait.compareTo(LONGEST_WAIT) > 0) {
      throw new InvalidBody("wait: " + wait + " (expected: at most " + LONGEST_WAIT + ")");
    }
    JobInfo job = jobs.found(call);
    if (wait.isZero() && !job.state().ended()) {
      return notYet(job);
    }
    try {
      RawPayload result = carillon.result(job.id(), RAW, job.state().ended() ? READ_TIME : wait);
      return payload(call, job, result);
    } catch (JobTimeoutException e) {
      return notYet(jobs.found(call));
    } catch (JobFailedException e) {
      throw Problem.of(Kind.JOB_FAILED, String.valueOf(e.getMessage()))
          .with("state", e.state().name())
          .refusal();
    }
  }

  private static Answer notYet(JobInfo job) {
    return Answer.json(202, out -> out.put("state", job.state()));
  }

  /** Bytes as they are stored; JSON as such, if it is. */
  private Answer payload(Call call, JobInfo job, @Nullable RawPayload stored) {
    RawPayload payload = stored != null ? redaction.shown(job, call.caller(), stored) : null;
    if (payload == null || payload.codec().isEmpty()) {
      return Answer.empty(204);
    }
    boolean json = payload.codec().equals("json") && Json.isValid(payload.bytes());
    return Answer.bytes(json ? "application/json" : "application/octet-stream", payload.bytes())
        .header("Carillon-Codec", payload.codec());
  }
}
