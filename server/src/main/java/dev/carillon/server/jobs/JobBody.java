package dev.carillon.server.jobs;

import dev.carillon.RawPayload;
import dev.carillon.api.IfExists;
import dev.carillon.api.Job;
import dev.carillon.api.JobId;
import dev.carillon.api.JobType;
import dev.carillon.api.Limits;
import dev.carillon.api.TaskType;
import dev.carillon.api.schedule.Due;
import dev.carillon.server.json.InvalidBody;
import dev.carillon.server.json.Shape;
import dev.carillon.server.webhook.WebhookRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job in a body: the request of {@link Job}, its input as bytes. */
final class JobBody {
  static final Shape<JobBody> SHAPE =
      Shape.of(JobBody::new)
          .text("type", (j, v) -> j.type = v)
          .integer("typeVersion", (j, v) -> j.typeVersion = v)
          .object("webhook", WebhookRequest.SHAPE, (j, v) -> j.webhook = v)
          .raw("input", (j, v) -> j.input = new RawPayload("json", v))
          .text("inputBase64", (j, v) -> j.base64 = v)
          .text("inputCodec", (j, v) -> j.codec = v)
          .time("at", (j, v) -> j.at = v)
          .duration("in", (j, v) -> j.in = v)
          .text("name", (j, v) -> j.name = v)
          .constant("ifExists", IfExists.class, (j, v) -> j.ifExists = v)
          .text("key", (j, v) -> j.key = v)
          .text("queue", (j, v) -> j.queue = v)
          .integer("priority", (j, v) -> j.priority = v)
          .map("metadata", (j, v) -> j.metadata = v)
          .duration("timeout", (j, v) -> j.timeout = v)
          .time("deadline", (j, v) -> j.deadline = v)
          .object("schedule", ScheduleBody.SHAPE, (j, v) -> j.schedule = v)
          .object("onFailure", PolicyBody.SHAPE, (j, v) -> j.onFailure = v)
          .object("concurrency", ConcurrencyBody.SHAPE, (j, v) -> j.concurrency = v)
          .list("after", DependencyBody.SHAPE, Limits.DEPENDENCIES_MAX, (j, v) -> j.after = v);

  private @Nullable String type;
  private int typeVersion = 1;
  private @Nullable WebhookRequest webhook;
  private @Nullable String traceparent;
  private @Nullable String tracestate;
  private @Nullable RawPayload input;
  private @Nullable String base64;
  private @Nullable String codec;
  private @Nullable Instant at;
  private @Nullable Duration in;
  private @Nullable String name;
  private @Nullable IfExists ifExists;
  private @Nullable String key;
  private @Nullable String queue;
  private int priority;
  private Map<String, String> metadata = Map.of();
  private @Nullable Duration timeout;
  private @Nullable Instant deadline;
  private @Nullable ScheduleBody schedule;
  private @Nullable PolicyBody onFailure;
  private @Nullable ConcurrencyBody concurrency;
  private List<DependencyBody> after = List.of();

  /** The key of the header; one in the body must be the same. */
  void keyOfHeader(@Nullable String header) {
    if (header == null) {
      return;
    }
    if (key != null && !key.equals(header)) {
      throw new InvalidBody("key: not that of the Idempotency-Key header (expected: one of both)");
    }
    key = header;
  }

  /** The body declares the recurring job of a name, which stands in the address. */
  void declares(String given) {
    if (name != null && !name.equals(given)) {
      throw new InvalidBody("name: not that of the address (expected: none in the body)");
    }
    if (schedule == null) {
      throw new InvalidBody("schedule: missing (expected: a schedule)");
    }
    if (ifExists != null || key != null) {
      throw new InvalidBody(
          (key != null ? "key" : "ifExists") + ": given (expected: none; the name is enough)");
    }
    name = given;
    ifExists = IfExists.UPDATE;
  }

  /** The trace context of whoever schedules it, which a webhook passes on. */
  void traced(@Nullable String parent, @Nullable String state) {
    traceparent = parent;
    tracestate = state;
  }

  @Nullable String type() {
    return type;
  }

  String queue() {
    return queue != null ? queue : Job.DEFAULT_QUEUE;
  }

  /** The jobs that it waits for by id. */
  List<JobId> dependencies() {
    return after.stream().map(DependencyBody::job).filter(job -> job != null).toList();
  }

  Job<?> job(String namespace) {
    Job<?> job = webhook != null ? webhook(webhook) : typed();
    job = job.namespace(namespace).priority(priority).metadata(metadata);
    job = queue != null ? job.queue(queue) : job;
    job = name != null ? job.named(name) : job;
    job = ifExists != null ? job.ifExists(ifExists) : job;
    job = key != null ? job.key(key) : job;
    job = timeout != null ? job.timeout(timeout) : job;
    job = deadline != null ? job.deadline(deadline) : job;
    job = due(job);
    job = schedule != null ? job.on(schedule.schedule()) : job;
    job = onFailure != null ? job.onFailure(onFailure.policy()) : job;
    job = concurrency != null ? job.concurrency(concurrency.concurrency()) : job;
    return after.isEmpty()
        ? job
        : job.after(after.stream().map(DependencyBody::dependency).toList());
  }

  private Job<?> typed() {
    if (type == null) {
      throw new InvalidBody("type: missing (expected: the type of the job, or a webhook)");
    }
    RawPayload payload = payload();
    return payload == null
        ? TaskType.of(type).version(typeVersion).job()
        : JobType.of(type, RawPayload.class, RawPayload.class).version(typeVersion).job(payload);
  }

  private Job<?> webhook(WebhookRequest request) {
    if (type != null || input != null || base64 != null || codec != null || typeVersion != 1) {
      throw new InvalidBody("webhook: given with a type or an input (expected: one of both)");
    }
    try {
      return JobType.of(WebhookRequest.TYPE, RawPayload.class, RawPayload.class)
          .job(request.payload(traceparent, tracestate));
    } catch (InvalidBody e) {
      throw new InvalidBody("webhook." + e.getMessage());
    }
  }

  private Job<?> due(Job<?> job) {
    if (at != null && in != null) {
      throw new InvalidBody("at: given with in (expected: one of them, or none for now)");
    }
    if (at != null) {
      return job.at(at);
    }
    return in != null ? job.due(new Due.In(in)) : job;
  }

  private @Nullable RawPayload payload() {
    return new PayloadFields("input", input, base64, codec).payload();
  }
}
