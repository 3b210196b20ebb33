package dev.carillon.engine.dispatch;

import dev.carillon.api.JobMeter;
import dev.carillon.api.Metrics;
import dev.carillon.engine.environment.NodeEnvironment;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The meters of jobs by type, queue and namespace. A lane remembers those of its own types, so that
 * an attempt finds its meter without looking it up. Users make these words: of each the first 256
 * have meters of their own, and all others share one.
 */
public final class JobMeters {
  private final NodeEnvironment env;
  private final Set<String> types = new LinkedHashSet<>();
  private final Set<String> queues = new LinkedHashSet<>();
  private final Set<String> namespaces = new LinkedHashSet<>();

  /** The words that a job is counted under. */
  public record Tags(String type, String queue, String namespace) {}

  public JobMeters(NodeEnvironment env) {
    this.env = env;
  }

  /** The meter of a job that goes through a lane. */
  public JobMeter of(Lane lane, String type) {
    JobMeter last = lane.lastMeter;
    if (last != null && type.equals(lane.lastMeterType)) {
      return last;
    }
    String known = known(types, type);
    @Nullable JobMeter found = lane.meters.get(known);
    if (found == null) {
      Tags tags = tags(type, lane.queue, lane.namespace);
      found = env.metrics().jobs(tags.type(), tags.queue(), tags.namespace());
      lane.meters.put(known, found);
    }
    lane.lastMeter = found;
    lane.lastMeterType = type;
    return found;
  }

  public Tags tags(String type, String queue, String namespace) {
    return new Tags(known(types, type), known(queues, queue), known(namespaces, namespace));
  }

  private static String known(Set<String> values, String value) {
    if (values.contains(value)) {
      return value;
    }
    return values.size() < Metrics.MOST_VALUES && values.add(value) ? value : Metrics.OTHERS;
  }
}
