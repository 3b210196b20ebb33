package dev.carillon.server.operate;

import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.OccurrenceInfo;
import dev.carillon.server.http.Call;
import dev.carillon.server.json.Shape;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which events somebody wants to hear of, in the query parameters of an address. Every condition
 * given must hold.
 */
record EventFilter(
    @Nullable String namespace,
    Set<JobEventStream.Kind> kinds,
    Set<JobState> states,
    @Nullable String job,
    @Nullable String type,
    @Nullable String queue,
    @Nullable String namePrefix,
    @Nullable String occurrencesOf,
    Map<String, String> metadata) {
  private static final String META = "meta.";

  /** The names of the parameters; one that ends in a dot is a prefix. */
  static String[] names() {
    return new String[] {
      "kind", "state", "job", "type", "queue", "namePrefix", "occurrencesOf", META
    };
  }

  /** The filter of a request. */
  static EventFilter of(Call call, @Nullable String namespace) {
    Map<String, String> metadata = new HashMap<>();
    for (Map.Entry<String, List<String>> each : call.query().entrySet()) {
      if (each.getKey().startsWith(META)) {
        metadata.put(
            each.getKey().substring(META.length()), String.valueOf(call.parameter(each.getKey())));
      }
    }
    return new EventFilter(
        namespace,
        constants(call, "kind", JobEventStream.Kind.class),
        constants(call, "state", JobState.class),
        call.parameter("job"),
        call.parameter("type"),
        call.parameter("queue"),
        call.parameter("namePrefix"),
        call.parameter("occurrencesOf"),
        Map.copyOf(metadata));
  }

  private static <E extends Enum<E>> Set<E> constants(Call call, String name, Class<E> type) {
    Set<E> set = EnumSet.noneOf(type);
    for (String each : call.parameters(name)) {
      set.add(Shape.constant(name, type, each));
    }
    return set;
  }

  /** Whether the event is one of those. */
  boolean takes(JobEventStream.Kind kind, JobInfo info) {
    return (namespace == null || namespace.equals(info.namespace()))
        && (kinds.isEmpty() || kinds.contains(kind))
        && (states.isEmpty() || states.contains(info.state()))
        && (job == null || job.equals(info.id().value()))
        && (type == null || type.equals(info.type()))
        && (queue == null || queue.equals(info.queue()))
        && (namePrefix == null || startsWith(info.name(), namePrefix))
        && (occurrencesOf == null || occurrencesOf.equals(scheduleOf(info)))
        && info.metadata().entrySet().containsAll(metadata.entrySet());
  }

  private static boolean startsWith(@Nullable String name, String prefix) {
    return name != null && name.startsWith(prefix);
  }

  private static @Nullable String scheduleOf(JobInfo info) {
    OccurrenceInfo occurrence = info.occurrence();
    JobId schedule = occurrence != null ? occurrence.schedule() : null;
    return schedule != null ? schedule.value() : null;
  }
}
