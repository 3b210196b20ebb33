package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.Requester;
import dev.carillon.api.JobId;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Changes of jobs that have not ended, in the name of whoever asks. */
public final class ControlRoutes {
  private static final String JOB = "/v1/namespaces/{ns}/jobs/{id}";

  private final Jobs jobs;
  private final Carillon carillon;

  /**
   * The changes of the jobs of a node.
   *
   * @param carillon the node
   */
  public ControlRoutes(Carillon carillon) {
    this.jobs = new Jobs(carillon);
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.post("cancelJob", JOB + "/cancel", Role.SUBMITTER, this::cancel).byQueue(),
        Route.post("pauseJob", JOB + "/pause", Role.OPERATOR, this::pause).byQueue(),
        Route.post("resumeJob", JOB + "/resume", Role.OPERATOR, this::resume).byQueue(),
        Route.post("rescheduleJob", JOB + "/reschedule", Role.OPERATOR, this::reschedule).byQueue(),
        Route.post("prioritiseJob", JOB + "/prioritise", Role.OPERATOR, this::prioritise).byQueue(),
        Route.post("triggerJob", JOB + "/trigger", Role.OPERATOR, this::trigger).byQueue(),
        Route.post("backfillJob", JOB + "/backfill", Role.OPERATOR, this::backfill).byQueue());
  }

  private Requester as(Call call) {
    return carillon.as(call.caller().name());
  }

  private Answer cancel(Call call) {
    ReasonBody body = call.read(ReasonBody.SHAPE);
    return Jobs.answer(as(call).cancel(jobs.found(call).id(), body.reason()));
  }

  private Answer pause(Call call) {
    ReasonBody body = call.read(ReasonBody.SHAPE);
    return Jobs.answer(as(call).pause(jobs.found(call).id(), body.reason()));
  }

  private Answer resume(Call call) {
    call.read(ReasonBody.NOTHING);
    return Jobs.answer(as(call).resume(jobs.found(call).id()));
  }

  private Answer reschedule(Call call) {
    WhenBody body = call.read(WhenBody.SHAPE);
    JobId id = jobs.found(call).id();
    Schedule schedule = body.schedule();
    return Jobs.answer(
        schedule != null ? as(call).reschedule(id, schedule) : as(call).reschedule(id, body.due()));
  }

  private Answer prioritise(Call call) {
    PriorityBody body = call.read(PriorityBody.SHAPE);
    return Jobs.answer(as(call).prioritise(jobs.found(call).id(), body.priority()));
  }

  private Answer trigger(Call call) {
    call.read(ReasonBody.NOTHING);
    JobId occurrence = carillon.trigger(jobs.found(call).id());
    return Answer.json(201, out -> out.put("id", occurrence.value()))
        .header("Location", Jobs.location(call.namespace(), occurrence.value()));
  }

  private Answer backfill(Call call) {
    RangeBody body = call.read(RangeBody.SHAPE);
    List<JobId> occurrences = carillon.backfill(jobs.found(call).id(), body.from(), body.to());
    return Answer.json(
        201, out -> out.texts("ids", occurrences.stream().map(JobId::value).toList()));
  }

  // ---- bodies

  /** A time, or a schedule. */
  static final class WhenBody {
    static final Shape<WhenBody> SHAPE =
        Shape.of(WhenBody::new)
            .time("at", (w, v) -> w.at = v)
            .duration("in", (w, v) -> w.in = v)
            .object("schedule", ScheduleBody.SHAPE, (w, v) -> w.schedule = v);

    private @Nullable Instant at;
    private @Nullable Duration in;
    private @Nullable ScheduleBody schedule;

    @Nullable Schedule schedule() {
      int given = (at != null ? 1 : 0) + (in != null ? 1 : 0) + (schedule != null ? 1 : 0);
      if (given != 1) {
        throw new InvalidBody(
            "body: %d of at, in and schedule (expected: one of them)".formatted(given));
      }
      return schedule != null ? schedule.schedule() : null;
    }

    Instant due() {
      if (at != null) {
        return at;
      }
      return Instant.now().plus(in != null ? in : Duration.ZERO);
    }
  }

  /** A priority. */
  static final class PriorityBody {
    static final Shape<PriorityBody> SHAPE =
        Shape.of(PriorityBody::new).integer("priority", (p, v) -> p.priority = v);

    private @Nullable Integer priority;

    int priority() {
      if (priority == null) {
        throw new InvalidBody("priority: missing (expected: a whole number)");
      }
      return priority;
    }
  }

  /** A range of time. */
  static final class RangeBody {
    static final Shape<RangeBody> SHAPE =
        Shape.of(RangeBody::new).time("from", (r, v) -> r.from = v).time("to", (r, v) -> r.to = v);

    private @Nullable Instant from;
    private @Nullable Instant to;

    Instant from() {
      return needed("from", from);
    }

    Instant to() {
      return needed("to", to);
    }

    private static Instant needed(String name, @Nullable Instant time) {
      if (time == null) {
        throw new InvalidBody(name + ": missing (expected: a time)");
      }
      return time;
    }
  }
}
