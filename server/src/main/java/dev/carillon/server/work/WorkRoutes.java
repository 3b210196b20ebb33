package dev.carillon.server.work;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.Limits;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.gateway.GivenAttempt;
import dev.carillon.gateway.WorkerConnection.SaveAnswer;
import dev.carillon.gateway.WorkerOutcome;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.Json;
import dev.carillon.server.json.JsonText;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What workers that speak HTTP ask and say. */
public final class WorkRoutes implements AutoCloseable {
  private static final String WORK = "/v1/namespaces/{ns}/work";
  private static final String ONE = WORK + "/{token}";

  private final HttpWorkers workers;

  /**
   * The operations of workers.
   *
   * @param carillon the node that gives them jobs
   */
  public WorkRoutes(Carillon carillon) {
    this.workers = new HttpWorkers(carillon);
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.post("takeWork", WORK, Role.WORKER, this::take).waiting().byQueue(),
        Route.post("beatWork", ONE + "/beat", Role.WORKER, this::beat).byQueue(),
        Route.post("completeWork", ONE + "/done", Role.WORKER, this::done).byQueue(),
        Route.post("failWork", ONE + "/fail", Role.WORKER, this::fail).byQueue(),
        Route.post("repeatWork", ONE + "/again", Role.WORKER, this::again).byQueue(),
        Route.post("saveWork", ONE + "/save", Role.WORKER, this::save).byQueue(),
        Route.post("returnWork", ONE + "/back", Role.WORKER, this::back).byQueue());
  }

  private Answer take(Call call) {
    WorkBodies.Take body = call.read(WorkBodies.Take.SHAPE);
    Wanted wanted = body.wanted(call.namespace());
    int most = body.most();
    if (!call.caller().reachesAllQueues()) {
      if (body.queue().isEmpty()) {
        throw Problem.of(Kind.FORBIDDEN, "queue: missing (expected: one of the caller's)")
            .refusal();
      }
      if (!call.caller().mayUse(call.namespace(), body.queue())) {
        throw Problem.of(Kind.FORBIDDEN, "queue: not one of the caller's").refusal();
      }
    }
    List<WorkLink> taken = workers.take(wanted, most, body.waiting());
    return Answer.json(out -> out.list("attempts", taken, WorkRoutes::write));
  }

  private static void write(JsonText out, WorkLink link) {
    GivenAttempt attempt = link.attempt();
    WorkToken token =
        new WorkToken(
            link.worker, attempt.namespace(), attempt.queue(), attempt.type(), attempt.token());
    out.put("token", token.text())
        .put("id", attempt.token().job().value())
        .put("attempt", attempt.token().attempt())
        .put("type", attempt.type())
        .put("typeVersion", attempt.typeVersion())
        .put("namespace", attempt.namespace())
        .put("queue", attempt.queue())
        .put("name", attempt.name())
        .texts("metadata", attempt.metadata())
        .put("scheduledTime", attempt.scheduledTime())
        .put("timeout", attempt.timeout())
        .put("deadline", attempt.deadline())
        .put("lease", link.lease());
    OccurrenceInfo occurrence = attempt.occurrence();
    if (occurrence != null) {
      out.object(
          "occurrence",
          inner ->
              inner
                  .put("schedule", occurrence.schedule().value())
                  .put("number", occurrence.number())
                  .put("time", occurrence.time()));
    }
    payload(out, "input", attempt.input());
    payload(out, "saved", attempt.saved());
  }

  /** JSON as such; other bytes as base64, with the name of their codec. */
  private static void payload(JsonText out, String name, @Nullable RawPayload payload) {
    if (payload == null || payload.codec().isEmpty()) {
      return;
    }
    if (payload.codec().equals("json") && Json.isValid(payload.bytes())) {
      out.raw(name, new String(payload.bytes(), StandardCharsets.UTF_8));
    } else {
      out.put(name + "Base64", Base64.getEncoder().encodeToString(payload.bytes()))
          .put(name + "Codec", payload.codec());
    }
  }

  /** The attempt that the address names, if the caller reaches its job. */
  private static WorkToken token(Call call) {
    WorkToken token = WorkToken.parse(call.variable("token"));
    boolean reached =
        token.namespace().equals(call.namespace())
            && call.caller().mayUse(token.namespace(), token.queue());
    if (!reached) {
      throw Call.notFound();
    }
    return token;
  }

  private Answer beat(Call call) {
    WorkToken token = token(call);
    HttpWorkers.Beat beat = workers.beat(token, call.read(WorkBodies.Beat.SHAPE).progress);
    return Answer.json(out -> out.put("lease", beat.lease()).put("stop", beat.stop()));
  }

  private Answer done(Call call) {
    WorkToken token = token(call);
    RawPayload result = call.read(WorkBodies.Payload.RESULT).payload();
    Limits.checkPayload(result.bytes().length);
    return settled(token, new WorkerOutcome.Succeeded(result));
  }

  private Answer fail(Call call) {
    WorkToken token = token(call);
    return settled(token, call.read(WorkBodies.Failure.SHAPE).outcome());
  }

  private Answer again(Call call) {
    WorkToken token = token(call);
    return settled(token, call.read(WorkBodies.Later.SHAPE).outcome(Instant.now()));
  }

  private Answer back(Call call) {
    return settled(token(call), new WorkerOutcome.GivenBack());
  }

  private Answer settled(WorkToken token, WorkerOutcome outcome) {
    workers.outcome(token, outcome);
    return Answer.empty(204);
  }

  private Answer save(Call call) {
    WorkToken token = token(call);
    RawPayload state = call.read(WorkBodies.Payload.STATE).needed();
    Limits.checkPayload(state.bytes().length);
    SaveAnswer answer = workers.save(token, state);
    return switch (answer) {
      case SAVED -> Answer.empty(204);
      case STALE ->
          throw Problem.of(Kind.STALE, "token: not that of the job's current attempt").refusal();
      case UNAVAILABLE ->
          throw Problem.of(Kind.STORE_AWAY, "nothing was saved").retryAfter(1).refusal();
      case UNKNOWN ->
          throw Problem.of(Kind.UNKNOWN, "it may be saved or not").with("again", "SAFE").refusal();
    };
  }

  /** Ends the connections to the node; what workers run goes on by its leases. */
  @Override
  public void close() {
    workers.close();
  }
}
