package dev.carillon.server.jobs;

import dev.carillon.Carillon;
import dev.carillon.Requester;
import dev.carillon.api.CancelResult;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobQuery;
import dev.carillon.api.JobState;
import dev.carillon.api.Limits;
import dev.carillon.api.Page;
import dev.carillon.api.RecurringInfo;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.api.schedule.Occurrence;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.server.access.Role;
import dev.carillon.server.http.Answer;
import dev.carillon.server.http.Call;
import dev.carillon.server.http.Problem;
import dev.carillon.server.http.Problem.Kind;
import dev.carillon.server.http.Route;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.JsonText;
import dev.carillon.server.json.Shape;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Schedules: recurring jobs, by their names. A schedule is there while its job has not ended;
 * deleting it cancels the job.
 */
public final class ScheduleRoutes {
  private static final String NAMESPACE = "/v1/namespaces/{ns}";
  private static final String SCHEDULES = NAMESPACE + "/schedules";
  private static final String SCHEDULE = SCHEDULES + "/{name}";
  private static final int PREVIEW_TIMES = 10;
  private static final String ANY = "*";

  /** How often a put looks again that overwrites whatever is there. */
  private static final int MOST_ROUNDS = 4;

  /** How long one request lists or deletes; the answer says that there is more. */
  private static final Duration ONE_REQUEST = Duration.ofSeconds(5);

  /** How many schedules one request deletes. */
  private static final int MOST_DELETED = 1_000;

  private static final List<JobState> LIVE =
      Arrays.stream(JobState.values()).filter(state -> !state.ended()).toList();

  private final Carillon carillon;
  private final Jobs jobs;
  private final Clock clock;

  /**
   * The schedules of a node.
   *
   * @param carillon the node
   */
  public ScheduleRoutes(Carillon carillon) {
    this.carillon = carillon;
    this.jobs = new Jobs(carillon);
    this.clock = Clock.systemUTC();
  }

  /** The routes. */
  public List<Route> routes() {
    return List.of(
        Route.get("listSchedules", SCHEDULES, Role.VIEWER, this::list)
            .query("prefix", "limit", QueryParameters.WITHIN, "cursor")
            .byQueue(),
        Route.delete("deleteSchedules", SCHEDULES, Role.OPERATOR, this::deleteAll)
            .query("prefix", "separator"),
        Route.put("putSchedule", SCHEDULE, Role.SUBMITTER, this::put).byQueue(),
        Route.get("getSchedule", SCHEDULE, Role.VIEWER, this::get).byQueue(),
        Route.delete("deleteSchedule", SCHEDULE, Role.SUBMITTER, this::delete).byQueue(),
        Route.post("pauseSchedule", SCHEDULE + "/pause", Role.OPERATOR, this::pause).byQueue(),
        Route.post("resumeSchedule", SCHEDULE + "/resume", Role.OPERATOR, this::resume).byQueue(),
        Route.get("previewSchedule", SCHEDULE + "/preview", Role.VIEWER, this::preview)
            .query("count", "from", "zone")
            .byQueue(),
        Route.post("preview", NAMESPACE + "/preview", Role.VIEWER, this::previewNew).byQueue());
  }

  private Requester as(Call call) {
    return carillon.as(call.caller().name());
  }

  private static String name(Call call) {
    return Limits.checkName(call.variable("name"));
  }

  // ---- one schedule

  private static boolean isSchedule(JobInfo job) {
    return job.recurring() != null && job.name() != null && !job.state().ended();
  }

  private JobInfo found(Call call) {
    return carillon
        .get(call.namespace(), name(call))
        .filter(job -> isSchedule(job) && Jobs.isReached(call, job))
        .orElseThrow(Call::notFound);
  }

  private Answer put(Call call) {
    JobBody body = call.read(JobBody.SHAPE);
    String name = name(call);
    body.declares(name);
    JobHandle<?> handle = put(call, name, jobs.checked(call, body));
    String id = handle.id().value();
    return Answer.json(
            handle.created() ? 201 : 200, out -> out.put("id", id).put("created", handle.created()))
        .header("Location", location(call.namespace(), name));
  }

  /** Looks at what is overwritten as far as the client says what that is. */
  private JobHandle<?> put(Call call, String name, Job<?> job) {
    String match = call.header("if-match");
    String noneMatch = call.header("if-none-match");
    if (match != null && noneMatch != null) {
      throw new InvalidBody("If-Match: given with If-None-Match (expected: one of them)");
    }
    Optional<JobInfo> there = carillon.get(call.namespace(), name);
    there.filter(other -> !isSchedule(other)).ifPresent(other -> refuseOther(other, name));
    if (match != null) {
      return update(call, name, job, there);
    }
    if (noneMatch == null) {
      return as(call).schedule(job);
    }
    if (!noneMatch.strip().equals(ANY)) {
      throw Shape.invalid("If-None-Match", Shape.quoted(noneMatch), ANY);
    }
    try {
      return as(call).schedule(job.ifExists(IfExists.FAIL));
    } catch (NameTakenException e) {
      throw changed("If-None-Match: the schedule exists");
    }
  }

  private JobHandle<?> update(Call call, String name, Job<?> job, Optional<JobInfo> first) {
    String match = String.valueOf(call.header("if-match"));
    Optional<JobInfo> there = first;
    for (int round = 1; ; round++) {
      JobInfo existing =
          there.orElseThrow(() -> changed("If-Match: there is no schedule of the name"));
      if (!matches(match, existing)) {
        throw changed("If-Match: it is " + etag(existing) + " now");
      }
      try {
        return as(call).update(job, existing.id(), version(existing));
      } catch (ChangedMeanwhileException e) {
        if (round == MOST_ROUNDS) {
          throw e;
        }
        there = carillon.get(call.namespace(), name).filter(ScheduleRoutes::isSchedule);
      }
    }
  }

  private static boolean matches(String match, JobInfo existing) {
    String current = etag(existing);
    return Arrays.stream(match.split(",", -1))
        .map(String::strip)
        .anyMatch(each -> each.equals(ANY) || each.equals(current));
  }

  private static Problem.Refusal changed(String what) {
    return Problem.of(Kind.CHANGED, what + "; nothing was changed").refusal();
  }

  /** Names the definition: another one after each change of it, and for another job. */
  private static String etag(JobInfo job) {
    return "\"%d-%s\"".formatted(version(job), Jobs.encoded(job.id().value()));
  }

  private static int version(JobInfo job) {
    RecurringInfo recurring = job.recurring();
    return recurring != null ? recurring.version() : 0;
  }

  private static void refuseOther(JobInfo job, String name) {
    throw Problem.of(
            Kind.NAME_TAKEN,
            "name: %s (expected: that of no job, or of a recurring one)"
                .formatted(Shape.quoted(name)))
        .with("existing", job.id().value())
        .refusal();
  }

  private static String location(String namespace, String name) {
    return "/v1/namespaces/%s/schedules/%s".formatted(Jobs.encoded(namespace), Jobs.encoded(name));
  }

  private Answer get(Call call) {
    JobInfo job = found(call);
    return Answer.json(out -> JobJson.write(out, job)).header("ETag", etag(job));
  }

  private Answer delete(Call call) {
    if (call.header("if-match") != null) {
      throw new InvalidBody("If-Match: given (expected: none; a delete looks at no version)");
    }
    CancelResult result = as(call).cancel(found(call).id(), "the schedule was deleted");
    return Jobs.answer(result);
  }

  private Answer pause(Call call) {
    ReasonBody body = call.read(ReasonBody.SHAPE);
    return Jobs.answer(as(call).pause(found(call).id(), body.reason()));
  }

  private Answer resume(Call call) {
    call.read(ReasonBody.NOTHING);
    return Jobs.answer(as(call).resume(found(call).id()));
  }

  // ---- many schedules

  private Answer list(Call call) {
    String prefix = call.parameter("prefix");
    JobQuery query =
        query(call, prefix != null ? prefix : "")
            .limit(call.integer("limit", Limits.PAGE_DEFAULT_ITEMS))
            .within(call.duration(QueryParameters.WITHIN, Limits.PAGE_TIME))
            .cursor(call.parameter("cursor"));
    Duration time = call.parameter(QueryParameters.WITHIN) != null ? query.within() : ONE_REQUEST;
    List<JobInfo> found = new ArrayList<>();
    List<String> unreadable = new ArrayList<>();
    String next = collect(query, time, found, unreadable);
    Page<JobInfo> page = Jobs.reached(call, new Page<>(found, next, unreadable));
    return Answer.json(out -> Pages.write(out, page, JobJson::write));
  }

  private static JobQuery query(Call call, String prefix) {
    return JobQuery.all().namespace(call.namespace()).states(LIVE).namePrefix(prefix);
  }

  /**
   * Collects the schedules of a query while there is room and time.
   *
   * @return where to go on; null at the end
   */
  private @Nullable String collect(
      JobQuery query, Duration time, List<JobInfo> found, List<String> unreadable) {
    Instant end = clock.instant().plus(time);
    JobQuery next = query;
    while (true) {
      Page<JobInfo> page = carillon.list(next);
      page.items().stream().filter(ScheduleRoutes::isSchedule).forEach(found::add);
      page.unreadable().stream()
          .filter(each -> !unreadable.contains(each))
          .forEach(unreadable::add);
      String cursor = page.next();
      if (cursor == null || found.size() >= query.limit() || clock.instant().isAfter(end)) {
        return cursor;
      }
      next = query.limit(query.limit() - found.size()).cursor(cursor);
    }
  }

  /** Deletes what lies under a prefix: {@code test} takes {@code test/a} and never test-1. */
  private Answer deleteAll(Call call) {
    String prefix = call.required("prefix");
    String separator = call.parameter("separator");
    String under = under(prefix, separator != null ? separator : "/");
    Instant end = clock.instant().plus(ONE_REQUEST);
    Requester requester = as(call);
    long deleted = 0;
    List<String> unreadable = new ArrayList<>();
    JobQuery query = query(call, under).limit(Limits.PAGE_MAX_ITEMS);
    boolean complete = false;
    try {
      while (!complete && deleted < MOST_DELETED && clock.instant().isBefore(end)) {
        Page<JobInfo> page = carillon.list(query);
        for (JobInfo job : page.items()) {
          if (isSchedule(job)) {
            deleted += isEffective(requester.cancel(job.id(), "deleted with " + under)) ? 1 : 0;
          }
        }
        page.unreadable().stream()
            .filter(each -> !unreadable.contains(each))
            .forEach(unreadable::add);
        complete = page.next() == null;
        query = query.cursor(page.next());
      }
    } catch (StoreUnavailableException e) {
      if (deleted == 0) {
        throw e;
      }
    }
    return deleted(deleted, complete, unreadable);
  }

  private static Answer deleted(long deleted, boolean complete, List<String> unreadable) {
    return Answer.json(
        out -> {
          out.put("deleted", deleted).put("complete", complete);
          if (!unreadable.isEmpty()) {
            out.texts("unreadable", unreadable);
          }
        });
  }

  private static String under(String prefix, String separator) {
    if (separator.length() != 1 || Character.isLetterOrDigit(separator.charAt(0))) {
      throw Shape.invalid(
          "separator", Shape.quoted(separator), "one character that is no letter and no digit");
    }
    if (prefix.isEmpty() || prefix.endsWith(separator)) {
      throw Shape.invalid(
          "prefix", Shape.quoted(prefix), "a name without the separator at its end");
    }
    return prefix + separator;
  }

  private static boolean isEffective(CancelResult result) {
    return result instanceof CancelResult.Cancelled || result instanceof CancelResult.Stopping;
  }

  // ---- preview

  /** The times to come of a schedule that is there. */
  private Answer preview(Call call) {
    JobInfo job = found(call);
    RecurringInfo recurring = job.recurring();
    if (recurring == null) {
      throw Call.notFound();
    }
    Instant from = call.time("from");
    return preview(
        recurring.schedule(),
        new Wish(
            call.integer("count", PREVIEW_TIMES),
            from != null ? from : clock.instant(),
            zone("zone", call.parameter("zone"))));
  }

  /** The times that a schedule would have. */
  private Answer previewNew(Call call) {
    PreviewBody body = call.read(PreviewBody.SHAPE);
    ScheduleBody schedule = body.schedule;
    if (schedule == null) {
      throw new InvalidBody("schedule: missing (expected: a schedule)");
    }
    Instant from = body.from;
    return preview(
        schedule.schedule(),
        new Wish(body.count, from != null ? from : clock.instant(), zone("zone", body.zone)));
  }

  /** What a preview is to show; the zone of the schedule where none is given. */
  private record Wish(int count, Instant from, @Nullable ZoneId zone) {}

  private static Answer preview(Schedule schedule, Wish wish) {
    if (wish.count() < 1 || wish.count() > Limits.PREVIEW_MAX_TIMES) {
      throw InvalidArgumentException.of("count", wish.count(), "1 to " + Limits.PREVIEW_MAX_TIMES);
    }
    ZoneId zone = wish.zone();
    List<Occurrence> times =
        zone != null
            ? schedule.preview(wish.count(), wish.from(), zone)
            : schedule.preview(wish.count(), wish.from());
    return Answer.json(
        out ->
            out.put("words", schedule.describe())
                .put("from", wish.from())
                .list("times", times, ScheduleRoutes::write));
  }

  private static void write(JsonText out, Occurrence occurrence) {
    out.put("time", occurrence.instant())
        .put("local", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(occurrence.time()))
        .put("zone", occurrence.time().getZone().getId());
    if (!occurrence.notes().isEmpty()) {
      out.texts("notes", occurrence.notes());
    }
  }

  private static @Nullable ZoneId zone(String path, @Nullable String text) {
    if (text == null) {
      return null;
    }
    try {
      return ZoneId.of(text);
    } catch (DateTimeException e) {
      throw Shape.invalid(path, Shape.quoted(text), "a time zone such as Europe/Berlin");
    }
  }

  /** A schedule that is not there yet. */
  static final class PreviewBody {
    static final Shape<PreviewBody> SHAPE =
        Shape.of(PreviewBody::new)
            .object("schedule", ScheduleBody.SHAPE, (p, v) -> p.schedule = v)
            .integer("count", (p, v) -> p.count = v)
            .time("from", (p, v) -> p.from = v)
            .text("zone", (p, v) -> p.zone = v);

    private @Nullable ScheduleBody schedule;
    private int count = PREVIEW_TIMES;
    private @Nullable Instant from;
    private @Nullable String zone;
  }
}
