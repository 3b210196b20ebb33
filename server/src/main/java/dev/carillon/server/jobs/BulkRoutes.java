package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.RawPayload;
import dev.carillon.api.CancelResult;
import dev.carillon.api.FailurePolicy;
import dev.carillon.api.Job;
import dev.carillon.api.JobError;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.Page;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.JsonText;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Actions on all jobs that fit a query. A dry run counts and shows the first few; the action itself
 * is a job of the server's own namespace, run by {@link BulkRunner}.
 */
public final class BulkRoutes {
  private static final String BULK = "/v1/namespaces/{ns}/bulk";
  private static final int SHOWN = 10;
  private static final int MOST_RETRIES = 1_000;
  private static final Duration COUNTING = Duration.ofSeconds(5);
  private static final Duration READ_TIME = Duration.ofSeconds(10);
  private static final TypeToken<RawPayload> RAW = TypeToken.of(RawPayload.class);
  private static final FailurePolicy RETRIES =
      FailurePolicy.exponential()
          .from(Duration.ofMillis(200))
          .cap(Duration.ofSeconds(30))
          .maxRetries(MOST_RETRIES);

  private final Carillon carillon;
  private final Clock clock = Clock.systemUTC();

  /**
   * The bulk actions on the jobs of a node's store.
   *
   * @param carillon the node
   */
  public BulkRoutes(Carillon carillon) {
    this.carillon = carillon;
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.post("startBulk", BULK, Role.OPERATOR, this::start),
        Route.get("listBulk", BULK, Role.VIEWER, this::list).query("limit", "cursor"),
        Route.get("getBulk", BULK + "/{id}", Role.VIEWER, this::get),
        Route.post("cancelBulk", BULK + "/{id}/cancel", Role.OPERATOR, this::cancel));
  }

  // ---- asking

  /** All of them are jobs of one namespace; both parts may have blanks. */
  private static String keyOf(String namespace, String key) {
    return namespace.length() + " " + namespace + " " + key;
  }

  private Answer start(Call call) {
    BulkBody body = call.read(BulkBody.SHAPE);
    var unused = body.action();
    JobQuery query = body.query(call.namespace());
    Limits.checkReason(body.reason());
    if (body.dryRun()) {
      return dryRun(query, body);
    }
    Instant now = clock.instant();
    RawPayload order =
        BulkRunner.Order.payload(call.namespace(), call.caller().name(), now, call.body());
    Job<?> job =
        BulkRunner.TYPE
            .job(order)
            .namespace(BulkRunner.NAMESPACE)
            .queue(BulkRunner.QUEUE)
            .meta(BulkRunner.ABOUT, call.namespace())
            .onFailure(RETRIES);
    String key = call.idempotencyKey();
    if (key != null) {
      job = job.key(keyOf(call.namespace(), key));
    }
    JobHandle<?> handle = carillon.schedule(job);
    String id = handle.id().value();
    if (!handle.created()) {
      refuseOther(handle.id(), body);
    }
    return Answer.json(202, out -> out.put("id", id).put("created", handle.created()))
        .header(
            "Location",
            "/v1/namespaces/%s/bulk/%s"
                .formatted(Jobs.encoded(call.namespace()), Jobs.encoded(id)));
  }

  /** A key stands for one action: it is not the answer to another one. */
  private void refuseOther(JobId existing, BulkBody body) {
    if (carillon.get(existing).isEmpty()) {
      return; // past its retention: nobody knows what it was
    }
    BulkBody asked = BulkRunner.Order.read(carillon.rawInput(existing)).asked();
    if (!asked.isSameAs(body)) {
      throw Problem.of(
              Kind.CONFLICT,
              "Idempotency-Key: that of another action, %s (expected: a new key, or the same body)"
                  .formatted(asked.action()))
          .with("existing", existing.value())
          .refusal();
    }
  }

  /** Counts for a while: where there are more, it says how many at least. */
  private Answer dryRun(JobQuery query, BulkBody body) {
    Instant end = clock.instant().plus(COUNTING);
    List<JobInfo> first = new ArrayList<>(SHOWN);
    List<String> unreadable = new ArrayList<>();
    long count = 0;
    JobQuery next = query.limit(Limits.PAGE_MAX_ITEMS);
    boolean complete = false;
    while (!complete && clock.instant().isBefore(end)) {
      Page<JobInfo> page = carillon.list(next);
      for (JobInfo job : page.items()) {
        if (body.isAbout(job)) {
          count += 1;
          if (first.size() < SHOWN) {
            first.add(job);
          }
        }
      }
      page.unreadable().stream()
          .filter(each -> !unreadable.contains(each))
          .forEach(unreadable::add);
      complete = page.next() == null;
      next = next.cursor(page.next());
    }
    return counted(count, complete, first, unreadable);
  }

  private static Answer counted(
      long count, boolean complete, List<JobInfo> first, List<String> unreadable) {
    return Answer.json(
        out -> {
          out.put("count", count).put("complete", complete).list("first", first, JobJson::write);
          if (!unreadable.isEmpty()) {
            out.texts("unreadable", unreadable);
          }
        });
  }

  // ---- watching

  private JobInfo found(Call call) {
    return carillon
        .get(new JobId(call.variable("id")))
        .filter(job -> job.namespace().equals(BulkRunner.NAMESPACE))
        .filter(job -> job.type().equals(BulkRunner.TYPE.name()))
        .filter(job -> call.namespace().equals(job.metadata().get(BulkRunner.ABOUT)))
        .orElseThrow(Call::notFound);
  }

  private Answer list(Call call) {
    JobQuery query =
        JobQuery.all()
            .namespace(BulkRunner.NAMESPACE)
            .type(BulkRunner.TYPE.name())
            .meta(BulkRunner.ABOUT, call.namespace())
            .limit(call.integer("limit", Limits.PAGE_DEFAULT_ITEMS))
            .cursor(call.parameter("cursor"));
    Page<JobInfo> page = carillon.list(query);
    return Answer.json(out -> Pages.write(out, page, BulkRoutes::write));
  }

  private static void write(JsonText out, JobInfo job) {
    out.put("id", job.id().value())
        .put("state", job.state())
        .put("scheduledAt", job.scheduledAt())
        .put("endedAt", job.endedAt())
        .put("node", job.node());
    if (job.cancelRequested()) {
      out.put("cancelRequested", true);
    }
    JobError error = job.lastError();
    if (error != null && job.state() != JobState.SUCCEEDED) {
      out.object("lastError", inner -> JobJson.write(inner, error));
    }
  }

  private Answer get(Call call) {
    JobInfo job = found(call);
    BulkRunner.Order order = BulkRunner.Order.read(carillon.rawInput(job.id()));
    BulkPosition position = position(job);
    return Answer.json(
        out -> {
          write(out, job);
          out.put("action", order.asked().action()).put("by", order.by());
          if (position != null) {
            position.write(out);
          }
        });
  }

  /** How far it is; null where nothing is known. */
  private @Nullable BulkPosition position(JobInfo job) {
    if (!job.state().ended()) {
      Optional<RawPayload> saved = carillon.saved(job.id(), RAW);
      return saved.map(BulkPosition::read).orElseGet(BulkPosition::new);
    }
    try {
      RawPayload result = carillon.result(job.id(), RAW, READ_TIME);
      return result != null ? BulkPosition.read(result) : null;
    } catch (JobFailedException e) {
      return null;
    }
  }

  private Answer cancel(Call call) {
    ReasonBody body = call.read(ReasonBody.SHAPE);
    JobInfo job = found(call);
    CancelResult result = carillon.as(call.caller().name()).cancel(job.id(), body.reason());
    return Jobs.answer(result);
  }
}
