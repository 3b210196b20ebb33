package dev.carillon.cli;

import dev.carillon.api.JobError;
import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobProgress;
import dev.carillon.engine.query.JobReader.Story;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Jobs as JSON: what is absent is left out, times are ISO 8601, bytes are base64. */
final class JobJson {
  private static final JsonMapper MAPPER = new JsonMapper();

  private JobJson() {}

  static String line(Object value) {
    return MAPPER.writeValueAsString(value);
  }

  /** Everything a store knows of a job. */
  static Map<String, Object> of(Story story) {
    JobInfo info = story.view().info();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", info.id().value());
    json.put("type", info.type());
    json.put("typeVersion", info.typeVersion());
    json.put("namespace", info.namespace());
    json.put("queue", info.queue());
    json.put("priority", info.priority());
    put(json, "name", info.name());
    put(json, "key", info.key());
    if (!info.metadata().isEmpty()) {
      json.put("metadata", info.metadata());
    }
    json.put("state", info.state().name());
    json.put("scheduledAt", info.scheduledAt().toString());
    json.put("dueAt", info.dueAt().toString());
    json.put("attempt", info.attempt());
    put(json, "startedAt", info.startedAt());
    put(json, "endedAt", info.endedAt());
    put(json, "node", info.node());
    put(json, "reason", info.reason());
    put(json, "timeout", info.timeout());
    put(json, "deadline", info.deadline());
    if (info.cancelRequested()) {
      json.put("cancelRequested", true);
    }
    if (info.lastError() != null) {
      json.put("lastError", error(info.lastError()));
    }
    if (info.progress() != null) {
      json.put("progress", progress(info.progress()));
    }
    if (story.published() != null) {
      put(json, "published", payload(story.published()));
    }
    put(json, "payload", payload(story.payload()));
    byte[] result = story.view().result();
    put(json, "result", result == null ? null : payload(result));
    json.put("events", events(story.events()));
    return json;
  }

  private static Map<String, Object> progress(JobProgress progress) {
    Map<String, Object> json = new LinkedHashMap<>();
    if (progress.done() != null && progress.total() != null) {
      json.put("done", progress.done());
      json.put("total", progress.total());
    }
    if (!progress.message().isEmpty()) {
      json.put("message", progress.message());
    }
    json.put("at", progress.at().toString());
    return json;
  }

  private static void put(Map<String, Object> json, String name, @Nullable Object value) {
    if (value != null) {
      boolean plain = value instanceof JsonNode || value instanceof Map;
      json.put(name, plain ? value : value.toString());
    }
  }

  static Map<String, Object> error(JobError error) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("type", error.type());
    json.put("message", error.message());
    if (!error.stack().isEmpty()) {
      json.put("stack", error.stack());
    }
    if (!error.node().isEmpty()) {
      json.put("node", error.node());
    }
    return json;
  }

  private static List<Object> events(List<JobEvent> events) {
    List<Object> list = new ArrayList<>();
    for (JobEvent event : events) {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("at", event.at().toString());
      json.put("kind", event.kind().name());
      json.put("attempt", event.attempt());
      put(json, "startedAt", event.startedAt());
      put(json, "node", event.node());
      put(json, "by", event.by());
      if (!event.detail().isEmpty()) {
        json.put("detail", event.detail());
      }
      if (event.error() != null) {
        json.put("error", error(event.error()));
      }
      list.add(json);
    }
    return list;
  }

  /** JSON as it is; anything else as {@code {"base64": …}}; null for nothing. */
  static @Nullable Object payload(byte[] stored) {
    if (stored.length == 0) {
      return null;
    }
    try {
      return MAPPER.readTree(stored);
    } catch (JacksonException e) {
      return Map.of("base64", Base64.getEncoder().encodeToString(stored));
    }
  }
}
