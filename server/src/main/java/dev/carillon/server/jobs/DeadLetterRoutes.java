package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.Requester;
import dev.carillon.api.DeadLetterGroup;
import dev.carillon.api.Job;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobType;
import dev.carillon.api.Page;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs that were given up: grouped by what they failed with, replayed, discarded. */
public final class DeadLetterRoutes {
  private static final String NAMESPACE = "/v1/namespaces/{ns}";
  private static final String JOB = NAMESPACE + "/jobs/{id}";

  /** How long one request reads dead letters to group them. */
  private static final Duration GROUPING = Duration.ofSeconds(5);

  private final Jobs jobs;
  private final Carillon carillon;

  /**
   * The dead letters of a node's store.
   *
   * @param carillon the node
   */
  public DeadLetterRoutes(Carillon carillon) {
    this.jobs = new Jobs(carillon);
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get(
                "listDeadLetterGroups",
                NAMESPACE + "/dead-letters/groups",
                Role.VIEWER,
                this::groups)
            .query(QueryParameters.namesButState()),
        Route.post("replayJob", JOB + "/replay", Role.OPERATOR, this::replay).byQueue(),
        Route.post("discardJob", JOB + "/discard", Role.OPERATOR, this::discard).byQueue());
  }

  private Requester as(Call call) {
    return carillon.as(call.caller().name());
  }

  private Answer groups(Call call) {
    JobQuery query = QueryParameters.of(call);
    Duration time = call.parameter(QueryParameters.WITHIN) != null ? query.within() : GROUPING;
    Page<DeadLetterGroup> page = carillon.deadLetters().groups(query, time);
    return Answer.json(out -> Pages.write(out, page, DeadLetterRoutes::write));
  }

  private static void write(JsonText out, DeadLetterGroup group) {
    out.put("fingerprint", group.fingerprint())
        .put("type", group.type())
        .put("count", group.count())
        .put("earliestAt", group.earliestAt())
        .put("latest", group.latest().value())
        .put("latestAt", group.latestAt())
        .list(
            "byHour",
            group.byHour().entrySet(),
            (inner, hour) -> inner.put("from", hour.getKey()).put("count", hour.getValue()))
        .object("error", inner -> JobJson.write(inner, group.error()));
  }

  private Answer replay(Call call) {
    InputBody body = call.read(InputBody.SHAPE);
    JobInfo dead = jobs.found(call);
    Job<?> edited = body.job(dead);
    return Jobs.answer(
        edited != null ? as(call).replay(dead.id(), edited) : as(call).replay(dead.id()));
  }

  private Answer discard(Call call) {
    call.read(ReasonBody.NOTHING);
    return Jobs.answer(as(call).discard(jobs.found(call).id()));
  }

  /** Another input, or none. */
  static final class InputBody {
    static final Shape<InputBody> SHAPE =
        Shape.of(InputBody::new)
            .raw("input", (b, v) -> b.input = new RawPayload("json", v))
            .text("inputBase64", (b, v) -> b.base64 = v)
            .text("inputCodec", (b, v) -> b.codec = v)
            .integer("typeVersion", (b, v) -> b.typeVersion = v);

    private @Nullable RawPayload input;
    private @Nullable String base64;
    private @Nullable String codec;
    private @Nullable Integer typeVersion;

    /** A job of the type with the input; null where the input stays. */
    @Nullable Job<?> job(JobInfo dead) {
      RawPayload payload = new PayloadFields("input", input, base64, codec).payload();
      if (payload == null) {
        if (typeVersion != null) {
          throw new InvalidBody("typeVersion: given (expected: none without an input)");
        }
        return null;
      }
      return JobType.of(dead.type(), RawPayload.class, RawPayload.class)
          .version(typeVersion != null ? typeVersion : dead.typeVersion())
          .job(payload);
    }
  }
}
