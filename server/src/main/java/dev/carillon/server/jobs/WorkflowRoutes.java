package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.Requester;
import dev.carillon.WorkflowInfo;
import dev.carillon.api.JobError;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.Limits;
import dev.carillon.api.workflow.SignalResult;
import dev.carillon.api.workflow.SignalType;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Json;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs that are workflows: signals, steps and waits, and their forced end. */
public final class WorkflowRoutes {
  private static final String JOB = "/v1/namespaces/{ns}/jobs/{id}";

  /** How many steps are shown: the newest. */
  private static final int MOST_STEPS = 1_000;

  private final Jobs jobs;

  /** The results of steps are shown up to this size. */
  private static final int MOST_RESULT_BYTES = 1_024;

  private final Carillon carillon;
  private final Redaction redaction;

  /**
   * The workflows of a node.
   *
   * @param carillon the node
   * @param redaction what callers are shown of the results of steps
   */
  public WorkflowRoutes(Carillon carillon, Redaction redaction) {
    this.redaction = redaction;
    this.jobs = new Jobs(carillon);
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.post("signalWorkflow", JOB + "/signal", Role.SUBMITTER, this::signal).byQueue(),
        Route.get("getWorkflow", JOB + "/workflow", Role.VIEWER, this::workflow).byQueue(),
        Route.post("terminateWorkflow", JOB + "/terminate", Role.OPERATOR, this::terminate)
            .byQueue());
  }

  private Requester as(Call call) {
    return carillon.as(call.caller().name());
  }

  private Answer signal(Call call) {
    SignalBody body = call.read(SignalBody.SHAPE);
    SignalType<RawPayload> type = SignalType.of(body.type(), RawPayload.class);
    String key = call.idempotencyKey();
    JobId id = jobs.found(call).id();
    SignalResult result =
        as(call).signal(id, type, body.payload(), key != null ? Limits.checkKey(key) : null);
    return switch (result) {
      case DONE, TAKEN_BEFORE -> Answer.json(out -> out.put("result", result));
      case NOT_FOUND -> throw Call.notFound();
      case ENDED -> throw Jobs.conflict(result, "the job has ended");
      case TOO_MANY -> throw Jobs.conflict(result, "too many signals wait to be taken");
    };
  }

  private Answer terminate(Call call) {
    ReasonBody body = call.read(ReasonBody.SHAPE);
    return Jobs.answer(as(call).terminate(jobs.found(call).id(), body.reason()));
  }

  private Answer workflow(Call call) {
    JobInfo job = jobs.found(call);
    JobId id = job.id();
    WorkflowInfo found = carillon.workflow(id).orElseThrow(Call::notFound);
    int left = Math.max(0, found.steps().size() - MOST_STEPS);
    List<WorkflowInfo.Step> shown = found.steps().subList(left, found.steps().size());
    WorkflowInfo.Wait wait = found.waitsFor();
    return Answer.json(
        out -> {
          out.put("id", id.value()).put("state", found.state());
          out.put("stepsLeftOut", left)
              .list("steps", shown, (inner, step) -> write(inner, step, result(call, job, step)));
          if (wait != null) {
            out.object("waitsFor", inner -> write(inner, wait));
          }
        });
  }

  private @Nullable RawPayload result(Call call, JobInfo job, WorkflowInfo.Step step) {
    RawPayload result = step.result();
    return result == null ? null : redaction.shown(job, call.caller(), result);
  }

  private static void write(JsonText out, WorkflowInfo.Step step, @Nullable RawPayload result) {
    out.put("name", step.name())
        .put("state", step.state())
        .put("tries", step.tries())
        .put("startedAt", step.startedAt())
        .put("at", step.at())
        .put("nextAt", step.nextAt());
    JobError error = step.error();
    if (error != null) {
      out.object("error", inner -> JobJson.write(inner, error));
    }
    if (result != null && isShown(result)) {
      out.raw("result", new String(result.bytes(), StandardCharsets.UTF_8));
    } else if (result != null) {
      out.put("resultBytes", result.bytes().length);
    }
  }

  private static boolean isShown(RawPayload result) {
    return result.codec().equals("json")
        && result.bytes().length <= MOST_RESULT_BYTES
        && Json.isValid(result.bytes());
  }

  private static void write(JsonText out, WorkflowInfo.Wait wait) {
    out.put("until", wait.until())
        .texts("signals", wait.signals())
        .texts("children", wait.children().stream().map(JobId::value).toList())
        .put("allChildren", wait.allChildren());
  }

  /** A signal. */
  static final class SignalBody {
    static final Shape<SignalBody> SHAPE =
        Shape.of(SignalBody::new)
            .text("type", (s, v) -> s.type = v)
            .raw("payload", (s, v) -> s.payload = new RawPayload("json", v))
            .text("payloadBase64", (s, v) -> s.base64 = v)
            .text("payloadCodec", (s, v) -> s.codec = v);

    private @Nullable String type;
    private @Nullable RawPayload payload;
    private @Nullable String base64;
    private @Nullable String codec;

    String type() {
      if (type == null) {
        throw new InvalidBody("type: missing (expected: the type of the signal)");
      }
      return type;
    }

    @Nullable RawPayload payload() {
      return new PayloadFields("payload", payload, base64, codec).payload();
    }
  }
}
