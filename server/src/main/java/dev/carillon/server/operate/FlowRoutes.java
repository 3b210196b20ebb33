package dev.carillon.server.operate;

import dev.carillon.Carillon;
import dev.carillon.FlowControl;
import dev.carillon.Requester;
import dev.carillon.api.Rate;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Route;
import dev.carillon.server.jobs.RateBody;
import dev.carillon.server.jobs.ReasonBody;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Pauses, limits and rates of queues and namespaces. A queue is one over all namespaces, so a role
 * in one of them is not enough for it.
 */
public final class FlowRoutes {
  private final Carillon carillon;

  /**
   * The queues and namespaces of a node's store.
   *
   * @param carillon the node
   */
  public FlowRoutes(Carillon carillon) {
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    routes.addAll(
        routes("Queue", "/v1/queues/{queue}", call -> as(call).queue(call.variable("queue"))));
    routes.addAll(
        routes(
            "Namespace", "/v1/namespaces/{ns}/flow", call -> as(call).namespace(call.namespace())));
    return routes;
  }

  private Requester as(Call call) {
    return carillon.as(call.caller().name());
  }

  private static List<Route> routes(String what, String path, Function<Call, FlowControl> control) {
    return List.of(
        Route.get("get" + what, path, Role.VIEWER, call -> Flows.answer(control.apply(call).get())),
        Route.post(
            "pause" + what,
            path + "/pause",
            Role.OPERATOR,
            call -> {
              String reason = call.read(ReasonBody.SHAPE).reason();
              return done(call, control, flow -> flow.pause(reason));
            }),
        Route.post(
            "resume" + what,
            path + "/resume",
            Role.OPERATOR,
            call -> {
              call.read(ReasonBody.NOTHING);
              return done(call, control, FlowControl::resume);
            }),
        Route.put(
            "limit" + what,
            path + "/limit",
            Role.ADMIN,
            call -> {
              int limit = call.read(LimitBody.SHAPE).limit();
              return done(call, control, flow -> flow.limit(limit));
            }),
        Route.delete(
            "unlimit" + what,
            path + "/limit",
            Role.ADMIN,
            call -> done(call, control, FlowControl::clearLimit)),
        Route.put(
            "rate" + what,
            path + "/rate",
            Role.ADMIN,
            call -> {
              Rate rate = call.read(RateBody.SHAPE).rate();
              return done(call, control, flow -> flow.rate(rate));
            }),
        Route.delete(
            "unrate" + what,
            path + "/rate",
            Role.ADMIN,
            call -> done(call, control, FlowControl::clearRate)));
  }

  private static Answer done(
      Call call, Function<Call, FlowControl> control, Consumer<FlowControl> change) {
    change.accept(control.apply(call).ifStill(call.ifMatch()));
    return Answer.json(out -> out.put("result", "DONE"));
  }

  /** How many at once. */
  static final class LimitBody {
    static final Shape<LimitBody> SHAPE =
        Shape.of(LimitBody::new).integer("limit", (l, v) -> l.limit = v);

    private @Nullable Integer limit;

    int limit() {
      if (limit == null) {
        throw new InvalidBody("limit: missing (expected: how many attempts run at once)");
      }
      return limit;
    }
  }
}
